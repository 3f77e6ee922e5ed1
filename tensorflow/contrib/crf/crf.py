"""Linear chain conditional random fields: likelihood by the forward algorithm, decoding by Viterbi's.

Throughout: unary scores are [batch, time, tags], tag indices [batch, time] integers, sequence lengths [batch], transition
scores [tags, tags] from row to column (Lafferty et al. 2001).
"""

import numpy as np
import tensorflow as tf

RNNCell = tf.nn.rnn_cell.RNNCell

__all__ = (
    "crf_sequence_score crf_log_norm crf_log_likelihood crf_unary_score crf_binary_score CrfForwardRnnCell viterbi_decode "
    "crf_decode CrfDecodeForwardRnnCell CrfDecodeBackwardRnnCell crf_multitag_sequence_score"
).split()


def _lengths_for_rest(sequence_lengths):
    """Steps after the first; a padded sequence of length 0 has none either."""
    lengths = tf.convert_to_tensor(sequence_lengths)
    return tf.maximum(tf.constant(0, dtype=lengths.dtype), lengths - 1)


def _by_length(inputs, one_step, several_steps):
    """`one_step()` if the sequences are one step long, which RNN loops cannot do, else `several_steps()`."""
    time = inputs.shape.dims[1].value
    if time is not None:
        # 1.15 built the comparison before it knew the answer, and default seeds count ops.
        tf.equal(time, 1)
        return one_step() if time == 1 else several_steps()
    return tf.cond(tf.equal(tf.shape(inputs)[1], 1), one_step, several_steps)


def _zero_for_empty(scores, sequence_lengths):
    return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(scores), scores)


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """The unnormalized score of tag sequences: the sum of their unary and transition scores.

    Args:
      inputs: [batch, time, tags] unary scores.
      tag_indices: [batch, time].
      sequence_lengths: [batch].
      transition_params: [tags, tags].

    Returns:
      [batch]; 0 for sequences of length 0.
    """
    sequence_lengths = tf.convert_to_tensor(sequence_lengths)

    def one_step():
        tags = tf.convert_to_tensor(tag_indices)
        if tags.shape.dims[1].value not in (None, 1):
            # A branch that will not run.
            tags = tags[:, :1]
        batch = tf.shape(inputs, out_type=tags.dtype)[0]
        rows = tf.reshape(tf.range(batch, dtype=tags.dtype), [-1, 1])
        where = tf.concat([rows, tags], axis=1)
        return _zero_for_empty(tf.gather_nd(tf.squeeze(inputs, [1]), where), sequence_lengths)

    def several_steps():
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return _by_length(inputs, one_step, several_steps)


