"""Functions that build the ops which 1.15 built where the runtime builds fewer or more: the op seeds count them (`op_seeds`).

A `released` argument is the runtime's own function, which does the work wherever its ops are those of 1.15.
"""

import functools
import numbers
import operator

import numpy as np
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.eager import context
from tensorflow.python.framework import constant_op, dtypes, ops, sparse_tensor, tensor_shape, tensor_util
from tensorflow.python.ops import (
    array_ops,
    embedding_ops,
    gen_array_ops,
    gen_data_flow_ops,
    math_ops,
    nn_impl,
    nn_ops,
    resource_variable_ops,
    tensor_array_ops,
)


def _split(released):
    """1.15 made a constant of the number of pieces, too."""

    @functools.wraps(released)
    def split(value, num_or_size_splits, axis=0, num=None, name="split"):
        whole = isinstance(num_or_size_splits, (numbers.Integral, tensor_shape.Dimension))
        if whole and not context.executing_eagerly():
            ops.convert_to_tensor(int(num_or_size_splits))
        return released(value, num_or_size_splits, axis, num, name)

    return split


def _matrix_diag(released):
    """The op of the main diagonal alone, which takes no other inputs."""

    @functools.wraps(released)
    def matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
        if _is(k, 0) and _is(num_rows, -1) and _is(num_cols, -1) and _is(padding_value, 0):
            return gen_array_ops.matrix_diag(diagonal=diagonal, name=name)
        return released(diagonal, name, k, num_rows, num_cols, padding_value, align)

    return matrix_diag


def _matrix_diag_part(released):
    @functools.wraps(released)
    def matrix_diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
        if _is(k, 0) and _is(padding_value, 0):
            return gen_array_ops.matrix_diag_part(input=input, name=name)
        return released(input, name, k, padding_value, align)

    return matrix_diag_part


def _matrix_set_diag(released):
    @functools.wraps(released)
    def matrix_set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
        if _is(k, 0):
            return gen_array_ops.matrix_set_diag(input=input, diagonal=diagonal, name=name)
        return released(input, diagonal, name, k, align)

    return matrix_set_diag


def _is(value, number: int) -> bool:
    return isinstance(value, numbers.Integral) and value == number


def _saturate_cast(released):
    """Maximum and Minimum with a constant each, in place of one clamp."""

    @functools.wraps(released)
    def saturate_cast(value, dtype, name=None):
        dtype = dtypes.as_dtype(dtype).base_dtype
        with ops.name_scope(name, "saturate_cast", [value]) as name:
            value = ops.convert_to_tensor(value, name="value")
            source = value.dtype.base_dtype
            if not (_has_limits(source) and _has_limits(dtype)):
                return released(value, dtype, name)
            if source.min < dtype.min:
                low = ops.convert_to_tensor(_limit(source, dtype.min), dtype=source, name="min")
                value = math_ops.maximum(value, low)
            if source.max > dtype.max:
                high = ops.convert_to_tensor(_limit(source, dtype.max), dtype=source, name="max")
                value = math_ops.minimum(value, high)
            return math_ops.cast(value, dtype, name=name)

    return saturate_cast


def _has_limits(dtype) -> bool:
    return (dtype.is_floating or dtype.is_integer) and dtype not in (dtypes.bfloat16, dtypes.float16)


def _limit(source, bound):
    """`bound` in the type `source`, rounded towards zero: a bound that rounds outwards would be cast out of range."""
    limit = source.as_numpy_dtype(bound)
    if source.is_floating and abs(int(limit) if abs(limit) < 2**63 else float(limit)) > abs(bound):
        limit = np.nextafter(limit, source.as_numpy_dtype(0))
    return limit


def _convolution_internal(released):
    """1.15 made a constant of the dilation rate before it found that there is none."""

    @functools.wraps(released)
    def convolution_internal(
        input,
        filters,
        strides=None,
        padding="VALID",
        data_format=None,
        dilations=None,
        name=None,
        call_from_convolution=True,
        num_spatial_dims=None,
    ):
        if call_from_convolution and not context.executing_eagerly():
            rates = [1] if dilations is None else dilations
            rates = [rates] if isinstance(rates, numbers.Integral) else list(rates)
            if all(_is(rate, 1) for rate in rates):
                if len(rates) == 1 and filters.shape.rank is not None:
                    rates *= filters.shape.rank - 2
                ops.convert_to_tensor(rates, dtypes.int32, name="dilation_rate")
        return released(
            input, filters, strides, padding, data_format, dilations, name, call_from_convolution, num_spatial_dims
        )

    return convolution_internal


def _fused_batch_norm(released):
    """Training takes no moving averages unless it updates them: their places are empty constants."""

    @functools.wraps(released)
    def fused_batch_norm(
        x,
        scale,
        offset,
        mean=None,
        variance=None,
        epsilon=0.001,
        data_format="NHWC",
        is_training=True,
        name=None,
        exponential_avg_factor=1.0,
    ):
        if exponential_avg_factor is None:
            exponential_avg_factor = 1.0
        if is_training and exponential_avg_factor == 1.0 and not context.executing_eagerly():
            mean = variance = None
        return released(
            x, scale, offset, mean, variance, epsilon, data_format, is_training, name, exponential_avg_factor
        )

    return fused_batch_norm


def _constant_if_small(released):
    """The size of zeros and ones is computed, as ops if a dimension is a tensor, before that is found to be no number."""

    @functools.wraps(released)
    def constant_if_small(value, shape, dtype, name, layout=None):
        if isinstance(shape, (list, tuple)) and any(isinstance(n, ops.Tensor) for n in shape):
            if all(n.shape.rank == 0 for n in shape if isinstance(n, ops.Tensor)):
                functools.reduce(operator.mul, shape) < 1000  # noqa: B015 (for its ops)
                return None
        return released(value, shape, dtype, name, layout)

    return constant_if_small


