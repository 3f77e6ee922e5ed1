"""A SavedModel of the last checkpoint, and a prediction from it as a server would make it."""

import argparse
import os
import shutil

import numpy as np
import tensorflow as tf

from common.errors import InputError
from common.graph import Input, ModelFn, session_config
from common.progress import log
from common.tasks import by_task, first

_ROWS = 256


def _config(args: argparse.Namespace) -> tf.ConfigProto:
    """Without what would read the rows ahead or several batches of them: their outputs can not be fetched."""
    return session_config(argparse.Namespace(**{**vars(args), "smartstaged": False, "micro_batch": 0}))


def export_and_predict(args: argparse.Namespace, data: Input, model_fn: ModelFn) -> str:
    """Writes `saved_model` into args.output_dir and checks it.

    Its signature is features -> probabilities; several tasks have an output each, probabilities_<label>.

    Returns:
      The folder.
    Raises:
      InputError: what is loaded predicts something else than the checkpoint.
    """
    folder = os.path.join(args.output_dir, "saved_model")
    shutil.rmtree(folder, ignore_errors=True)
    features, expected = _export(args, data, model_fn, folder)
    with tf.Graph().as_default(), tf.Session(config=_config(args)) as session:
        loaded = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], folder)
        signature = loaded.signature_def[tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        found = session.run(
            {name: output.name for name, output in signature.outputs.items()},
            {signature.inputs[name].name: value for name, value in features.items()},
        )
    for name, values in expected.items():
        if not np.allclose(found[name], values, atol=1e-5):
            raise InputError(f"{folder}: {name} are {found[name][:3]}, where the checkpoint gives {values[:3]}")
    means = ", ".join(f"{np.mean(values):.4f}" for values in found.values())
    log.info("exported %s; predicted %s rows from it, mean %s", folder, len(first(found)), means)
    return folder


def _export(args: argparse.Namespace, data: Input, model_fn: ModelFn, folder: str):
    """Returns the features of some rows, and what the checkpoint predicts for them by name of the output."""
    with tf.Graph().as_default():
        tf.set_random_seed(args.seed)
        rows, row_labels, _ = tf.data.make_one_shot_iterator(data.training(0, _ROWS)).get_next()
        features = {
            name: tf.placeholder(value.dtype, value.shape, name=f"serving_{name}")
            for name, value in rows.items()
            if name not in data.training_only
        }
        # Labels, and features for training only, are there for the loss alone.
        size = [tf.shape(first(features))[0]]
        rest = {name: tf.zeros(size, rows[name].dtype) for name in data.training_only}
        zeros = tf.zeros(size, tf.float32)
        labels = dict.fromkeys(row_labels, zeros) if isinstance(row_labels, dict) else zeros
        probabilities = by_task(model_fn({**features, **rest}, labels, tf.constant(False)).probabilities)
        outputs = {f"probabilities_{task}": value for task, value in probabilities.items()}
        if len(outputs) == 1:
            outputs = {"probabilities": first(outputs)}
        tables_initializer = tf.tables_initializer()
        with tf.Session(config=_config(args)) as session:
            tf.train.Saver().restore(session, tf.train.latest_checkpoint(args.checkpoint))
            session.run(tables_initializer)
            values = session.run({name: rows[name] for name in features})
            expected = session.run(outputs, {features[name]: value for name, value in values.items()})
            tf.saved_model.simple_save(session, folder, features, outputs, legacy_init_op=tables_initializer)
    return values, expected
