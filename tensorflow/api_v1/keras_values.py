"""Variable names and values of tf.keras that differed in 1.15.

Recurrent layers name their variables `lstm/kernel`, not `lstm/lstm_cell/kernel`; Huber's loss is not averaged over the last axis;
the loss `cosine_similarity` has no minus sign;
the metric `cosine_proximity` has a name of its own; noise takes its seeds from numpy.random;
the optimizer of a model from a file has its variables below `training/`, as that of a model that was trained.
"""

import contextlib
import functools
import re
import types

from tensorflow.api_v1 import import_hooks

_RNN = "tf_keras.src.layers.rnn"


def install() -> None:
    for name in ("base_rnn", "stacked_rnn_cells"):
        import_hooks.after_import(f"{_RNN}.{name}", _without_cell_scope)
    import_hooks.after_import("tf_keras.src.losses", _huber)
    import_hooks.after_import("tf_keras.src.losses", _cosine_similarity)
    import_hooks.after_import("tf_keras.src.metrics", _cosine_proximity)
    import_hooks.after_import("tf_keras.src.saving.legacy.hdf5_format", _optimizers_of_files)
    import_hooks.after_import(f"{_RNN}.dropout_rnn_cell_mixin", _recurrent_dropout)
    for name in ("GaussianNoise", "GaussianDropout", "AlphaDropout"):
        module = re.sub(r"(?<=.)([A-Z])", r"_\1", name).lower()
        import_hooks.after_import(f"tf_keras.src.layers.regularization.{module}", functools.partial(_noise, name))


class _BackendWithoutScopes:
    """tf_keras' backend for a module whose only name scope is the one that 1.15 had not."""

    def __init__(self, backend):
        self._backend = backend

    def __getattr__(self, name):
        return getattr(self._backend, name)

    def name_scope(self, name):
        return contextlib.nullcontext(name)


def _without_cell_scope(module) -> None:
    module.backend = _BackendWithoutScopes(module.backend)


def _replace(module, old, new) -> None:
    for name, value in list(vars(module).items()):
        if value is old:
            setattr(module, name, new)


def _huber(module) -> None:
    def huber_loss(y_true, y_pred, delta=1.0):
        """0.5 e**2 where |e| <= delta, else delta |e| - 0.5 delta**2, for each element.

        Args:
          y_true, y_pred: of one shape [..., n].
          delta: where the parabola turns into lines.

        Returns:
          Tensor of that shape: as in 1.15, nothing is averaged here.
        """
        import tensorflow as tf

        y_pred = tf.cast(y_pred, tf.keras.backend.floatx())
        y_true = tf.cast(y_true, tf.keras.backend.floatx())
        error = tf.abs(tf.subtract(y_pred, y_true))
        quadratic = tf.minimum(error, delta)
        linear = tf.subtract(error, quadratic)
        return tf.add(tf.multiply(0.5, tf.multiply(quadratic, quadratic)), tf.multiply(delta, linear))

    _replace(module, module.huber, huber_loss)


def _cosine(name: str):
    def cosine(y_true, y_pred, axis=-1):
        """The cosine of the angle between labels and predictions along `axis`: as in 1.15, without a minus sign."""
        import tensorflow as tf

        y_true = tf.nn.l2_normalize(y_true, axis=axis)
        y_pred = tf.nn.l2_normalize(y_pred, axis=axis)
        return tf.reduce_sum(y_true * y_pred, axis=axis)

    cosine.__name__ = cosine.__qualname__ = name
    return cosine


def _cosine_similarity(module) -> None:
    similarity = _cosine("cosine_similarity")
    _replace(module, module.cosine_similarity, similarity)
    module.cosine_proximity = similarity  # for losses by name


def _cosine_proximity(module) -> None:
    module.cosine_proximity = _cosine("cosine_proximity")


def _recurrent_dropout(module) -> None:
    """Masks of recurrent cells without a seed are those of `tf.keras.backend.dropout`, which draws its seeds from numpy.random."""
    released = module._generate_dropout_mask

    @functools.wraps(released)
    def generate_dropout_mask(generator, ones, rate, training=None, count=1):
        from tf_keras.src import backend

        if generator._seed is not None:
            return released(generator, ones, rate, training, count)
        masks = [
            backend.in_train_phase(lambda: backend.dropout(ones, rate), ones, training=training) for _ in range(count)
        ]
        return masks if count > 1 else masks[0]

    module._generate_dropout_mask = generate_dropout_mask


def _noise(name: str, module) -> None:
    """A layer without a seed draws one from numpy.random each time that it is called, so that `np.random.seed` fixes its noise."""
    from tf_keras.src import backend

    class NumpySeeded(backend.RandomGenerator):
        def random_normal(self, shape, mean=0.0, stddev=1.0, dtype=None, nonce=None):
            if self._seed is not None:
                return super().random_normal(shape, mean, stddev, dtype, nonce)
            return backend.random_normal(shape, mean, stddev, dtype=dtype)

        def random_uniform(self, shape, minval=0.0, maxval=None, dtype=None, nonce=None):
            if self._seed is not None:
                return super().random_uniform(shape, minval, maxval, dtype, nonce)
            return backend.random_uniform(shape, minval, 1.0 if maxval is None else maxval, dtype=dtype)

    cls = getattr(module, name)
    released = cls.__init__

    @functools.wraps(released)
    def init(self, *args, **kwargs):
        released(self, *args, **kwargs)
        self._random_generator.__class__ = NumpySeeded

    cls.__init__ = init


class _SavingUtils(types.ModuleType):
    """saving_utils for a module that loads models: the train function makes the optimizer's variables, in its name scopes."""

    def __init__(self, released):
        super().__init__(released.__name__)
        self._released = released

    def __getattr__(self, name):
        return getattr(self._released, name)

    def try_build_compiled_arguments(self, model):
        import tensorflow as tf

        self._released.try_build_compiled_arguments(model)
        if tf.executing_eagerly() or not isinstance(model.optimizer, tf.keras.optimizers.Optimizer):
            return

        def create_all_weights(_):
            del model.optimizer._create_all_weights
            model._make_train_function()

        # Called next, if the file has values for them.
        model.optimizer._create_all_weights = create_all_weights


def _optimizers_of_files(module) -> None:
    module.saving_utils = _SavingUtils(module.saving_utils)
    released = module.load_model_from_hdf5

    @functools.wraps(released)
    def load_model_from_hdf5(*args, **kwargs):
        model = released(*args, **kwargs)
        vars(model.optimizer or model).pop("_create_all_weights", None)
        return model

    module.load_model_from_hdf5 = load_model_from_hdf5
