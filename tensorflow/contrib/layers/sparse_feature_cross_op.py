"""`tf.contrib.layers.sparse_feature_cross`."""

from tensorflow.contrib.layers import gen_sparse_feature_cross_op
from tensorflow.python.framework import dtypes, sparse_tensor, tensor
from tensorflow.python.ops import math_ops

# Default hash key of FingerprintCat64.
SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE


def sparse_feature_cross(inputs, hashed_output=False, num_buckets=0, name=None, hash_key=None):
    """Crosses a list of 2-D tensors: one output for each choice of one feature of every input, row by row.

    Args:
      inputs: list of 2-D `SparseTensor`s and `Tensor`s of strings or integers.
      hashed_output: int64 hashes instead of strings joined by "_X_".
      num_buckets: with hashes, the result is taken modulo this if it is above 0.
      name: name of the ops (optional).
      hash_key: key of FingerprintCat64; None takes the older way of combining hashes.

    Returns:
      A 2-D `SparseTensor` of string, or of int64 if `hashed_output`.

    Raises:
      TypeError: if `inputs` is no list, or holds something else than tensors.
    """
    if not isinstance(inputs, list):
        raise TypeError(f"inputs must be a list, got {type(inputs).__name__}")
    for item in inputs:
        if not isinstance(item, (sparse_tensor.SparseTensor, tensor.Tensor)):
            raise TypeError(f"inputs must hold tensors and sparse tensors, got {item!r}")
    internal_type = dtypes.string

    def as_feature(values):
        nonlocal internal_type
        if values.dtype == dtypes.string:
            return values
        internal_type = dtypes.int64
        return math_ops.cast(values, dtypes.int64)

    sparse = [item for item in inputs if isinstance(item, sparse_tensor.SparseTensor)]
    values = [as_feature(item.values) for item in sparse]
    dense = [as_feature(item) for item in inputs if not isinstance(item, sparse_tensor.SparseTensor)]
    arguments = dict(
        indices=[item.indices for item in sparse],
        values=values,
        shapes=[item.dense_shape for item in sparse],
        dense=dense,
        hashed_output=hashed_output,
        num_buckets=num_buckets,
        out_type=dtypes.int64 if hashed_output else dtypes.string,
        internal_type=internal_type,
        name=name,
    )
    if hash_key:
        return sparse_tensor.SparseTensor(
            *gen_sparse_feature_cross_op.sparse_feature_cross_v2(hash_key=hash_key, **arguments)
        )
    return sparse_tensor.SparseTensor(*gen_sparse_feature_cross_op.sparse_feature_cross(**arguments))
