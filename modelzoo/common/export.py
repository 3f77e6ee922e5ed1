"""A SavedModel of the last checkpoint, and a prediction from it as a server would make it."""

import argparse
import os
import shutil

import numpy as np
import tensorflow as tf

from common.errors import InputError
from common.graph import Input, ModelFn, session_config
from common.progress import log

_ROWS = 256


def export_and_predict(args: argparse.Namespace, data: Input, model_fn: ModelFn) -> str:
    """Writes `saved_model` into args.output_dir, with the signature features -> probabilities, and checks it.

    Returns:
      The folder.
    Raises:
      InputError: what is loaded predicts something else than the checkpoint.
    """
    folder = os.path.join(args.output_dir, "saved_model")
    shutil.rmtree(folder, ignore_errors=True)
    features, expected = _export(args, data, model_fn, folder)
    with tf.Graph().as_default(), tf.Session(config=session_config(args)) as session:
        loaded = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], folder)
        signature = loaded.signature_def[tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        found = session.run(
            signature.outputs["probabilities"].name,
            {signature.inputs[name].name: value for name, value in features.items()},
        )
    if not np.allclose(found, expected, atol=1e-5):
        raise InputError(f"{folder}: predicts {found[:3]}, where the checkpoint gives {expected[:3]}")
    log.info("exported %s; predicted %s rows from it, mean %.4f", folder, len(found), float(np.mean(found)))
    return folder


def _export(args: argparse.Namespace, data: Input, model_fn: ModelFn, folder: str):
    """Returns the features of some rows, and what the checkpoint predicts for them."""
    with tf.Graph().as_default():
        tf.set_random_seed(args.seed)
        rows = tf.data.make_one_shot_iterator(data.training(0, _ROWS)).get_next()
        features = {
            name: tf.placeholder(value.dtype, value.shape, name=f"serving_{name}") for name, value in rows[0].items()
        }
        # Labels are there for the loss alone.
        labels = tf.zeros([tf.shape(next(iter(features.values())))[0]], tf.float32)
        probabilities = model_fn(features, labels, tf.constant(False)).probabilities
        with tf.Session(config=session_config(args)) as session:
            tf.train.Saver().restore(session, tf.train.latest_checkpoint(args.checkpoint))
            values = session.run(rows[0])
            expected = session.run(probabilities, {features[name]: value for name, value in values.items()})
            tf.saved_model.simple_save(session, folder, features, {"probabilities": probabilities})
    return values, expected
