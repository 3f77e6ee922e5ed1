"""`tf.contrib.learn.Estimator`, over the core estimator."""

import inspect
import itertools
import tempfile

import numpy as np

import tensorflow.estimator as core
from tensorflow.contrib.layers import feature_column_ops
from tensorflow.contrib.learn import (
    evaluable,
    export_strategy,
    metric_spec,
    model_fn,
    monitors,
    parameters,
    run_config,
    tensor_signature,
    trainable,
)
from tensorflow.contrib.learn.learn_io import data_feeder
from tensorflow.contrib.learn.utils import export
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.framework import ops, random_seed
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.training import checkpoint_management, monitored_session, training_util

ModelFnOps = model_fn.ModelFnOps
ModeKeys = model_fn.ModeKeys
MetricSpec = metric_spec.MetricSpec
_LOSS, _MODEL_LOSS = "loss", "model_loss"
ExportStrategy = export_strategy.ExportStrategy


def _get_input_fn(x, y, input_fn, batch_size, shuffle, epochs):
    """(input function, function that feeds it or None), as given, or of the arrays `x` and `y`.

    Raises:
      ValueError: if both or neither are given, or `batch_size` with an `input_fn`.
    """
    if input_fn is None:
        if x is None:
            raise ValueError("Either x or input_fn must be provided.")
        feeder = data_feeder.setup_train_data_feeder(x, y, batch_size=batch_size, shuffle=shuffle, epochs=epochs)
        return feeder.input_builder, feeder.get_feed_dict_fn()
    if x is not None or y is not None:
        raise ValueError("Can not provide both input_fn and x or y.")
    if batch_size is not None:
        raise ValueError("Can not provide both input_fn and batch_size.")
    return input_fn, None


def infer_real_valued_columns_from_input_fn(input_fn):
    """Number columns for the features of an input function."""
    with ops.Graph().as_default():
        result = input_fn()
        features = result[0] if isinstance(result, tuple) else result
        return feature_column_ops.infer_real_valued_columns(features)


def infer_real_valued_columns_from_input(x):
    """A number column for an array, or one for each of a dict of arrays."""
    input_fn, _ = _get_input_fn(x, None, None, None, shuffle=False, epochs=1)
    return infer_real_valued_columns_from_input_fn(input_fn)


def _make_metrics_ops(metrics, features, labels, predictions):
    """dict: name -> (value, update op), from `MetricSpec`s, or functions under a name or a (name, prediction key)."""
    result = {}
    for name, metric in sorted((metrics or {}).items(), key=lambda item: str(item[0])):
        if isinstance(metric, metric_spec.MetricSpec):
            result[name] = metric.create_metric_ops(features, labels, predictions)
        elif isinstance(name, tuple):
            if len(name) != 2:
                raise ValueError(
                    f"Invalid metric for {name}: a key must be a name, or a pair of name and prediction key."
                )
            if not isinstance(predictions, dict) or name[1] not in predictions:
                raise ValueError(f"Invalid metric for {name}: there is no prediction {name[1]!r}.")
            result[name[0]] = metric(predictions[name[1]], labels)
        elif isinstance(predictions, dict):
            raise ValueError(
                f"Metrics passed provide only name, no prediction, but predictions are dict. Metrics: {name}"
            )
        else:
            result[name] = metric(predictions, labels)
    return result


def _signed(kind, tensors, known):
    """The signatures of tensors; raises ValueError if others are known already, of the estimator's earlier calls."""
    if known is None:
        return tensor_signature.create_signatures(tensors)
    if not tensor_signature.tensors_compatible(tensors, known):
        raise ValueError(
            f"{kind} are incompatible with given information. Given {kind.lower()}: {tensors}, required signatures: {known}."
        )
    return known


def _chosen(predictions, outputs):
    """The predictions with the keys `outputs`; all without any."""
    if not outputs:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("outputs argument is not valid in case of non-dict predictions.")
    chosen = {key: value for key, value in predictions.items() if key in outputs}
    if not chosen:
        raise ValueError(f"Expected to run at least one output from {sorted(predictions)}, provided {outputs}.")
    return chosen


def _single_examples(batches):
    for batch in batches:
        if isinstance(batch, dict):
            for i in range(len(next(iter(batch.values())))):
                yield {key: value[i] for key, value in batch.items()}
        else:
            yield from batch


