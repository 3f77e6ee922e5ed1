"""Deprecation notices as in 1.15: those that came later are left out, and Keras 2's go through TensorFlow's log.

1.15 did deprecate `tf.layers`, `tf.nn.rnn_cell` and `dynamic_rnn`, each in one line of the log for each function. Keras 2 says the
same with Python warnings, which neither `tf.logging.set_verbosity` nor 1.15's own switch turns off, and which stop programs that
run with `-W error`.
"""

import re
import sys
import types
import warnings

from tensorflow.api_v1 import import_hooks

# How the instructions of notices begin that 1.15 did not print.
_LATER_INSTRUCTIONS = (
    "Use Keras preprocessing layers instead",
    "Use `tf.keras.layers.experimental.preprocessing.HashedCrossing`",
    *(
        f"Use `tf.data.Dataset.{name}"
        for name in (
            "bucket_by_sequence_length(",
            "choose_from_datasets(",
            "counter(",
            "get_single_element(",
            "group_by_window(",
            "ignore_errors`",
            "map(tf.io.parse_example(",
            "random(",
            "rejection_resample(",
            "sample_from_datasets(",
            "scan(",
            "sparse_batch`",
            "take_while(",
            "unique(",
        )
    ),
    "Use `tf.data.Iterator.get_next_as_optional()`",
    "To write TFRecords to disk, use",
    "`make_saveable_from_iterator` is intended for use in TF1",
    "Use output_signature instead",
    "Use fn_output_signature instead",
    "Use `tf.config.list_physical_devices('GPU')` instead.",
    "Use `tf.config.run_functions_eagerly` instead of the experimental version.",
    "The `validate_indices` argument has no effect.",
    "A variable's value can be manually cached",
    "Use ref() instead.",
    "This function is deprecated and we do not expect adding",
    "xla.experimental.compile is deprecated.",
    "experimental_relax_shapes is deprecated",
    "Use tf.keras.mixed_precision.LossScaleOptimizer instead.",
    "use distribute.MultiWorkerMirroredStrategy instead",
    "rename to distribute_datasets_from_function",
)
# How Python warnings begin that 1.15 did not print.
_LATER_WARNINGS = (
    "`layer.updates` will be removed",
    "`Model.state_updates` will be removed",
    "`model.fit_generator` is deprecated",
    "`Model.fit_generator` is deprecated",
    "`Model.evaluate_generator` is deprecated",
    "`Model.predict_generator` is deprecated",
    "`tf.keras.backend.set_learning_phase` is deprecated",
    "`tf.keras.backend.learning_phase_scope` is deprecated",
    "`tf.keras.backend.random_binomial` is deprecated",
    "The `lr` argument is deprecated",
    "You are saving your model as an HDF5 file",
    "To make it possible to preserve tf.data options across serialization boundaries",
)
_RENAMED_RESET = "implements a `reset_states()` method; rename it"
# A notice of Keras 2 that 1.15 had: name, instructions.
_NOTICE = re.compile(
    r"`(?P<name>[\w.]+)` is deprecated and will be removed in a future version\. ?(?P<instructions>.*)", re.S
)

_SRC = "tf_keras.src"
# Modules that warn, and what they were in 1.15.
_WARNING_MODULES = {
    "tensorflow.python.data.ops.dataset_ops": "tensorflow.python.data.ops.dataset_ops",
    f"{_SRC}.backend": "tensorflow.python.keras.backend",
    f"{_SRC}.engine.base_layer": "tensorflow.python.keras.engine.base_layer",
    f"{_SRC}.engine.base_layer_v1": "tensorflow.python.keras.engine.base_layer",
    f"{_SRC}.engine.training": "tensorflow.python.keras.engine.training",
    f"{_SRC}.engine.training_v1": "tensorflow.python.keras.engine.training",
    f"{_SRC}.layers.rnn.legacy_cells": "tensorflow.python.ops.rnn_cell_impl",
    f"{_SRC}.metrics.base_metric": "tensorflow.python.keras.metrics",
    f"{_SRC}.optimizers.legacy.optimizer_v2": "tensorflow.python.keras.optimizer_v2.optimizer_v2",
    f"{_SRC}.saving.saving_api": "tensorflow.python.keras.saving.save",
    **{
        f"{_SRC}.legacy_tf_layers.{name}": f"tensorflow.python.layers.{name}"
        for name in ("base", "convolutional", "core", "normalization", "pooling")
    },
}


def install() -> None:
    """Filters the notices of the runtime, and the warnings of modules as they load."""
    import_hooks.after_import("tensorflow.python.util.deprecation", _filter_log)
    for name in _WARNING_MODULES:
        import_hooks.after_import(name, _filter_warnings)


def _filter_log(module: types.ModuleType) -> None:
    released = module._log_deprecation

    def log(message, *args, **kwargs):
        if args and str(args[-1]).startswith(_LATER_INSTRUCTIONS):
            return
        # 1.15's own layers did not go through the deprecated name.
        if len(args) > 1 and args[1] == "_colocate_with" and "tf_keras" in str(args[0]):
            return
        released(message, *args, **kwargs)

    module._log_deprecation = log


def _filter_warnings(module: types.ModuleType) -> None:
    if getattr(module, "warnings", None) is warnings:
        module.warnings = _Warnings(_WARNING_MODULES[module.__name__])


class _Warnings:
    """Stands for the module `warnings` in one of these modules."""

    def __init__(self, old_module):
        self._old_module = old_module

    def __getattr__(self, name):
        return getattr(warnings, name)

    def warn(self, message, category=None, stacklevel=1, **kwargs):
        text = str(message)
        if text.startswith(_LATER_WARNINGS) or _RENAMED_RESET in text:
            return
        notice = _NOTICE.match(text)
        if notice is None:
            warnings.warn(message, category, stacklevel=stacklevel + 1, **kwargs)
        else:
            _log_once(notice["name"], self._old_module, notice["instructions"], sys._getframe(stacklevel))


def _log_once(name: str, module: str, instructions: str, caller: types.FrameType) -> None:
    from tensorflow.python.util import deprecation

    name = name.rpartition(".")[2] if name.startswith("tf.") else name
    key = (module, name)
    if deprecation._PRINT_DEPRECATION_WARNINGS and key not in deprecation._PRINTED_WARNING:
        deprecation._PRINTED_WARNING[key] = True
        deprecation._log_deprecation(
            "From %s: %s (from %s) is deprecated and will be removed %s.\nInstructions for updating:\n%s",
            f"{caller.f_code.co_filename}:{caller.f_lineno}",
            name,
            module,
            "in a future version",
            instructions,
        )
