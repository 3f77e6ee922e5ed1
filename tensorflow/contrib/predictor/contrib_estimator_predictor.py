"""A predictor over an estimator of tf.contrib.learn."""

import tensorflow.compat.v1 as tf
from tensorflow.contrib.predictor.predictor import Predictor


class ContribEstimatorPredictor(Predictor):
    """See `tf.contrib.predictor.from_contrib_estimator`."""

    def __init__(
        self,
        estimator,
        prediction_input_fn,
        input_alternative_key=None,
        output_alternative_key=None,
        graph=None,
        config=None,
    ):
        graph = graph or tf.Graph()
        with graph.as_default():
            ops = prediction_input_fn()
            model = estimator._get_predict_ops(ops.features)
            checkpoint = tf.train.latest_checkpoint(estimator.model_dir)
            if checkpoint is None:
                raise ValueError(f"There is no checkpoint in {estimator.model_dir}: train the estimator first.")
            session = tf.train.MonitoredSession(
                tf.train.ChiefSessionCreator(config=config, checkpoint_filename_with_path=checkpoint)
            )
            inputs = ops.default_inputs
            if input_alternative_key is not None:
                inputs = inputs[input_alternative_key]
            outputs = model.predictions
            alternatives = getattr(model, "output_alternatives", None)
            if alternatives:
                key = output_alternative_key if output_alternative_key is not None else next(iter(alternatives))
                outputs = alternatives[key][1]
            outputs = outputs if isinstance(outputs, dict) else {"predictions": outputs}
        super().__init__(graph, session, dict(inputs), dict(outputs))
