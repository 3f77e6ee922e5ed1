"""Infeed queues with 1.15's order of arguments."""

from tensorflow.python.tpu import tpu_feed


class InfeedQueue(tpu_feed.InfeedQueue):
    """Describes the tuples that a TPU is fed with, and makes the ops that feed them.

    Args:
      number_of_tuple_elements: how many tensors a tuple has.
      tuple_types, tuple_shapes: their types and shapes.
      shard_dimensions: along which dimension each is cut for the shards; 0 by default.
      name: prefix of the ops.

    Raises:
      ValueError: none of the first three is given, or they do not fit together.
    """

    def __init__(
        self, number_of_tuple_elements=None, tuple_types=None, tuple_shapes=None, shard_dimensions=None, name=None
    ):
        super().__init__(
            number_of_tuple_elements=number_of_tuple_elements,
            tuple_types=tuple_types,
            tuple_shapes=tuple_shapes,
            shard_dimensions=shard_dimensions,
            name=name,
        )
