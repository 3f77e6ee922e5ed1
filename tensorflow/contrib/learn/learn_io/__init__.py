"""Input functions from arrays and data frames, and readers of files into queues."""

from tensorflow.contrib.learn.learn_io.graph_io import read_batch_features, read_batch_record_features
from tensorflow.contrib.learn.learn_io.numpy_io import numpy_input_fn
from tensorflow.contrib.learn.learn_io.pandas_io import (
    HAS_PANDAS,
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
    pandas_input_fn,
)

__all__ = [
    "HAS_PANDAS",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "numpy_input_fn",
    "pandas_input_fn",
    "read_batch_features",
    "read_batch_record_features",
]
