"""Long sequences cut into segments, with a state that goes from segment to segment.

A `Barrier` holds the segments. A segment's row is complete, and can be taken, when all its components are in: context, sequences and
lengths come when the example is read, the state comes with the example for its first segment, and by `save_state` for the next ones.
"""

import collections
import numbers

from tensorflow.python.framework import dtypes, errors, ops, sparse_tensor, tensor_shape
from tensorflow.python.framework import tensor as tensor_lib
from tensorflow.python.ops import (
    array_ops,
    array_ops_stack,
    check_ops,
    control_flow_assert,
    control_flow_ops,
    data_flow_ops,
    math_ops,
    random_ops,
    sparse_ops,
    string_ops,
)
from tensorflow.python.summary import summary
from tensorflow.python.training import queue_runner

__all__ = ["NextQueuedSequenceBatch", "SequenceQueueingStateSaver", "batch_sequences_with_states"]

_SPARSE_CONTEXT_PREFIX_KEY = "_context_in_seq_"
_FIXED = ("__length", "__total_length", "__next_key", "__sequence", "__sequence_count")


def _sorted_tensors(kind, values):
    """Checked dict of tensors, sorted by name: the order of the barrier's components."""
    if not isinstance(values, dict):
        raise TypeError(f"{kind} must be a dict, got {type(values)}")
    for name in values:
        if not isinstance(name, str):
            raise TypeError(f"{kind} key must be a string, got {name!r}")
        if ":" in name:
            raise ValueError(f"{kind} key may not have a colon: {name!r}")
    return collections.OrderedDict(
        (name, ops.convert_to_tensor(values[name], name=f"{kind}_{name}")) for name in sorted(values)
    )


def _checked(value, condition, message, name):
    """`value`, readable only if `condition` holds."""
    with ops.control_dependencies([control_flow_assert.Assert(condition, message)]):
        return array_ops.identity(value, name=name)


def _check_scalar(value, name, dtype):
    value = ops.convert_to_tensor(value, name=name)
    try:
        value.set_shape(value.get_shape().with_rank(0))
    except ValueError as error:
        raise ValueError(f"Rank check failed for {name}: {error}")
    if value.dtype != dtype:
        raise TypeError(f"{name} dtype must be {dtype.name}, but received: {value.dtype}")
    return _checked(value, math_ops.equal(0, array_ops.rank(value)), [f"Rank of {name} should be 0"], "rank_checked")


def _check_multiple_of(value, multiple_of, what):
    message = string_ops.string_join(
        [
            f"Tensor {what} should be a multiple of: ",
            string_ops.as_string(multiple_of),
            ", but saw value: ",
            string_ops.as_string(value),
            ". Consider setting pad=True.",
        ]
    )
    fits = math_ops.logical_and(math_ops.equal(math_ops.mod(value, multiple_of), 0), math_ops.not_equal(value, 0))
    return _checked(value, fits, [message], "multiple_of_checked")


