"""Transformations of `tf.data.Dataset`s."""

from tensorflow.contrib.data.batching import (
    assert_element_shape,
    batch_and_drop_remainder,
    dense_to_sparse_batch,
    map_and_batch,
    padded_batch_and_drop_remainder,
    unbatch,
)
from tensorflow.contrib.data.counter import (
    Counter,
)
from tensorflow.contrib.data.enumerate_ops import (
    enumerate_dataset,
)
from tensorflow.contrib.data.error_ops import (
    ignore_errors,
)
from tensorflow.contrib.data.get_single_element import (
    get_single_element,
    reduce_dataset,
)
from tensorflow.contrib.data.grouping import (
    Reducer,
    bucket_by_sequence_length,
    group_by_reducer,
    group_by_window,
)
from tensorflow.contrib.data.interleave_ops import (
    choose_from_datasets,
    parallel_interleave,
    sample_from_datasets,
    sloppy_interleave,
)
from tensorflow.contrib.data.iterator_ops import (
    CheckpointInputPipelineHook,
    make_saveable_from_iterator,
)
from tensorflow.contrib.data.parsing_ops import (
    parse_example_dataset,
)
from tensorflow.contrib.data.prefetching_ops import (
    copy_to_device,
    prefetch_to_device,
)
from tensorflow.contrib.data.random_ops import (
    RandomDataset,
)
from tensorflow.contrib.data.readers import (
    CsvDataset,
    LMDBDataset,
    SqlDataset,
    make_batched_features_dataset,
    make_csv_dataset,
    read_batch_features,
)
from tensorflow.contrib.data.resampling import (
    rejection_resample,
)
from tensorflow.contrib.data.scan_ops import (
    scan,
)
from tensorflow.contrib.data.shuffle_ops import (
    shuffle_and_repeat,
)
from tensorflow.contrib.data.sliding import (
    sliding_window_batch,
)
from tensorflow.contrib.data.unique import (
    unique,
)
from tensorflow.contrib.data.writers import (
    TFRecordWriter,
)
from tensorflow.data.experimental import AUTOTUNE, Optional, get_next_as_optional

__all__ = [
    "AUTOTUNE",
    "CheckpointInputPipelineHook",
    "Counter",
    "CsvDataset",
    "LMDBDataset",
    "Optional",
    "RandomDataset",
    "Reducer",
    "SqlDataset",
    "TFRecordWriter",
    "assert_element_shape",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "read_batch_features",
    "reduce_dataset",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "sliding_window_batch",
    "sloppy_interleave",
    "unbatch",
    "unique",
]
