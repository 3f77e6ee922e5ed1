"""Batches with another distribution than the data: by rejection, and by class."""

from tensorflow.python.framework import dtypes, ops, tensor_shape
from tensorflow.python.ops import (
    array_ops,
    check_ops,
    cond,
    control_flow_assert,
    control_flow_ops,
    logging_ops,
    math_ops,
    random_ops,
    variable_scope,
    variable_v1,
)
from tensorflow.python.training import input as input_ops

__all__ = ["rejection_sample", "stratified_sample"]


def _one_by_one(tensors, num_threads, capacity):
    """Single elements of batched tensors, by a queue."""
    batched = input_ops.batch(tensors, batch_size=1, num_threads=num_threads, capacity=capacity, enqueue_many=True)
    batched = batched if isinstance(batched, (list, tuple)) else [batched]
    return [array_ops.squeeze(x, [0]) for x in batched]


def _keep_some(tensors, probability, batch_size, num_threads):
    """Batches of the elements that are kept with the given probability."""
    batched = input_ops.maybe_batch(
        tensors,
        keep_input=random_ops.random_uniform([]) < probability,
        batch_size=batch_size,
        num_threads=num_threads,
    )
    return list(batched) if isinstance(batched, (list, tuple)) else [batched]


def rejection_sample(
    tensors,
    accept_prob_fn,
    batch_size,
    queue_threads=1,
    enqueue_many=False,
    prebatch_capacity=16,
    prebatch_threads=1,
    runtime_checks=False,
    name=None,
):
    """Batches of elements that are kept with a probability of their own.

    Args:
      tensors: list of tensors, one element, or a batch if `enqueue_many`.
      accept_prob_fn: function of one element (list of tensors) that returns its probability, a scalar.
      batch_size: size of the batches.
      queue_threads: number of threads that fill the queue of batches.
      enqueue_many: whether `tensors` have a batch dimension.
      prebatch_capacity, prebatch_threads: of the queue that takes batches apart.
      runtime_checks: checks that probabilities are in [0, 1].
      name: variable scope.

    Returns:
      List of tensors `[batch_size, ...]`.

    Raises:
      ValueError: if a batch dimension is missing or differs.
    """
    with variable_scope.variable_scope(name, "rejection_sample", tensors):
        tensors = ops.convert_n_to_tensor_or_indexed_slices(tensors)
        if enqueue_many:
            tensors = _one_by_one(_verify_data_inputs(tensors), prebatch_threads, prebatch_capacity)
        probability = accept_prob_fn(tensors)
        if runtime_checks:
            checks = [
                check_ops.assert_less_equal(0.0, probability),
                check_ops.assert_less_equal(probability, 1.0),
            ]
            probability = array_ops.identity(
                control_flow_ops.with_dependencies(checks, probability), name="prob_with_checks"
            )
        return _keep_some(tensors, probability, batch_size, queue_threads)


def stratified_sample(
    tensors,
    labels,
    target_probs,
    batch_size,
    init_probs=None,
    enqueue_many=False,
    queue_capacity=16,
    threads_per_queue=1,
    name=None,
):
    """Batches in which classes have given probabilities; elements of too frequent classes are dropped at random.

    Args:
      tensors: list of tensors, one element, or a batch if `enqueue_many`.
      labels: integer scalar (or `[batch]`): the class.
      target_probs: probability of each class in the batches, sum 1.
      batch_size: size of the batches.
      init_probs: probability of each class in the data; None: estimated as data come.
      enqueue_many: whether `tensors` and `labels` have a batch dimension.
      queue_capacity: capacity of the queue of elements.
      threads_per_queue: number of threads for each of the two queues.
      name: name of the ops.

    Returns:
      `(list of tensors [batch_size, ...], labels [batch_size])`.

    Raises:
      ValueError: if shapes do not fit.
      InvalidArgumentError: when run, if probabilities do not sum to 1, labels are no classes, or a class that the data lack is wanted.
    """
    with ops.name_scope(name, "stratified_sample", list(tensors) + [labels]):
        tensors = ops.convert_n_to_tensor_or_indexed_slices(tensors)
        labels = ops.convert_to_tensor(labels)
        target_probs = ops.convert_to_tensor(target_probs, dtype=dtypes.float32)
        if not enqueue_many:
            tensors = [array_ops.expand_dims(tensor, 0) for tensor in tensors]
            labels = array_ops.expand_dims(labels, 0)
        if init_probs is None:
            target_probs.get_shape().assert_is_fully_defined()
            init_probs = _estimate_data_distribution(labels, target_probs.get_shape().num_elements())
        else:
            init_probs = ops.convert_to_tensor(init_probs, dtype=dtypes.float32)
        tensors, labels, (init_probs, target_probs) = _verify_input(tensors, labels, [init_probs, target_probs])
        possible = math_ops.reduce_all(
            math_ops.logical_or(math_ops.not_equal(init_probs, 0), math_ops.equal(target_probs, 0))
        )
        check = control_flow_assert.Assert(
            possible,
            ["A class with init_probs 0 must have target_probs 0:", init_probs, target_probs],
        )
        init_probs = control_flow_ops.with_dependencies([check], init_probs)
        accept_probs = _calculate_acceptance_probabilities(init_probs, target_probs)
        rejected = math_ops.reduce_sum((1 - accept_probs) * init_probs)
        accept_probs = cond.cond(
            math_ops.less(rejected, 0.5),
            lambda: accept_probs,
            lambda: logging_ops.Print(
                accept_probs, [accept_probs], message="Proportion of examples rejected by sampler is high.", first_n=10
            ),
        )
        *values, label = _one_by_one(tensors + [labels], threads_per_queue, queue_capacity)
        *batches, label_batch = _keep_some(
            values + [label], array_ops.gather(accept_probs, label), batch_size, threads_per_queue
        )
        return batches, label_batch


