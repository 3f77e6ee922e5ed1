"""`tf.contrib.compiler.xla`."""

from tensorflow.python.compiler.xla.xla import XLACompileContext, check_function_argument_count, compile, is_flat

__all__ = ["XLACompileContext", "check_function_argument_count", "compile", "estimator_model_fn", "is_flat"]


def estimator_model_fn(target_model_fn=None):
    """A `model_fn` whose training step is compiled by XLA.

    Args:
      target_model_fn: `model_fn(features, labels, mode, params)` of a TPUEstimator; without it, a decorator is returned.

    Returns:
      A function of the same arguments. In training mode, features and labels must be tensors or dicts of tensors of static
      shape; other modes run as they are.
    """
    if target_model_fn is None:
        return estimator_model_fn

    import functools

    import tensorflow as tf

    @functools.wraps(target_model_fn)
    def model_fn(features, labels=None, mode=None, **kwargs):
        if mode != tf.estimator.ModeKeys.TRAIN:
            return target_model_fn(features, labels, mode, **kwargs)
        inputs = tf.nest.flatten([features, labels])
        made = {}

        def step(*flat):
            fed_features, fed_labels = tf.nest.pack_sequence_as([features, labels], flat)
            made["spec"] = spec = target_model_fn(fed_features, fed_labels, mode, **kwargs)
            with tf.control_dependencies([spec.train_op]):
                return tf.identity(spec.loss, name="loss")

        outputs = compile(step, [x for x in inputs if x is not None])
        loss = outputs[0]
        train_op = tf.group(loss, name="train_op")
        return made["spec"]._replace(loss=loss, train_op=train_op)

    return model_fn
