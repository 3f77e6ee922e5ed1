"""Functions that compute logits, as parts of a model."""

import tensorflow.compat.v1 as tf
from tensorflow.python.util import function_utils
from tensorflow_estimator.python.estimator.canned import dnn, linear

dnn_logit_fn_builder = dnn.dnn_logit_fn_builder
linear_logit_fn_builder = linear.linear_logit_fn_builder


def call_logit_fn(logit_fn, features, mode, params, config):
    """Calls `logit_fn` with features, and with those of mode, params and config that it takes.

    Raises:
      ValueError: it returns neither a Tensor nor a dict of Tensors.
    """
    takes = function_utils.fn_args(logit_fn)
    offered = {"mode": mode, "params": params, "config": config}
    logits = logit_fn(features=features, **{name: value for name, value in offered.items() if name in takes})
    good = isinstance(logits, tf.Tensor) or (
        isinstance(logits, dict) and all(isinstance(k, str) and isinstance(v, tf.Tensor) for k, v in logits.items())
    )
    if not good:
        raise ValueError(f"logit_fn must return a Tensor or a dict of name -> Tensor, got {logits!r}.")
    return logits
