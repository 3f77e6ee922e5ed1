"""Functions that see the outputs of every op that runs eagerly."""

import contextlib
import enum
import functools
import threading

import numpy as np

from tensorflow.python.framework import op_callbacks
from tensorflow.python.platform import tf_logging as logging


class ExecutionCallback(enum.Enum):
    """What a callback does when it finds something."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


class InfOrNanError(Exception):
    """An op gave an output that is not finite.

    Args:
      op_type: type of the op, as "MatMul".
      op_name: its name, or None.
      output_index: position of the output.
      num_outputs: number of the op's outputs.
      value: the output, an array.
    """

    def __init__(self, op_type, op_name, output_index, num_outputs, value):
        self.op_type, self.op_name = op_type, op_name
        self.output_index, self.num_outputs = output_index, num_outputs
        self.value = value
        infinite, nan = int(np.isinf(value).sum()), int(np.isnan(value).sum())
        super().__init__(
            f"Output {output_index} of {num_outputs} of op {op_type} (name: {op_name}, shape: {value.shape}) has "
            f"{infinite} inf and {nan} nan among {value.size} elements"
        )


# As the core's callbacks, those of a thread see the ops of that thread.
_local = threading.local()


def _callbacks():
    if not hasattr(_local, "callbacks"):
        _local.callbacks = []
    return _local.callbacks


def _dispatch(op_type, inputs, attrs, outputs, op_name=None, graph=None):
    # The core also reports ops that are added to graphs: nothing has run there.
    if graph is None:
        for callback in list(_callbacks()):
            callback(op_type, inputs, attrs, outputs, op_name)
    return outputs


def _set(callbacks):
    had = bool(_callbacks())
    _callbacks()[:] = callbacks
    if callbacks and not had:
        op_callbacks.add_op_callback(_dispatch)
    elif had and not callbacks:
        op_callbacks.remove_op_callback(_dispatch)


def add_execution_callback(callback):
    """Calls a function after each op of this thread that runs eagerly.

    Args:
      callback: function of (op_type, inputs, attrs, outputs, op_name): a string, the input tensors, a tuple of names and
        values in turn, the output tensors, and a string or None. Its result is ignored. Functions are called in the
        order in which they were added; ops that they run are not reported.
    """
    if not callable(callback):
        raise TypeError(f"callback must be a function, got {callback!r}")
    _set([*_callbacks(), callback])


def clear_execution_callbacks():
    """Removes all of this thread's callbacks, those of `seterr` too."""
    _set([])


def inf_nan_callback(
    op_type, inputs, attrs, outputs, op_name, check_inf=True, check_nan=True, action=ExecutionCallback.RAISE
):
    """Callback that looks for infinite values and values that are not numbers.

    Args:
      op_type, inputs, attrs, outputs, op_name: see `add_execution_callback`.
      check_inf: whether it looks for infinite values.
      check_nan: whether it looks for values that are not numbers.
      action: an `ExecutionCallback` or its value.

    Raises:
      InfOrNanError: it found one and the action is RAISE.
      ValueError: `action` is unknown.
    """
    del inputs, attrs
    action = ExecutionCallback(action)
    if action is ExecutionCallback.IGNORE:
        return
    for index, output in enumerate(outputs):
        if not (output.dtype.is_floating or output.dtype.is_complex):
            continue
        value = np.asarray(output.numpy())
        if value.dtype.kind not in "fc":
            # bfloat16 and the like are not NumPy's own.
            value = value.astype(np.float32)
        if not ((check_inf and np.isinf(value).any()) or (check_nan and np.isnan(value).any())):
            continue
        error = InfOrNanError(op_type, op_name, index, len(outputs), value)
        if action is ExecutionCallback.RAISE:
            raise error
        if action is ExecutionCallback.WARN:
            logging.warning("%s", error)
        else:
            print(f"Warning: {error}")


def inf_callback(op_type, inputs, attrs, outputs, op_name, action=ExecutionCallback.RAISE):
    """`inf_nan_callback` for infinite values alone."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_nan=False, action=action)


def nan_callback(op_type, inputs, attrs, outputs, op_name, action=ExecutionCallback.RAISE):
    """`inf_nan_callback` for values that are not numbers alone."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_inf=False, action=action)


def seterr(inf_or_nan=None):
    """What happens when an op gives a value that is not finite.

    Args:
      inf_or_nan: an `ExecutionCallback` or its value; None leaves things as they are.

    Returns:
      dict: "inf_or_nan" -> the `ExecutionCallback` of before, IGNORE at first.

    Raises:
      ValueError: `inf_or_nan` is unknown.
    """
    new = None if inf_or_nan is None else ExecutionCallback(inf_or_nan)
    old, others = ExecutionCallback.IGNORE, []
    for callback in _callbacks():
        if callback is inf_nan_callback:
            old = ExecutionCallback.RAISE
        elif isinstance(callback, functools.partial) and callback.func is inf_nan_callback:
            old = ExecutionCallback(callback.keywords.get("action", ExecutionCallback.RAISE))
        else:
            others.append(callback)
    if new is not None:
        if new is not ExecutionCallback.IGNORE:
            others.append(functools.partial(inf_nan_callback, action=new))
        _set(others)
    return {"inf_or_nan": old}


@contextlib.contextmanager
def errstate(inf_or_nan=None):
    """Context in which `seterr(inf_or_nan)` holds."""
    old = seterr(inf_or_nan=inf_or_nan)
    try:
        yield
    finally:
        if inf_or_nan is not None:
            seterr(**old)
