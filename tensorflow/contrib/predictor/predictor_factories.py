"""How predictors are made."""


def from_estimator(estimator, serving_input_receiver_fn, output_key=None, graph=None, config=None):
    """A predictor over the latest checkpoint of a `tf.estimator.Estimator`.

    Args:
      serving_input_receiver_fn: function that returns a ServingInputReceiver.
      output_key: which of the model's export outputs to fetch; the default one if None.
      graph: graph to build in; a new one if None.
      config: ConfigProto of the session.

    Raises:
      ValueError: no checkpoint, or an unknown output_key.
    """
    from tensorflow.contrib.predictor.core_estimator_predictor import CoreEstimatorPredictor

    return CoreEstimatorPredictor(estimator, serving_input_receiver_fn, output_key, graph, config)


def from_contrib_estimator(
    estimator, prediction_input_fn, input_alternative_key=None, output_alternative_key=None, graph=None, config=None
):
    """A predictor over a `tf.contrib.learn` estimator.

    Args:
      prediction_input_fn: function that returns an InputFnOps: features, labels, default inputs.
      input_alternative_key, output_alternative_key: which of its input and output alternatives to take.

    Raises:
      TypeError: the estimator is a `tf.estimator.Estimator`; for these there is from_estimator.
    """
    from tensorflow_estimator.python.estimator import estimator as estimator_lib

    from tensorflow.contrib.predictor.contrib_estimator_predictor import ContribEstimatorPredictor

    if isinstance(estimator, estimator_lib.Estimator):
        raise TypeError("This is a tf.estimator.Estimator: use tf.contrib.predictor.from_estimator.")
    return ContribEstimatorPredictor(
        estimator, prediction_input_fn, input_alternative_key, output_alternative_key, graph, config
    )


def from_saved_model(
    export_dir,
    signature_def_key=None,
    signature_def=None,
    input_names=None,
    output_names=None,
    tags=None,
    graph=None,
    config=None,
):
    """A predictor over the SavedModel in the folder `export_dir`.

    Args:
      signature_def_key: name of a signature; 'serving_default' if nothing else is given.
      signature_def: a SignatureDef, in place of a name.
      input_names, output_names: dicts of names -> names of tensors, in place of a signature.
      tags: comma separated tags of the graph; 'serve' if None.
      graph: graph to load into; a new one if None.
      config: ConfigProto of the session.

    Raises:
      ValueError: two ways to name inputs and outputs, an unknown signature, or no graph with the tags.
    """
    from tensorflow.contrib.predictor.saved_model_predictor import SavedModelPredictor

    return SavedModelPredictor(
        export_dir, signature_def_key, signature_def, input_names, output_names, tags, graph, config
    )
