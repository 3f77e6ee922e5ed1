"""`tf.keras.experimental.export_saved_model` and `load_from_saved_model`: a SavedModel with the model's JSON beside it."""

import os

import tensorflow as tf
from tensorflow.python.lib.io import file_io
from tf_keras.src import backend
from tf_keras.src.saving.legacy import model_config

_JSON = "saved_model.json"
_WEIGHTS = "variables"


def export_saved_model(
    model, saved_model_path, custom_objects=None, as_text=False, input_signature=None, serving_only=False
):
    """Writes a Keras model as a SavedModel for serving, with its weights and configuration.

    Args:
      model: a functional or sequential tf.keras model; a subclassed one needs serving_only=True.
      saved_model_path: folder to make.
      custom_objects: name -> class or function, for layers that Keras does not know.
      as_text: whether saved_model.pbtxt is written in place of saved_model.pb.
      input_signature: not supported beside None: the model's own inputs are the signature.
      serving_only: True leaves out the configuration, so load_from_saved_model cannot read the model.

    Raises:
      ValueError: a subclassed model without serving_only, or an input_signature.
    """
    if input_signature is not None:
        raise ValueError("input_signature must be None: the exported signature is that of the model's inputs")
    if not serving_only:
        if not model._is_graph_network:
            raise ValueError("a subclassed model has no configuration to write: give serving_only=True")
        text = model.to_json()
    session = backend.get_session()
    graph = model.inputs[0].graph if model.inputs else tf.get_default_graph()
    with graph.as_default():
        signature = tf.saved_model.predict_signature_def(
            {name: tensor for name, tensor in zip(model.input_names, model.inputs)},
            {name: tensor for name, tensor in zip(model.output_names, model.outputs)},
        )
        builder = tf.saved_model.Builder(saved_model_path)
        builder.add_meta_graph_and_variables(
            session,
            [tf.saved_model.tag_constants.SERVING],
            {tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        )
        builder.save(as_text)
    if not serving_only:
        assets = os.path.join(saved_model_path, "assets")
        file_io.recursive_create_dir(assets)
        with file_io.FileIO(os.path.join(assets, _JSON), "w") as out:
            out.write(text)
        # Beside the graph's own variables: by layer, so that they fit a model that is built anew from the JSON.
        model.save_weights(os.path.join(assets, _WEIGHTS), save_format="tf")


def load_from_saved_model(saved_model_path, custom_objects=None):
    """The tf.keras model, not compiled, that `export_saved_model` wrote to a folder.

    Raises:
      ValueError: the folder holds no model configuration.
    """
    path = os.path.join(saved_model_path, "assets", _JSON)
    if not file_io.file_exists(path):
        raise ValueError(f"no {path}: was the model exported with serving_only=True, or by something else?")
    with file_io.FileIO(path, "r") as source:
        model = model_config.model_from_json(source.read(), custom_objects=custom_objects)
    status = model.load_weights(_weights_of(saved_model_path))
    if status is not None:
        status.assert_existing_objects_matched().run_restore_ops(backend.get_session())
    return model


def _weights_of(saved_model_path):
    """The weights by layer: beside the configuration; 1.15 itself wrote them in the place of the graph's variables."""
    beside = os.path.join(saved_model_path, "assets", _WEIGHTS)
    if file_io.file_exists(beside + ".index"):
        return beside
    return os.path.join(saved_model_path, "variables", "variables")
