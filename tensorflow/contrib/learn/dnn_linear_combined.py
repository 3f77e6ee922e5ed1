"""Wide and deep: a linear model and a network that add their logits."""

from tensorflow.contrib.learn import canned, head
from tensorflow.python.framework import ops
from tensorflow.python.ops import control_flow_ops, nn, state_ops
from tensorflow.python.training import training_util


class DNNLinearCombinedEstimator(canned.HeadEstimator):
    """A linear model and a network under any head.

    Args:
      head: a `Head`.
      model_dir: folder of the checkpoints.
      linear_feature_columns, linear_optimizer, _joint_linear_weights: of the linear model; Ftrl by default.
      dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout: of the network; Adagrad by default.
      gradient_clip_norm: global norm to which gradients are clipped.
      config: a `RunConfig`.
      feature_engineering_fn: function of (features, labels) that returns what the model gets.
      embedding_lr_multipliers: dict: embedding column -> factor of its learning rate.
      fix_global_step_increment_bug: whether a step counts once; False: once for each of the two models, as in 1.15.
      input_layer_partitioner: of the input layer's variables.

    Raises:
      ValueError: if neither model has columns, or the network has no layers.
    """

    def __init__(
        self,
        head,
        model_dir=None,
        linear_feature_columns=None,
        linear_optimizer=None,
        _joint_linear_weights=False,
        dnn_feature_columns=None,
        dnn_optimizer=None,
        dnn_hidden_units=None,
        dnn_activation_fn=nn.relu,
        dnn_dropout=None,
        gradient_clip_norm=None,
        config=None,
        feature_engineering_fn=None,
        embedding_lr_multipliers=None,
        fix_global_step_increment_bug=False,
        input_layer_partitioner=None,
    ):
        self._linear_columns = tuple(linear_feature_columns or [])
        self._dnn_columns = tuple(dnn_feature_columns or [])
        if not self._linear_columns and not self._dnn_columns:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        if self._dnn_columns and not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        self._linear_optimizer = linear_optimizer
        self._joint = _joint_linear_weights
        self._dnn_optimizer = dnn_optimizer
        self._dnn_hidden_units = dnn_hidden_units
        self._dnn_activation_fn = dnn_activation_fn
        self._dnn_dropout = dnn_dropout
        self._clip = gradient_clip_norm
        self._counts_once = fix_global_step_increment_bug
        self._partitioner = input_layer_partitioner
        self._multipliers = embedding_lr_multipliers
        super().__init__(head, model_dir, config, feature_engineering_fn)

    def _all_columns(self):
        return tuple(dict.fromkeys(self._linear_columns + self._dnn_columns))

    def _head_model_fn(self, features, labels, mode):
        dimension = self._head.logits_dimension
        parts, input_scope = [], None
        if self._dnn_columns:
            with canned.model_scope("dnn", features, self.config):
                logits, input_scope = canned.dnn_logits(
                    features,
                    self._dnn_columns,
                    self._dnn_hidden_units,
                    self._dnn_activation_fn or nn.relu,
                    self._dnn_dropout,
                    dimension,
                    mode,
                    self._partitioner or canned.parameter_partitioner(self.config, 64 << 20),
                )
            parts.append(logits)
        if self._linear_columns:
            with canned.model_scope("linear", features, self.config, 64 << 20) as scope:
                logits = canned.linear_logits(features, self._linear_columns, dimension, self._joint, scope)
                canned.summarize(logits, scope.name)
            parts.append(logits)
        logits = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        return self._ops(features, labels, mode, logits, lambda loss: self._train(loss, input_scope))

    def _train(self, loss, input_scope):
        increment = not self._counts_once
        train_ops = []
        if self._dnn_columns:
            multipliers = canned.embedding_multipliers(self._multipliers, input_scope)
            optimizer = self._dnn_optimizer or "Adagrad"
            train_ops.append(
                canned.optimize_part(
                    loss, "dnn", canned.DNN_RATE, optimizer, self._clip, multipliers,
                    ops.get_collection("dnn"), increment,
                )
            )  # fmt: skip
        if self._linear_columns:
            rate, optimizer = canned.linear_rate(self._linear_columns), self._linear_optimizer or "Ftrl"
            train_ops.append(
                canned.optimize_part(
                    loss, "linear", rate, optimizer, self._clip,
                    variables=ops.get_collection("linear"), increment=increment,
                )
            )  # fmt: skip
        train_op = control_flow_ops.group(*train_ops)
        if increment:
            return train_op
        step = training_util.get_global_step()
        with ops.control_dependencies([train_op]), ops.colocate_with(step):
            return state_ops.assign_add(step, 1).op


def _partitioner(config, min_slice_size):
    return canned.parameter_partitioner(config, min_slice_size) if min_slice_size else None


class DNNLinearCombinedClassifier(canned.PredictsClasses, DNNLinearCombinedEstimator):
    """A wide and deep model that classifies.

    Args:
      n_classes: number of classes.
      weight_column_name: feature by which an example's loss is multiplied.
      enable_centered_bias: whether there is a bias with a step of its own.
      label_keys: list of the classes' labels; ints from 0 on by default.
      input_layer_min_slice_size: least bytes of a part of the input layer's variables on parameter servers.
      Others as for `DNNLinearCombinedEstimator`.
    """

    def __init__(
        self,
        model_dir=None,
        n_classes=2,
        weight_column_name=None,
        linear_feature_columns=None,
        linear_optimizer=None,
        _joint_linear_weights=False,
        dnn_feature_columns=None,
        dnn_optimizer=None,
        dnn_hidden_units=None,
        dnn_activation_fn=nn.relu,
        dnn_dropout=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        config=None,
        feature_engineering_fn=None,
        embedding_lr_multipliers=None,
        input_layer_min_slice_size=None,
        label_keys=None,
        fix_global_step_increment_bug=False,
    ):
        super().__init__(
            canned.classifier_head(n_classes, weight_column_name, enable_centered_bias, label_keys),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            _joint_linear_weights,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            fix_global_step_increment_bug,
            _partitioner(config, input_layer_min_slice_size),
        )


class DNNLinearCombinedRegressor(canned.PredictsScores, DNNLinearCombinedEstimator):
    """A wide and deep model that predicts numbers.

    Args:
      weight_column_name: feature by which an example's loss is multiplied.
      enable_centered_bias: whether there is a bias with a step of its own.
      label_dimension: number of values in a label.
      input_layer_min_slice_size: least bytes of a part of the input layer's variables on parameter servers.
      Others as for `DNNLinearCombinedEstimator`.
    """

    def __init__(
        self,
        model_dir=None,
        weight_column_name=None,
        linear_feature_columns=None,
        linear_optimizer=None,
        _joint_linear_weights=False,
        dnn_feature_columns=None,
        dnn_optimizer=None,
        dnn_hidden_units=None,
        dnn_activation_fn=nn.relu,
        dnn_dropout=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        label_dimension=1,
        config=None,
        feature_engineering_fn=None,
        embedding_lr_multipliers=None,
        input_layer_min_slice_size=None,
        fix_global_step_increment_bug=False,
    ):
        super().__init__(
            head.regression_head(
                weight_column_name=weight_column_name,
                label_dimension=label_dimension,
                enable_centered_bias=enable_centered_bias,
            ),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            _joint_linear_weights,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            fix_global_step_increment_bug,
            _partitioner(config, input_layer_min_slice_size),
        )
