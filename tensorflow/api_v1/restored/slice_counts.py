"""How many ops fewer or more 1.15 built for `x[i:j, k]` with tensors among the bounds, for the op seeds (`op_seeds`)."""

import functools

from tensorflow.api_v1.restored.op_counts import add_missing
from tensorflow.python.eager import context
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.framework import tensor as tensor_lib


def _is_tensor(value) -> bool:
    return isinstance(value, tensor_lib.Tensor)


def _packed(parts) -> int:
    """Ops that pack begins, ends and strides, and that cast what is not int64 where another part is.

    A list of numbers is one constant; one with tensors has a constant for each number, and the packing.
    """
    tensors = [sum(map(_is_tensor, part)) for part in parts]
    wide = [any(_is_tensor(v) and v.dtype == dtypes.int64 for v in part) for part in parts]
    casts = wide.count(False) if any(wide) else 0
    return casts + sum(1 if not n else len(part) - n + 1 for part, n in zip(parts, tensors))


def missing(spec) -> int:
    """1.15's ops for a slice less the runtime's.

    The runtime makes constants of the bounds that are left out where another one is a tensor, and of the stride of an int64
    index; 1.15 left numbers, and cast what was packed of numbers alone if another part was int64.
    """
    spec = spec if isinstance(spec, (list, tuple)) else [spec]
    old, new, made = ([], [], []), ([], [], []), 0
    for item in spec:
        if isinstance(item, slice):
            bounds = (item.start, item.stop, item.step)
            tensor = next(filter(_is_tensor, bounds), None)
            for bound, before, now in zip(bounds, old, new):
                before.append(0 if bound is None else bound)
                made += bound is None and tensor is not None
                now.append((tensor if tensor is not None else 0) if bound is None else bound)
        elif _is_tensor(item):
            stride = item.dtype in (dtypes.int16, dtypes.int64)
            made += stride
            for parts, step in ((old, 1), (new, item if stride else 1)):
                for part, value in zip(parts, (item, item, step)):
                    part.append(value)
        else:
            for part in (*old, *new):
                part.append(0)
    return _packed(old) - _packed(new) - made


def install() -> None:
    """Wraps the indexing of tensors."""
    released = tensor_lib.Tensor.__getitem__

    @functools.wraps(released)
    def getitem(self, spec, *rest):
        items = spec if isinstance(spec, (list, tuple)) else (spec,)
        for item in items:
            bounds = (item.start, item.stop, item.step) if isinstance(item, slice) else (item,)
            # Masks take another way.
            if any(_is_tensor(b) and b.dtype != dtypes.bool for b in bounds) and not context.executing_eagerly():
                add_missing(ops.get_default_graph(), missing(spec))
                break
        return released(self, spec, *rest)

    tensor_lib.Tensor.__getitem__ = getitem
