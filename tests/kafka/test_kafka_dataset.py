"""KafkaDataset: what it reads of partitions, in which order, and where it goes on."""

import threading
import time

import kafka_cluster
import pytest
import tensorflow as tf
from tensorflow.python.data.ops import iterator_ops

FAST = ["socket.connection.setup.timeout.ms=1500"]


def messages(prefix, count):
    return [f"{prefix}{i}".encode() for i in range(count)]


def dataset(cluster, topics, **kwargs):
    return tf.data.KafkaDataset(topics, **{"servers": cluster.servers, "eof": True, "config_global": FAST, **kwargs})


def test_a_partition_is_read_from_its_offset_to_its_end(cluster):
    topic = cluster.topic()
    cluster.write(topic, messages("m", 10))
    assert kafka_cluster.read(lambda: dataset(cluster, [topic])) == messages("m", 10)
    assert kafka_cluster.read(lambda: dataset(cluster, f"{topic}:0:7:-1")) == messages("m", 10)[7:]
    assert kafka_cluster.read(lambda: dataset(cluster, [f"{topic}:0:-2"])) == messages("m", 10)
    assert kafka_cluster.read(lambda: dataset(cluster, [f"{topic}:0:10"])) == []


def test_a_length_is_a_number_of_messages(cluster):
    topic = cluster.topic()
    cluster.write(topic, messages("m", 10))
    # Without eof, so it is the length that ends it.
    for length in (0, 1, 4):
        found = kafka_cluster.read(lambda length=length: dataset(cluster, [f"{topic}:0:3:{length}"], eof=False))
        assert found == messages("m", 10)[3 : 3 + length]


def test_partitions_and_topics_are_merged_by_timestamp(cluster):
    one, other = cluster.topic(2), cluster.topic()
    cluster.write(one, messages("a", 3), partition=0, timestamps=[1000, 4000, 7000])
    cluster.write(one, messages("b", 3), partition=1, timestamps=[2000, 5000, 8000])
    cluster.write(other, messages("c", 3), timestamps=[3000, 4000, 9000])
    found = kafka_cluster.read(lambda: dataset(cluster, [f"{one}:0", f"{one}:1", other]))
    assert found == [b"a0", b"b0", b"c0", b"a1", b"c1", b"b1", b"a2", b"b2", b"c2"]


def test_one_partition_may_be_read_twice(cluster):
    topic = cluster.topic()
    cluster.write(topic, messages("m", 4), timestamps=[1, 2, 3, 4])
    found = kafka_cluster.read(lambda: dataset(cluster, [f"{topic}:0:0:2", f"{topic}:0:1"]))
    assert sorted(found) == [b"m0", b"m1", b"m1", b"m2", b"m3"]


def test_keys_come_beside_the_messages(cluster):
    topic = cluster.topic()
    cluster.write(topic, [b"a", b"", b"\x00\xff"], keys=[b"k", None, b"\x00"])
    found = kafka_cluster.read(lambda: dataset(cluster, [topic], message_key=True))
    assert found == [(b"a", b"k"), (b"", b""), (b"\x00\xff", b"\x00")]


def test_without_eof_messages_are_waited_for(cluster):
    topic = cluster.topic()
    cluster.write(topic, [b"early"])
    with tf.Graph().as_default(), tf.Session() as session:
        element = tf.data.make_one_shot_iterator(dataset(cluster, [topic], eof=False, timeout=100)).get_next()
        assert session.run(element) == b"early"
        writer = threading.Timer(1.5, cluster.write, (topic, [b"late"]))
        writer.start()
        assert session.run(element) == b"late"
        writer.join()


def test_a_closed_session_ends_the_wait(cluster):
    topic = cluster.topic()
    with tf.Graph().as_default():
        session = tf.Session()
        element = tf.data.make_one_shot_iterator(dataset(cluster, [topic], eof=False)).get_next()
        ended = []

        def run():
            try:
                session.run(element)
            except tf.errors.OpError as e:
                ended.append(e)

        thread = threading.Thread(target=run)
        thread.start()
        time.sleep(1)
        session.close()
        thread.join(60)
        assert not thread.is_alive() and isinstance(ended[0], tf.errors.CancelledError)


