"""Linear models over legacy feature columns."""

from tensorflow.contrib.learn import canned, head


class LinearEstimator(canned.HeadEstimator):
    """A linear model under any head.

    Args:
      feature_columns: columns of `tf.contrib.layers`.
      head: a `Head`.
      model_dir: folder of the checkpoints.
      weight_column_name: belongs to the head; must be None here.
      optimizer: optimizer, or its name; Ftrl by default.
      gradient_clip_norm: global norm to which gradients are clipped.
      _joint_weights: whether sparse columns share one variable.
      config: a `RunConfig`.
      feature_engineering_fn: function of (features, labels) that returns what the model gets.
    """

    def __init__(
        self,
        feature_columns,
        head,
        model_dir=None,
        weight_column_name=None,
        optimizer=None,
        gradient_clip_norm=None,
        _joint_weights=False,
        config=None,
        feature_engineering_fn=None,
    ):
        if weight_column_name is not None:
            raise ValueError("weight_column_name must be given to the head")
        self._columns = tuple(feature_columns or [])
        if not self._columns:
            raise ValueError("feature_columns must have at least one column")
        self._optimizer = optimizer
        self._clip = gradient_clip_norm
        self._joint = _joint_weights
        super().__init__(head, model_dir, config, feature_engineering_fn)

    def _head_model_fn(self, features, labels, mode):
        with canned.model_scope("linear", features, self.config, 64 << 20) as scope:
            logits = canned.linear_logits(features, self._columns, self._head.logits_dimension, self._joint, scope)

            def train(loss):
                return canned.train_linear(loss, self._optimizer, self._columns, self._clip)

            return self._ops(features, labels, mode, logits, train)


class LinearClassifier(canned.PredictsClasses, LinearEstimator):
    """A linear model that classifies.

    Args:
      n_classes: number of classes.
      weight_column_name: feature by which an example's loss is multiplied.
      enable_centered_bias: whether there is a bias with a step of its own.
      label_keys: list of the classes' labels; ints from 0 on by default.
      Others as for `LinearEstimator`.
    """

    def __init__(
        self,
        feature_columns,
        model_dir=None,
        n_classes=2,
        weight_column_name=None,
        optimizer=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        _joint_weight=False,
        config=None,
        feature_engineering_fn=None,
        label_keys=None,
    ):
        super().__init__(
            feature_columns,
            canned.classifier_head(n_classes, weight_column_name, enable_centered_bias, label_keys),
            model_dir,
            None,
            optimizer,
            gradient_clip_norm,
            _joint_weight,
            config,
            feature_engineering_fn,
        )


class LinearRegressor(canned.PredictsScores, LinearEstimator):
    """A linear model that predicts numbers.

    Args:
      weight_column_name: feature by which an example's loss is multiplied.
      enable_centered_bias: whether there is a bias with a step of its own.
      label_dimension: number of values in a label.
      Others as for `LinearEstimator`.
    """

    def __init__(
        self,
        feature_columns,
        model_dir=None,
        weight_column_name=None,
        optimizer=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        label_dimension=1,
        _joint_weights=False,
        config=None,
        feature_engineering_fn=None,
    ):
        super().__init__(
            feature_columns,
            head.regression_head(
                weight_column_name=weight_column_name,
                label_dimension=label_dimension,
                enable_centered_bias=enable_centered_bias,
            ),
            model_dir,
            None,
            optimizer,
            gradient_clip_norm,
            _joint_weights,
            config,
            feature_engineering_fn,
        )