def crf_multitag_sequence_score(inputs, tag_bitmap, sequence_lengths, transition_params):
    """The log of the summed exponential scores of all tag sequences that a bitmap admits.

    Args:
      inputs: [batch, time, tags] unary scores.
      tag_bitmap: [batch, time, tags] bool, the tags that each step admits.
      sequence_lengths: [batch].
      transition_params: [tags, tags].

    Returns:
      [batch]; 0 for sequences of length 0.
    """
    sequence_lengths = tf.convert_to_tensor(sequence_lengths)
    admitted = tf.where(tag_bitmap, inputs, tf.fill(tf.shape(inputs), float("-inf")))

    def one_step():
        return _zero_for_empty(tf.reduce_logsumexp(tf.squeeze(admitted, [1]), [1]), sequence_lengths)

    def several_steps():
        return crf_log_norm(inputs=admitted, sequence_lengths=sequence_lengths, transition_params=transition_params)

    return _by_length(inputs, one_step, several_steps)


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """The log of the partition function, by the forward algorithm.

    Args:
      inputs: [batch, time, tags] unary scores.
      sequence_lengths: [batch].
      transition_params: [tags, tags].

    Returns:
      [batch]; 0 for sequences of length 0.
    """
    sequence_lengths = tf.convert_to_tensor(sequence_lengths)
    first = tf.squeeze(tf.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def one_step():
        return _zero_for_empty(tf.reduce_logsumexp(first, [1]), sequence_lengths)

    def several_steps():
        rest = tf.slice(inputs, [0, 1, 0], [-1, -1, -1])
        _, alphas = tf.nn.dynamic_rnn(
            cell=CrfForwardRnnCell(transition_params),
            inputs=rest,
            sequence_length=_lengths_for_rest(sequence_lengths),
            initial_state=first,
            dtype=tf.float32,
        )
        return _zero_for_empty(tf.reduce_logsumexp(alphas, [1]), sequence_lengths)

    return _by_length(inputs, one_step, several_steps)


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
    """The log likelihood of tag sequences.

    Args:
      inputs: [batch, time, tags] unary scores.
      tag_indices: [batch, time].
      sequence_lengths: [batch].
      transition_params: [tags, tags]; by default a new variable "transitions".

    Returns:
      ([batch] log likelihoods, the transition scores).
    """
    tags = inputs.shape.dims[2].value
    # Lengths given as a list take the tags' type, so that products of the two have one.
    sequence_lengths = tf.cast(tf.convert_to_tensor(sequence_lengths), tf.convert_to_tensor(tag_indices).dtype)
    if transition_params is None:
        transition_params = tf.get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """The sum of unary scores along tag sequences.

    Args:
      tag_indices: [batch, time].
      sequence_lengths: [batch].
      inputs: [batch, time, tags] unary scores.

    Returns:
      [batch].
    """
    tag_indices = tf.convert_to_tensor(tag_indices)
    batch, time, tags = (tf.shape(inputs)[axis] for axis in range(3))
    position = tf.expand_dims(tf.range(batch) * time * tags, 1)
    position += tf.expand_dims(tf.range(time) * tags, 0)
    # The lengths are ids of another type at times.
    if tag_indices.dtype == tf.int64:
        position = tf.cast(position, tf.int64)
    chosen = tf.gather(tf.reshape(inputs, [-1]), tf.reshape(position + tag_indices, [-1]))
    scores = tf.reshape(chosen, [batch, time])
    mask = tf.sequence_mask(sequence_lengths, maxlen=tf.shape(tag_indices)[1], dtype=inputs.dtype)
    return tf.reduce_sum(scores * mask, 1)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """The sum of transition scores along tag sequences.

    Args:
      tag_indices: [batch, time].
      sequence_lengths: [batch].
      transition_params: [tags, tags].

    Returns:
      [batch].
    """
    tag_indices = tf.convert_to_tensor(tag_indices)
    transition_params = tf.convert_to_tensor(transition_params)
    tags = transition_params.shape[0]
    transitions = tf.shape(tag_indices)[1] - 1
    start = tf.slice(tag_indices, [0, 0], [-1, transitions])
    end = tf.slice(tag_indices, [0, 1], [-1, transitions])
    scores = tf.gather(tf.reshape(transition_params, [-1]), start * tf.cast(tags, start.dtype) + end)
    mask = tf.sequence_mask(sequence_lengths, maxlen=tf.shape(tag_indices)[1], dtype=transition_params.dtype)
    return tf.reduce_sum(scores * tf.slice(mask, [0, 1], [-1, -1]), 1)


class CrfForwardRnnCell(RNNCell):
    """A step of the forward algorithm: the state is [batch, tags] log sums over all prefixes by their last tag.

    Args:
      transition_params: [tags, tags].
    """

    def __init__(self, transition_params):
        super().__init__()
        self._transition_params = tf.expand_dims(transition_params, 0)
        self._num_tags = self._transition_params.shape.dims[1].value

    @property
    def state_size(self):
        return self._num_tags

    @property
    def output_size(self):
        return self._num_tags

    def __call__(self, inputs, state, scope=None):
        """Returns the new log sums twice, as output and as state."""
        sums = tf.expand_dims(state, 2) + self._transition_params
        alphas = inputs + tf.reduce_logsumexp(sums, [1])
        return alphas, alphas


def viterbi_decode(score, transition_params):
    """The best tag sequence of one sequence, in NumPy.

    Args:
      score: [time, tags] unary scores.
      transition_params: [tags, tags].

    Returns:
      (list of `time` tag indices, its score).
    """
    score, transition_params = np.asarray(score), np.asarray(transition_params)
    best = np.zeros_like(score)
    previous = np.zeros_like(score, dtype=np.int32)
    best[0] = score[0]
    for t in range(1, len(score)):
        candidates = best[t - 1][:, None] + transition_params
        best[t] = score[t] + candidates.max(0)
        previous[t] = candidates.argmax(0)
    path = [int(best[-1].argmax())]
    for step in previous[:0:-1]:
        path.append(int(step[path[-1]]))
    return path[::-1], best[-1].max()


class CrfDecodeForwardRnnCell(RNNCell):
    """A step of Viterbi's algorithm forward: outputs are the best last-but-one tags, the state the best scores.

    Args:
      transition_params: [tags, tags].
    """

    def __init__(self, transition_params):
        super().__init__()
        self._transition_params = tf.expand_dims(transition_params, 0)
        self._num_tags = self._transition_params.shape.dims[1].value

    @property
    def state_size(self):
        return self._num_tags

    @property
    def output_size(self):
        return self._num_tags

    def __call__(self, inputs, state, scope=None):
        """Returns (back pointers [batch, tags] int32, scores [batch, tags])."""
        candidates = tf.expand_dims(state, 2) + self._transition_params
        new_state = inputs + tf.reduce_max(candidates, [1])
        return tf.cast(tf.argmax(candidates, 1), dtype=tf.int32), new_state


class CrfDecodeBackwardRnnCell(RNNCell):
    """A step of Viterbi's algorithm backward: follows the back pointers from a tag, [batch, 1].

    Args:
      num_tags: number of tags.
    """

    def __init__(self, num_tags):
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self):
        return 1

    @property
    def output_size(self):
        return 1

    def __call__(self, inputs, state, scope=None):
        """Returns the tag before, [batch, 1] int32, twice."""
        state = tf.squeeze(state, axis=[1])
        where = tf.stack([tf.range(tf.shape(inputs)[0]), state], axis=1)
        before = tf.expand_dims(tf.gather_nd(inputs, where), axis=-1)
        return before, before


