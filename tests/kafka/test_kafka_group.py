"""KafkaGroupIODataset: a member of a consumer group."""

import itertools
import threading

import kafka_cluster
import tensorflow as tf
from confluent_kafka import Consumer, TopicPartition

CONFIGURATION = ["conf.topic.auto.offset.reset=earliest", "socket.connection.setup.timeout.ms=1500"]
_groups = itertools.count()


def new_group() -> str:
    # The mock cluster deals nothing out any more in a group that all members have left.
    return f"group{next(_groups)}"


def dataset(cluster, topics, group, **kwargs):
    return tf.data.KafkaGroupIODataset(
        topics, group, cluster.servers, **{"message_poll_timeout": 60000, "configuration": CONFIGURATION, **kwargs}
    )


def committed(cluster, group, places) -> list:
    asks = Consumer({"bootstrap.servers": cluster.servers, "group.id": group})
    found = asks.committed(places, timeout=20)
    asks.close()
    return [place.offset for place in found]


def test_all_partitions_of_all_topics_are_read_and_committed(cluster):
    one, other, group = cluster.topic(2), cluster.topic(), new_group()
    cluster.write(one, [b"a0", b"a1"], partition=0, keys=[b"k0", b"k1"])
    cluster.write(one, [b"b0"], partition=1)
    cluster.write(other, [b"c0"])
    found = kafka_cluster.read(lambda: dataset(cluster, [one, other], group))
    assert sorted(found) == [(b"a0", b"k0"), (b"a1", b"k1"), (b"b0", b""), (b"c0", b"")]
    places = [TopicPartition(one, 0), TopicPartition(one, 1), TopicPartition(other, 0)]
    assert committed(cluster, group, places) == [2, 1, 1]


def test_what_the_program_did_not_take_is_not_committed(cluster):
    topic, group = cluster.topic(), new_group()
    cluster.write(topic, [b"%d" % i for i in range(10)])
    with tf.Graph().as_default(), tf.Session() as session:
        batch = tf.data.make_one_shot_iterator(dataset(cluster, [topic], group).batch(2)).get_next()
        for _ in range(2):
            session.run(batch)
    assert committed(cluster, group, [TopicPartition(topic, 0)]) == [4]


def test_a_checkpoint_holds_the_offsets(cluster, tmp_path):
    topic = cluster.topic(2)
    cluster.write(topic, [b"a%d" % i for i in range(4)], partition=0)
    cluster.write(topic, [b"b%d" % i for i in range(4)], partition=1)
    # Each session in a group of its own, which has committed nothing: the offsets come from the checkpoint.
    first, after, restored = kafka_cluster.read_around_a_checkpoint(
        lambda: dataset(cluster, [topic], new_group()), str(tmp_path / "c"), 5, 3
    )
    assert sorted(after) == sorted(restored)
    assert len({message for message, _ in first + after}) == 8


def test_new_messages_are_waited_for_as_long_as_the_stream_timeout(cluster):
    topic = cluster.topic()
    cluster.write(topic, [b"a"])
    with tf.Graph().as_default(), tf.Session() as session:
        element = tf.data.make_one_shot_iterator(
            dataset(cluster, [topic], new_group(), stream_timeout=20000)
        ).get_next()
        assert session.run(element)[0] == b"a"
        cluster.write(topic, [b"b"])
        assert session.run(element)[0] == b"b"


def test_two_members_share_the_partitions():
    # So both are there before the group deals out its partitions.
    cluster = kafka_cluster.Cluster(join_ms=8000)
    topic, group = cluster.topic(2), new_group()
    for partition in range(2):
        cluster.write(topic, [b"%d-%d" % (partition, i) for i in range(10)], partition=partition)
    found = [[], []]

    def read(member):
        found[member] += [message for message, _ in kafka_cluster.read(lambda: dataset(cluster, [topic], group))]

    members = [threading.Thread(target=read, args=(member,)) for member in range(2)]
    for member in members:
        member.start()
    for member in members:
        member.join(120)
    cluster.close()
    partitions = [{message[:1] for message in messages} for messages in found]
    assert sorted(partitions, key=sorted) == [{b"0"}, {b"1"}]
    assert all(messages == sorted(messages) and len(messages) == 10 for messages in found)
