"""What a model function of `tf.contrib.learn.Estimator` gets and returns."""

import collections

import tensorflow.estimator as core
from tensorflow.contrib.learn import constants, prediction_key
from tensorflow.python.framework import dtypes


class ModeKeys:
    """Modes of a model: training, evaluation, inference."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key):
        """Raises ValueError if `key` is no mode."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


_Fields = collections.namedtuple(
    "ModelFnOps",
    [
        "predictions",
        "loss",
        "train_op",
        "eval_metric_ops",
        "output_alternatives",
        "training_chief_hooks",
        "training_hooks",
        "scaffold",
        "mode",
    ],
)


def _export_output(problem_type, tensors):
    """The core estimator's description of an output for serving."""
    keys, kinds = prediction_key.PredictionKey, constants.ProblemType
    if not isinstance(tensors, dict):
        tensors = {keys.GENERIC: tensors}
    if problem_type == kinds.LINEAR_REGRESSION and keys.SCORES in tensors:
        return core.export.RegressionOutput(value=tensors[keys.SCORES])
    if problem_type in (kinds.CLASSIFICATION, kinds.LOGISTIC_REGRESSION):
        classes = tensors.get(keys.CLASSES)
        if classes is not None and classes.dtype != dtypes.string:
            classes = None
        scores = tensors.get(keys.PROBABILITIES)
        if classes is not None or scores is not None:
            return core.export.ClassificationOutput(scores=scores, classes=classes)
    return core.export.PredictOutput(tensors)


class ModelFnOps(_Fields):
    """Ops of a model.

    Args:
      mode: a `ModeKeys`.
      predictions: tensor, or dict of tensors.
      loss: scalar; required for training and evaluation.
      train_op: op; required for training.
      eval_metric_ops: dict: name -> (value, update op), or a tensor.
      output_alternatives: dict: name -> (`ProblemType`, dict of tensors by `PredictionKey`), for serving.
      training_chief_hooks, training_hooks: lists of `SessionRunHook`s.
      scaffold: `tf.train.Scaffold`.

    Raises:
      ValueError: if something that the mode requires is missing.
    """

    def __new__(
        cls,
        mode,
        predictions=None,
        loss=None,
        train_op=None,
        eval_metric_ops=None,
        output_alternatives=None,
        training_chief_hooks=None,
        training_hooks=None,
        scaffold=None,
    ):
        ModeKeys.validate(mode)
        if mode == ModeKeys.TRAIN and train_op is None:
            raise ValueError("Missing train_op.")
        if mode != ModeKeys.INFER and loss is None:
            raise ValueError("Missing loss.")
        if mode != ModeKeys.TRAIN and predictions is None and mode == ModeKeys.INFER:
            raise ValueError("Missing predictions.")
        return super().__new__(
            cls,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops={} if eval_metric_ops is None else eval_metric_ops,
            output_alternatives=output_alternatives,
            training_chief_hooks=list(training_chief_hooks or []),
            training_hooks=list(training_hooks or []),
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(self, default_serving_output_alternative_key=None):
        """The same as a `tf.estimator.EstimatorSpec`.

        Args:
          default_serving_output_alternative_key: the output that is served by default; needed if there are several.

        Raises:
          ValueError: if it is none of the outputs.
        """
        exports = None
        if self.predictions is not None and self.mode == ModeKeys.INFER:
            alternatives = self.output_alternatives or {None: (constants.ProblemType.UNSPECIFIED, self.predictions)}
            default = default_serving_output_alternative_key
            if default is None and len(alternatives) == 1:
                (default,) = alternatives
            if default not in alternatives and (default is not None or len(alternatives) > 1):
                raise ValueError(
                    f"default_serving_output_alternative_key must be one of {sorted(map(str, alternatives))}, got {default!r}"
                )
            given = self.output_alternatives is not None
            exports = {
                f"default_input_alternative:{name if given else 'default_output_alternative'}": _export_output(
                    kind, tensors
                )
                for name, (kind, tensors) in alternatives.items()
            }
            exports["serving_default"] = _export_output(*alternatives[default])
        return core.EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=self.eval_metric_ops or None,
            export_outputs=exports,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )
