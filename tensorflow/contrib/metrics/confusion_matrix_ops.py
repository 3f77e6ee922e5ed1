"""`tf.contrib.metrics.confusion_matrix`: core's."""

from tensorflow.python.ops import confusion_matrix as cm
from tensorflow.python.framework import dtypes


def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None):
    """Counts of (label, prediction) pairs.

    Args:
      labels, predictions: 1-D integer tensors of classes.
      num_classes: number of classes; None: one more than the largest.
      dtype: type of the result.
      name: name of the op.
      weights: what each pair counts, 1 by default.

    Returns:
      Tensor `[num_classes, num_classes]`, a row for each label.
    """
    return cm.confusion_matrix_v1(
        labels=labels, predictions=predictions, num_classes=num_classes, dtype=dtype, name=name, weights=weights
    )
