"""Datasets of Kafka's messages, and an op that writes one."""

from tensorflow.deeprec import library
from tensorflow.deeprec.kafka import client_library
from tensorflow.python.data.ops import dataset_ops, options as options_lib
from tensorflow.python.framework import dtypes, ops, tensor_shape, tensor_spec, tensor_util
from tensorflow.python.ops import array_ops

# Names of librdkafka's properties.
_SERVERS = ("bootstrap.servers", "metadata.broker.list")
_GROUP = ("group.id",)


class _Source(dataset_ops.DatasetSource):
    """Elements are `count` scalar strings: one alone, or a tuple."""

    def __init__(self, op, inputs, count, **attributes):
        spec = tensor_spec.TensorSpec(tensor_shape.TensorShape([]), dtypes.string)
        self._element_spec = spec if count == 1 else (spec,) * count
        super().__init__(op(**inputs, **attributes, **self._flat_structure))

    @property
    def element_spec(self):
        return self._element_spec


class KafkaDataset(dataset_ops.DatasetV1Adapter):
    """Messages of partitions of Kafka's topics, in the order of their timestamps.

    The partitions' next messages are compared, and the oldest comes first; of equally old ones, that of the topic named first. The offset of
    each partition is part of the iterator's state: `tf.data.experimental.make_saveable_from_iterator` saves it in a checkpoint, and
    reading goes on there. Nothing is committed to a consumer group.

    Args:
      topics: what to read, "topic:partition:offset:length", or a list or string Tensor [n] of such. Without its end a text means partition 0,
        offset 0, length -1. An offset of -2 is the oldest message, -1 what comes from now on; a length is a number of messages, -1 all.
      servers: brokers, "host:port", separated by commas; or a list of them.
      group: the group.id that brokers see.
      eof: whether the dataset ends when all partitions are read to their end, or waits for messages.
      timeout: milliseconds for which a partition that gives no message, and does not say that it has none, holds up the others.
      config_global: properties of librdkafka, a list or string Tensor [n] of "key=value".
      config_topic: the same, of topics.
      message_key: whether an element is a tuple (message, key) of scalar strings, or the message alone. The key of a message without one
        is "".

    Raises:
      ImportError: there is no librdkafka.
      ValueError, TypeError: timeout is less than 1, or no whole number; config_global has what `servers` or `group` says.

    Reading raises InvalidArgumentError for a text that is no subscription or property, NotFoundError for a topic or partition that does not
    exist, DataLossError for an offset that the broker has no more (unless auto.offset.reset is configured), and DeadlineExceededError
    if there is nothing to read and no broker answers for socket.connection.setup.timeout.ms (30 seconds, unless configured).
    """

    def __init__(self, topics, servers="localhost", group="", eof=False, timeout=1000, config_global=None, config_topic=None,
                 message_key=False):  # fmt: skip
        client_library.tell_path()
        _check_milliseconds("timeout", timeout)
        inputs = {
            "topics": _strings(topics, "topics"),
            "servers": _servers(servers),
            "group": _tensor(group, dtypes.string, "group"),
            "eof": _tensor(eof, dtypes.bool, "eof"),
            "timeout": _tensor(timeout, dtypes.int64, "timeout"),
            "config_global": _strings(config_global, "config_global"),
            "config_topic": _strings(config_topic, "config_topic"),
        }
        has_group = tensor_util.is_tf_type(group) or group
        for argument in ("config_global", "config_topic"):
            _check_properties(argument, inputs, {"servers": _SERVERS, **({"group": _GROUP} if has_group else {})})
        message_key = bool(message_key)
        super().__init__(_Source(library.ops().deeprec_kafka_dataset, inputs, 1 + message_key, message_key=message_key))