@pytest.mark.parametrize("taken", [0, 5, 12])
def test_a_checkpoint_holds_the_offsets(cluster, tmp_path, taken):
    topic = cluster.topic(2)
    cluster.write(topic, messages("a", 8), partition=0, timestamps=range(10, 90, 10))
    cluster.write(topic, messages("b", 4), partition=1, timestamps=range(15, 95, 20))
    first, after, restored = kafka_cluster.read_around_a_checkpoint(
        lambda: dataset(cluster, [f"{topic}:0", f"{topic}:1"]), str(tmp_path / "c"), taken, 12 - taken
    )
    assert after == restored
    assert sorted(first + after) == messages("a", 8) + messages("b", 4)


def test_a_checkpoint_holds_how_much_of_a_length_is_read(cluster, tmp_path):
    topic = cluster.topic()
    cluster.write(topic, messages("m", 10))
    first, after, restored = kafka_cluster.read_around_a_checkpoint(
        lambda: dataset(cluster, [f"{topic}:0:2:5"], eof=False), str(tmp_path / "c"), 3, 2
    )
    assert first == messages("m", 10)[2:5] and after == restored == messages("m", 10)[5:7]


def test_a_checkpoint_of_other_topics_is_refused(cluster, tmp_path):
    one, other = cluster.topic(), cluster.topic()
    cluster.write(one, messages("m", 3))
    reads = iter([one, other])
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"other topics: saved were '{one}'.*it reads {other}"):
        kafka_cluster.read_around_a_checkpoint(lambda: dataset(cluster, [next(reads)]), str(tmp_path / "c"), 1, 2)


def test_an_iterator_may_be_made_of_a_structure_and_batched(cluster):
    topic = cluster.topic()
    cluster.write(topic, [b"1,2", b"3,4", b"5,6"])
    with tf.Graph().as_default(), tf.Session() as session:
        rows = dataset(cluster, [topic]).map(lambda m: tf.io.decode_csv(m, [[0], [0]])).batch(2).prefetch(1)
        iterator = iterator_ops.Iterator.from_structure(tf.data.get_output_types(rows), tf.data.get_output_shapes(rows))
        element = iterator.get_next()
        session.run(iterator.make_initializer(rows))
        assert [part.tolist() for part in session.run(element)] == [[1, 3], [2, 4]]
        assert [part.tolist() for part in session.run(element)] == [[5], [6]]


def test_topics_may_be_fed(cluster):
    topic = cluster.topic()
    cluster.write(topic, messages("m", 3))
    with tf.Graph().as_default(), tf.Session() as session:
        topics = tf.placeholder(tf.string, [None])
        iterator = tf.data.make_initializable_iterator(dataset(cluster, topics))
        session.run(iterator.initializer, {topics: [f"{topic}:0:2"]})
        assert session.run(iterator.get_next()) == b"m2"


def test_write_kafka_writes(cluster):
    from tensorflow.python.data.ops import readers

    topic = cluster.topic(2)
    with tf.Graph().as_default(), tf.Session() as session:
        written = readers.write_kafka(tf.constant("hello"), f"{topic}:1", cluster.servers)
        assert session.run(written) == b"hello"
        for bad in ("", f"{topic}:1:0"):
            with pytest.raises(tf.errors.InvalidArgumentError, match='topic must be "topic" or "topic:partition"'):
                session.run(readers.write_kafka("x", bad, cluster.servers))
        with pytest.raises(tf.errors.NotFoundError, match="has 2 partitions, so there is no partition 7"):
            session.run(readers.write_kafka("x", f"{topic}:7", cluster.servers))
    assert kafka_cluster.read(lambda: dataset(cluster, [f"{topic}:0", f"{topic}:1"])) == [b"hello"]
