"""Errors of Kafka's datasets: they name what is wrong, and nothing hangs."""

import kafka_cluster
import numpy as np
import pytest
import tensorflow as tf

FAST = ["socket.connection.setup.timeout.ms=1500"]


def read(cluster, topics, **kwargs):
    kwargs = {"servers": cluster.servers, "eof": True, "config_global": FAST, **kwargs}
    return kafka_cluster.read(lambda: tf.data.KafkaDataset(topics, **kwargs))


@pytest.mark.parametrize(
    ("topics", "kwargs", "message"),
    [
        ([], {}, "topics must have at least one, got none"),
        (["a:b"], {}, 'topics: a subscription must be .* got "a:b": the partition'),
        (["a:0:-3"], {}, "the offset is no number"),
        (["a:0:0:x"], {}, "the length is no number"),
        (["a"], {"config_global": ["enable.partition.eof"]}, 'config_global: a property must be "key=value"'),
        (["a"], {"config_global": ["no.such=1"]}, "property no.such=1: No such configuration property"),
        (["a"], {"config_topic": ["auto.offset.reset=never"]}, "property auto.offset.reset=never: "),
    ],
)
def test_arguments_that_do_not_fit_are_named(cluster, topics, kwargs, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        read(cluster, topics, **kwargs)


def test_timeouts_are_checked(cluster):
    with pytest.raises(ValueError, match="timeout must be at least 1 millisecond, got 0"):
        read(cluster, ["a"], timeout=0)
    with pytest.raises(TypeError, match="timeout must be a whole number of milliseconds, got 'x'"):
        read(cluster, ["a"], timeout="x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="timeout must be at least 1 .millisecond., got -1"):
        kafka_cluster.read(lambda: tf.data.KafkaDataset(["a"], timeout=tf.constant(-1, tf.int64)))
    with pytest.raises(ValueError, match="message_poll_timeout must be at least 1 millisecond, got 0"):
        tf.data.KafkaGroupIODataset(["a"], "g", cluster.servers, message_poll_timeout=0)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"topics": 3}, "topics must be of dtype string, got 3"),
        ({"servers": 3}, "servers must be of dtype string, got 3"),
        ({"group": 3}, "group must be of dtype string, got 3"),
        ({"eof": "x"}, "eof must be of dtype bool, got 'x'"),
        ({"config_global": [3]}, "config_global must be of dtype string, got .3."),
    ],
)
def test_arguments_of_another_dtype_are_named(kwargs, message):
    with pytest.raises(TypeError, match=message):
        tf.data.KafkaDataset(**{"topics": "a", **kwargs})


def test_timeouts_of_a_group_are_checked():
    with pytest.raises(TypeError, match="message_poll_timeout must be a whole number of milliseconds, got '9'"):
        tf.data.KafkaGroupIODataset(["a"], "g", "s", message_poll_timeout="9")
    with pytest.raises(TypeError, match="stream_timeout must be a whole number of milliseconds, got 1.5"):
        tf.data.KafkaGroupIODataset(["a"], "g", "s", stream_timeout=1.5)


@pytest.mark.parametrize("topics", [["a", "b", "a"], np.array(["a", "b", "a"]), tf.constant(["a", "b", "a"])])
def test_a_topic_of_a_group_twice_is_refused(topics):
    with pytest.raises(ValueError, match="topics must have each topic once, got 'a' 2 times"):
        tf.data.KafkaGroupIODataset(topics, "g", "s")


@pytest.mark.parametrize(
    ("text", "argument"),
    [
        ("group.id=other", "group_id"),
        ("conf.topic.group.id=other", "group_id"),
        ("bootstrap.servers=other:1", "servers"),
        ("metadata.broker.list=other:1", "servers"),
    ],
)
def test_a_property_of_a_group_that_an_argument_gives_is_refused(text, argument):
    with pytest.raises(ValueError, match=f"configuration must not have '{text}': give it as {argument}"):
        tf.data.KafkaGroupIODataset(["a"], "g", "s", configuration=["auto.offset.reset=earliest", text])


