"""`tf.contrib` and `tf.estimator`: loaded at first use, so that `import tensorflow` does not pay for them."""

import importlib
import sys
import types

# Attribute of the root -> module that implements it.
_PARTS = {
    "contrib": "tensorflow.contrib",
    "estimator": "tensorflow.estimator",
}


class LazyPart(types.ModuleType):
    """A module that is imported when one of its attributes is first read."""

    def __init__(self, name: str, target: str):
        super().__init__(name)
        self.__dict__["_target"] = target

    def _load(self) -> types.ModuleType:
        return importlib.import_module(self.__dict__["_target"])

    def __getattr__(self, item):
        if item.startswith("__") and item.endswith("__"):
            # inspect, pickle and doctest probe modules for these; a probe must not load anything.
            raise AttributeError(f"module {self.__name__!r} has no attribute {item!r}")
        return getattr(self._load(), item)

    def __dir__(self):
        return dir(self._load())

    def __repr__(self):
        return f"<lazily loaded module {self.__name__!r}>"


def install(module: types.ModuleType, namespace: types.ModuleType) -> None:
    """Puts the lazy modules onto the root and onto `tf.compat.v1`, which had them too in 1.15."""
    for name, target in _PARTS.items():
        part = LazyPart(f"tensorflow.{name}", target)
        for owner in (module, namespace):
            setattr(owner, name, part)
    v2 = sys.modules["tensorflow._api.v2.compat.v2"]
    v2.estimator = LazyPart("tensorflow.compat.v2.estimator", "tensorflow.api_v1.restored.estimator_v2")
