"""Functions of tf.nn, tf.train and tf.math that build, or count, the ops of 1.15's: the op seeds count them (`op_seeds`)."""

import functools
import types

from tensorflow.api_v1.restored.op_counts import add_missing, counting
from tensorflow.python.eager import context
from tensorflow.python.framework import dtypes, op_def_library, ops, tensor_util
from tensorflow.python.ops import confusion_matrix as confusion_matrix_module
from tensorflow.python.ops import (
    clip_ops,
    custom_gradient,
    gen_math_ops,
    math_ops,
    nn_impl,
    nn_ops,
    stateless_random_ops,
    variable_scope,
)
from tensorflow.python.training import learning_rate_decay, saver


def replacements() -> list[tuple]:
    """Pairs (released function, what takes its place)."""
    table = (
        (clip_ops, "clip_by_global_norm", counting(1)),
        (nn_impl, "swish", _swish),
        (nn_ops, "convolution", _convolution),
        # Masks of missing dimensions, as in the gradients of segment sums.
        (math_ops, "unsorted_segment_mean", counting(-13)),
        (math_ops, "unsorted_segment_sqrt_n", counting(-13)),
        # The key and the counter are an op of their own.
        (stateless_random_ops, "stateless_random_uniform", counting(-2)),
        (stateless_random_ops, "stateless_random_normal", counting(-2)),
        (stateless_random_ops, "stateless_truncated_normal", counting(-2)),
        (nn_impl, "weighted_moments", counting(1)),
        (math_ops, "linspace_nd", _linspace),
        (learning_rate_decay, "polynomial_decay", _polynomial_decay),
        (confusion_matrix_module, "confusion_matrix", _confusion_matrix),
    )
    return [(getattr(module, name), make(getattr(module, name))) for module, name, make in table]


def install() -> None:
    op_def_library.ops = _OpsForInputs("ops")
    store = variable_scope._VariableStore
    builder = saver.BulkSaverBuilder
    # Names of shards were not told apart by file system.
    builder._AddShardedSaveOpsForV2 = counting(-3)(builder._AddShardedSaveOpsForV2)
    store._get_single_variable = _regularized(store._get_single_variable)


class _OpsForInputs(types.ModuleType):
    """The module `ops` as it converts the inputs of ops: an empty list gets the type that the op has by default.

    The runtime makes a constant of floats first, finds that the op does not take it, and makes another one.
    """

    def __getattr__(self, name):
        return getattr(ops, name)

    def convert_to_tensor(self, value, *args, **kwargs):
        if isinstance(value, (list, tuple)) and not value and "dtype" not in kwargs and "preferred_dtype" not in kwargs:
            # What the caller takes for "needs a type".
            raise TypeError("an empty list has no type of its own")
        return ops.convert_to_tensor(value, *args, **kwargs)


def _swish(released):
    """x * sigmoid(x) without a factor in the sigmoid."""

    @functools.wraps(released)
    def swish(features, beta=1.0):
        if context.executing_eagerly() or beta != 1.0:
            return released(features, beta)
        features = ops.convert_to_tensor(features, name="features")

        @custom_gradient.custom_gradient
        def of_features(features):
            def gradient(dy):
                # Computed anew, so that the forward pass need not keep it.
                with ops.control_dependencies([dy]):
                    gate = math_ops.sigmoid(features)
                return dy * (gate * (1.0 + features * (1.0 - gate)))

            return features * math_ops.sigmoid(features), gradient

        return of_features(features)

    return swish


def _confusion_matrix(released):
    """A sparse matrix added to zeros, where the runtime scatters; the computed size was cast."""

    @functools.wraps(released)
    def confusion_matrix(labels, predictions, num_classes=None, *args, **kwargs):
        if not context.executing_eagerly():
            wide = num_classes is None or getattr(num_classes, "dtype", None) == dtypes.int64
            add_missing(ops.get_default_graph(), 3 if wide else 2)
        return released(labels, predictions, num_classes, *args, **kwargs)

    return confusion_matrix


def _convolution(released):
    """The function, other than the layers, made no constant of a dilation that does nothing."""

    @functools.wraps(released)
    def convolution(input, filter, padding, strides=None, dilation_rate=None, *args, **kwargs):
        if not context.executing_eagerly():
            rates = [1] if dilation_rate is None else dilation_rate
            if all(
                isinstance(rate, int) and rate == 1 for rate in (rates if isinstance(rates, (list, tuple)) else [rates])
            ):
                add_missing(ops.get_default_graph(), -1)
        return released(input, filter, padding, strides, dilation_rate, *args, **kwargs)

    return convolution


def _linspace(released):
    """One op for scalars."""

    @functools.wraps(released)
    def linspace_nd(start, stop, num, name=None, axis=0):
        if context.executing_eagerly():
            return released(start, stop, num, name, axis)
        with ops.name_scope(name, "LinSpace") as scope:
            start = ops.convert_to_tensor(start, name="start")
            stop = ops.convert_to_tensor(stop, name="stop", dtype_hint=start.dtype)
            if start.shape.rank == stop.shape.rank == 0 and start.dtype.is_floating and start.dtype == stop.dtype:
                return gen_math_ops.lin_space(start, stop, num, name=scope)
        return released(start, stop, num, name, axis)

    return linspace_nd


def _polynomial_decay(released):
    """1.15 made two constants of the number of steps if the decay ends, and a condition if it begins again."""

    @functools.wraps(released)
    def polynomial_decay(
        learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None
    ):
        if not context.executing_eagerly() and (cycle or not tensor_util.is_tf_type(decay_steps)):
            add_missing(ops.get_default_graph(), 5 if cycle else 1)
        return released(learning_rate, global_step, decay_steps, end_learning_rate, power, cycle, name)

    return polynomial_decay


def _regularized(released):
    """The loss of a regularizer is built once, with the variable; the runtime builds one to see whether it is None."""

    @functools.wraps(released)
    def get_single_variable(self, name, *args, regularizer=None, **kwargs):
        known = name in self._vars
        variable = released(self, name, *args, regularizer=regularizer if known else None, **kwargs)
        if regularizer and not known:
            with ops.colocate_with(variable), ops.name_scope(f"{name}/Regularizer/"), ops.init_scope():
                loss = regularizer(variable)
            if loss is not None:
                ops.add_to_collection(ops.GraphKeys.REGULARIZATION_LOSSES, loss)
        return variable

    return get_single_variable
