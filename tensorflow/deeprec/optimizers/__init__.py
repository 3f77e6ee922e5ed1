"""The sparse optimizers on this wheel's kernels.

Most modules hold a subclass of the released optimizer of the same name. Dense gradients, slots, variable names and
checkpoints are the released ones; sparse gradients become one op that sums duplicate indices itself. The modules of
DeepRec's own optimizers (adagrad_decay, adagrad_decay_v2, adam_async, weight_decay_optimizers) are loaded when they are
used: api_v1/old_paths names them.
"""

import importlib
import sys
import types

# Module here and in tensorflow.python.training, class.
_CLASSES = (
    ("adagrad", "AdagradOptimizer"),
    ("adam", "AdamOptimizer"),
    ("ftrl", "FtrlOptimizer"),
    ("gradient_descent", "GradientDescentOptimizer"),
    ("momentum", "MomentumOptimizer"),
    ("rmsprop", "RMSPropOptimizer"),
)


def install() -> None:
    """Puts our classes where programs find the released ones.

    That is the module that defines each, and every module of `tensorflow` loaded so far that holds it under its
    name, so that `tf.train.AdamOptimizer is tensorflow.python.training.adam.AdamOptimizer`. Modules loaded later
    take it from the defining one. A second call changes nothing.
    """
    replacements = {}
    for module_name, class_name in _CLASSES:
        ours = getattr(importlib.import_module(f"{__name__}.{module_name}"), class_name)
        released = ours.released_class
        _bind_own_name(released)
        replacements[class_name] = (released, ours)
    for module_name, module in list(sys.modules.items()):
        # Our own modules name the released classes as what they build on.
        if not module_name.startswith("tensorflow.") or module_name.startswith(__name__):
            continue
        names = getattr(module, "__dict__", {})
        for class_name, (released, ours) in replacements.items():
            if names.get(class_name) is released:
                setattr(module, class_name, ours)


def _bind_own_name(released: type) -> None:
    """Lets the released class go on finding itself under a name of its own.

    Its constructor says `super(AdamOptimizer, self)` or the like, and looks the name up in its module at every
    call. With our class there, the constructor would call itself without end.
    """
    name, own_name = released.__name__, f"_released_{released.__name__}"
    setattr(sys.modules[released.__module__], own_name, released)
    for function in vars(released).values():
        if isinstance(function, types.FunctionType) and name in function.__code__.co_names:
            function.__code__ = function.__code__.replace(
                co_names=tuple(own_name if n == name else n for n in function.__code__.co_names)
            )
