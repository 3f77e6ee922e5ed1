"""Members that classes of tf.keras had in 1.15 and those of tf_keras lack."""

import functools
import types

from tensorflow.api_v1 import import_hooks

_ENGINE = "tf_keras.src.engine"


def install() -> None:
    """Adds the members when tf_keras' modules load."""
    for name, hook in _HOOKS.items():
        import_hooks.after_import(f"{_ENGINE}.{name}", hook)
    import_hooks.after_import("tf_keras.api._v1.keras.utils", _old_serialization)
    import_hooks.after_import("tf_keras.src.layers.serialization", _restored_layers)


def _old_serialization(module: types.ModuleType) -> None:
    """`tf.keras.utils.serialize_keras_object` and its inverse in the format, and with the arguments, of 1.15."""
    from tf_keras.src.saving.legacy import serialization

    for name in ("serialize_keras_object", "deserialize_keras_object"):
        setattr(module, name, getattr(serialization, name))


def _restored_layers(module: types.ModuleType) -> None:
    """Lets `deserialize` find the layers of 1.15 that are restored."""
    released = module.populate_deserializable_objects

    @functools.wraps(released)
    def populate_deserializable_objects():
        from tensorflow.api_v1.restored import keras_recurrent

        released()
        for layer in (keras_recurrent.ConvLSTM2DCell, keras_recurrent.ConvRNN2D, keras_recurrent.PeepholeLSTMCell):
            module.LOCAL.ALL_OBJECTS[layer.__name__] = layer

    module.populate_deserializable_objects = populate_deserializable_objects


def _apply(self, inputs, *args, **kwargs):
    """Applies the layer to inputs: `layer(inputs, ...)`."""
    return self(inputs, *args, **kwargs)


def _takes_inputs(add_update):
    @functools.wraps(add_update)
    def wrapper(self, updates, inputs=None):
        # Which inputs an update depends on follows from the graph.
        del inputs
        return add_update(self, updates)

    # Not that of the wrapped function, which `inspect` would take.
    del wrapper.__wrapped__
    return wrapper


def _reachable(values, inputs, mark: str):
    """Those of `values` that depend on `inputs`; with None, those that depend on no input of the layer."""
    from tensorflow.python.util import nest
    from tf_keras.src.utils import tf_utils

    unconditional = [v for v in values if getattr(v, mark, False)]
    if inputs is None:
        return unconditional
    conditional = [v for v in values if not any(v is u for u in unconditional)]
    reachable = tf_utils.get_reachable_from_inputs(nest.flatten(inputs), conditional)
    return [v for v in conditional if v in reachable]


def _base_layer(module: types.ModuleType) -> None:
    layer = module.Layer
    layer.apply = _apply
    layer.add_update = _takes_inputs(layer.add_update)
    layer.get_updates_for = _get_updates_for
    layer.get_losses_for = _get_losses_for


def _base_layer_v1(module: types.ModuleType) -> None:
    module.Layer.add_update = _takes_inputs(module.Layer.add_update)


class _Default:
    """An attribute computed when it is read, which an instance may set over."""

    def __init__(self, compute, doc):
        self._compute = compute
        self.__doc__ = doc

    def __get__(self, instance, owner=None):
        return self if instance is None else self._compute(instance)


def _training(module: types.ModuleType) -> None:
    # Graph mode swaps Model's base to that of training_v1; members of the class of the API must be on this one.
    model = module.Model
    model.sample_weights = _Default(
        lambda self: [e.sample_weight for e in getattr(self, "_training_endpoints", ()) if e.sample_weight is not None],
        "Placeholders of the sample weights, after compile; None entries are left out.",
    )
    model.targets = _Default(lambda self: self._targets, "Placeholders of the targets, after compile.")
    model.metrics_tensors = _Default(
        lambda self: [m._call_result for m in self.metrics if getattr(m, "_call_result", None) is not None],
        "Results of the metrics that are part of the graph, after compile.",
    )


def _sequential(module: types.ModuleType) -> None:
    def predict_proba(self, x, batch_size=32, verbose=0):
        """Probabilities of the classes: `predict`, by the name of 1.15.

        Args:
          x: inputs as for `predict`.
          batch_size: samples in a batch.
          verbose: 0 or 1.

        Returns:
          An array [samples, outputs].
        """
        return self.predict(x, batch_size, verbose)

    def predict_classes(self, x, batch_size=32, verbose=0):
        """The class of each sample: the largest output, or, of a single output, whether it is above 0.5.

        Args, as predict_proba.

        Returns:
          Integers, [samples], or [samples, 1] for a single output.
        """
        probabilities = self.predict(x, batch_size=batch_size, verbose=verbose)
        if probabilities.shape[-1] > 1:
            return probabilities.argmax(axis=-1)
        return (probabilities > 0.5).astype("int32")

    module.Sequential.predict_proba = predict_proba
    module.Sequential.predict_classes = predict_classes


def _training_utils(module: types.ModuleType) -> None:
    released = module.OutputsAggregator.finalize

    @functools.wraps(released)
    def finalize(self):
        if not self.results:
            # `fit` and `evaluate` say so; here the structure of the outputs would be asked for, which no batch has told.
            raise ValueError("Empty data: predict got no samples, expected at least one.")
        released(self)

    module.OutputsAggregator.finalize = finalize


def _get_updates_for(self, inputs):
    """Update ops that depend on the given inputs; with None, those that depend on none."""
    return _reachable(self.updates, inputs, "_unconditional_update")


def _get_losses_for(self, inputs):
    """Loss tensors that depend on the given inputs; with None, those that depend on none."""
    return _reachable(self.losses, inputs, "_unconditional_loss")


_HOOKS = {
    "base_layer": _base_layer,
    "base_layer_v1": _base_layer_v1,
    "sequential": _sequential,
    "training": _training,
    "training_utils_v1": _training_utils,
}