class NextQueuedSequenceBatch:
    """The current batch of segments, and the states they start from; made by `SequenceQueueingStateSaver`."""

    def __init__(self, state_saver):
        self._state_saver = state_saver

    @property
    def total_length(self):
        """int32 `[batch]`: lengths of the whole sequences."""
        return self._state_saver._received["__total_length"]

    @property
    def length(self):
        """int32 `[batch]`: lengths inside the segments, at most `num_unroll`."""
        return self._state_saver._received["__length"]

    @property
    def batch_size(self):
        """int32 scalar: number of segments; smaller at the end if `allow_small_batch`."""
        return self._state_saver._received_batch_size

    @property
    def insertion_index(self):
        """int64 `[batch]`: increases with each example that was read; earlier examples come first."""
        return self._state_saver._received_indices

    @property
    def key(self):
        """string `[batch]`: "%05d_of_%05d:%s" % (sequence, sequence_count, key of the example)."""
        return self._state_saver._received_keys

    @property
    def next_key(self):
        """string `[batch]`: key of the next segment, or "STOP:%s" % key of the example."""
        return self._state_saver._received["__next_key"]

    @property
    def sequence(self):
        """int32 `[batch]`: number of the segment in its example, from 0."""
        return self._state_saver._received["__sequence"]

    @property
    def sequence_count(self):
        """int32 `[batch]`: number of segments of the example."""
        return self._state_saver._received["__sequence_count"]

    @property
    def context(self):
        """dict: name -> `[batch, ...]`, the same for all segments of an example."""
        return self._state_saver._received_context

    @property
    def sequences(self):
        """dict: name -> `[batch, num_unroll, ...]`."""
        return self._state_saver._received_sequences

    def state(self, state_name):
        """`[batch, ...]`: the initial state, or what `save_state` stored for the segment before.

        Raises:
          KeyError: if `initial_states` had no such state.
        """
        return self._state_saver._received_states[state_name]

    def save_state(self, state_name, value, name=None):
        """An op that stores a state for the next segments; it must run with every batch.

        Args:
          state_name: a key of `initial_states`.
          value: tensor of the shape and type of `state(state_name)`.
          name: name of the ops.

        Raises:
          KeyError: if `initial_states` had no such state.
        """
        saver = self._state_saver
        if state_name not in saver._received_states:
            raise KeyError(f"state was not declared: {state_name}")
        with ops.name_scope(name, "InputQueueingStateSaver_SaveState", values=[value]):
            with ops.colocate_with(saver._capacity_queue.queue_ref):
                going_on = array_ops.reshape(array_ops.where_v2(math_ops.logical_not(saver._sequence_is_done)), [-1])
                value = array_ops.identity(value, name=f"convert_{state_name}")
                expected = saver._received_states[state_name]
                value.set_shape(value.get_shape().merge_with(expected.get_shape()))
                value = _checked(
                    value,
                    math_ops.reduce_all(math_ops.equal(array_ops.shape(expected), array_ops.shape(value))),
                    [f"Shape of state {state_name} should be", array_ops.shape(expected), array_ops.shape(value)],
                    "shape_checked",
                )
                return saver._barrier.insert_many(
                    saver._component(f"__state__{state_name}"),
                    array_ops.gather(self.next_key, going_on),
                    array_ops.gather(value, going_on),
                    name=f"BarrierInsertState_{state_name}",
                )