class BaseEstimator(parameters.HasParameters, evaluable.Evaluable, trainable.Trainable):
    """Trains and evaluates a model; subclasses write `_call_model_fn(features, labels, mode, config)`.

    Args:
      model_dir: folder of the checkpoints; a temporary one by default.
      config: a `RunConfig`.
    """

    def __init__(self, model_dir=None, config=None):
        config = config or run_config.RunConfig()
        model_dir = model_dir or config.model_dir
        if not model_dir:
            model_dir = tempfile.mkdtemp()
            logging.warning("Using temporary folder as model directory: %s", model_dir)
        self._eval_metrics = None
        self._default_output = None
        self._features_info = None
        self._labels_info = None
        self._core = core.Estimator(self._core_model_fn, model_dir=str(model_dir), config=config)

    def _call_model_fn(self, features, labels, mode, config=None):
        """A `ModelFnOps`."""
        raise NotImplementedError("_call_model_fn is not implemented in BaseEstimator")

    def _core_model_fn(self, features, labels, mode, config):
        if mode != ModeKeys.INFER:
            self._features_info = _signed("Features", features, self._features_info)
            if labels is not None:
                self._labels_info = _signed("Labels", labels, self._labels_info)
        model = self._call_model_fn(features, labels, mode, config)
        if mode == ModeKeys.EVAL and self._eval_metrics:
            added = _make_metrics_ops(self._eval_metrics, features, labels, model.predictions)
            model = model._replace(eval_metric_ops={**model.eval_metric_ops, **added})
        if _LOSS in model.eval_metric_ops:
            # The core estimator keeps this name for the mean of the batches' losses: `evaluate` gives it back.
            metrics = dict(model.eval_metric_ops)
            metrics[_MODEL_LOSS] = metrics.pop(_LOSS)
            model = model._replace(eval_metric_ops=metrics)
        return model.estimator_spec(self._default_output)

    @property
    def config(self):
        """The `RunConfig`."""
        return self._core.config

    @property
    def model_dir(self):
        """Folder of the checkpoints."""
        return self._core.model_dir

    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None, monitors=None, max_steps=None):
        """Trains the model.

        Args:
          x: array `[n, ...]`, dict of arrays, or data frame of features.
          y: array `[n]`, or dict of arrays, of labels.
          input_fn: returns (features, labels) tensors, in the place of `x` and `y`.
          steps: number of steps; None: until the input ends.
          batch_size: number of elements of `x` in a step; all by default.
          monitors: list of monitors and `SessionRunHook`s.
          max_steps: global step at which training ends.

        Returns:
          This object.

        Raises:
          ValueError: if the input is given twice or not at all, or both `steps` and `max_steps`.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        input_fn, feed_fn = _get_input_fn(x, y, input_fn, batch_size, shuffle=True, epochs=None)
        hooks = list(_hooks(monitors, self) or [])
        if feed_fn is not None:
            hooks.append(core.FeedFnHook(feed_fn))
        self._core.train(input_fn, hooks=hooks, steps=steps, max_steps=max_steps)
        return self

    def partial_fit(self, x=None, y=None, input_fn=None, steps=1, batch_size=None, monitors=None):
        """`fit` for one step by default: for data that come in parts."""
        return self.fit(x, y, input_fn=input_fn, steps=steps, batch_size=batch_size, monitors=monitors)

    def evaluate(
        self,
        x=None,
        y=None,
        input_fn=None,
        feed_fn=None,
        batch_size=None,
        steps=None,
        metrics=None,
        name=None,
        checkpoint_path=None,
        hooks=None,
        log_progress=True,
    ):
        """Evaluates the model.

        Args:
          x, y, input_fn, batch_size: as for `fit`; `x` is read once.
          feed_fn: function without arguments that returns a feed dict for each step.
          steps: number of steps; None: until the input ends.
          metrics: dict: name -> `MetricSpec`.
          name: name of the evaluation's folder, for several of them.
          checkpoint_path: the checkpoint; the latest by default.
          hooks: list of `SessionRunHook`s.
          log_progress: has no effect: the core estimator logs as it does.

        Returns:
          dict: metric -> value, among them "loss" and "global_step".

        Raises:
          ValueError: if the input is given twice or not at all.
        """
        del log_progress
        input_fn, array_feed_fn = _get_input_fn(x, y, input_fn, batch_size, shuffle=False, epochs=1)
        hooks = list(hooks or [])
        if array_feed_fn is not None:
            if feed_fn is not None:
                raise ValueError("Can not provide both x and feed_fn.")
            feed_fn = array_feed_fn
        if feed_fn is not None:
            hooks.append(core.FeedFnHook(feed_fn))
        self._eval_metrics = metrics
        try:
            result = self._core.evaluate(input_fn, steps=steps, hooks=hooks, checkpoint_path=checkpoint_path, name=name)
        finally:
            self._eval_metrics = None
        if _MODEL_LOSS in result:
            result[_LOSS] = result.pop(_MODEL_LOSS)
        return result

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True, iterate_batches=False):
        """Predicts.

        Args:
          x: array, dict of arrays, or data frame of features.
          input_fn: returns features, in the place of `x`.
          batch_size: number of elements of `x` in a step; all by default.
          outputs: list of keys of the predictions; all by default.
          as_iterable: an iterator over single predictions; False: arrays of all.
          iterate_batches: an iterator over batches of predictions.

        Returns:
          An iterator, an array, or a dict of arrays.
        """
        input_fn, feed_fn = _get_input_fn(x, None, input_fn, batch_size, shuffle=False, epochs=1)
        checkpoint = checkpoint_management.latest_checkpoint(self.model_dir)
        if not checkpoint:
            raise ValueError(f"Couldn't find trained model at {self.model_dir}.")
        batches = self._prediction_batches(input_fn, feed_fn, outputs, checkpoint)
        if as_iterable:
            return batches if iterate_batches else _single_examples(batches)
        batches = list(itertools.islice(batches, 1 if feed_fn is None else None))
        if not batches:
            return np.array([])
        if isinstance(batches[0], dict):
            return {key: np.concatenate([batch[key] for batch in batches]) for key in batches[0]}
        return np.concatenate(batches)

    def _prediction_batches(self, input_fn, feed_fn, outputs, checkpoint):
        """Yields the predictions of one run after another, until the input ends; of constant input there is one."""
        with ops.Graph().as_default() as graph:
            random_seed.set_random_seed(self.config.tf_random_seed)
            training_util.create_global_step(graph)
            features = input_fn()
            is_dataset = isinstance(features, dataset_ops.DatasetV2)
            if is_dataset:
                iterator = dataset_ops.make_initializable_iterator(features)
                ops.add_to_collection(ops.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
                features = iterator.get_next()
            model = self._get_predict_ops(features[0] if isinstance(features, (list, tuple)) else features)
            predictions = _chosen(model.predictions, outputs)
            # Arrays, queues, and a data set that is read here end by themselves: other input is the same in every run.
            ends = feed_fn is not None or is_dataset or bool(graph.get_collection(ops.GraphKeys.QUEUE_RUNNERS))
            creator = monitored_session.ChiefSessionCreator(
                scaffold=model.scaffold,
                config=self.config.session_config,
                checkpoint_filename_with_path=checkpoint,
            )
            with monitored_session.MonitoredSession(creator) as session:
                while not session.should_stop():
                    yield session.run(predictions, feed_fn() if feed_fn is not None else None)
                    if not ends:
                        return

    def get_variable_value(self, name):
        """The value of a variable in the latest checkpoint."""
        return self._core.get_variable_value(name)

    def get_variable_names(self):
        """Names of the variables in the latest checkpoint."""
        return self._core.get_variable_names()

    def export_savedmodel(
        self,
        export_dir_base,
        serving_input_fn,
        default_output_alternative_key=None,
        assets_extra=None,
        as_text=False,
        checkpoint_path=None,
        graph_rewrite_specs=None,
        strip_default_attrs=False,
    ):
        """Exports the model as a SavedModel.

        Args:
          export_dir_base: folder for the exports; each goes into one of its own, named by the time.
          serving_input_fn: returns `InputFnOps`.
          default_output_alternative_key: the output that is served by default; needed if there are several.
          assets_extra: dict: path in the export -> file to copy.
          as_text: whether the SavedModel is written as text.
          checkpoint_path: the checkpoint; the latest by default.
          graph_rewrite_specs: must be None: graph transforms are gone from the runtime.
          strip_default_attrs: whether attributes with default values are left out.

        Returns:
          The folder of the export, bytes.
        """
        if graph_rewrite_specs is not None:
            raise ValueError("graph_rewrite_specs is not supported: graph transforms are gone from the runtime")

        def receiver():
            inputs = serving_input_fn()
            kind = (
                core.export.ServingInputReceiver
                if isinstance(inputs.features, dict)
                else core.export.TensorServingInputReceiver
            )
            return kind(inputs.features, inputs.default_inputs)

        self._default_output = default_output_alternative_key
        try:
            return self._core.export_savedmodel(
                export_dir_base,
                receiver,
                assets_extra=assets_extra,
                as_text=as_text,
                checkpoint_path=checkpoint_path,
                strip_default_attrs=strip_default_attrs,
            )
        finally:
            self._default_output = None

    def export(
        self,
        export_dir,
        input_fn=export._default_input_fn,
        input_feature_key=None,
        use_deprecated_input_fn=True,
        signature_fn=None,
        prediction_key=None,
        default_batch_size=1,
        exports_to_keep=None,
        checkpoint_path=None,
    ):
        """Writes a session bundle; `export_savedmodel` is its successor.

        Args:
          export_dir: folder of the exports; each lies in one of its own, named by the step.
          input_fn: function of (this object, examples) that returns features; if not `use_deprecated_input_fn`, a function
            without arguments that returns (features, labels).
          input_feature_key: the feature with the serialized examples, if not `use_deprecated_input_fn`.
          use_deprecated_input_fn: see `input_fn`.
          signature_fn: function of (examples, features, predictions) that returns a signature and a dict of more.
          prediction_key: the prediction that is exported; all by default.
          default_batch_size: size of a batch; None: any.
          exports_to_keep: number of exports that stay; all by default.
          checkpoint_path: the checkpoint; the latest by default.

        Returns:
          The folder of the export, bytes.

        Raises:
          ValueError: there is no checkpoint, or no features.
          RuntimeError: the step was exported before.
        """
        return export._export_estimator(
            self,
            export_dir,
            signature_fn,
            input_fn,
            default_batch_size,
            exports_to_keep,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            prediction_key=prediction_key,
            checkpoint_path=checkpoint_path,
        )

    def _get_predict_ops(self, features):
        # Model functions may make their loss in this mode too: they get labels like those of the training.
        labels = tensor_signature.create_placeholders_from_signatures(self._labels_info)
        return self._call_model_fn(features, labels, ModeKeys.INFER)

    def _get_feature_ops_from_example(self, examples):
        if self._features_info is None:
            raise ValueError("Features information missing, was fit() ever called?")
        return tensor_signature.create_example_parser_from_signatures(self._features_info, examples)


def _hooks(monitors_or_hooks, estimator):
    return monitors.replace_monitors_with_hooks(monitors_or_hooks, estimator)


class Estimator(BaseEstimator):
    """Trains and evaluates any model.

    Args:
      model_fn: function of features and labels and, if it takes them, `mode`, `params`, `config`, `model_dir`. Returns a `ModelFnOps`,
        a `tf.estimator.EstimatorSpec`, or `(predictions, loss, train_op)`.
      model_dir: folder of the checkpoints; a temporary one by default.
      config: a `RunConfig`.
      params: dict for `model_fn`.
      feature_engineering_fn: function of (features, labels) that returns what `model_fn` gets.

    Raises:
      ValueError: if `params` is given and `model_fn` does not take it.
    """

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None, feature_engineering_fn=None):
        self._takes = set(inspect.signature(model_fn).parameters) if model_fn is not None else set()
        if params is not None and model_fn is not None and "params" not in self._takes:
            raise ValueError(
                f"Estimator's model_fn ({model_fn}) does not have a params argument, but params were given."
            )
        self._model_fn = model_fn
        self.params = params
        self._feature_engineering_fn = feature_engineering_fn or (lambda features, labels: (features, labels))
        super().__init__(model_dir=model_dir, config=config)

    @property
    def model_fn(self):
        """As given."""
        return self._model_fn

    def _call_model_fn(self, features, labels, mode, config=None):
        features, labels = self._feature_engineering_fn(features, labels)
        values = dict(mode=mode, params=self.params, config=config or self.config, model_dir=self.model_dir)
        result = self._model_fn(features, labels, **{k: v for k, v in values.items() if k in self._takes})
        if isinstance(result, ModelFnOps):
            return result
        if isinstance(result, core.EstimatorSpec):
            return _from_spec(result)
        if not isinstance(result, tuple) or len(result) != 3:
            raise ValueError(f"model_fn must return a ModelFnOps or (predictions, loss, train_op), got {result!r}")
        predictions, loss, train_op = result
        return ModelFnOps(mode=mode, predictions=predictions, loss=loss, train_op=train_op)


def _from_spec(spec):
    return ModelFnOps(
        mode=spec.mode,
        predictions=spec.predictions,
        loss=spec.loss,
        train_op=spec.train_op,
        eval_metric_ops=spec.eval_metric_ops,
        training_chief_hooks=spec.training_chief_hooks,
        training_hooks=spec.training_hooks,
        scaffold=spec.scaffold,
    )


class SKCompat:
    """An estimator on the interface of scikit-learn: `fit(x, y)`, `score(x, y)`, `predict(x)`.

    Args:
      estimator: a `tf.contrib.learn` estimator.
    """

    def __init__(self, estimator):
        self._estimator = estimator

    def fit(self, x, y, batch_size=128, steps=None, max_steps=None, monitors=None):
        """Trains; returns this object."""
        self._estimator.fit(x, y, steps=steps, max_steps=max_steps, batch_size=batch_size, monitors=monitors)
        return self

    def score(self, x, y, batch_size=128, steps=None, metrics=None, name=None):
        """dict: metric -> value."""
        return self._estimator.evaluate(x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name)

    def predict(self, x, batch_size=128, outputs=None):
        """Array, or dict of arrays, of predictions."""
        return self._estimator.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)

    def transform(self, x):
        """`predict(x)`."""
        return self.predict(x)

    def get_params(self, deep=True):
        """The estimator, as scikit-learn asks for it."""
        return {"estimator": self._estimator}
