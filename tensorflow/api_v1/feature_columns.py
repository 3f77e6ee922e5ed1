"""What the feature columns of 1.15 did and those of the runtime no longer do."""

import functools

from tensorflow.api_v1 import import_hooks


def install() -> None:
    for name, cls in (
        ("feature_column", "_IdentityCategoricalColumn"),
        ("feature_column_v2", "IdentityCategoricalColumn"),
    ):
        import_hooks.after_import(f"tensorflow.python.feature_column.{name}", functools.partial(_check_ids, cls))


def _check_ids(name: str, module) -> None:
    """Ids of `categorical_column_with_identity` out of range are an error where no default value stands in for them."""
    cls = getattr(module, name)
    method = "_transform_input_tensor" if hasattr(cls, "_transform_input_tensor") else "_transform_feature"
    released = getattr(cls, method)

    @functools.wraps(released)
    def transform(self, inputs, *args, **kwargs):
        if self.default_value is not None and method == "_transform_input_tensor":
            # The runtime casts twice; 1.15's default seeds count ops.
            inputs = _as_int64(inputs)
        result = released(self, inputs, *args, **kwargs)
        return result if self.default_value is not None else _checked(result, self.num_buckets)

    setattr(cls, method, transform)


def _as_int64(sparse):
    from tensorflow.python.framework import dtypes, sparse_tensor
    from tensorflow.python.ops import math_ops

    if not sparse.dtype.is_integer:
        # An error, which the column raises.
        return sparse
    values = math_ops.cast(sparse.values, dtypes.int64, name="values")
    return sparse_tensor.SparseTensor(sparse.indices, values, sparse.dense_shape)


def _checked(sparse, num_buckets: int):
    from tensorflow.python.framework import dtypes, ops, sparse_tensor
    from tensorflow.python.ops import array_ops, check_ops, math_ops

    values = math_ops.cast(sparse.values, dtypes.int64, name="values")
    limit = math_ops.cast(num_buckets, dtypes.int64, name="num_buckets")
    zero = math_ops.cast(0, dtypes.int64, name="zero")
    below = check_ops.assert_less(values, limit, data=(values, limit), message="", name="assert_less_than_num_buckets")
    above = check_ops.assert_greater_equal(values, zero, data=(values,), message="", name="assert_greater_or_equal_0")
    with ops.control_dependencies((below, above)):
        values = array_ops.identity(values)
    return sparse_tensor.SparseTensor(sparse.indices, values, sparse.dense_shape)
