"""A predictor over the latest checkpoint of an Estimator."""

import tensorflow.compat.v1 as tf
from tensorflow.contrib.predictor.predictor import Predictor
from tensorflow_estimator.python.estimator.mode_keys import ModeKeys


class CoreEstimatorPredictor(Predictor):
    """See `tf.contrib.predictor.from_estimator`."""

    def __init__(self, estimator, serving_input_receiver_fn, output_key=None, graph=None, config=None):
        graph = graph or tf.Graph()
        with graph.as_default():
            tf.train.create_global_step(graph)
            receiver = serving_input_receiver_fn()
            spec = estimator.model_fn(receiver.features, None, ModeKeys.PREDICT, estimator.config)
            outputs = spec.export_outputs or {}
            key = output_key or tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
            if key not in outputs:
                raise ValueError(f"output_key {key!r} is not among the export outputs {sorted(outputs)}.")
            signature = outputs[key].as_signature_def(receiver.receiver_tensors)
            checkpoint = tf.train.latest_checkpoint(estimator.model_dir)
            if checkpoint is None:
                raise ValueError(f"There is no checkpoint in {estimator.model_dir}: train the estimator first.")
            session = tf.train.MonitoredSession(
                tf.train.ChiefSessionCreator(config=config, checkpoint_filename_with_path=checkpoint)
            )
            feeds = {k: graph.get_tensor_by_name(v.name) for k, v in signature.inputs.items()}
            fetches = {k: graph.get_tensor_by_name(v.name) for k, v in signature.outputs.items()}
        super().__init__(graph, session, feeds, fetches)
