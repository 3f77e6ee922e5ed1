"""Strategies for `tf.train.replica_device_setter`: which parameter server gets a variable."""

import hashlib

import numpy as np

from tensorflow.python.framework import tensor_shape

__all__ = ["GreedyLoadBalancingStrategy", "RandomStrategy", "byte_size_load_fn"]


class RandomStrategy:
    """A task by a hash of the op's name: the same in every run.

    Args:
      num_ps_tasks: number of parameter servers.
      seed: int; another one gives another placement.
    """

    def __init__(self, num_ps_tasks, seed=0):
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op):
        """Index of the task for an op."""
        # MD5, as Python's own hash differs from run to run.
        digest = hashlib.md5(f"{op.name}_{self._seed}".encode()).hexdigest()
        return int(digest, 16) % self._num_tasks


class GreedyLoadBalancingStrategy:
    """The task with the least load so far.

    Args:
      num_tasks: number of parameter servers.
      load_fn: function of an op, its load, such as `byte_size_load_fn`.
    """

    def __init__(self, num_tasks, load_fn):
        self._num_tasks = num_tasks
        self._load_fn = load_fn
        self._ps_loads = np.zeros(num_tasks)

    def __call__(self, op):
        """Index of the task for an op; adds the op's load to it."""
        task = int(np.argmin(self._ps_loads))
        self._ps_loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op):
    """Bytes of an op's output.

    Raises:
      ValueError: if the op has not one output, or its shape is not known.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op.name} must have a single output, got {len(op.outputs)}")
    output = op.outputs[0]
    shape, dtype = output.get_shape(), output.dtype
    if op.type == "VarHandleOp":
        # The output is a handle; the attributes tell about the variable.
        shape, dtype = tensor_shape.TensorShape(op.get_attr("shape")), op.get_attr("dtype")
    elif not shape.is_fully_defined():
        shape = tensor_shape.TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return shape.num_elements() * dtype.size
