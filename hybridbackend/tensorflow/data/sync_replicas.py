"""Workers that end together: every worker says with each batch whether it was its last, and goes on with empty ones."""

import tensorflow as tf
from tensorflow.python.data.experimental.ops import scan_ops
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.data.util import nest


class SyncReplicasDataset(dataset_ops.DatasetV1Adapter):
    """Elements of a dataset with a mark, and empty elements without an end behind them.

    An element is `(should_stop, element)`. `should_stop`, an int32 scalar, is 1 with the last element and the empty ones behind it, which
    have a first dimension of 0; scalars are 0 there. So a worker whose data ends first goes on with the others.

    Args:
      input_dataset: elements of Tensors and SparseTensors.
      world: devices of all workers, or None. This wheel has one process: one device, its own.
      rank: the place of this worker among them; None or 0.

    Raises:
      NotImplementedError: there is more than one device.
      TypeError: a component is neither a Tensor nor a SparseTensor.
      ValueError: `rank` is not a place in the world.
    """

    def __init__(self, input_dataset, world=None, rank=None):
        if world is not None and len(world) > 1:
            raise NotImplementedError(
                f"SyncReplicasDataset has one process in this wheel, got a world of {len(world)}: HybridBackend's collectives are not in it"
            )
        if rank is not None and not 0 <= rank < (1 if world is None else len(world)):
            raise ValueError(f"rank must be a place in a world of {1 if world is None else len(world)}, got {rank}")
        self._hooks = []
        spec = dataset_ops.get_structure(input_dataset)
        empty = nest.map_structure(_empty, spec)
        ends = tf.data.Dataset.from_tensors((tf.constant(1), empty)).repeat()
        marked = input_dataset.map(lambda *element: (tf.constant(0), _one(element))).concatenate(ends)

        # One element late: the mark is that of the next one.
        def look_ahead(previous, marked_element):
            should_stop, element = marked_element
            return element, (should_stop, previous)

        scanned = marked.apply(scan_ops.scan(nest.map_structure(_empty, spec), look_ahead))
        super().__init__(scanned.skip(1))

    def hooks(self) -> list:
        """Hooks for a monitored session, which end it after the step with the last element of each `sync` before."""
        return list(self._hooks)

    def sync(self, features=None):
        """The elements without their mark; `hooks` look at that.

        Args:
          features: `(should_stop, element)` of an iterator over this dataset; None: of a new one-shot iterator.

        Returns:
          The element.
        """
        if features is None:
            features = dataset_ops.make_one_shot_iterator(self).get_next()
        should_stop, element = features
        self._hooks.append(_StopHook(should_stop))
        return element


class _StopHook(tf.train.SessionRunHook):
    def __init__(self, should_stop):
        self._should_stop = should_stop

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._should_stop)

    def after_run(self, run_context, run_values):
        if run_values.results > 0:
            run_context.request_stop()


def _one(element: tuple):
    return element if len(element) > 1 else element[0]


def _empty(spec):
    """An element without rows."""
    if isinstance(spec, tf.SparseTensorSpec):
        rank = spec.shape.rank
        if rank is None:
            raise TypeError(f"an element must have SparseTensors of known rank, got {spec}")
        dims = [0] + [0 if d is None else d for d in spec.shape.as_list()[1:]]
        return tf.SparseTensor(tf.zeros([0, rank], tf.int64), tf.zeros([0], spec.dtype), tf.constant(dims, tf.int64))
    if not isinstance(spec, tf.TensorSpec):
        raise TypeError(f"an element must be of Tensors and SparseTensors, got {spec}")
    if spec.shape.rank is None:
        raise TypeError(f"an element must have Tensors of known rank, got {spec}")
    if spec.shape.rank == 0:
        return tf.zeros([], spec.dtype)
    return tf.zeros([0] + [0 if d is None else d for d in spec.shape.as_list()[1:]], spec.dtype)
