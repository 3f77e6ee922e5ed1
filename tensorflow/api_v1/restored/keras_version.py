"""The version that tf.keras of 1.15 reported."""

__version__ = "2.2.4-tf"
