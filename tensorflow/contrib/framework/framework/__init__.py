# ruff: noqa: F401
"""`tensorflow.contrib.framework.python.framework`: the names of that package, functions before modules of their name."""

from tensorflow.contrib.framework import (
    assert_same_float_dtype,
    assert_scalar,
    assert_scalar_int,
    convert_to_tensor_or_sparse_tensor,
    deprecated,
    deprecated_arg_values,
    deprecated_args,
    fuse_op,
    get_placeholders,
    init_from_checkpoint,
    is_tensor,
    list_variables,
    load_checkpoint,
    load_variable,
    reduce_sum_n,
    remove_squeezable_dimensions,
    with_same_shape,
    with_shape,
)
from tensorflow.contrib.framework.experimental import experimental
