"""`tf.contrib.libsvm`: lines of LIBSVM text as sparse features."""

import numpy as np
import tensorflow as tf

__all__ = ["decode_libsvm"]


def decode_libsvm(content, num_features, dtype=tf.float32, label_dtype=None):
    """Reads lines `label index:value index:value ...`; indices start at 0.

    Args:
      content: string Tensor of any shape, one line an element.
      num_features: the size of the last dimension.
      dtype: type of the values: float32, float64, int32 or int64.
      label_dtype: type of the labels; int64 by default.

    Returns:
      (labels, features): a Tensor of content's shape, and a SparseTensor of shape `content.shape + [num_features]`.

    Raises:
      ValueError: `num_features` is not positive.
      InvalidArgumentError (when run): a line is no LIBSVM text, or an index is out of range.
    """
    if num_features <= 0:
        raise ValueError(f"num_features must be positive, got {num_features}")
    dtype = tf.as_dtype(dtype)
    label_dtype = tf.as_dtype(label_dtype or tf.int64)
    content = tf.convert_to_tensor(content, tf.string)

    def decode(lines):
        lines = np.asarray(lines, object)
        labels = np.zeros(lines.shape, label_dtype.as_numpy_dtype)
        indices, values = [], []
        for where, line in np.ndenumerate(lines):
            words = line.split()
            try:
                labels[where] = label_dtype.as_numpy_dtype(float(words[0]))
                for word in words[1:]:
                    index, _, value = word.partition(b":")
                    if not 0 <= int(index) < num_features:
                        raise ValueError(f"feature {int(index)} is not in [0, {num_features})")
                    indices.append((*where, int(index)))
                    values.append(float(value))
            except (IndexError, ValueError) as error:
                # The runtime turns a ValueError into an InvalidArgumentError.
                raise ValueError(f"decode_libsvm: line {line!r}: {error or 'no label'}") from None
        indices = np.asarray(indices, np.int64).reshape(-1, lines.ndim + 1)
        shape = np.asarray([*lines.shape, num_features], np.int64)
        return labels, indices, np.asarray(values, dtype.as_numpy_dtype), shape

    with tf.name_scope("DecodeLibsvm"):
        labels, indices, values, shape = tf.py_func(decode, [content], [label_dtype, tf.int64, dtype, tf.int64])
        labels.set_shape(content.shape)
        rank = content.shape.rank
        indices.set_shape([None, None if rank is None else rank + 1])
        values.set_shape([None])
        shape.set_shape([None if rank is None else rank + 1])
        return labels, tf.SparseTensor(indices, values, shape)
