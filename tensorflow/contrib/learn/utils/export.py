"""Exports of estimators as session bundles; `export_savedmodel` of an estimator is their successor."""

import tensorflow as tf
from tensorflow.contrib.session_bundle import exporter, gc
from tensorflow.python.util import deprecation

_deprecated = deprecation.deprecated(None, "Please use Estimator.export_savedmodel() instead.")


def _examples(examples):
    if examples is None:
        raise ValueError("examples cannot be None when using this signature fn.")
    return examples


def _named(predictions, name):
    """One of the predictions, if they are a dict."""
    if not isinstance(predictions, dict):
        return predictions
    if name not in predictions:
        raise ValueError(f"predictions must have {name!r} for this signature fn, got {sorted(predictions)}")
    return predictions[name]


def generic_signature_fn(examples, unused_features, predictions):
    """Signature of all predictions and, as "inputs", the examples; predictions that are no dict are "outputs".

    Returns:
      (`Signature`, dict of more of them: none).

    Raises:
      ValueError: there are no examples.
    """
    predictions = predictions if isinstance(predictions, dict) else {"outputs": predictions}
    return exporter.generic_signature({"inputs": _examples(examples), **predictions}), {}


def classification_signature_fn(examples, unused_features, predictions):
    """Signature of predicted "classes". Returns and raises as `generic_signature_fn`."""
    classes = _named(predictions, "classes")
    return exporter.classification_signature(_examples(examples), classes_tensor=classes), {}


def classification_signature_fn_with_prob(examples, unused_features, predictions):
    """Signature of predicted "probabilities". Returns and raises as `generic_signature_fn`."""
    scores = _named(predictions, "probabilities")
    return exporter.classification_signature(_examples(examples), scores_tensor=scores), {}


def regression_signature_fn(examples, unused_features, predictions):
    """Signature of predicted numbers. Returns and raises as `generic_signature_fn`."""
    return exporter.regression_signature(input_tensor=_examples(examples), output_tensor=predictions), {}


def logistic_regression_signature_fn(examples, unused_features, predictions):
    """Signature of the second of two "probabilities", [batch, 2]. Returns and raises as `generic_signature_fn`."""
    probabilities = _named(predictions, "probabilities")
    if not probabilities.shape.is_compatible_with([None, 2]):
        raise ValueError(f"Expected probabilities of shape [batch, 2], got {probabilities.shape}")
    return exporter.regression_signature(_examples(examples), probabilities[:, 1]), {}


def _default_input_fn(estimator, examples):
    """Parses the features that the estimator was trained with."""
    return estimator._get_feature_ops_from_example(examples)


@_deprecated
def export_estimator(
    estimator, export_dir, signature_fn=None, input_fn=_default_input_fn, default_batch_size=1, exports_to_keep=None
):
    """Writes the latest checkpoint of an estimator as a session bundle.

    Args:
      estimator: a `tf.contrib.learn` estimator.
      export_dir: folder of the exports; each lies in one of its own, named by the step.
      signature_fn: function of (examples, features, predictions) that returns a signature and a dict of more;
        `generic_signature_fn` by default.
      input_fn: function of (estimator, examples `[default_batch_size]` string) that returns features; by default they are
        parsed as the features of the training.
      default_batch_size: size of a batch; None: any.
      exports_to_keep: number of exports that stay; all by default.

    Raises:
      ValueError: there is no checkpoint, or no features.
      RuntimeError: the step was exported before.
    """
    _export_estimator(estimator, export_dir, signature_fn, input_fn, default_batch_size, exports_to_keep)


def _export_estimator(
    estimator,
    export_dir,
    signature_fn,
    input_fn,
    default_batch_size,
    exports_to_keep,
    input_feature_key=None,
    use_deprecated_input_fn=True,
    prediction_key=None,
    checkpoint_path=None,
):
    """`export_estimator`, of a checkpoint and of one prediction; returns the folder, as bytes.

    Without `use_deprecated_input_fn`, `input_fn` has no arguments and returns (features, labels); the feature
    `input_feature_key`, if there is one, holds the examples.
    """
    if use_deprecated_input_fn:
        input_fn = input_fn or _default_input_fn
    elif input_fn is None:
        raise ValueError("input_fn must be defined.")
    checkpoint_path = checkpoint_path or tf.train.latest_checkpoint(estimator.model_dir)
    if not checkpoint_path:
        raise ValueError(f"Couldn't find a trained model at {estimator.model_dir}.")
    with tf.Graph().as_default() as graph:
        step = tf.train.create_global_step(graph)
        if use_deprecated_input_fn:
            examples = tf.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
            features = input_fn(estimator, examples)
        else:
            features, _ = input_fn()
            examples = None
            if input_feature_key is not None:
                features = dict(features)
                examples = features.pop(input_feature_key)
        if examples is None and (features is None or isinstance(features, dict) and not features):
            raise ValueError("Either features or examples must be defined.")
        predictions = estimator._get_predict_ops(features).predictions
        if prediction_key is not None:
            predictions = predictions[prediction_key]
        default, named = (signature_fn or generic_signature_fn)(examples, features, predictions)
        with tf.Session() as session:
            saver = tf.train.Saver()
            saver.restore(session, checkpoint_path)
            export = exporter.Exporter(saver)
            export.init(
                init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer()),
                default_graph_signature=default,
                named_graph_signatures=named,
                assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            )
            keep = None if exports_to_keep is None else gc.largest_export_versions(exports_to_keep)
            return export.export(export_dir, step, session, exports_to_keep=keep)