def _estimate_data_distribution(labels, num_classes, smoothing_constant=10):
    """Probability of each class so far; every class starts with `smoothing_constant` occurrences."""
    if smoothing_constant <= 0:
        raise ValueError(f"smoothing_constant must be above 0, got {smoothing_constant}")
    seen = variable_v1.VariableV1(
        initial_value=[smoothing_constant] * num_classes, trainable=False, name="class_count", dtype=dtypes.int64
    )
    seen = seen.assign_add(math_ops.reduce_sum(array_ops.one_hot(labels, num_classes, dtype=dtypes.int64), 0))
    # A copy: the variable's own buffer may be changed by another thread before it is read again.
    seen = seen + 0
    return math_ops.cast(math_ops.truediv(seen, math_ops.reduce_sum(seen)), dtypes.float32)


def _verify_data_inputs(tensor_list):
    for tensor in tensor_list:
        shape = tensor.get_shape().with_rank_at_least(1)
        tensor_shape.dimension_at_index(shape, 0).assert_is_compatible_with(tensor_list[0].get_shape()[0])
    return tensor_list


def _verify_probabilities(probs):
    probs.get_shape().assert_is_fully_defined()
    probs.get_shape().assert_has_rank(1)
    tolerance = 1e-6
    total = math_ops.reduce_sum(probs)
    checks = [
        check_ops.assert_non_negative(probs),
        check_ops.assert_less(total, 1.0 + tolerance),
        check_ops.assert_less(1.0 - tolerance, total),
    ]
    return control_flow_ops.with_dependencies(checks, probs)


def _verify_input(tensor_list, labels, probs_list):
    """The inputs, readable only if their shapes and values fit."""
    probs_list = [_verify_probabilities(probs) for probs in probs_list]
    num_classes = probs_list[0].get_shape().num_elements()
    if any(probs.get_shape().num_elements() != num_classes for probs in probs_list):
        raise ValueError("target_probs and init_probs must have the same length")
    labels.get_shape().assert_has_rank(1)
    for tensor in tensor_list:
        shape = tensor.get_shape().with_rank_at_least(1)
        tensor_shape.dimension_at_index(shape, 0).assert_is_compatible_with(labels.get_shape()[0])
    batch_size = array_ops.shape(labels)[0]
    not_empty = check_ops.assert_positive(batch_size)
    labels = control_flow_ops.with_dependencies([not_empty], labels)
    tensor_list = [
        control_flow_ops.with_dependencies([not_empty, check_ops.assert_equal(array_ops.shape(x)[0], batch_size)], x)
        for x in tensor_list
    ]
    check_ops.assert_integer(labels)
    checks = [
        check_ops.assert_non_negative(labels),
        check_ops.assert_less(labels, math_ops.cast(num_classes, labels.dtype)),
    ]
    return tensor_list, control_flow_ops.with_dependencies(checks, labels), probs_list


def _calculate_acceptance_probabilities(init_probs, target_probs):
    """Probability with which an element of each class is kept.

    With data probabilities p and target probabilities t, kept elements have class probabilities p_i a_i / sum(p a). They are t
    for a_i in proportion to t_i / p_i, and most are kept if the largest is 1.
    """
    ratios = target_probs / init_probs
    # 0 / 0 for a class that neither has.
    ratios = array_ops.where(math_ops.is_nan(ratios), array_ops.zeros_like(ratios), ratios)
    return ratios / math_ops.reduce_max(ratios)
