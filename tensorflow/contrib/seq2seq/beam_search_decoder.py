"""Beam search."""

import collections

import numpy as np
import tensorflow as tf
from tensorflow.python.util import nest

from tensorflow.contrib.rnn.core_rnn_cell import assert_like_cell
from tensorflow.contrib.seq2seq import attention_wrapper, beam_search_ops, decoder
from tensorflow.contrib.seq2seq.output_layers import check_output_layer, size_after_layer


class BeamSearchDecoderState(
    collections.namedtuple(
        "BeamSearchDecoderState", ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs")
    )
):
    """State between steps: all but the cell's is [batch, beams]."""


class BeamSearchDecoderOutput(
    collections.namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))
):
    """Outputs of a step, each [batch, beams]."""


class FinalBeamSearchDecoderOutput(
    collections.namedtuple("FinalBeamDecoderOutput", ("predicted_ids", "beam_search_decoder_output"))
):
    """The full beams, best first, and the outputs of all steps."""


def tile_batch(t, multiplier, name=None):
    """Repeats each entry of the batch `multiplier` times, side by side.

    Args:
      t: structure of [batch, ...].
      multiplier: integer.
      name: name scope.

    Returns:
      Structure of [batch * multiplier, ...].

    Raises:
      ValueError: a tensor is a scalar or of unknown rank.
    """

    with tf.name_scope(name, "tile_batch", nest.flatten(t) + [multiplier]):
        return nest.map_structure(lambda tensor: _tile_batch(tensor, multiplier), t)


def _tile_batch(t, multiplier):
    """`tile_batch` of one tensor."""
    t = tf.convert_to_tensor(t, name="t")
    if t.shape.ndims is None or t.shape.ndims < 1:
        raise ValueError("t must have statically known rank")
    shape = tf.shape(t)
    multiples = [1] * (t.shape.ndims + 1)
    multiples[1] = multiplier
    tiled = tf.reshape(tf.tile(tf.expand_dims(t, 1), multiples), tf.concat(([shape[0] * multiplier], shape[1:]), 0))
    batch = t.shape.dims[0].value
    static = None if batch is None or not isinstance(multiplier, int) else batch * multiplier
    tiled.set_shape(tf.TensorShape([static]).concatenate(t.shape[1:]))
    return tiled


def gather_tree_from_array(t, parent_ids, sequence_length):
    """Puts what was emitted along with beams into the order of the final beams.

    Args:
      t: [time, batch, beams, ...], or [time, batch * beams, ...].
      parent_ids: [time, batch, beams].
      sequence_length: [batch, beams]; steps past it stay as they are.

    Returns:
      A tensor like `t`.
    """
    time, batch, beams = (
        known if known is not None else tf.shape(parent_ids)[axis]
        for axis, known in enumerate(parent_ids.shape.as_list())
    )
    own = tf.tile(tf.reshape(tf.range(beams), [1, 1, beams]), [time, batch, 1])
    longest = tf.cast(tf.reduce_max(sequence_length, axis=1), tf.int32)
    source = beam_search_ops.gather_tree(own, parent_ids, longest, end_token=beams + 1)
    inside = tf.transpose(tf.sequence_mask(sequence_length, maxlen=time), perm=[2, 0, 1])
    source = tf.where(inside, source, own)
    rows = tf.reshape(t, tf.concat([[time, batch, beams], tf.shape(t)[tf.rank(t) - _inner_rank(t, parent_ids) :]], 0))
    ordered = tf.reshape(tf.gather(rows, source, axis=2, batch_dims=2), tf.shape(t))
    ordered.set_shape(t.shape)
    return ordered


def _inner_rank(t, parent_ids) -> int:
    """Number of dimensions behind the beams: `t` may have batch and beams joined."""
    joined = (
        t.shape.ndims == 2
        or t.shape.dims[2].value != parent_ids.shape.dims[2].value
        or (t.shape.dims[1].value or 0) != (parent_ids.shape.dims[1].value or 0)
    )
    return t.shape.ndims - (2 if joined else 3)