class KafkaGroupIODataset(dataset_ops.DatasetV1Adapter):
    """Messages of the partitions that a consumer group gives to this member of it: tuples (message, key) of scalar strings.

    Partitions are dealt out over the group's members, and anew when one comes or goes. A partition begins where the group committed, and
    without a commit at the property auto.offset.reset. What was given is committed from time to time (enable.auto.commit), also what a
    `prefetch` behind this dataset has read ahead. Offsets are part of the iterator's state as well: after a restore, the partitions that
    this member is given first go on there, whatever was committed.

    Args:
      topics: names of topics, a list or string Tensor [n].
      group_id: the consumer group.
      servers: brokers, "host:port", separated by commas; or a list of them.
      stream_timeout: milliseconds to wait for new messages when all are read; the dataset ends then. 0: at once, negative: never.
      message_poll_timeout: milliseconds to wait for partitions, and for messages that are there, before DeadlineExceededError.
      configuration: properties of librdkafka, a list or string Tensor [n] of "key=value"; a "conf.topic." in front is left out.
      internal: only True; for tensorflow-io's signature.

    Raises:
      ImportError: there is no librdkafka.
      ValueError, TypeError: a timeout is no whole number, or message_poll_timeout less than 1; topics has one twice; configuration has
        what `servers` or `group_id` says; internal is not True.

    Reading raises errors as with KafkaDataset.
    """

    def __init__(self, topics, group_id, servers, stream_timeout=0, message_poll_timeout=10000, configuration=None,
                 internal=True):  # fmt: skip
        if not internal:
            raise ValueError(f"internal must be True, got {internal!r}")
        client_library.tell_path()
        _check_milliseconds("stream_timeout", stream_timeout, least=None)
        _check_milliseconds("message_poll_timeout", message_poll_timeout)
        inputs = {
            "topics": _strings(topics, "topics"),
            "group_id": _tensor(group_id, dtypes.string, "group_id"),
            "servers": _servers(servers),
            "stream_timeout": _tensor(stream_timeout, dtypes.int64, "stream_timeout"),
            "message_poll_timeout": _tensor(message_poll_timeout, dtypes.int64, "message_poll_timeout"),
            "configuration": _strings(configuration, "configuration"),
        }
        topics = _known(inputs["topics"])
        for topic in topics:
            # librdkafka refuses them without saying why.
            if topics.count(topic) > 1:
                raise ValueError(f"topics must have each topic once, got {topic!r} {topics.count(topic)} times")
        _check_properties("configuration", inputs, {"servers": _SERVERS, "group_id": _GROUP})
        options = options_lib.Options()
        # What is given is committed: tf.data must not read ahead where the program does not.
        options.experimental_optimization.inject_prefetch = False
        source = _Source(library.ops().deeprec_kafka_group_dataset, inputs, 2)
        super().__init__(source.with_options(options))


def write_kafka(message, topic, servers="localhost", name=None):
    """Writes a message to Kafka.

    Args:
      message: a scalar string Tensor.
      topic: "topic" or "topic:partition"; partition 0 without.
      servers: brokers, "host:port", separated by commas; or a list of them.
      name: of the op.

    Returns:
      The message, when the broker has it.

    Raises:
      ImportError: there is no librdkafka.
      NotFoundError, DeadlineExceededError: when run; as with KafkaDataset.
    """
    client_library.tell_path()
    return library.ops().deeprec_write_kafka(message=message, topic=topic, servers=_servers(servers), name=name)


def _check_milliseconds(argument, value, least=1) -> None:
    if tensor_util.is_tf_type(value):
        return
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{argument} must be a whole number of milliseconds, got {value!r}")
    if least is not None and value < least:
        raise ValueError(f"{argument} must be at least {least} millisecond, got {value}")


def _check_properties(argument, inputs, arguments) -> None:
    """Refuses properties that another argument gives; `arguments` has their names for each."""
    for text in _known(inputs[argument]):
        for other, names in arguments.items():
            if text.partition("=")[0].strip().removeprefix("conf.topic.") in names:
                raise ValueError(f"{argument} must not have {text!r}: give it as {other}")


def _known(tensor) -> list:
    """The strings of a Tensor, as str; [] where only a run tells them."""
    found = tensor_util.constant_value(tensor)
    return [] if found is None else [text.decode(errors="replace") for text in found.reshape([-1]).tolist()]


def _tensor(value, dtype, argument):
    try:
        return ops.convert_to_tensor(value, dtype, name=argument)
    except (TypeError, ValueError) as e:
        raise TypeError(f"{argument} must be of dtype {dtype.name}, got {value!r}") from e


def _strings(values, name):
    """A string Tensor [n] of one string, some, or None."""
    values = [values] if isinstance(values, (str, bytes)) else values
    tensor = _tensor([] if values is None else values, dtypes.string, name)
    return array_ops.reshape(tensor, [-1]) if tensor.shape.rank == 0 else tensor


def _servers(servers):
    if isinstance(servers, (list, tuple)):
        servers = ",".join(servers)
    return _tensor(servers, dtypes.string, "servers")
