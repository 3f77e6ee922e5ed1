"""Networks over legacy feature columns."""

from tensorflow.contrib.learn import canned, head
from tensorflow.python.ops import nn


class DNNEstimator(canned.HeadEstimator):
    """A fully connected network under any head.

    Args:
      head: a `Head`.
      hidden_units: list of the layers' sizes.
      feature_columns: columns of `tf.contrib.layers`.
      model_dir: folder of the checkpoints.
      optimizer: optimizer, or its name; Adagrad by default.
      activation_fn: of the hidden layers.
      dropout: probability with which an activation is dropped.
      gradient_clip_norm: global norm to which gradients are clipped.
      config: a `RunConfig`.
      feature_engineering_fn: function of (features, labels) that returns what the model gets.
      embedding_lr_multipliers: dict: embedding column -> factor of its learning rate.
      input_layer_min_slice_size: least bytes of a part of the input layer's variables on parameter servers.
    """

    def __init__(
        self,
        head,
        hidden_units,
        feature_columns,
        model_dir=None,
        optimizer=None,
        activation_fn=nn.relu,
        dropout=None,
        gradient_clip_norm=None,
        config=None,
        feature_engineering_fn=None,
        embedding_lr_multipliers=None,
        input_layer_min_slice_size=None,
    ):
        self._columns = tuple(feature_columns or [])
        if not self._columns:
            raise ValueError("feature_columns must have at least one column")
        self._hidden_units = tuple(hidden_units)
        self._optimizer = optimizer
        self._activation_fn = activation_fn
        self._dropout = dropout
        self._clip = gradient_clip_norm
        self._min_slice_size = input_layer_min_slice_size or 64 << 20
        self._multipliers = embedding_lr_multipliers
        super().__init__(head, model_dir, config, feature_engineering_fn)

    def _head_model_fn(self, features, labels, mode):
        with canned.model_scope("dnn", features, self.config):
            logits, input_scope = canned.dnn_logits(
                features,
                self._columns,
                self._hidden_units,
                self._activation_fn,
                self._dropout,
                self._head.logits_dimension,
                mode,
                canned.parameter_partitioner(self.config, self._min_slice_size),
                separator="_",
            )

            def train(loss):
                multipliers = canned.embedding_multipliers(self._multipliers, input_scope)
                optimizer = self._optimizer or "Adagrad"
                return canned.optimize_part(loss, "dnn", canned.DNN_RATE, optimizer, self._clip, multipliers)

            return self._ops(features, labels, mode, logits, train)


class DNNClassifier(canned.PredictsClasses, DNNEstimator):
    """A network that classifies.

    Args:
      n_classes: number of classes.
      weight_column_name: feature by which an example's loss is multiplied.
      enable_centered_bias: whether there is a bias with a step of its own.
      label_keys: list of the classes' labels; ints from 0 on by default.
      Others as for `DNNEstimator`.
    """

    def __init__(
        self,
        hidden_units,
        feature_columns,
        model_dir=None,
        n_classes=2,
        weight_column_name=None,
        optimizer=None,
        activation_fn=nn.relu,
        dropout=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        config=None,
        feature_engineering_fn=None,
        embedding_lr_multipliers=None,
        input_layer_min_slice_size=None,
        label_keys=None,
    ):
        super().__init__(
            canned.classifier_head(n_classes, weight_column_name, enable_centered_bias, label_keys),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            input_layer_min_slice_size,
        )


class DNNRegressor(canned.PredictsScores, DNNEstimator):
    """A network that predicts numbers.

    Args:
      weight_column_name: feature by which an example's loss is multiplied.
      enable_centered_bias: whether there is a bias with a step of its own.
      label_dimension: number of values in a label.
      Others as for `DNNEstimator`.
    """

    def __init__(
        self,
        hidden_units,
        feature_columns,
        model_dir=None,
        weight_column_name=None,
        optimizer=None,
        activation_fn=nn.relu,
        dropout=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        config=None,
        feature_engineering_fn=None,
        label_dimension=1,
        embedding_lr_multipliers=None,
        input_layer_min_slice_size=None,
    ):
        super().__init__(
            head.regression_head(
                weight_column_name=weight_column_name,
                label_dimension=label_dimension,
                enable_centered_bias=enable_centered_bias,
            ),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            input_layer_min_slice_size,
        )
