"""SavedModels of Keras models, by their names of 1.14 and before."""

import tensorflow as tf

load_keras_model = tf.keras.experimental.load_from_saved_model
save_keras_model = tf.keras.experimental.export_saved_model

__all__ = ["load_keras_model", "save_keras_model"]