class SequenceQueueingStateSaver:
    """Reads one example at a time, cuts its sequences into segments of `num_unroll` steps, and batches segments of different examples.

    `prefetch_op` reads an example, best in the threads of a `QueueRunner`; `next_batch` is the current batch.

    Args:
      batch_size: int or int32 scalar.
      num_unroll: steps in a segment.
      input_length: int32 scalar: length of the example before it was padded.
      input_key: string scalar, unique.
      input_sequences: dict: name -> `[padded_length, ...]`; `padded_length` is a multiple of `num_unroll`, the other dimensions are known.
      input_context: dict: name -> tensor of known shape.
      initial_states: dict: name -> tensor of known shape, at least one.
      capacity: number of examples that are held at most, `batch_size` or more; None: any number.
      allow_small_batch: whether smaller batches come when the input ends.
      name: name of the ops.

    Raises:
      TypeError: if an argument is of another type.
      ValueError: if a shape is not known, a dict empty, or `capacity` below `batch_size`.
    """

    def __init__(
        self,
        batch_size,
        num_unroll,
        input_length,
        input_key,
        input_sequences,
        input_context,
        initial_states,
        capacity=None,
        allow_small_batch=False,
        name=None,
    ):
        if capacity is not None and isinstance(batch_size, tensor_lib.Tensor):
            check = check_ops.assert_greater_equal(
                math_ops.cast(capacity, dtypes.int64),
                math_ops.cast(batch_size, dtypes.int64),
                message="capacity needs to be >= batch_size.",
            )
            with ops.control_dependencies([check]):
                input_key = array_ops.identity(input_key)
        elif capacity is not None and capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
        # The barrier counts segments, not examples, and has no limit. One token for each example that is not done keeps the limit.
        self._capacity_queue = data_flow_ops.FIFOQueue(capacity=capacity, dtypes=[dtypes.int32], shapes=[[]])
        self._batch_size = batch_size
        self._num_unroll = num_unroll
        self._allow_small_batch = allow_small_batch
        self._prefetch_op = None
        self._next_batch = None
        if not isinstance(initial_states, dict):
            raise TypeError(f"initial_states must be a dictionary, got {type(initial_states)}")
        if not initial_states:
            raise ValueError("initial_states may not be empty: segments wait for the state of the one before")
        values = [input_length, input_key, *input_sequences.values(), *input_context.values()]
        with ops.colocate_with(self._capacity_queue.queue_ref):
            with ops.name_scope(name, "InputQueueingStateSaver", values) as scope:
                self._name = self._scope = scope
                self._prepare(input_length, input_key, input_sequences, input_context, initial_states)
                self._create_barrier()

    def _prepare(self, length, key, sequences, context, states):
        """Converts and checks the inputs."""
        if isinstance(sequences, dict) and not sequences:
            raise ValueError("input_sequences must have at least one sequence tensor")
        self._states = _sorted_tensors("state", states)
        self._sequences = _sorted_tensors("sequence", sequences)
        self._context = _sorted_tensors("context", context)
        for kind, tensors, start in (
            ("state", self._states, 0),
            ("context", self._context, 0),
            ("sequence", self._sequences, 1),
        ):
            for name, value in tensors.items():
                if not value.get_shape()[start:].is_fully_defined():
                    first = " (ignoring first dimension)" if start else ""
                    raise ValueError(f"Shape for {kind} {name} is not fully defined{first}: {value.get_shape()}")
        self._key = _check_scalar(key, "key", dtypes.string)
        length = _check_scalar(length, "length", dtypes.int32)
        first = next(iter(self._sequences.values()))
        padded = array_ops.identity(array_ops.shape(first)[0], name="padded_length")
        self._padded_length = _check_multiple_of(padded, self._num_unroll, "padded_length")
        for name, value in self._sequences.items():
            self._sequences[name] = _checked(
                value,
                math_ops.equal(self._padded_length, array_ops.shape(value)[0]),
                [f"Dimension 0 of tensor labeled sorted_sequences_{name} should be", self._padded_length],
                f"dims_checked_sorted_sequences_{name}",
            )
        self._length = _checked(
            length,
            math_ops.less_equal(length, self._padded_length),
            ["Input length should be <= than length from sequences:", length, " vs. ", self._padded_length],
            "length_checked",
        )

    def _component(self, name):
        """Index of a component of the barrier."""
        return self._components.index(name)

    def _create_barrier(self):
        fixed_types = [dtypes.int32, dtypes.int32, dtypes.string, dtypes.int32, dtypes.int32]
        self._components = list(_FIXED)
        types, shapes = list(fixed_types), [()] * len(_FIXED)
        for kind, tensors in (("sequence", self._sequences), ("context", self._context), ("state", self._states)):
            for name, value in tensors.items():
                shape = value.get_shape().as_list()
                self._components.append(f"__{kind}__{name}")
                types.append(value.dtype)
                shapes.append([self._num_unroll] + shape[1:] if kind == "sequence" else shape)
        self._barrier = data_flow_ops.Barrier(types=types, shapes=shapes)

    @property
    def name(self):
        """Name scope of the ops."""
        return self._name

    @property
    def barrier(self):
        """The `Barrier` with the segments."""
        return self._barrier

    @property
    def batch_size(self):
        """As given."""
        return self._batch_size

    @property
    def num_unroll(self):
        """As given."""
        return self._num_unroll

    def _in_scope(self, make):
        with ops.name_scope(None), ops.name_scope(self._scope, values=[self._barrier.barrier_ref]):
            make()

    @property
    def prefetch_op(self):
        """The op that reads one example; made when first asked for."""
        if self._prefetch_op is None:
            self._in_scope(self._create_prefetch_op)
        return self._prefetch_op

    @property
    def next_batch(self):
        """The `NextQueuedSequenceBatch`; made when first asked for."""
        if self._prefetch_op is None:
            self._in_scope(self._create_prefetch_op)
        if self._next_batch is None:
            self._in_scope(self._prepare_barrier_reads)
        return self._next_batch

    def close(self, cancel_pending_enqueues=False, name=None):
        """An op after which no new example comes; segments of those that are in still do.

        Args:
          cancel_pending_enqueues: also cancels what waits to be stored, so that examples cannot be finished.
          name: name of the op.
        """
        with ops.name_scope(name, "SQSSClose", [self._prefetch_op]) as scope:
            return control_flow_ops.group(
                self._barrier.close(cancel_pending_enqueues, "BarrierClose"),
                self._capacity_queue.close(cancel_pending_enqueues, "FIFOClose"),
                name=scope,
            )

    def _create_prefetch_op(self):
        count = math_ops.floordiv(self._padded_length, self._num_unroll)
        numbers_ = math_ops.range(count)
        ones = array_ops.ones_like(numbers_)
        number_text = string_ops.as_string(numbers_, width=5, fill="0")
        count_text = string_ops.as_string(count, width=5, fill="0")
        keys = string_ops.string_join([number_text, "_of_", count_text, ":", self._key], name="StringJoinCurrentKeys")
        stop = string_ops.string_join(["STOP:", self._key], name="StringJoinStop")
        next_keys = array_ops.concat([keys[1:], array_ops.expand_dims(stop, 0)], 0, name="concat_next_keys")
        length = math_ops.minimum(self._num_unroll, math_ops.maximum(0, self._length - self._num_unroll * numbers_))
        rows = {
            "__sequence": numbers_,
            "__sequence_count": count * ones,
            "__next_key": next_keys,
            "__length": length,
            "__total_length": self._length * ones,
        }
        for name, value in self._sequences.items():
            inner = value.get_shape().as_list()[1:]
            shape = array_ops.concat([[count, self._num_unroll], inner], 0) if inner else [count, self._num_unroll]
            rows[f"__sequence__{name}"] = array_ops.reshape(value, shape, name=f"reshape_sequences_{name}")
        for name, value in self._context.items():
            multiples = array_ops.concat([[count], [1] * value.get_shape().ndims], 0) if value.shape.ndims else [count]
            rows[f"__context__{name}"] = array_ops.tile(
                array_ops.expand_dims(value, 0), multiples, name=f"tile_context_{name}"
            )
        inserts = {
            name: self._barrier.insert_many(self._component(name), keys, value, name=f"BarrierInsert{name}")
            for name, value in rows.items()
        }
        token = self._capacity_queue.enqueue((0,))
        # The state last: all segments of an example then have one insertion index.
        with ops.control_dependencies([inserts["__sequence"], token]):
            for name, value in self._states.items():
                inserts[name] = self._barrier.insert_many(
                    self._component(f"__state__{name}"),
                    array_ops_stack.stack([keys[0]]),
                    array_ops_stack.stack([value]),
                    name=f"BarrierInitialInsertState_{name}",
                )
        self._prefetch_op = control_flow_ops.group(token, *inserts.values(), name="StateSaverPrefetchGroup")

    def _prepare_barrier_reads(self):
        indices, keys, values = self._barrier.take_many(
            self._batch_size, self._allow_small_batch, name="BarrierTakeMany"
        )
        self._received_indices, self._received_keys = indices, keys
        self._received = dict(zip(self._components, values))

        def received(kind, names):
            return collections.OrderedDict((name, self._received[f"__{kind}__{name}"]) for name in names)

        self._received_context = received("context", self._context)
        self._received_sequences = received("sequence", self._sequences)
        self._received_batch_size = array_ops.squeeze(array_ops.shape(self._received["__length"]))
        self._sequence_is_done = self._received["__sequence"] + 1 >= self._received["__sequence_count"]
        done = math_ops.reduce_sum(math_ops.cast(self._sequence_is_done, dtypes.int32))
        # Tied to the states, so that it runs with every batch.
        with ops.control_dependencies([self._capacity_queue.dequeue_many(done)]):
            self._received_states = collections.OrderedDict(
                (name, array_ops.identity(value)) for name, value in received("state", self._states).items()
            )
        self._next_batch = NextQueuedSequenceBatch(self)


