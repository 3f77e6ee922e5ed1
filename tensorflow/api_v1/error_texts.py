"""Texts and classes of errors as in 1.15: the message comes first, and a corrupt checkpoint is a `DataLossError`."""

import os
import re

from tensorflow.api_v1 import import_hooks

_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_OURS = tuple(
    os.path.join(_PACKAGES, name) + os.sep for name in ("tensorflow", "tensorflow_estimator", "tf_keras", "tf_slim")
)
_HEADING = "Graph execution error:"
_NODE = re.compile(r"\{\{node ([^{}]*)\}\}")
# What the readers of tables and of tensor bundles say about files that are damaged.
_CORRUPT = re.compile(
    r"sstable|[Cc]hecksum|[Cc]orrupt|[Tt]runcated|bad block|bad entry|magic number|[Uu]nable to (read|parse|open table)|DATA_LOSS"
)


def install() -> None:
    import_hooks.after_import("tensorflow.python.framework.error_interpolation", _message_first)
    import_hooks.after_import("tensorflow.python.training.py_checkpoint_reader", _data_loss)


def _defined_at(graph, name):
    """`node NAME (defined at FILE:LINE)`, the line of the program that made the node."""
    try:
        frames = graph.get_operation_by_name(name).traceback or ()
    except (KeyError, ValueError):
        return f"node {name}"
    for frame in reversed(list(frames)):
        if not os.path.abspath(frame.filename).startswith(_OURS):
            return f"node {name} (defined at {frame.filename}:{frame.lineno}) "
    return f"node {name}"


def _message_first(module) -> None:
    released = module.interpolate_graph

    def interpolate_graph(message, graph):
        """The message, with the places where its nodes were made, then what the release says about the nodes."""
        text = released(message, graph)
        if text == message or not text.endswith(message):
            return text
        details = text[: -len(message)].strip()
        details = details.removeprefix(_HEADING).strip()
        first = _NODE.sub(lambda match: _defined_at(graph, match.group(1)), message)
        return f"{first}\n\n{details}" if details else first

    module.interpolate_graph = interpolate_graph


def _data_loss(module) -> None:
    released = module.error_translator

    def error_translator(error):
        """Raises the error of 1.15 for what the C++ reader raised."""
        text = str(error)
        if "Read less bytes than requested" in text:
            raise module.errors_impl.OutOfRangeError(None, None, text)
        if "not found in checkpoint" not in text and _CORRUPT.search(text):
            raise module.errors_impl.DataLossError(None, None, text)
        released(error)

    class CheckpointReader(module.CheckpointReader):
        """Reads the tensors of a checkpoint."""

        # The C++ reader's out-of-range becomes an IndexError, past the release's own translation.
        def __init__(self, *args, **kwargs):
            try:
                super().__init__(*args, **kwargs)
            except IndexError as error:
                error_translator(error)

        def get_tensor(self, tensor_str):
            """The value of a tensor, by its key."""
            try:
                return super().get_tensor(tensor_str)
            except IndexError as error:
                error_translator(error)

    CheckpointReader.__module__ = module.CheckpointReader.__module__
    module.error_translator = error_translator
    module.CheckpointReader = CheckpointReader
