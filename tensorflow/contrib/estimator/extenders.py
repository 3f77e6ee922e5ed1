"""Ways to extend an estimator: metrics, forwarded features, clipped gradients."""

import tensorflow.compat.v1 as tf
from tensorflow_estimator.python.estimator import estimator as estimator_lib
from tensorflow_estimator.python.estimator import extenders

add_metrics = extenders.add_metrics


class _ClipByNorm(tf.train.Optimizer):
    """An optimizer whose gradients are clipped together right before it applies them."""

    def __init__(self, optimizer, clip_norm):
        super().__init__(use_locking=False, name="ClipByNorm" + optimizer.get_name())
        self._optimizer = optimizer
        self._clip_norm = clip_norm

    def compute_gradients(self, *args, **kwargs):
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, self._clip_norm)
        return self._optimizer.apply_gradients(list(zip(clipped, variables, strict=True)), global_step, name)

    def get_slot(self, *args, **kwargs):
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self):
        return self._optimizer.variables()


def clip_gradients_by_norm(optimizer, clip_norm):
    """An optimizer that scales all gradients down together if their global norm is above `clip_norm`."""
    return _ClipByNorm(optimizer, clip_norm)


def _key_list(keys):
    if keys is None:
        return None
    keys = [keys] if isinstance(keys, str) else keys
    if not isinstance(keys, (list, tuple)) or not all(isinstance(key, str) for key in keys):
        raise TypeError(f"keys must be a string or a list of strings, got {keys!r}.")
    return list(keys)


def _dense(key, feature, sparse_default_values):
    feature = tf.convert_to_tensor_or_sparse_tensor(feature)
    if key in (sparse_default_values or {}):
        if not isinstance(feature, tf.SparseTensor):
            raise ValueError(f"sparse_default_values has {key!r}, but that feature is {feature}, no SparseTensor.")
        return tf.sparse_tensor_to_dense(feature, default_value=sparse_default_values[key])
    if isinstance(feature, tf.SparseTensor):
        raise ValueError(
            f"Feature {key!r} is sparse: leave it out with `keys`, or give its default in `sparse_default_values`."
        )
    return feature


def forward_features(estimator, keys=None, sparse_default_values=None):
    """An estimator with features in its predictions, and in the outputs of its exports.

    Args:
      estimator: the Estimator to extend.
      keys: name or names of features; all by default.
      sparse_default_values: name of a sparse feature -> value of its gaps when it is made dense.

    Raises:
      TypeError: keys are no strings.
      ValueError: when the graph is built: a feature is missing, sparse without a default, or named like a prediction.
    """
    keys = _key_list(keys)

    def model_fn(features, labels, mode, config):
        spec = estimator.model_fn(features, labels, mode, config)
        if spec.predictions is None:
            return spec
        if not isinstance(spec.predictions, dict):
            raise ValueError(f"Features can be forwarded into a dict of predictions, got {type(spec.predictions)}.")
        forwarded = {}
        for key in features if keys is None else keys:
            if key not in features:
                raise ValueError(f"Feature {key!r} is not among the features {sorted(features)}.")
            if key in spec.predictions:
                raise ValueError(f"Feature {key!r} cannot be forwarded: a prediction has this name.")
            forwarded[key] = _dense(key, features[key], sparse_default_values)
        spec.predictions.update(forwarded)
        for name in ("predict", "serving_default"):
            output = (spec.export_outputs or {}).get(name)
            if isinstance(output, tf.estimator.export.PredictOutput):
                output.outputs.update(forwarded)
        return spec

    return estimator_lib.Estimator(model_fn=model_fn, model_dir=estimator.model_dir, config=estimator.config)
