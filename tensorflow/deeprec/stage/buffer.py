"""The ops of one stage in the graph."""

import dataclasses

import numpy as np
from tensorflow.deeprec import library
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, control_flow_ops


@dataclasses.dataclass(frozen=True)
class BufferOptions:
    """What all ops of a stage agree on.

    Raises:
      TypeError, ValueError: an argument is no positive number.
    """

    name: str
    capacity: int = 1
    num_clients: int = 1
    timeout_millis: int = 300000

    def __post_init__(self):
        for argument in ("capacity", "num_clients", "timeout_millis"):
            positive(argument, getattr(self, argument))


def positive(argument: str, value) -> int:
    """The value, if it is a whole number of at least 1.

    Raises:
      TypeError, ValueError: it is none.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{argument} must be a whole number, got {value!r}")
    if value < 1:
        raise ValueError(f"{argument} must be at least 1, got {value}")
    return value


def boolean(argument: str, value) -> bool:
    """The value, if it is a bool, or a number for one.

    Raises:
      TypeError: it is none.
    """
    if not isinstance(value, (int, np.bool_)):
        raise TypeError(f"{argument} must be a bool, got {value!r}")
    return bool(value)


class Buffer:
    """Makes the ops on the buffer of a stage; all of them where an op without a reason goes (the worker, not a server)."""

    def __init__(self, options: BufferOptions):
        """To be called in the name scope of the stage."""
        self.options = options
        with ops.control_dependencies(None):
            self._device = control_flow_ops.no_op(name="device").device

    def _shared(self) -> dict:
        return {"shared_name": self.options.name, "shared_capacity": self.options.capacity}

    def put(self, tensors: list) -> ops.Operation:
        """The op that adds a record of these tensors."""
        with ops.control_dependencies(None), ops.device(self._device):
            return library.ops().tensor_buffer_put(
                tensors, timeout_millis=self.options.timeout_millis, name="put", **self._shared()
            )

    def take(self, like: list) -> list:
        """Outputs of the op that takes a record, with the dtypes and static shapes of the tensors `like`."""
        with ops.device(self._device):
            return library.ops().tensor_buffer_take(
                dtypes=[tensor.dtype.base_dtype for tensor in like],
                shapes=[tensor.shape for tensor in like],
                shared_threads=self.options.num_clients,
                timeout_millis=self.options.timeout_millis,
                name="take",
                **self._shared(),
            )

    def controls(self) -> dict:
        """The ops that steer the buffer: size (its output), cancel, resume, close, fail, and the inputs of fail."""
        generated, shared = library.ops(), self._shared()
        with ops.control_dependencies(None), ops.device(self._device):
            code = array_ops.placeholder(dtypes.int32, [], name="fail_code")
            message = array_ops.placeholder(dtypes.string, [], name="fail_message")
            return {
                "size": generated.tensor_buffer_size(name="size", **shared),
                "cancel": generated.tensor_buffer_cancel(name="cancel", **shared),
                "resume": generated.tensor_buffer_cancel(is_cancelled=False, name="resume", **shared),
                "close": generated.tensor_buffer_close(name="close", **shared),
                "fail": generated.tensor_buffer_fail(code, message, name="fail", **shared),
                "fail_code": code,
                "fail_message": message,
            }