def batch_sequences_with_states(
    input_key,
    input_sequences,
    input_context,
    input_length,
    initial_states,
    num_unroll,
    batch_size,
    num_threads=3,
    capacity=1000,
    allow_small_batch=True,
    pad=True,
    make_keys_unique=False,
    make_keys_unique_seed=None,
    name=None,
):
    """Batches of segments of sequences, with a state that goes from segment to segment.

    Makes a `SequenceQueueingStateSaver`, and a queue runner that fills it.

    Args:
      input_key: string scalar, unique unless `make_keys_unique`.
      input_sequences: dict: name -> `Tensor` or `SparseTensor` `[time, ...]`; dimensions but the first are known.
      input_context: dict: name -> `Tensor` of known shape or `SparseTensor`.
      input_length: int32 scalar: length before padding; None: that of the sequences.
      initial_states: dict: name -> tensor of known shape.
      num_unroll: steps in a segment.
      batch_size: int or int32 scalar.
      num_threads: number of threads that read examples.
      capacity: number of examples that are held at most.
      allow_small_batch: whether smaller batches come when the input ends.
      pad: pads sequences to a multiple of `num_unroll`; else they must be of such a length.
      make_keys_unique: adds a random number to the key.
      make_keys_unique_seed: seed of it.
      name: name of the ops.

    Returns:
      A `NextQueuedSequenceBatch`.

    Raises:
      TypeError, ValueError: as for `SequenceQueueingStateSaver`.
    """
    values = [*input_sequences.values(), *input_context.values(), *initial_states.values()]
    with ops.name_scope(name, "batch_sequences_with_states", values):
        input_context = dict(input_context)
        if pad:
            length, input_sequences = _padding(input_sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            input_sequences = _check_lengths(input_sequences, num_unroll)
        _move_sparse_tensor_out_context(input_context, input_sequences, num_unroll)
        dense_sequences, sparse_keys, store_ops = _deconstruct_sparse_tensor_seq(input_sequences)
        if make_keys_unique:
            number = random_ops.random_uniform(
                (), minval=0, maxval=100000000, dtype=dtypes.int32, seed=make_keys_unique_seed
            )
            input_key = string_ops.string_join([input_key, string_ops.as_string(number)])
        reader = SequenceQueueingStateSaver(
            batch_size,
            num_unroll,
            input_length=input_length,
            input_key=input_key,
            input_sequences=dense_sequences,
            input_context=input_context,
            initial_states=initial_states,
            capacity=capacity,
            allow_small_batch=allow_small_batch,
        )
        barrier = reader.barrier
        summary.scalar(
            f"queue/{barrier.name}/ready_segment_batches_", math_ops.cast(barrier.ready_size(), dtypes.float32)
        )
        queue_runner.add_queue_runner(
            queue_runner.QueueRunner(
                reader,
                [reader.prefetch_op] * num_threads,
                queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError),
            )
        )
        batch = reader.next_batch
        _reconstruct_sparse_tensor_seq(batch.sequences, sparse_keys, store_ops, num_unroll)
        _move_sparse_tensor_in_context(batch.context, batch.sequences)
        return batch


