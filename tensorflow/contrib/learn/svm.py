"""Linear support vector machines."""

from tensorflow.contrib.layers import feature_column_ops
from tensorflow.contrib.learn import canned, estimator, head, prediction_key, sdca


class SVM(estimator.Estimator):
    """A linear support vector machine for two classes, trained by dual coordinate ascent.

    Features need the example ids, `[batch]` strings. What is minimized, over all examples that were seen: the sum of their
    hinge losses, plus `l1_regularization` times the L1 norm of the weights, plus `l2_regularization` / 2 times their squared
    L2 norm; the bias counts as a weight.

    Args:
      example_id_column: name of the feature with the example ids.
      feature_columns: columns of `tf.contrib.layers`: numbers, sparse, weighted, crossed, buckets.
      weight_column_name: feature by which an example's loss is multiplied.
      model_dir: folder of the checkpoints; a temporary one by default.
      l1_regularization: see above.
      l2_regularization: see above; training needs it to be positive.
      num_loss_partitions: number of train steps that run at the same time: with fewer than there are it may not converge.
      kernels: must be None.
      config: a `RunConfig`.
      feature_engineering_fn: function of (features, labels) that returns what the model gets.

    Raises:
      ValueError: there are kernels, or no columns; when trained: `l2_regularization` is not positive.
    """

    def __init__(
        self,
        example_id_column,
        feature_columns,
        weight_column_name=None,
        model_dir=None,
        l1_regularization=0.0,
        l2_regularization=0.0,
        num_loss_partitions=1,
        kernels=None,
        config=None,
        feature_engineering_fn=None,
    ):
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        self._columns = tuple(feature_columns or [])
        if not self._columns:
            raise ValueError("feature_columns must have at least one column")
        self._head = head.binary_svm_head(weight_column_name=weight_column_name)
        self._training = {
            "loss_type": "hinge_loss",
            "example_id_column": example_id_column,
            "weight_column_name": weight_column_name,
            "l1_regularization": l1_regularization,
            "l2_regularization": l2_regularization,
            "num_loss_partitions": num_loss_partitions,
        }
        super().__init__(
            self._svm_model_fn, model_dir=model_dir, config=config, feature_engineering_fn=feature_engineering_fn
        )

    def _svm_model_fn(self, features, labels, mode):
        features = canned.as_dict(features)
        logits, transformed, column_variables = sdca.linear_logits(features, self._columns)
        hooks = []

        def train(unused_loss):
            model, train_op = sdca.train_step(column_variables, transformed, labels, **self._training)
            hooks.append(sdca.UpdateWeightsHook(model, train_op))
            return train_op

        ops = self._head.create_model_fn_ops(features, mode, labels=labels, train_op_fn=train, logits=logits)
        return ops._replace(training_chief_hooks=ops.training_chief_hooks + hooks)

    def predict_classes(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The class, 0 or 1, of each example. Arguments as for `predict`."""
        return self._one(prediction_key.PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """Raises ValueError: hinge loss gives no probabilities."""
        raise ValueError(
            "SVM.predict_proba: hinge loss gives no probabilities, but logits: predict(outputs=['logits'])"
        )

    def _one(self, key, x, input_fn, batch_size, as_iterable):
        results = self.predict(x, input_fn, batch_size, outputs=[key], as_iterable=as_iterable)
        return (result[key] for result in results) if as_iterable else results[key]

    def export_with_defaults(
        self, export_dir, signature_fn=None, input_fn=None, default_batch_size=1, exports_to_keep=None
    ):
        """As `Estimator.export`; examples are parsed by the model's columns."""

        def parse(unused_estimator, examples):
            return feature_column_ops.parse_feature_columns_from_examples(examples, self._columns)

        return super().export(
            export_dir,
            input_fn=input_fn or parse,
            signature_fn=signature_fn,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )

    export = export_with_defaults