def _sparse_read(released):
    """1.15 passed what it had gathered through an identity."""

    @functools.wraps(released)
    def sparse_read(self, indices, name=None):
        value = released(self, indices, name)
        if context.executing_eagerly() or self.dtype == dtypes.variant:
            return value
        with ops.name_scope(value.op.name + "/"):
            return array_ops.identity(value)

    return sparse_read


def _embedding_lookup_sparse(released):
    """Counts the ops of 1.15's lookup that the runtime's faster one leaves out."""

    @functools.wraps(released)
    def embedding_lookup_sparse_impl(params, segment_ids, sp_weights, ids, combiner, ignore_weights, max_norm, *rest):
        graph = ops.get_default_graph()
        before = graph.num_operations()
        result = released(params, segment_ids, sp_weights, ids, combiner, ignore_weights, max_norm, *rest)
        if ignore_weights and not context.executing_eagerly():
            made = graph.get_operations()[before:]
            built = [op.type for op in made]
            # Ids of partitioned tables are cast, too.
            casts = any(op.type == "Cast" and op.inputs[0] is segment_ids for op in made)
            missing = int(not casts and segment_ids.dtype != dtypes.int32)
            if "Unique" not in built:
                # Unique, and the lookup: a gather and its axis and identity, or, of a resource, a gather and two identities; the
                # runtime reads the resource instead.
                missing += 4 - built.count("ReadVariableOp")
            add_missing(graph, missing)
        return result

    return embedding_lookup_sparse_impl


def _one_hot(released):
    """1.15 made constants of given values twice."""

    @functools.wraps(released)
    def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
        if not context.executing_eagerly():
            given = [
                value for value in (on_value, off_value) if value is not None and not tensor_util.is_tf_type(value)
            ]
            add_missing(ops.get_default_graph(), len(given))
        return released(indices, depth, on_value, off_value, axis, dtype, name)

    return one_hot


def _make_initializable_iterator(released):
    """1.15 wrapped the dataset: an op that optimizes, with the names of the optimizations, and one that tunes."""

    @functools.wraps(released)
    def make_initializable_iterator(self, shared_name=None):
        # options() warns in graphs that it knows what was said, not what the runtime makes of it: just what is asked for.
        options = getattr(self, "_dataset", self)._options_attr
        optimizes = options.experimental_optimization.apply_default_optimizations is not False
        tunes = options.autotune.enabled is not False
        add_missing(ops.get_default_graph(), 2 * optimizes + tunes)
        return released(self, shared_name)

    return make_initializable_iterator


def _reduction_dims(released):
    """A constant wherever the rank of a tensor is known, 0 included; a range for a variable."""

    @functools.wraps(released)
    def reduction_dims(x, axis):
        if axis is None and not context.executing_eagerly():
            rank = x.shape.rank if isinstance(x, (ops.Tensor, sparse_tensor.SparseTensor)) else None
            if rank is not None:
                return constant_op.constant(np.arange(rank, dtype=np.int32))
            return math_ops.range(0, array_ops.rank(x))
        return released(x, axis)

    return reduction_dims


def add_missing(graph, count: int) -> None:
    """Lets the op seeds of `graph` count `count` ops more than it has."""
    graph._deprec_missing_ops = missing_ops(graph) + count


def _ones_like_v2(released):
    """A shape, a one and a Fill, also where the shape is static."""

    @functools.wraps(released)
    def ones_like_v2(input, dtype=None, name=None, layout=None):
        if context.executing_eagerly() or layout is not None:
            return released(input, dtype, name, layout)
        return array_ops.ones_like_impl(input, dtype, name, optimize=True)

    return ones_like_v2


def counting(count: int):
    """Makes a function of a released one: it counts `count` ops more than it builds."""

    def make(released):
        @functools.wraps(released)
        def function(*args, **kwargs):
            if not context.executing_eagerly():
                add_missing(ops.get_default_graph(), count)
            return released(*args, **kwargs)

        return function

    return make


def missing_ops(graph) -> int:
    return getattr(graph, "_deprec_missing_ops", 0)


def _tensor_array_size(self, name=None):
    """The size as an op's output, also where it is known."""
    return gen_data_flow_ops.tensor_array_size_v3(handle=self.handle, flow_in=self.flow, name=name)


def replacements() -> list[tuple]:
    """Pairs (released function, what takes its place)."""
    table = (
        (array_ops, "split", _split),
        (array_ops, "matrix_diag", _matrix_diag),
        (array_ops, "matrix_diag_part", _matrix_diag_part),
        (array_ops, "matrix_set_diag", _matrix_set_diag),
        (math_ops, "saturate_cast", _saturate_cast),
        (math_ops, "_ReductionDims", _reduction_dims),
        (nn_ops, "convolution_internal", _convolution_internal),
        (nn_impl, "fused_batch_norm", _fused_batch_norm),
        (array_ops, "one_hot", _one_hot),
        (array_ops, "ones_like_v2", _ones_like_v2),
        (array_ops, "_constant_if_small", _constant_if_small),
        (embedding_ops, "embedding_lookup_sparse_impl", _embedding_lookup_sparse),
    )
    return [(getattr(module, name), make(getattr(module, name))) for module, name, make in table]


def install_methods() -> None:
    """Puts the methods into their classes."""
    tensor_array_ops._GraphTensorArray.size = _tensor_array_size
    dataset = dataset_ops.DatasetV1
    dataset._make_initializable_iterator = _make_initializable_iterator(dataset._make_initializable_iterator)
    variable = resource_variable_ops.BaseResourceVariable
    variable.sparse_read = _sparse_read(variable.sparse_read)