def _is_sparse(value):
    return isinstance(value, (sparse_tensor.SparseTensor, sparse_tensor.SparseTensorValue))


def _check_lengths(sequences, num_unroll):
    """Sequences, readable only if their lengths are multiples of `num_unroll`."""
    checked = {}
    for name, value in sequences.items():
        if _is_sparse(value):
            value = sparse_tensor.SparseTensor.from_value(value)
            length = _check_multiple_of(value.dense_shape[0], num_unroll, name)
            with ops.control_dependencies([length]):
                checked[name] = sparse_tensor.SparseTensor(
                    array_ops.identity(value.indices),
                    array_ops.identity(value.values),
                    array_ops.identity(value.dense_shape),
                )
        else:
            value = ops.convert_to_tensor(value)
            with ops.control_dependencies([_check_multiple_of(array_ops.shape(value)[0], num_unroll, name)]):
                checked[name] = array_ops.identity(value, name="multiple_of_checked")
    return checked


def _padding(sequences, num_unroll):
    """Pads sequences with zeros (or "") to a multiple of `num_unroll`.

    Returns:
      `(length, sequences)`: the length before, and a dict.

    Raises:
      TypeError: if `sequences` is no dict with names.
      ValueError: if `num_unroll` is no int.
    """
    if not isinstance(num_unroll, numbers.Integral):
        raise ValueError(f"Unsupported num_unroll expected int, got: {num_unroll}")
    if not isinstance(sequences, dict):
        raise TypeError(f"Unsupported sequences expected dict, got: {sequences}")
    for name in sequences:
        if not isinstance(name, str):
            raise TypeError(f"Unsupported sequences key expected string, got: {name}")
    if not sequences:
        return 0, {}
    sequences = {
        name: sparse_tensor.SparseTensor.from_value(value) if _is_sparse(value) else ops.convert_to_tensor(value)
        for name, value in sorted(sequences.items())
    }
    lengths = [array_ops.shape(value)[0] for value in sequences.values() if not _is_sparse(value)]
    if lengths:
        checks = [
            control_flow_assert.Assert(
                math_ops.equal(other, lengths[0]),
                ["All sequence lengths must match, but received lengths: ", array_ops_stack.stack(lengths)],
            )
            for other in lengths
        ]
        length = control_flow_ops.with_dependencies(checks, lengths[0])
    else:
        sizes = [math_ops.cast(value.dense_shape[0], dtypes.int32) for value in sequences.values()]
        length = math_ops.reduce_max(array_ops_stack.stack(sizes))
    padded_length = length + math_ops.floormod(-length, num_unroll)
    padded = {}
    for name, value in sequences.items():
        if _is_sparse(value):
            shape = array_ops.concat([[math_ops.cast(padded_length, dtypes.int64)], value.dense_shape[1:]], 0)
            padded[name] = sparse_tensor.SparseTensor(value.indices, value.values, shape)
        else:
            shape = array_ops.concat([[padded_length - array_ops.shape(value)[0]], array_ops.shape(value)[1:]], 0)
            filler = ops.convert_to_tensor("" if value.dtype == dtypes.string else 0, dtype=value.dtype)
            padded[name] = array_ops.concat([value, array_ops.fill(shape, filler)], 0)
            padded[name].set_shape(tensor_shape.TensorShape([None]).concatenate(value.get_shape()[1:]))
    return length, padded


