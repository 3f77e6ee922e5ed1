"""`hb.context.options`: values by name, each with a default that an environment variable may change."""

import os

from tensorflow.python.framework import dtypes

_TRUE, _FALSE = ("TRUE", "YES", "1"), ("FALSE", "NO", "0")


class DictOption:
    """A value for each name: opt["a"], opt[["a", "b"]]: that of the first name that has one; else that of "*"."""

    def __init__(self, default, items=None):
        self._items = {"*": default, **(items or {})}

    def __getitem__(self, names):
        for name in names if isinstance(names, (list, tuple)) else [names]:
            if name in self._items:
                return self._items[name]
        return self._items["*"]


def _bool(text):
    if isinstance(text, bool):
        return text
    if isinstance(text, str):
        if text.upper() in _TRUE + _FALSE:
            return text.upper() in _TRUE
        text = int(text)
    if isinstance(text, int):
        return text != 0
    raise ValueError(f"a bool is expected, got {text!r}")


def _dtype(value):
    return dtypes.as_dtype(value)


def _dict(value):
    if not isinstance(value, DictOption):
        raise ValueError(f"a DictOption is expected, got {value!r}")
    return value


class Options:
    """Options as attributes. An unknown name is an AttributeError, when it is read and when it is set."""

    def __init__(self):
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_builders", {})

    def register(self, name, default, env=None) -> "Options":
        """Adds an option; the first registration of a name holds.

        Args:
          name: of the option.
          default: its value, where the variable is not set; its type is that of the option.
          env: a variable of the environment that gives the value.

        Returns:
          These options.

        Raises:
          ValueError: the variable's value is none of the option's type.
        """
        if name in self._values:
            return self
        builder = {bool: _bool, dtypes.DType: _dtype, DictOption: _dict}.get(type(default))
        self._builders[name] = builder
        value = default
        if env is not None and env in os.environ:
            build = builder or (type(default) if default is not None else str)
            try:
                value = build(os.environ[env])
            except (TypeError, ValueError) as e:
                raise ValueError(f"{env} must be a {type(default).__name__}, got {os.environ[env]!r}") from e
        self._values[name] = value
        return self

    def update(self, **kwargs) -> dict:
        """Sets options; returns the values that they had."""
        before = {name: getattr(self, name) for name in kwargs}
        for name, value in kwargs.items():
            setattr(self, name, value)
        return before

    def __getattr__(self, name):
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"there is no option {name!r}; there are {sorted(self._values)}") from None

    def __setattr__(self, name, value):
        getattr(self, name)
        builder = self._builders[name]
        if builder is not None:
            try:
                value = builder(value)
            except (TypeError, ValueError) as e:
                raise ValueError(f"option {name!r}: {e}") from e
        self._values[name] = value

    def __dir__(self):
        return sorted({*super().__dir__(), *self._values})


def defaults() -> Options:
    """The options of HybridBackend 1.0. Those of its data part have an effect here; the others keep what is set."""
    options = Options()
    for row in (
        ("data_batch_count", 1),
        ("data_sync_drop_remainder", True),
        ("comm_default", "NCCL", "HB_COMM_DEFAULT"),
        ("comm_pool_name", "default"),
        ("comm_pool_capacity", 1),
        ("comm_wire_dtype", dtypes.float32),
        ("comm_gradient_wire_dtype", dtypes.float32),
        ("grad_lazy_sync", False, "HB_GRAD_LAZY_SYNC"),
        ("sharding", False),
        ("use_hierarchical_embedding_lookup", True, "HB_USE_HIERARCHICAL_EMBEDDING_LOOKUP"),
        ("batch_size", -1),
        ("model_dir", None),
        ("keep_checkpoint_max", None),
        ("keep_checkpoint_every_n_hours", None),
        ("mode", "train"),
        ("pipeline_dense_ga_enabled", False, "HB_PIPELINE_DENSE_GA_ENABLED"),
    ):
        options.register(*row)
    return options
