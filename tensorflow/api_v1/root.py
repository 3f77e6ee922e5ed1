"""The 1.x root: `tensorflow._api.v2.compat.v1` presented as `tensorflow`.

The released package carries the whole 1.x namespace below `tf.compat.v1`. Here it becomes the root, in the state in
which 1.x ran: graph mode, reference variables, Keras 2. Only what differs from that namespace is written down.
"""

import importlib
import os
import sys
import types

from tensorflow.api_v1 import import_aliases

_NAMESPACE = "tensorflow._api.v2.compat.v1"


def populate(module: types.ModuleType) -> None:
    """Fills the `tensorflow` package with the 1.x API.

    Args:
      module: the `tensorflow` package, as it is while its `__init__` runs.
    """
    # Switches that the runtime's Python reads while it loads; nothing has to be turned off afterwards.
    os.environ["TF2_BEHAVIOR"] = "0"
    from tensorflow.deeprec.config import fields

    fields.install()
    from tensorflow.python import pywrap_tensorflow  # noqa: F401 (loads the runtime)
    from tensorflow.python import tf2

    tf2.disable()

    from tensorflow.api_v1 import one_keras

    with one_keras.without_the_copy():
        namespace = importlib.import_module(_NAMESPACE)
    _load_kernels()
    _install_deeprec()
    from tensorflow.deeprec import batch_norm
    from tensorflow.api_v1 import (
        checkpoints,
        class_members,
        debug_sessions,
        deprecations,
        error_texts,
        feature_columns,
        interleave_cycles,
        keras_defaults,
        keras_optimizers,
        keras_values,
        old_arguments,
        op_seeds,
        session_options,
    )

    deprecations.install()
    old_arguments.install(namespace)
    class_members.install()
    op_seeds.install(batch_norm.replacements())
    keras_values.install()
    keras_defaults.install()
    interleave_cycles.install()
    feature_columns.install()
    checkpoints.install()
    error_texts.install()
    session_options.install()
    debug_sessions.install()
    keras_optimizers.install()
    _copy_public_names(namespace, module)
    _alias_submodules()
    from tensorflow.api_v1 import (
        keras_2,
        lazy_parts,
        moved_names,
        python_habits,
        standalone_keras,
        version_gates,
        versions,
    )

    keras_2.install(module, namespace)
    lazy_parts.install(module, namespace)
    versions.install(module, namespace)
    version_gates.install()
    moved_names.install()
    standalone_keras.install()
    python_habits.install()
    _load_plugins()


def _load_kernels() -> None:
    from tensorflow.deeprec import library

    library.load()


def _install_deeprec() -> None:
    from tensorflow.deeprec import (
        data,
        embedding,
        incremental,
        keep_weights,
        marks,
        ops,
        optimizers,
        recurrent,
        run_plans,
        stage,
        xla,
    )
    from tensorflow.deeprec.config import effects

    data.install()
    embedding.install()
    incremental.install()
    keep_weights.install()
    ops.install()
    marks.install()
    recurrent.install()
    optimizers.install()
    xla.install()
    effects.install()
    stage.install()
    run_plans.install()


def _copy_public_names(namespace: types.ModuleType, module: types.ModuleType) -> None:
    for name, value in vars(namespace).items():
        if not name.startswith("_"):
            # Assigned even where a name is there: importing `tensorflow.python` and the like has left submodules of the
            # package behind, and `tf.distribute` must be the API, not the folder of that name.
            setattr(module, name, value)
    # `tf.compat.v1.compat` knows only a part of itself; 1.15's `tf.compat` reaches the whole of both.
    module.compat = sys.modules["tensorflow._api.v2.compat"]
    for name in ("__compiler_version__", "__cxx11_abi_flag__", "__git_version__", "__monolithic_build__"):
        setattr(module, name, getattr(namespace, name))


def _alias_submodules() -> None:
    """Makes `import tensorflow.nn` mean the module that `tf.nn` is, for each part of the API."""
    prefixes = {
        _NAMESPACE + ".": "tensorflow.",
        "tensorflow._api.v2.compat.": "tensorflow.compat.",
    }
    for name, part in list(sys.modules.items()):
        for prefix, short in prefixes.items():
            # What import_aliases serves is skipped: some of it is in the namespace too, but with other classes.
            if name.startswith(prefix) and not name.startswith(_NAMESPACE + ".compat."):
                alias = short + name[len(prefix) :]
                if import_aliases.real_name(alias) is None:
                    sys.modules[alias] = part
                    _add_folder(part, alias)
    sys.modules["tensorflow.compat"] = sys.modules["tensorflow._api.v2.compat"]


def _add_folder(part: types.ModuleType, name: str) -> None:
    """Lets `tensorflow.lite.python...` be found: some folders of the package share the name of a part of the API."""
    folder = os.path.join(os.path.dirname(sys.modules["tensorflow"].__file__), *name.split(".")[1:])
    if hasattr(part, "__path__") and folder not in part.__path__ and os.path.isdir(folder):
        part.__path__.append(folder)
        for child in os.listdir(folder):
            # Loaded before, below the folder's own module.
            if f"{name}.{child}" in sys.modules and not hasattr(part, child):
                setattr(part, child, sys.modules[f"{name}.{child}"])


def _load_plugins() -> None:
    """Loads kernel libraries and devices that other packages put into site-packages/tensorflow-plugins."""
    from tensorflow.python.framework import load_library

    for folder in sys.path:
        plugins = os.path.join(folder, "tensorflow-plugins")
        if folder.endswith("site-packages") and os.path.isdir(plugins):
            load_library.load_library(plugins)
            load_library.load_pluggable_device_library(plugins)
