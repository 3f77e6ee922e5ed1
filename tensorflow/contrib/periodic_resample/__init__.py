# ruff: noqa: F401
"""`tf.contrib.periodic_resample`: moves entries of one dimension into the others, as subpixel convolutions do."""

from tensorflow.contrib.periodic_resample.periodic_resample_op import periodic_resample

__all__ = ["periodic_resample"]
