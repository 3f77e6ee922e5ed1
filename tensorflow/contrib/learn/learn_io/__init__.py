"""Input functions from arrays and data frames, and readers of files into queues."""

from tensorflow.contrib.learn.learn_io.numpy_io import numpy_input_fn
from tensorflow.contrib.learn.learn_io.pandas_io import (
    HAS_PANDAS,
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
    pandas_input_fn,
)
from tensorflow.contrib.learn.learn_io.graph_io import (
    queue_parsed_features,
    read_batch_examples,
    read_batch_features,
    read_batch_record_features,
    read_keyed_batch_examples,
    read_keyed_batch_examples_shared_queue,
    read_keyed_batch_features,
    read_keyed_batch_features_shared_queue,
)
from tensorflow.contrib.learn.learn_io.dask_io import HAS_DASK, extract_dask_data, extract_dask_labels
from tensorflow.contrib.learn.learn_io.generator_io import generator_input_fn


__all__ = [
    "HAS_DASK",
    "HAS_PANDAS",
    "extract_dask_data",
    "extract_dask_labels",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "generator_input_fn",
    "numpy_input_fn",
    "pandas_input_fn",
    "queue_parsed_features",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
    "read_keyed_batch_examples",
    "read_keyed_batch_examples_shared_queue",
    "read_keyed_batch_features",
    "read_keyed_batch_features_shared_queue",
]
