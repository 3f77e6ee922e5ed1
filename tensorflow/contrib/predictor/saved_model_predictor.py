"""A predictor over a SavedModel."""

import tensorflow.compat.v1 as tf
from tensorflow.contrib.predictor.predictor import Predictor

DEFAULT_TAGS = "serve"


def _meta_graph(export_dir, tags):
    from tensorflow.python.saved_model import loader_impl

    found = [set(graph.meta_info_def.tags) for graph in loader_impl.parse_saved_model(export_dir).meta_graphs]
    for graph in loader_impl.parse_saved_model(export_dir).meta_graphs:
        if set(graph.meta_info_def.tags) == tags:
            return graph
    raise ValueError(f"The SavedModel in {export_dir} has no graph with the tags {sorted(tags)}, only with {found}.")


def _names(export_dir, signature_def_key, signature_def, input_names, output_names, tags):
    """Names of inputs and outputs -> names of tensors."""
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names go together.")
    given = [what for what in (signature_def_key, signature_def, input_names) if what is not None]
    if len(given) > 1:
        raise ValueError("Give one of signature_def_key, signature_def, and input_names with output_names.")
    if input_names is not None:
        return input_names, output_names
    if signature_def is None:
        key = signature_def_key or tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        signatures = _meta_graph(export_dir, tags).signature_def
        if key not in signatures:
            raise ValueError(f"Signature {key!r} is not among those of {export_dir}: {sorted(signatures)}.")
        signature_def = signatures[key]
    return (
        {name: info.name for name, info in signature_def.inputs.items()},
        {name: info.name for name, info in signature_def.outputs.items()},
    )


class SavedModelPredictor(Predictor):
    """See `tf.contrib.predictor.from_saved_model`."""

    def __init__(
        self,
        export_dir,
        signature_def_key=None,
        signature_def=None,
        input_names=None,
        output_names=None,
        tags=None,
        graph=None,
        config=None,
    ):
        tags = set((tags or DEFAULT_TAGS).split(",")) if not isinstance(tags, (set, list, tuple)) else set(tags)
        inputs, outputs = _names(export_dir, signature_def_key, signature_def, input_names, output_names, tags)
        graph = graph or tf.Graph()
        with graph.as_default():
            session = tf.Session(config=config)
            tf.saved_model.loader.load(session, tags, export_dir)
        super().__init__(
            graph,
            session,
            {name: graph.get_tensor_by_name(tensor) for name, tensor in inputs.items()},
            {name: graph.get_tensor_by_name(tensor) for name, tensor in outputs.items()},
        )
