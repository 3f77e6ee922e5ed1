"""`init`, and what it sets up."""

import tensorflow as tf

from sparse_operation_kit import transports

_TOOLS = ("horovod", "single")
_state = {"transport": None, "tool": None}


def set_comm_tool(tool: str = "horovod") -> None:
    """Chooses what moves data between processes; `init` does it too.

    Args:
      tool: "horovod", or "single" for one process that is on its own whoever started it.

    Raises:
      ValueError: another tool.
      RuntimeError: after `init`.
    """
    if tool not in _TOOLS:
        raise ValueError(f"comm_tool must be one of {', '.join(_TOOLS)}, got {tool!r}")
    if _state["transport"] is not None:
        raise RuntimeError("set_comm_tool must be called before sok.init()")
    _state["tool"] = tool


def init(comm_tool: str = "horovod", use_legacy_optimizer: bool = True) -> None:
    """Sets the library up; all other calls come after it.

    Args:
      comm_tool: "horovod": the processes of horovodrun, after `hvd.init()`; without a launcher, and if the program has not
        imported Horovod, one process. "single": one process.
      use_legacy_optimizer: whether `tf.keras.optimizers` and `tf.optimizers` become their `legacy` namespaces, whose classes
        `OptimizerWrapper` takes. The 1.x root has them there anyway.

    Raises:
      RuntimeError: called a second time, or Horovod is not initialized.
      ImportError: Horovod is needed and missing.
      ValueError: another comm_tool.
    """
    if _state["transport"] is not None:
        raise RuntimeError("sok.init() must be called once")
    set_comm_tool(comm_tool)
    horovod = comm_tool == "horovod" and transports.horovod_is_meant()
    _state["transport"] = transports.Horovod() if horovod else transports.SingleProcess()
    if use_legacy_optimizer:
        _use_legacy_optimizers()


def transport():
    """What `init` has chosen.

    Raises:
      RuntimeError: before `init`.
    """
    if _state["transport"] is None:
        raise RuntimeError("sok.init() must be called first")
    return _state["transport"]


def _use_legacy_optimizers() -> None:
    legacy = getattr(tf.keras.optimizers, "legacy", None)
    if legacy is None or not hasattr(legacy, "Adam"):
        return
    if tf.__version__.startswith("1."):
        # Adam and the others are the legacy classes already.
        return
    if not hasattr(legacy, "schedules"):
        legacy.schedules = tf.keras.optimizers.schedules
    legacy.legacy = legacy
    # Programs name it through the module, `from tensorflow import keras` included.
    tf.keras.optimizers = legacy
    tf.optimizers = legacy
