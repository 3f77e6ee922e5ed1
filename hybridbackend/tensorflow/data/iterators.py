"""Iterators: those of tf.data, and one with a buffer of its own behind them."""

import tensorflow as tf
from tensorflow.deeprec.stage import hook, runner
from tensorflow.python.data.ops import dataset_ops, iterator_ops


def make_one_shot_iterator(dataset):
    """An iterator over a dataset, on the processor."""
    with tf.device("/cpu:0"):
        return dataset_ops.make_one_shot_iterator(dataset)


def make_initializable_iterator(dataset):
    """An iterator that its `initializer` starts, on the processor."""
    with tf.device("/cpu:0"):
        return dataset_ops.make_initializable_iterator(dataset)


# Of 0.5.
make_iterator = make_one_shot_iterator


class Iterator:
    """Elements that threads compute ahead of the step, in a bounded buffer: a stage (`tf.staged`).

    Args:
      inputs: an iterator, or a nest of Tensors, SparseTensors and None.
      capacity: elements in the buffer.
      num_runners: threads that fill it.
      num_takers: takers in one step.
      closed_exception_types: errors that end it; None: OutOfRangeError and StopIteration. What is in the buffer is given before.
      ignored_exception_types: errors that a thread goes on after.

    Raises:
      TypeError, ValueError: an argument does not fit; there is nothing to compute.
    """

    class Hook(hook.PrefetchHook):
        """Starts the threads of every Iterator in monitored sessions."""

        def __init__(self):
            super().__init__(daemon=True, start=True)

    def __init__(
        self,
        inputs,
        capacity=1,
        num_runners=1,
        num_takers=1,
        closed_exception_types=None,
        ignored_exception_types=None,
    ):
        if isinstance(inputs, (iterator_ops.Iterator, iterator_ops.IteratorBase)):
            inputs = inputs.get_next()
        self._closed = closed_exception_types or (tf.errors.OutOfRangeError, StopIteration)
        flat = tf.nest.flatten(inputs)
        if all(item is None for item in flat):
            raise ValueError(f"inputs must have at least one Tensor, got {inputs!r}")
        staged = iter(
            tf.staged(
                [item for item in flat if item is not None],
                capacity=capacity,
                num_threads=num_runners,
                num_clients=num_takers,
                closed_exception_types=self._closed,
                ignored_exception_types=ignored_exception_types or (),
            )
        )
        self._element = tf.nest.pack_sequence_as(inputs, [None if item is None else next(staged) for item in flat])
        self._runner = tf.get_collection(runner.PREFETCH)[-1]

    name = property(lambda self: self._runner.name, doc="Of the stage.")
    num_runners = property(lambda self: len(self._runner.put_ops), doc="Threads that fill the buffer.")
    closed_exception_types = property(lambda self: self._closed, doc="Errors that end it.")
    exceptions_raised = property(
        lambda self: list(self._runner.exceptions_raised), doc="Other errors of its threads, which steps raise too."
    )

    def get_next(self):
        """The element of a step, in the structure of `inputs`."""
        return self._element

    def create_threads(self, sess, coord=None, daemon=True, start=True) -> list:
        """Makes the threads that fill the buffer in a session; see PrefetchRunner.create_threads."""
        return self._runner.create_threads(sess, coord=coord, daemon=daemon, start=start)

    @classmethod
    def start(cls, sess, coord=None) -> list:
        """Starts the threads of every Iterator of the session's graph."""
        return [
            thread
            for stage in sess.graph.get_collection(runner.PREFETCH)
            for thread in stage.create_threads(sess, coord=coord, daemon=True, start=True)
        ]
