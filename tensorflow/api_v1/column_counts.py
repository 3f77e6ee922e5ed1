"""The layers of `tf.feature_column.linear_model` make resource variables, as those of a Keras model did in 1.15: op seeds count their ops."""

import functools

from tensorflow.api_v1 import import_hooks


def install() -> None:
    import_hooks.after_import("tensorflow.python.feature_column.feature_column", _resource_variables)


def _resource_variables(module) -> None:
    for cls in (module._FCLinearWrapper, module._BiasLayer):
        cls.__init__ = _with_resources(cls.__init__)


def _with_resources(released):
    @functools.wraps(released)
    def init(self, *args, **kwargs):
        released(self, *args, **kwargs)
        self._use_resource_variables = True

    return init
