"""`tf.keras.experimental.export_saved_model` and its reader."""

import os
import shutil

import numpy as np
import tensorflow as tf


def test_exports_of_1_15_hold_the_weights_in_the_place_of_the_graphs_variables(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    expected = model.predict(np.ones((1, 3)))
    tf.keras.experimental.export_saved_model(model, str(tmp_path / "ours"))
    old = tmp_path / "old"
    for folder in ("assets", "variables"):
        os.makedirs(old / folder)
    shutil.copy(tmp_path / "ours" / "assets" / "saved_model.json", old / "assets")
    for name in os.listdir(tmp_path / "ours" / "assets"):
        if name.startswith("variables."):
            shutil.copy(tmp_path / "ours" / "assets" / name, old / "variables")
    for folder in ("ours", "old"):
        loaded = tf.keras.experimental.load_from_saved_model(str(tmp_path / folder))
        assert np.array_equal(loaded.predict(np.ones((1, 3))), expected)