class BeamSearchDecoder(decoder.Decoder):
    """Keeps the best `beam_width` sequences of each batch entry.

    The state of the cell must be tiled: see `tile_batch`. With an `AttentionWrapper`, tile the memory and its lengths too,
    and make the state with batch size * beam_width.

    Args:
      cell: an RNN cell.
      embedding: function of ids, or `params` of `tf.nn.embedding_lookup`.
      start_tokens: [batch] int32.
      end_token: scalar int32, ends a sequence.
      initial_state: structure of [batch * beam_width, ...].
      beam_width: integer.
      output_layer: Keras layer that makes logits of the cell's outputs; none by default.
      length_penalty_weight: scores are log probabilities divided by ((5 + length) / 6) ** weight (arXiv:1609.08144).
      coverage_penalty_weight: weight of the penalty for entries of the memory that got little attention (ibidem).
      reorder_tensor_arrays: whether TensorArrays of the state, alignments say, follow the beams in the end.

    Raises:
      TypeError: `cell` is no cell or `output_layer` no layer.
      ValueError: `start_tokens` is no vector or `end_token` no scalar.
    """

    def __init__(
        self,
        cell,
        embedding,
        start_tokens,
        end_token,
        initial_state,
        beam_width,
        output_layer=None,
        length_penalty_weight=0.0,
        coverage_penalty_weight=0.0,
        reorder_tensor_arrays=True,
    ):
        assert_like_cell(cell)
        check_output_layer(output_layer)
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._beam_width = beam_width
        self._embedding_fn = embedding if callable(embedding) else lambda ids: tf.nn.embedding_lookup(embedding, ids)
        self._start_tokens = tf.convert_to_tensor(start_tokens, dtype=tf.int32, name="start_tokens")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError(f"start_tokens must be a vector, got shape {self._start_tokens.shape}")
        self._end_token = tf.convert_to_tensor(end_token, dtype=tf.int32, name="end_token")
        if self._end_token.shape.ndims != 0:
            raise ValueError(f"end_token must be a scalar, got shape {self._end_token.shape}")
        self._batch_size = tf.size(start_tokens)
        self._initial_cell_state = nest.map_structure(self._split_if_batched, initial_state, cell.state_size)
        self._start_tokens = tf.tile(tf.expand_dims(self._start_tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        # All beams start equal: only the first counts.
        self._finished = tf.one_hot(
            tf.zeros([self._batch_size], dtype=tf.int32),
            depth=beam_width,
            on_value=False,
            off_value=True,
            dtype=tf.bool,
        )

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def tracks_own_finished(self):
        """Beams change places between steps, so the loop cannot keep track."""
        return True

    @property
    def output_size(self):
        beams = tf.TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(scores=beams, predicted_ids=beams, parent_ids=beams)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        scores = nest.map_structure(lambda _: dtype, size_after_layer(self._cell.output_size, self._output_layer))
        return BeamSearchDecoderOutput(scores=scores, predicted_ids=tf.int32, parent_ids=tf.int32)

    def initialize(self, name=None):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        log_probs = tf.one_hot(
            tf.zeros([self._batch_size], dtype=tf.int32),
            depth=self._beam_width,
            on_value=tf.convert_to_tensor(0.0, dtype=dtype),
            off_value=tf.convert_to_tensor(-np.inf, dtype=dtype),
            dtype=dtype,
        )
        attention = get_attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=tf.zeros([self._batch_size, self._beam_width], dtype=tf.int64),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return self._finished, self._start_inputs, state

    def finalize(self, outputs, final_state, sequence_lengths):
        del sequence_lengths
        longest = tf.cast(tf.reduce_max(final_state.lengths, axis=1), tf.int32)
        beams = beam_search_ops.gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder_tensor_arrays:
            final_state = final_state._replace(
                cell_state=nest.map_structure(
                    lambda t: self._sorted_array(t, outputs.parent_ids, final_state.lengths), final_state.cell_state
                )
            )
        return FinalBeamSearchDecoderOutput(predicted_ids=beams, beam_search_decoder_output=outputs), final_state

    def step(self, time, inputs, state, name=None):
        with tf.name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            merged = nest.map_structure(lambda t: self._merge(t, t.shape[2:]), inputs)
            cell_state = nest.map_structure(self._merge_if_batched, state.cell_state, self._cell.state_size)
            outputs, next_cell_state = self._cell(merged, cell_state)
            outputs = nest.map_structure(lambda t: self._split(t, t.shape[1:]), outputs)
            next_cell_state = nest.map_structure(self._split_if_batched, next_cell_state, self._cell.state_size)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            output, next_state = _beam_search_step(
                time=time,
                logits=outputs,
                next_cell_state=next_cell_state,
                beam_state=state,
                batch_size=self._batch_size,
                beam_width=self._beam_width,
                end_token=self._end_token,
                length_penalty_weight=self._length_penalty_weight,
                coverage_penalty_weight=self._coverage_penalty_weight,
            )
            next_inputs = tf.cond(
                tf.reduce_all(next_state.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(output.predicted_ids),
            )
        return output, next_state, next_inputs, next_state.finished

    # The batch and the beams are one dimension for the cell, two for the search.

    def _merge(self, t, inner):
        static = tf.get_static_value(self._batch_size)
        merged = tf.reshape(t, tf.concat(([self._batch_size * self._beam_width], tf.shape(t)[2:]), 0))
        merged.set_shape(
            tf.TensorShape([None if static is None else static * self._beam_width]).concatenate(tf.TensorShape(inner))
        )
        return merged

    def _split(self, t, inner):
        inner = tf.get_static_value(inner) if isinstance(inner, tf.Tensor) else inner
        split = tf.reshape(t, tf.concat(([self._batch_size, self._beam_width], tf.shape(t)[1:]), 0))
        static = tf.get_static_value(self._batch_size)
        expected = tf.TensorShape([static, self._beam_width]).concatenate(tf.TensorShape(inner))
        if not split.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size. The reshaped tensor has shape: "
                f"{split.shape}. We expected it to have shape (batch_size, beam_width, depth) == {expected}. Perhaps you "
                "forgot to create a zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        split.set_shape(expected)
        return split

    def _split_if_batched(self, t, inner):
        return t if _unbatched(t, 1) else self._split(t, inner)

    def _merge_if_batched(self, t, inner):
        if isinstance(inner, tf.Tensor):
            inner = tf.get_static_value(inner)
        return t if _unbatched(t, 2) else self._merge(t, inner)

    def _sorted_array(self, t, parent_ids, lengths):
        """A TensorArray with an element for each beam, stacked and in the beams' order; others as they are."""
        if not isinstance(t, tf.TensorArray):
            return t
        shape = t.element_shape
        static = tf.get_static_value(self._batch_size)
        beams = self._beam_width
        if shape.ndims is None or shape.ndims < 1:
            tf.logging.warn(
                "A TensorArray in the cell state cannot follow the beams: its elements' shape must have a known rank of "
                "at least 1, but is %s",
                shape,
            )
            return t
        first, second = shape.dims[0].value, shape.dims[1].value if shape.ndims > 1 else None
        if static is not None and first is not None:
            joined = first == static * beams
            apart = first == static and (second is None or second == beams)
            if not joined and not apart:
                tf.logging.warn(
                    "A TensorArray in the cell state cannot follow the beams: its elements should be "
                    "[batch, beams, ...] or [batch * beams, ...], but are %s",
                    shape,
                )
                return t
        stacked = t.stack()
        sizes = tf.shape(stacked)
        check = tf.Assert(
            tf.logical_or(
                tf.equal(sizes[1], self._batch_size * beams),
                tf.logical_and(tf.greater(tf.size(sizes), 2), tf.equal(sizes[1], self._batch_size)),
            ),
            ["TensorArray reordering expects elements to be [batch, beams, ...] or [batch * beams, ...], got", sizes],
        )
        with tf.control_dependencies([check]):
            return gather_tree_from_array(tf.identity(stacked), parent_ids, lengths)


def _unbatched(t, least_rank) -> bool:
    if isinstance(t, tf.TensorArray):
        return True
    if t.shape.ndims is None:
        raise ValueError(f"Expected tensor ({t}) to have known rank, but ndims == None.")
    return t.shape.ndims < least_rank


def _beam_search_step(
    time,
    logits,
    next_cell_state,
    beam_state,
    batch_size,
    beam_width,
    end_token,
    length_penalty_weight,
    coverage_penalty_weight,
):
    """Grows all beams by one id and keeps the best.

    Args:
      time: scalar int32.
      logits: [batch, beams, ids].
      next_cell_state: of the cell, [batch, beams, ...].
      beam_state: the state of the search.
      batch_size: scalar.
      beam_width: integer.
      end_token: scalar.
      length_penalty_weight: see `BeamSearchDecoder`.
      coverage_penalty_weight: see `BeamSearchDecoder`.

    Returns:
      (`BeamSearchDecoderOutput`, next `BeamSearchDecoderState`).
    """
    del time
    static_batch = tf.get_static_value(batch_size)
    running = tf.logical_not(beam_state.finished)
    log_probs = _mask_probs(tf.nn.log_softmax(logits), end_token, beam_state.finished)
    total = tf.expand_dims(beam_state.log_probs, 2) + log_probs

    # A beam grows by one, unless it has ended or ends now.
    ids = logits.shape.dims[-1].value or tf.shape(logits)[-1]
    growth = tf.one_hot(
        tf.fill([batch_size, beam_width], end_token),
        depth=ids,
        on_value=tf.cast(0, tf.int64),
        off_value=tf.cast(1, tf.int64),
        dtype=tf.int64,
    )
    growth *= tf.expand_dims(tf.cast(running, tf.int64), 2)
    new_lengths = growth + tf.expand_dims(beam_state.lengths, 2)

    covered = None
    attention = get_attention_probs(next_cell_state, coverage_penalty_weight)
    if attention is not None:
        attention *= tf.expand_dims(tf.cast(running, tf.float32), 2)
        covered = beam_state.accumulated_attention_probs + attention
    scores = _get_scores(
        log_probs=total,
        sequence_lengths=new_lengths,
        length_penalty_weight=length_penalty_weight,
        coverage_penalty_weight=coverage_penalty_weight,
        finished=beam_state.finished,
        accumulated_attention_probs=covered,
    )
    flat = tf.reshape(scores, [batch_size, -1])
    best_scores, best = tf.nn.top_k(flat, k=tf.convert_to_tensor(beam_width, dtype=tf.int32, name="beam_width"))
    best_scores.set_shape([static_batch, beam_width])
    best.set_shape([static_batch, beam_width])

    def gathered(t, indices, width, shape, name=None):
        return _tensor_gather_helper(indices, t, batch_size, width, shape, name)

    next_log_probs = gathered(total, best, beam_width * ids, [-1], "next_beam_probs")
    word_ids = tf.cast(tf.mod(best, ids, name="next_beam_word_ids"), tf.int32)
    parents = tf.cast(best / ids, tf.int32, name="next_beam_parent_ids")

    def from_parents(t, shape=(-1,), name=None):
        return gathered(t, parents, beam_width, list(shape), name)

    def states_from_parents(t):
        return _maybe_tensor_gather_helper(parents, t, batch_size, beam_width, [batch_size * beam_width, -1])

    had_finished = from_parents(beam_state.finished)
    finished = tf.logical_or(had_finished, tf.equal(word_ids, end_token), name="next_beam_finished")
    lengths = from_parents(beam_state.lengths) + tf.cast(tf.logical_not(had_finished), tf.int64)
    next_covered = None
    if covered is not None:
        covered_shape = [batch_size * beam_width, -1]
        next_covered = from_parents(covered, covered_shape, "next_accumulated_attention_probs")
    next_state = BeamSearchDecoderState(
        cell_state=nest.map_structure(states_from_parents, next_cell_state),
        log_probs=next_log_probs,
        lengths=lengths,
        finished=finished,
        accumulated_attention_probs=() if covered is None else next_covered,
    )
    return BeamSearchDecoderOutput(scores=best_scores, predicted_ids=word_ids, parent_ids=parents), next_state


def _tensor_gather_helper(gather_indices, gather_from, batch_size, range_size, gather_shape, name=None):
    """Rows of each batch entry by their position in it.

    Args:
      gather_indices: [batch, n] positions in 0..range_size-1.
      gather_from: [batch, ...], that many rows an entry once it has the shape `gather_shape`.
      batch_size: scalar.
      range_size: rows of an entry.
      gather_shape: shape with batch and rows in one dimension.
      name: name scope.

    Returns:
      [batch, n, ...].
    """
    with tf.name_scope(name, "tensor_gather_helper"):
        starts = tf.expand_dims(tf.range(batch_size) * range_size, 1)
        indices = tf.reshape(gather_indices + starts, [-1])
        rows = tf.gather(tf.reshape(gather_from, gather_shape), indices)
        kept = 1 + len(gather_shape)
        result = tf.reshape(rows, tf.shape(gather_from)[:kept], name="output")
        static_batch = tf.get_static_value(batch_size)
        result.set_shape(tf.TensorShape([static_batch]).concatenate(gather_from.shape[1:kept]))
        return result


def _maybe_tensor_gather_helper(gather_indices, gather_from, batch_size, range_size, gather_shape):
    """`_tensor_gather_helper`; TensorArrays and what has fewer dimensions than `gather_shape` stay as they are."""
    if _unbatched(gather_from, len(gather_shape)):
        return gather_from
    return _tensor_gather_helper(gather_indices, gather_from, batch_size, range_size, gather_shape)


def _mask_probs(probs, eos_token, finished):
    """Log probabilities [batch, beams, ids] where finished beams can only end again, at no cost."""
    ids = tf.shape(probs)[2]
    row = tf.one_hot(
        eos_token,
        ids,
        dtype=probs.dtype,
        on_value=tf.convert_to_tensor(0.0, dtype=probs.dtype),
        off_value=probs.dtype.min,
    )
    rows = tf.tile(tf.reshape(row, [1, 1, -1]), tf.concat([tf.shape(finished), [1]], 0))
    return tf.where(tf.tile(tf.expand_dims(finished, 2), [1, 1, ids]), rows, probs)


def attention_probs_from_attn_state(attention_state):
    """[batch, beams, memory time] alignments of a state, averaged over mechanisms."""
    alignments = attention_state.alignments
    if isinstance(alignments, tuple):
        return tf.reduce_mean(tf.stack(alignments, -1), -1)
    return alignments


def get_attention_probs(next_cell_state, coverage_penalty_weight):
    """[batch, beams, memory time] alignments, averaged over attentional cells; None without a coverage penalty.

    Raises:
      ValueError: there is a penalty, but no attentional cell.
    """
    if coverage_penalty_weight == 0.0:
        return None
    states = [next_cell_state]
    if isinstance(next_cell_state, tuple) and not isinstance(next_cell_state, attention_wrapper.AttentionWrapperState):
        states = next_cell_state
    probs = [
        attention_probs_from_attn_state(state)
        for state in states
        if isinstance(state, attention_wrapper.AttentionWrapperState)
    ]
    if not probs:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return probs[0] if len(probs) == 1 else tf.reduce_mean(tf.stack(probs, -1), -1)


def _get_scores(
    log_probs,
    sequence_lengths,
    length_penalty_weight,
    coverage_penalty_weight,
    finished,
    accumulated_attention_probs,
):
    """Scores of continuations: log probabilities over the length penalty, plus the coverage penalty."""
    penalty = _length_penalty(sequence_lengths=sequence_lengths, penalty_factor=length_penalty_weight)
    scores = log_probs / tf.cast(penalty, dtype=log_probs.dtype)
    # A tensor even where it is not used, as in 1.15, whose default seeds count ops.
    weight = tf.convert_to_tensor(coverage_penalty_weight, name="coverage_penalty_weight")
    if coverage_penalty_weight == 0.0:
        return scores
    if accumulated_attention_probs is None:
        raise ValueError("accumulated_attention_probs can be None only if coverage penalty is disabled.")
    # Entries past the end of the source have no attention, and no penalty.
    covered = tf.where(
        tf.equal(accumulated_attention_probs, 0.0),
        tf.ones_like(accumulated_attention_probs),
        accumulated_attention_probs,
    )
    missing = tf.reduce_sum(tf.log(tf.minimum(covered, 1.0)), 2)
    missing *= tf.cast(finished, tf.float32)
    return scores + tf.expand_dims(missing * weight, 2)


def _length_penalty(sequence_lengths, penalty_factor):
    """((5 + length) / 6) ** factor; 1 where the factor is known to be 0.

    Raises:
      ValueError: the factor is no scalar.
    """
    factor = tf.convert_to_tensor(penalty_factor, name="penalty_factor")
    if factor.shape.ndims not in (0, None):
        raise ValueError(f"penalty_factor must be a scalar, got shape {factor.shape}")
    static = tf.get_static_value(factor)
    if static is not None and static == 0:
        return 1.0
    return tf.div((5.0 + tf.cast(sequence_lengths, tf.float32)) ** factor, (5.0 + 1.0) ** factor)
