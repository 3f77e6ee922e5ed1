"""Batches of similar elements, by queues.

One queue per bucket collects elements; a thread moves each full batch of a bucket to the top queue, from which the reader takes.
"""

import functools

import numpy as np

from tensorflow.contrib.layers import utils
from tensorflow.python.framework import dtypes, errors, ops, tensor_shape, tensor_util
from tensorflow.python.ops import array_ops, cond, control_flow_ops, data_flow_ops, math_ops
from tensorflow.python.summary import summary
from tensorflow.python.training import input as input_py
from tensorflow.python.training import queue_runner

__all__ = ["bucket", "bucket_by_sequence_length"]

_CLOSED = (errors.OutOfRangeError, errors.CancelledError)


def _validate_bucket(tensor_list):
    tensor_list = ops.convert_n_to_tensor_or_indexed_slices(tensor_list)
    if not tensor_list:
        raise ValueError("tensors must hold at least one tensor")
    return tensor_list


def bucket(
    tensors,
    which_bucket,
    batch_size,
    num_buckets,
    num_threads=1,
    capacity=32,
    bucket_capacities=None,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    keep_input=True,
    shared_name=None,
    name=None,
):
    """Batches elements bucket by bucket.

    Args:
      tensors: list or dict of tensors, one element.
      which_bucket: int32 scalar in `[0, num_buckets)`.
      batch_size: int, int32 scalar, or one of these for each bucket.
      num_buckets: number of buckets.
      num_threads: number of threads that enqueue.
      capacity: of the top queue in batches, and of each bucket in elements.
      bucket_capacities: capacity of each bucket.
      shapes: shapes of an element; inferred by default.
      dynamic_pad: dimensions that are not known are padded with zeros to the longest of a batch.
      allow_smaller_final_batch: what is left at the end comes as smaller batches instead of being dropped.
      keep_input: bool scalar; False drops the element.
      shared_name: name under which sessions share the queues.
      name: name of the ops.

    Returns:
      `(bucket, outputs)`: an int32 scalar, and batches in a structure like `tensors`.

    Raises:
      ValueError: if shapes are not known, or a list has not `num_buckets` elements.
    """
    one_size = not isinstance(batch_size, (list, tuple))
    batch_sizes = [batch_size] * num_buckets if one_size else list(batch_size)
    if len(batch_sizes) != num_buckets:
        raise ValueError(f"batch_size must have num_buckets ({num_buckets}) elements, got {len(batch_sizes)}")
    bucket_capacities = [capacity] * num_buckets if bucket_capacities is None else bucket_capacities
    if len(bucket_capacities) != num_buckets:
        raise ValueError(
            f"bucket_capacities must have num_buckets ({num_buckets}) elements, got {len(bucket_capacities)}"
        )
    tensor_list = input_py._as_tensor_list(tensors)
    with ops.name_scope(name, "bucket", tensor_list):
        tensor_list = _validate_bucket(tensor_list)
        keep_input = input_py._validate_keep_input(keep_input, enqueue_many=False)
        tensor_list, sparse_info = input_py._store_sparse_tensors(
            tensor_list, enqueue_many=False, keep_input=keep_input
        )
        for i, size in enumerate(batch_sizes):
            size = ops.convert_to_tensor(size, dtype=dtypes.int32, name="batch_size")
            static_size = tensor_util.constant_value(size)
            batch_sizes[i] = size if static_size is None else static_size
        types = input_py._dtypes([tensor_list])
        shapes = input_py._shapes([tensor_list], shapes, enqueue_many=False)
        which_bucket = ops.convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        make_queue = input_py._which_queue(dynamic_pad)
        bucket_queues = [
            make_queue(
                capacity=bucket_capacities[i],
                dtypes=types,
                shapes=shapes,
                shared_name=None if shared_name is None else f"{shared_name}_{i}",
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        known_size = one_size and not allow_smaller_final_batch and not tensor_util.is_tf_type(batch_sizes[0])
        batch_dimension = tensor_shape.TensorShape([batch_sizes[0] if known_size else None])
        # A padding queue, because only that one takes a first dimension that is not known.
        top_queue = data_flow_ops.PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[dtypes.int32] + types,
            shapes=[tensor_shape.TensorShape([])] + [batch_dimension.concatenate(s) for s in bucket_queues[0].shapes],
            shared_name=shared_name,
            name="top_queue",
        )

        def enqueue_which():
            enqueues = [
                cond.cond(
                    math_ops.equal(which_bucket, i),
                    functools.partial(bucket_queues[i].enqueue, tensor_list),
                    control_flow_ops.no_op,
                )
                for i in range(num_buckets)
            ]
            return control_flow_ops.group(*enqueues, name="group_enqueues")

        enqueue = utils.smart_cond(keep_input, enqueue_which, control_flow_ops.no_op)
        move = []
        for i, (queue, size) in enumerate(zip(bucket_queues, batch_sizes)):
            dequeue = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
            batch = dequeue(size, name=f"read_bucket_{i}")
            batch = list(batch) if isinstance(batch, (list, tuple)) else [batch]
            move.append(
                top_queue.enqueue([ops.convert_to_tensor(i, name="Const")] + batch, name=f"enqueue_from_bucket_{i}")
            )
        queue_runner.add_queue_runner(
            queue_runner.QueueRunner(
                bucket_queues[0],
                move,
                close_op=top_queue.close(),
                cancel_op=top_queue.close(cancel_pending_enqueues=True),
                queue_closed_exception_types=_CLOSED,
            )
        )
        queue_runner.add_queue_runner(
            queue_runner.QueueRunner(
                top_queue,
                [enqueue] * num_threads,
                close_op=control_flow_ops.group(*[q.close() for q in bucket_queues]),
                cancel_op=control_flow_ops.group(*[q.close(cancel_pending_enqueues=True) for q in bucket_queues]),
                queue_closed_exception_types=_CLOSED,
            )
        )
        for queue in bucket_queues:
            summary.scalar(f"bucket/{queue.name}/size", math_ops.cast(top_queue.size(), dtypes.float32))
        summary.scalar(
            f"bucket/{top_queue.name}/fraction_of_{capacity}_full",
            math_ops.cast(top_queue.size(), dtypes.float32) * (1.0 / capacity),
        )
        taken_from, *dequeued = top_queue.dequeue(name="dequeue_top")
        dequeued = dequeued[0] if len(dequeued) == 1 else dequeued
        dequeued = input_py._restore_sparse_tensors(dequeued, sparse_info)
        return taken_from, input_py._as_original_type(tensors, dequeued)


def bucket_by_sequence_length(
    input_length,
    tensors,
    batch_size,
    bucket_boundaries,
    num_threads=1,
    capacity=32,
    bucket_capacities=None,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    keep_input=True,
    shared_name=None,
    name=None,
):
    """Batches sequences of similar length.

    Args:
      input_length: int32 scalar, length of the sequence.
      tensors: list or dict of tensors, one element.
      bucket_boundaries: increasing ints; [a, b] makes the buckets below a, [a, b), and from b on.
      batch_size, num_threads, capacity, bucket_capacities, shapes, dynamic_pad, allow_smaller_final_batch, keep_input, shared_name,
        name: as for `bucket`.

    Returns:
      `(lengths, outputs)`: int32 tensor `[batch]`, and batches in a structure like `tensors`.

    Raises:
      TypeError: if `bucket_boundaries` is no list of ints.
      ValueError: if it is empty or does not increase.
    """
    tensor_list = input_py._as_tensor_list(tensors)
    if not isinstance(bucket_boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, got {bucket_boundaries!r}")
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for boundary in bucket_boundaries:
        if not isinstance(boundary, int):
            raise TypeError(f"bucket_boundaries must be integers, got {boundary!r}")
    for low, high in zip(bucket_boundaries, bucket_boundaries[1:]):
        if low >= high:
            raise ValueError(f"bucket_boundaries must increase, got {low} before {high}")
    with ops.name_scope(name, "bucket_by_sequence_length", [input_length] + tensor_list):
        input_length = ops.convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        lowest = [np.iinfo(np.int32).min] + list(bucket_boundaries)
        highest = list(bucket_boundaries) + [np.iinfo(np.int32).max]
        inside = math_ops.logical_and(math_ops.less_equal(lowest, input_length), math_ops.less(input_length, highest))
        which_bucket = math_ops.cast(math_ops.reduce_min(array_ops.where_v2(inside)), dtypes.int32)
        if shapes is not None:
            shapes = [tensor_shape.TensorShape([])] + list(shapes)
        _, dequeued = bucket(
            tensors=[input_length] + tensor_list,
            which_bucket=which_bucket,
            batch_size=batch_size,
            num_buckets=len(bucket_boundaries) + 1,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=shapes,
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
        )
        return dequeued[0], input_py._as_original_type(tensors, dequeued[1:])
