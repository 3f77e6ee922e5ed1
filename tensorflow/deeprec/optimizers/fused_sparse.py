"""What the optimizers of this folder share: when a sparse gradient may become one op, and how it is marked."""

import contextlib

from tensorflow.core.framework import attr_value_pb2
from tensorflow.deeprec import settings
from tensorflow.python.eager import context
from tensorflow.python.framework import dtypes
from tensorflow.python.framework import ops
from tensorflow.python.ops import math_ops

_DTYPES = frozenset([dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64])

# Tells our kernels that equal indices are still to be summed. Private to the node, so a graph stays loadable where
# the kernels are not; there it must not be trained, see docs/notes/sparse-apply.md.
_SUM_DUPLICATES = "_sum_duplicates"


def supported(op: str, var, anywhere: bool = False) -> bool:
    """Whether the gradient of `var` may go to our kernel of `op`.

    Args:
      op: name of the op.
      var: the variable, of any dtype.
      anywhere: whether eager execution counts too; else only graphs and functions do.
    """
    return (
        (anywhere or not context.executing_eagerly())
        and var.dtype.base_dtype in _DTYPES
        and settings.kernels_enabled(op)
    )


def keeps_methods(optimizer, cls: type, *names: str) -> bool:
    """Whether `optimizer` still has the methods of `cls`, none overridden by a subclass, mixin or assignment."""
    return all(getattr(getattr(optimizer, name), "__func__", None) is getattr(cls, name) for name in names)


@contextlib.contextmanager
def summing_duplicates(op: str):
    """Marks the nodes of type `op` made within: duplicate indices are summed in the kernel."""

    def mark(node_def):
        return attr_value_pb2.AttrValue(b=True) if node_def.op == op else None

    with ops.get_default_graph()._attr_scope({_SUM_DUPLICATES: mark}):  # pylint: disable=protected-access
        yield


class SumsDuplicatesInKernel:
    """Mixin before a released optimizer whose sparse step is one op with a kernel of ours.

    The released base class makes indices unique in the graph, then calls `_apply_sparse`. Here the indices go to
    `_apply_sparse` as they are, and the node is marked. A subclass with its own `_apply_sparse` was written for
    unique indices, so it gets them: by the released way.
    """

    released_class: type

    def _sparse_op(self) -> str:
        """Returns the name of the op for reference variables; the other is this with `Resource` in front."""
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(self, grad, var):
        op = self._sparse_op()
        if not (supported(op, var) and keeps_methods(self, self.released_class, "_apply_sparse")):
            return super()._apply_sparse_duplicate_indices(grad, var)
        with summing_duplicates(op):
            return self._apply_sparse(grad, var)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        op = "Resource" + self._sparse_op()
        if not (supported(op, handle) and keeps_methods(self, self.released_class, "_resource_apply_sparse")):
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)
        with summing_duplicates(op):
            return self._resource_apply_sparse(grad, handle, indices)


def scalar(tensor, var):
    """A hyper-parameter as our own ops take it: float32 for variables of 16 bits, where beta2 = 0.999 may be 1, else of the
    variable's dtype."""
    dtype = var.dtype.base_dtype
    return math_ops.cast(tensor, dtypes.float32 if dtype.size == 2 else dtype)


def handles(inputs: dict) -> dict:
    """The inputs of an op by name, with the handles of resource variables in their place."""
    return {name: value.handle if hasattr(value, "handle") else value for name, value in inputs.items()}


class OpSumsDuplicates:
    """Mixin before `Optimizer` for one whose own ops sum the gradients of equal indices.

    A subclass that overrides `_apply_sparse` or `_resource_apply_sparse` was written for unique indices, and gets them.
    """

    def _apply_sparse_duplicate_indices(self, grad, var):
        if _is_overridden(self, "_apply_sparse"):
            return super()._apply_sparse_duplicate_indices(grad, var)
        return self._apply_sparse(grad, var)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        if _is_overridden(self, "_resource_apply_sparse"):
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)
        return self._resource_apply_sparse(grad, handle, indices)


def _is_overridden(optimizer, name: str) -> bool:
    """Whether the method is not that of the class below the mixin that has it first."""
    own = [cls for cls in type(optimizer).__mro__ if issubclass(cls, OpSumsDuplicates) and name in vars(cls)]
    return not keeps_methods(optimizer, own[-1], name)
