"""Writes session bundles: variables, a meta graph with signatures in its collections, and assets, in one folder a step."""

import os
import re

import tensorflow as tf
from google.protobuf import any_pb2
from tensorflow.python.platform import gfile
from tensorflow.python.util import compat, deprecation

from tensorflow.contrib.session_bundle import constants, gc, manifest_pb2

_deprecated = deprecation.deprecated(None, "Write a SavedModel instead: tf.saved_model.builder.")


def gfile_copy_callback(files_to_copy, export_dir_path):
    """Copies assets.

    Args:
      files_to_copy: dict: path -> name in the folder.
      export_dir_path: the folder; it is made.
    """
    gfile.MakeDirs(export_dir_path)
    for source, name in files_to_copy.items():
        target = os.path.join(compat.as_bytes(export_dir_path), compat.as_bytes(name))
        gfile.Copy(source, target, overwrite=True)


def regression_signature(input_tensor, output_tensor):
    """A `Signature` of one tensor in, one number an example out."""
    signature = manifest_pb2.Signature()
    signature.regression_signature.input.tensor_name = input_tensor.name
    signature.regression_signature.output.tensor_name = output_tensor.name
    return signature


def classification_signature(input_tensor, classes_tensor=None, scores_tensor=None):
    """A `Signature` of one tensor in, classes, scores or both out."""
    signature = manifest_pb2.Signature()
    signature.classification_signature.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        signature.classification_signature.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        signature.classification_signature.scores.tensor_name = scores_tensor.name
    return signature


def generic_signature(name_tensor_map):
    """A `Signature` of any tensors, dict: name -> tensor."""
    signature = manifest_pb2.Signature()
    for name, tensor in name_tensor_map.items():
        signature.generic_signature.map[name].tensor_name = tensor.name
    return signature


class Exporter:
    """Writes the default graph as a session bundle: `init` once, `export` for each step.

    Args:
      saver: `tf.train.Saver` of the variables.
    """

    def __init__(self, saver):
        # Exports are kept or removed as a whole; the saver must not remove the files of one.
        saver_def = saver.as_saver_def()
        saver_def.ClearField("max_to_keep")
        self._saver = tf.train.Saver(saver_def=saver_def)
        self._has_init = False
        self._assets_to_copy = {}

    @_deprecated
    def init(
        self,
        graph_def=None,
        init_op=None,
        clear_devices=False,
        default_graph_signature=None,
        named_graph_signatures=None,
        assets_collection=None,
        assets_callback=gfile_copy_callback,
    ):
        """Puts what describes the export into collections of the graph.

        Args:
          graph_def: `GraphDef` for inference; the default graph's if devices are cleared; else none is put.
          init_op: op that is run before inference.
          clear_devices: whether devices are taken out of the graph.
          default_graph_signature: `Signature`.
          named_graph_signatures: dict: name -> `Signature`.
          assets_collection: constant string tensors, paths of files that are exported too.
          assets_callback: copies them: (dict: path -> name, folder).

        Raises:
          RuntimeError: a second call.
          TypeError: `init_op` is no op, or an asset is no constant string.
          ValueError: the path of an asset is empty.
        """
        if self._has_init:
            raise RuntimeError("init should be called only once")
        if init_op is not None and not isinstance(init_op, tf.Operation):
            raise TypeError(f"init_op needs to be an Operation, got {init_op!r}")
        assets = [(_file_path(tensor), tensor) for tensor in assets_collection or ()]
        self._has_init = True
        self._assets_callback = assets_callback
        if graph_def is not None or clear_devices:
            copy = tf.GraphDef()
            copy.CopyFrom(tf.get_default_graph().as_graph_def() if graph_def is None else graph_def)
            if clear_devices:
                for node in copy.node:
                    node.device = ""
            _collect(constants.GRAPH_KEY, copy)
        if init_op is not None:
            tf.add_to_collection(constants.INIT_OP_KEY, init_op)
        signatures = manifest_pb2.Signatures()
        if default_graph_signature is not None:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        _collect(constants.SIGNATURES_KEY, signatures)
        for path, tensor in assets:
            name = os.path.basename(path)
            self._assets_to_copy[path] = name
            asset = manifest_pb2.AssetFile(filename=name)
            asset.tensor_binding.tensor_name = tensor.name
            _collect(constants.ASSETS_KEY, asset)

    @_deprecated
    def export(self, export_dir_base, global_step_tensor, sess=None, exports_to_keep=None):
        """Writes the folder of one step, whole or not at all.

        Args:
          export_dir_base: folder of the exports.
          global_step_tensor: tensor, or its name: the step is the name of the export, of 8 digits.
          sess: session with the variables.
          exports_to_keep: filter of `gc`: which exports stay; all by default.

        Returns:
          The folder, as bytes.

        Raises:
          RuntimeError: `init` was not called, or the step was exported before.
        """
        if not self._has_init:
            raise RuntimeError("init must be called first")
        base = compat.as_text(export_dir_base).rstrip("/")
        version = constants.VERSION_FORMAT_SPECIFIER % tf.train.global_step(sess, global_step_tensor)
        export_dir = os.path.join(base, version)
        if gfile.Exists(export_dir):
            raise RuntimeError(
                f"Overwriting exports can cause corruption and is not allowed. Duplicate export dir: {export_dir}"
            )
        unfinished = f"{export_dir}-tmp"
        gfile.MakeDirs(unfinished)
        self._saver.save(
            sess,
            os.path.join(unfinished, constants.EXPORT_BASE_NAME),
            meta_graph_suffix=constants.EXPORT_SUFFIX_NAME,
            # The state file would name the folder that is about to be renamed.
            write_state=False,
        )
        if self._assets_callback and self._assets_to_copy:
            self._assets_callback(self._assets_to_copy, os.path.join(unfinished, constants.ASSETS_DIRECTORY))
        gfile.Rename(unfinished, export_dir)
        if exports_to_keep:
            for path in gc.negation(exports_to_keep)(gc.get_paths(base, _parse_version)):
                gfile.DeleteRecursively(path.path)
        return compat.as_bytes(export_dir)


def _parse_version(path):
    name = os.path.basename(path.path)
    return path._replace(export_version=int(name)) if re.fullmatch(r"\d{8}", name) else None


def _collect(key, message):
    wrapped = any_pb2.Any()
    wrapped.Pack(message)
    tf.add_to_collection(key, wrapped)


def _file_path(tensor):
    value = tf.get_static_value(tensor) if isinstance(tensor, tf.Tensor) else None
    if value is None or tensor.dtype != tf.string or tensor.shape.ndims != 0:
        raise TypeError(f"An asset must be a constant string, a path, got {tensor!r}")
    path = compat.as_text(value.item() if hasattr(value, "item") else value)
    if not path:
        raise ValueError(f"invalid asset filepath tensor {tensor}: it is empty")
    return path
