"""librdkafka's mock cluster: brokers in threads of this process, which speak Kafka's protocol on ports of localhost."""

import ctypes
import itertools

import tensorflow as tf
from confluent_kafka import Producer
from tensorflow.deeprec.kafka import client_library

_numbers = itertools.count()


class Cluster:
    """Brokers, until `close`. The client that librdkafka wants for them speaks to nobody.

    join_ms: how long a new group waits for more members.
    """

    def __init__(self, brokers=1, join_ms=500):
        lib = self._lib = ctypes.CDLL(client_library.tell_path())
        for function, result, arguments in (
            ("rd_kafka_conf_new", ctypes.c_void_p, []),
            ("rd_kafka_new", ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
            ("rd_kafka_destroy", None, [ctypes.c_void_p]),
            ("rd_kafka_mock_cluster_new", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]),
            ("rd_kafka_mock_cluster_destroy", None, [ctypes.c_void_p]),
            ("rd_kafka_mock_cluster_bootstraps", ctypes.c_char_p, [ctypes.c_void_p]),
            ("rd_kafka_mock_topic_create", ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]),
            ("rd_kafka_mock_group_initial_rebalance_delay_ms", None, [ctypes.c_void_p, ctypes.c_int32]),
            ("rd_kafka_mock_broker_set_down", ctypes.c_int, [ctypes.c_void_p, ctypes.c_int32]),
            ("rd_kafka_mock_broker_set_up", ctypes.c_int, [ctypes.c_void_p, ctypes.c_int32]),
        ):  # fmt: skip
            getattr(lib, function).restype, getattr(lib, function).argtypes = result, arguments
        self._client = lib.rd_kafka_new(0, lib.rd_kafka_conf_new(), ctypes.create_string_buffer(512), 512)
        self._cluster = lib.rd_kafka_mock_cluster_new(self._client, brokers)
        lib.rd_kafka_mock_group_initial_rebalance_delay_ms(self._cluster, join_ms)
        self._brokers = brokers
        self.servers = lib.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()
        self._producer = Producer({"bootstrap.servers": self.servers, "linger.ms": 0, "log_level": 0})

    def topic(self, partitions=1) -> str:
        """The name of a new topic."""
        name = f"topic{next(_numbers)}"
        assert self._lib.rd_kafka_mock_topic_create(self._cluster, name.encode(), partitions, 1) == 0
        return name

    def write(self, topic, values, partition=0, keys=None, timestamps=None) -> None:
        for i, value in enumerate(values):
            more = {"timestamp": timestamps[i]} if timestamps else {}
            self._producer.produce(topic, value, key=keys[i] if keys else None, partition=partition, **more)
        assert self._producer.flush(20) == 0

    def set_up(self, up: bool) -> None:
        change = self._lib.rd_kafka_mock_broker_set_up if up else self._lib.rd_kafka_mock_broker_set_down
        for broker in range(1, self._brokers + 1):
            assert change(self._cluster, broker) == 0

    def close(self) -> None:
        self._producer = None
        self._lib.rd_kafka_mock_cluster_destroy(self._cluster)
        self._lib.rd_kafka_destroy(self._client)


def read(make_dataset, limit=1000) -> list:
    """Fetched elements of make_dataset(), in a graph of their own, to its end or up to `limit`."""
    with tf.Graph().as_default(), tf.Session() as session:
        element = tf.data.make_one_shot_iterator(make_dataset()).get_next()
        found = []
        while len(found) < limit:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                break
        return found


def read_around_a_checkpoint(make_dataset, path, before: int, more: int, then=lambda: None) -> tuple[list, list, list]:
    """What is read before a checkpoint is written, after it, and in a new session after the checkpoint is restored; `then` is called
    between the two sessions."""

    def build():
        iterator = tf.data.make_initializable_iterator(make_dataset())
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
        return iterator, iterator.get_next(), tf.train.Saver()

    with tf.Graph().as_default(), tf.Session() as session:
        iterator, element, saver = build()
        session.run(iterator.initializer)
        first = [session.run(element) for _ in range(before)]
        saver.save(session, path)
        after = [session.run(element) for _ in range(more)]
    then()
    with tf.Graph().as_default(), tf.Session() as session:
        iterator, element, saver = build()
        session.run(iterator.initializer)
        saver.restore(session, path)
        restored = [session.run(element) for _ in range(more)]
        with_end = False
        try:
            restored.append(session.run(element))
        except tf.errors.OutOfRangeError:
            with_end = True
    assert with_end
    return first, after, restored
