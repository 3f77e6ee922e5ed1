"""A dataset's only element, and reduction to one: core's transformations under contrib's path."""

import numpy as np

from tensorflow.data.experimental import group_by_reducer
from tensorflow.python.data.ops import dataset_ops
from tensorflow.data.experimental import (
    get_single_element,
)

__all__ = ["get_single_element", "reduce_dataset"]


def reduce_dataset(dataset, reducer):
    """Reduces a dataset to one element.

    Args:
      dataset: a finite dataset.
      reducer: a `Reducer`.

    Returns:
      What the reducer's `finalize_func` returns: a nested structure of tensors.

    Raises:
      TypeError: if `dataset` is no dataset.
    """
    if not isinstance(dataset, dataset_ops.DatasetV2):
        raise TypeError(f"dataset must be a tf.data.Dataset, got {type(dataset)}")
    return get_single_element(dataset.apply(group_by_reducer(lambda *element: np.int64(0), reducer)))