def test_a_property_that_an_argument_gives_is_refused(cluster):
    with pytest.raises(ValueError, match="config_global must not have 'bootstrap.servers=x:1': give it as servers"):
        tf.data.KafkaDataset(["a"], config_global="bootstrap.servers=x:1")
    with pytest.raises(ValueError, match="config_topic must not have 'group.id=x': give it as group"):
        tf.data.KafkaDataset(["a"], group="g", config_topic=["group.id=x"])
    topic = cluster.topic()
    cluster.write(topic, [b"a"])
    assert read(cluster, [topic], config_global=["group.id=x"]) == [b"a"]


def test_a_partition_that_is_not_there_is_not_found(cluster):
    topic = cluster.topic(2)
    with pytest.raises(tf.errors.NotFoundError, match=f"'{topic}' .*has 2 partitions, so there is no partition 2"):
        read(cluster, [f"{topic}:2"])


def test_an_offset_that_is_not_there_is_data_loss(cluster):
    topic = cluster.topic()
    cluster.write(topic, [b"a", b"b"])
    with pytest.raises(tf.errors.DataLossError, match=f"topic '{topic}', partition 0, offset 99"):
        read(cluster, [f"{topic}:0:99"])
    assert read(cluster, [f"{topic}:0:99"], config_topic=["auto.offset.reset=earliest"]) == [b"a", b"b"]


def test_without_a_broker_reading_exceeds_its_deadline():
    with pytest.raises(
        tf.errors.DeadlineExceededError, match="no broker of Kafka at '127.0.0.1:1' answered for 1500 ms"
    ):
        kafka_cluster.read(lambda: tf.data.KafkaDataset(["a"], servers="127.0.0.1:1", config_global=FAST))
    with pytest.raises(
        tf.errors.DeadlineExceededError, match="no broker of Kafka at '127.0.0.1:1' answered for 1500 ms"
    ):
        kafka_cluster.read(lambda: tf.data.KafkaGroupIODataset(["a"], "g", "127.0.0.1:1", configuration=FAST))


def test_a_broker_that_goes_is_an_error_and_reading_goes_on_when_it_is_back():
    cluster = kafka_cluster.Cluster()
    topic = cluster.topic()
    cluster.write(topic, [b"a", b"b"])
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.KafkaDataset([topic], servers=cluster.servers, timeout=200, config_global=FAST)
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        assert [session.run(element) for _ in range(2)] == [b"a", b"b"]
        cluster.set_up(False)
        with pytest.raises(tf.errors.DeadlineExceededError, match="no broker of Kafka"):
            session.run(element)
        cluster.set_up(True)
        cluster.write(topic, [b"c"])
        assert session.run(element) == b"c"
    cluster.close()


def test_without_librdkafka_the_error_says_what_to_install(check_python):
    out = check_python(
        "import ctypes.util, sys\n"
        "import tensorflow as tf\n"
        "sys.modules['confluent_kafka'] = None\n"
        "ctypes.util.find_library = lambda name: None\n"
        "try:\n"
        "    tf.data.KafkaDataset(['a'])\n"
        "except ImportError as e:\n"
        "    print(e)\n"
    )
    assert "pip install confluent-kafka" in out


def test_a_process_that_was_told_nothing_finds_librdkafka_beside_itself(cluster, check_python):
    # As a server does that runs the graphs of others.
    topic = cluster.topic()
    cluster.write(topic, [b"a"])
    out = check_python(
        "import tensorflow as tf\n"
        "from tensorflow.deeprec.kafka import client_library\n"
        "client_library.tell_path = lambda: None\n"
        f"dataset = tf.data.KafkaDataset([{topic!r}], servers={cluster.servers!r}, eof=True)\n"
        "print(tf.Session().run(tf.data.make_one_shot_iterator(dataset).get_next()))\n"
    )
    assert "b'a'" in out
