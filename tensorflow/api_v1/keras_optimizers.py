"""What the optimizers of Keras did in 1.15 and do otherwise now."""

from tensorflow.api_v1 import import_hooks

_LEGACY = "tf_keras.src.optimizers.legacy"


def install() -> None:
    import_hooks.after_import(f"{_LEGACY}.adagrad", _adagrad)
    import_hooks.after_import(f"{_LEGACY}.ftrl", _ftrl)


def _adagrad(module) -> None:
    """A configuration without a start of the accumulator means 0, as in the older Keras; so does the name "adagrad"."""
    released = module.Adagrad.from_config.__func__

    def from_config(cls, config, custom_objects=None):
        """An optimizer of what `get_config` returned."""
        return released(cls, {"initial_accumulator_value": 0.0, **config}, custom_objects)

    module.Adagrad.from_config = classmethod(from_config)


def _ftrl(module) -> None:
    """`beta` came later: where it is 0, it is no variable, which the checkpoints of 1.15 lack, and no part of the configuration."""
    cls = module.Ftrl
    init, get_hyper, get_config = cls.__init__, cls._get_hyper, cls.get_config

    def __init__(self, *args, **kwargs):
        init(self, *args, **kwargs)
        if self._hyper.get("beta") == 0.0:
            del self._hyper["beta"]

    def _get_hyper(self, name, dtype=None):
        if name == "beta" and name not in self._hyper:
            return module.tf.zeros([], dtype or "float32")
        return get_hyper(self, name, dtype)

    def _serialize_hyperparameter(self, name):
        if name == "beta" and name not in self._hyper:
            return 0.0
        return super(cls, self)._serialize_hyperparameter(name)

    def get_config_without_beta(self):
        """The arguments of the constructor."""
        config = get_config(self)
        if "beta" not in self._hyper:
            config.pop("beta", None)
        return config

    __init__.__wrapped__, __init__.__doc__ = init, init.__doc__
    cls.__init__ = __init__
    cls._get_hyper = _get_hyper
    cls._serialize_hyperparameter = _serialize_hyperparameter
    cls.get_config = get_config_without_beta
