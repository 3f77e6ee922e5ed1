"""Utilities for exports and serving."""

from tensorflow.contrib.learn.utils.export import export_estimator
from tensorflow.contrib.learn.utils.input_fn_utils import (
    InputFnOps,
    build_default_serving_input_fn,
    build_parsing_serving_input_fn,
)
from tensorflow.contrib.learn.utils.saved_model_export_utils import make_export_strategy

__all__ = [
    "InputFnOps",
    "build_default_serving_input_fn",
    "build_parsing_serving_input_fn",
    "export_estimator",
    "make_export_strategy",
]