def _move_sparse_tensor_out_context(input_context, input_sequences, num_unroll):
    """Moves SparseTensors of the context to the sequences, one copy in the first step of each segment. Changes both dicts."""
    names = [name for name in sorted(input_context) if _is_sparse(input_context[name])]
    if not names:
        return
    length = ops.convert_to_tensor(1, dtypes.int64)
    if input_sequences:
        first = next(iter(input_sequences.values()))
        length = first.dense_shape[0] if _is_sparse(first) else array_ops.shape(first, out_type=dtypes.int64)[0]
    for name in names:
        value = sparse_tensor.SparseTensor.from_value(input_context.pop(name))
        segments = math_ops.range(0, length, num_unroll)
        count = array_ops.size(segments)
        entries = array_ops.shape(value.indices)[0]
        steps = array_ops.reshape(
            array_ops.tile(array_ops.expand_dims(segments, 1), array_ops_stack.stack([1, entries])), [-1, 1]
        )
        indices = array_ops.concat([steps, array_ops.tile(value.indices, array_ops_stack.stack([count, 1]))], axis=1)
        input_sequences[_SPARSE_CONTEXT_PREFIX_KEY + name] = sparse_tensor.SparseTensor(
            indices,
            array_ops.tile(value.values, array_ops.expand_dims(count, 0)),
            array_ops.concat([array_ops.expand_dims(length, 0), value.dense_shape], 0),
        )


def _move_sparse_tensor_in_context(context, sequences):
    """Moves them back; drops the dimension of time. Changes both dicts."""
    for key in [key for key in sorted(sequences) if key.startswith(_SPARSE_CONTEXT_PREFIX_KEY)]:
        value = sequences.pop(key)
        # All entries are in step 0.
        shape = array_ops.concat([[value.dense_shape[0]], value.dense_shape[2:]], 0)
        indices = array_ops.concat([value.indices[:, :1], value.indices[:, 2:]], 1)
        context[key[len(_SPARSE_CONTEXT_PREFIX_KEY) :]] = sparse_tensor.SparseTensor(indices, value.values, shape)


def _deconstruct_sparse_tensor_seq(input_sequence):
    """Stores SparseTensors row by row in maps, and puts the rows' handles in their place.

    Returns:
      `(sequences, names of sparse ones, ops that own the maps)`.
    """
    names = [name for name in sorted(input_sequence) if _is_sparse(input_sequence[name])]
    sequences, store_ops = dict(input_sequence), []
    for name in names:
        handles = sparse_ops._add_many_sparse_to_tensors_map(sequences[name])
        sequences[name] = handles
        store_ops.append(handles.op)
    return sequences, names, store_ops


def _reconstruct_sparse_tensor_seq(sequence, sparse_keys, store_ops, num_unroll):
    """Puts SparseTensors `[batch, num_unroll, ...]` in the place of their handles `[batch, num_unroll]`."""
    for name, op in zip(sparse_keys, store_ops):
        handles = sequence[name]
        flat = sparse_ops._take_many_sparse_from_tensors_map(
            sparse_map_op=op, sparse_handles=array_ops.reshape(handles, [-1]), rank=None
        )
        row = flat.indices[:, 0]
        steps = ops.convert_to_tensor(num_unroll, dtypes.int64)
        indices = array_ops.concat(
            [
                array_ops.expand_dims(math_ops.floordiv(row, steps), 1),
                array_ops.expand_dims(math_ops.floormod(row, steps), 1),
                flat.indices[:, 1:],
            ],
            axis=1,
        )
        batch = array_ops.shape(handles, out_type=dtypes.int64)[0]
        sequence[name] = sparse_tensor.SparseTensor(
            indices,
            flat.values,
            array_ops.concat([array_ops_stack.stack([batch, steps]), flat.dense_shape[1:]], 0),
        )
