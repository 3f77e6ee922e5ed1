"""Sliding windows."""

from tensorflow.api_v1.restored import op_counts
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.eager import context
from tensorflow.python.framework import ops

__all__ = ["sliding_window_batch"]


def sliding_window_batch(window_size, stride=None, window_shift=None, window_stride=1):
    """Batches that overlap; for `Dataset.apply`. Incomplete ones at the end are dropped.

    Args:
      window_size: number of elements in a batch.
      stride: older name of `window_shift`.
      window_shift: elements between the starts of two batches, 1 by default.
      window_stride: elements between two that are in a batch.

    Raises:
      ValueError: if both `stride` and `window_shift` are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `window_shift` and `stride`")
    shift = next((value for value in (window_shift, stride) if value is not None), 1)

    def apply(dataset):
        windows = dataset.window(window_size, shift=shift, stride=window_stride, drop_remainder=True)

        def batch(*window):
            # Each component is a dataset of its own.
            window = window[0] if len(window) == 1 else window
            if not isinstance(window, dataset_ops.DatasetV2):
                window = dataset_ops.DatasetV1.zip(window)
            return window.batch(window_size, drop_remainder=True)

        batches = windows.flat_map(batch)
        if not context.executing_eagerly():
            # One op in 1.15: what is more is a constant and the map.
            op_counts.add_missing(ops.get_default_graph(), -2)
        return batches

    return apply