def crf_decode(potentials, transition_params, sequence_length):
    """The best tag sequences, in the graph.

    Args:
      potentials: [batch, time, tags] unary scores.
      transition_params: [tags, tags].
      sequence_length: [batch].

    Returns:
      ([batch, time] int32 tags, 0 past a sequence's end; [batch] scores of the best sequences).
    """
    sequence_length = tf.convert_to_tensor(sequence_length)

    def one_step():
        squeezed = tf.squeeze(potentials, [1])
        tags = tf.cast(tf.expand_dims(tf.argmax(squeezed, axis=1), 1), tf.int32)
        return tags, tf.reduce_max(squeezed, axis=1)

    def several_steps():
        num_tags = potentials.shape.dims[2].value
        cell = CrfDecodeForwardRnnCell(transition_params)
        first = tf.squeeze(tf.slice(potentials, [0, 0, 0], [-1, 1, -1]), axis=[1])
        rest = tf.slice(potentials, [0, 1, 0], [-1, -1, -1])
        lengths = _lengths_for_rest(sequence_length)
        pointers, scores = tf.nn.dynamic_rnn(
            cell, inputs=rest, sequence_length=lengths, initial_state=first, time_major=False, dtype=tf.int32
        )
        pointers = tf.reverse_sequence(pointers, lengths, seq_axis=1)
        last = tf.expand_dims(tf.cast(tf.argmax(scores, axis=1), dtype=tf.int32), axis=-1)
        tags, _ = tf.nn.dynamic_rnn(
            CrfDecodeBackwardRnnCell(num_tags),
            inputs=pointers,
            sequence_length=lengths,
            initial_state=last,
            time_major=False,
            dtype=tf.int32,
        )
        tags = tf.concat([last, tf.squeeze(tags, axis=[2])], axis=1)
        return tf.reverse_sequence(tags, sequence_length, seq_axis=1), tf.reduce_max(scores, axis=1)

    return _by_length(potentials, one_step, several_steps)
