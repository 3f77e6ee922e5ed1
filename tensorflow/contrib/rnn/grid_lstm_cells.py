"""LSTM cells that also run along the frequency bands of one input vector."""

import collections

import tensorflow as tf

from tensorflow.contrib.rnn.scope_variables import clip, concat_variable, static_batch

RNNCell = tf.nn.rnn_cell.RNNCell


def _bands(inputs, start, count, width, skip):
    return [tf.slice(inputs, [0, start + band * skip], [-1, width]) for band in range(count)]


def _band_count(size, width, skip) -> int:
    return int((size - width) / skip) + 1


def _input_width(inputs) -> int:
    width = inputs.shape.with_rank(2).dims[-1].value
    if width is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return width


class TimeFreqLSTMCell(RNNCell):
    """An LSTM shared by all frequency bands, each of which also sees the band below (Sainath and Li, 2016).

    The state holds cell state and output of each band side by side.

    Args:
      num_units: size of the cell state of a band.
      use_peepholes: whether gates see the cell state.
      cell_clip: bound of the cell state; none by default.
      initializer: of matrices and peepholes; the variable scope's by default.
      num_unit_shards: number of variables that hold the weight matrix.
      forget_bias: added to the forget gate.
      feature_size: width of a band.
      frequency_skip: distance of two bands.
      reuse: as in `tf.variable_scope`.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_unit_shards=1,
        forget_bias=1.0,
        feature_size=None,
        frequency_skip=1,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip

    @property
    def output_size(self):
        return self._num_units

    @property
    def state_size(self):
        return 2 * self._num_units

    def call(self, inputs, state):
        units, dtype = self._num_units, inputs.dtype
        count = _band_count(_input_width(inputs), self._feature_size, self._frequency_skip)
        bands = _bands(inputs, 0, count, self._feature_size, self._frequency_skip)
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            kernel = concat_variable("W", [self._feature_size + 2 * units, 4 * units], dtype, self._num_unit_shards)
            bias = tf.get_variable("B", [4 * units], dtype, tf.zeros_initializer())
            if self._use_peepholes:
                peep_f, peep_i, peep_o = (tf.get_variable(f"W_{g}_diag", [units], dtype) for g in "FIO")
        m_below = tf.zeros([static_batch(inputs), units], dtype)
        outputs = states = None
        for index, band in enumerate(bands):
            c_prev, m_prev = (tf.slice(state, [0, (2 * index + k) * units], [-1, units]) for k in (0, 1))
            gates = tf.nn.bias_add(tf.matmul(tf.concat([band, m_prev, m_below], 1), kernel), bias)
            i, j, f, o = tf.split(gates, 4, axis=1)
            f += self._forget_bias
            if self._use_peepholes:
                f, i = f + peep_f * c_prev, i + peep_i * c_prev
            c = clip(tf.sigmoid(f) * c_prev + tf.sigmoid(i) * tf.tanh(j), self._cell_clip)
            m = tf.sigmoid(o + peep_o * c if self._use_peepholes else o) * tf.tanh(c)
            m_below = m
            # Joined band by band, as 1.15 does: default seeds of what is made later count the ops.
            states = tf.concat([c, m] if states is None else [states, c, m], 1)
            outputs = m if outputs is None else tf.concat([outputs, m], 1)
        return outputs, states


class GridLSTMCell(RNNCell):
    """A grid LSTM (Kalchbrenner et al., arXiv:1507.01526): one LSTM along time, one along frequency bands.

    Args:
      num_units: size of the cell states.
      use_peepholes: whether gates see the cell states of both directions (Sainath and Li, 2016).
      share_time_frequency_weights: one set of weights for both LSTMs.
      cell_clip: bound of the cell states; none by default.
      initializer: of matrices and peepholes; the variable scope's by default.
      num_unit_shards: number of variables that hold each weight matrix.
      forget_bias: added to the forget gates.
      feature_size: width of a band.
      frequency_skip: distance of two bands.
      num_frequency_blocks: list with the number of bands in each block. Required.
      start_freqindex_list: where each block starts; without it there is one block, the whole input.
      end_freqindex_list: where each block ends.
      couple_input_forget_gates: forget gate = 1 - input gate.
      state_is_tuple: states are a named tuple (state_f00_b00_c, state_f00_b00_m, ...), else side by side.
      reuse: as in `tf.variable_scope`.

    Raises:
      ValueError: `num_frequency_blocks` is missing; in a call, if it does not fit the input.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        share_time_frequency_weights=False,
        cell_clip=None,
        initializer=None,
        num_unit_shards=1,
        forget_bias=1.0,
        feature_size=None,
        frequency_skip=None,
        num_frequency_blocks=None,
        start_freqindex_list=None,
        end_freqindex_list=None,
        couple_input_forget_gates=False,
        state_is_tuple=True,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        if not state_is_tuple:
            tf.logging.warn("%s: Using a concatenated state is slower. Use state_is_tuple=True.", self)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share_time_frequency_weights = share_time_frequency_weights
        self._couple_input_forget_gates = couple_input_forget_gates
        self._state_is_tuple = state_is_tuple
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip
        self._start_freqindex_list = start_freqindex_list
        self._end_freqindex_list = end_freqindex_list
        self._num_frequency_blocks = num_frequency_blocks
        self._total_blocks = sum(int(count) for count in num_frequency_blocks)
        self._state_tuple_type = None
        self._state_size = 2 * num_units * self._total_blocks
        self._output_size = 2 * num_units * self._total_blocks
        if state_is_tuple:
            self._name_states("GridLSTMStateTuple", [""])

    def _name_states(self, type_name, prefixes) -> None:
        names = [
            f"{prefix}state_f{band:02d}_b{block:02d}_{part}"
            for prefix in prefixes
            for block, count in enumerate(self._num_frequency_blocks)
            for band in range(count)
            for part in "cm"
        ]
        self._state_tuple_type = collections.namedtuple(type_name, names)
        self._state_size = self._state_tuple_type(*[self._num_units] * len(names))

    @property
    def output_size(self):
        return self._output_size

    @property
    def state_size(self):
        return self._state_size

    @property
    def state_tuple_type(self):
        return self._state_tuple_type

    def call(self, inputs, state):
        outputs, states = self._run_blocks(self._blocks(inputs), state, static_batch(inputs), "state")
        if self._state_is_tuple:
            return tf.concat(outputs, 1), self._state_tuple_type(*states)
        return tf.concat(outputs, 1), tf.concat(states, 1)

    def _run_blocks(self, blocks, state, batch_size, prefix):
        outputs, states = [], []
        for block, bands in enumerate(blocks):
            block_outputs, block_states = self._run_block(bands, block, state, batch_size, prefix)
            outputs += block_outputs
            states += block_states
        return outputs, states

    def _block_weights(self, block, dtype):
        """(kernel, bias, peepholes) of the frequency LSTM and of the time LSTM, the same where they share."""
        units = self._num_units
        gates = 3 if self._couple_input_forget_gates else 4
        shape = [self._feature_size + 2 * units, gates * units]
        shared = self._share_time_frequency_weights
        matrices = {}
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            for way in "f" if shared else "ft":
                kernel = concat_variable(f"W_{way}_{block}", shape, dtype, self._num_unit_shards)
                bias = tf.get_variable(f"B_{way}_{block}", [gates * units], dtype, tf.zeros_initializer())
                matrices[way] = kernel, bias
            peepholes = {}
            if self._use_peepholes:
                for way, word in (("f", "freq"),) if shared else (("f", "freq"), ("t", "time")):
                    peepholes[way] = {
                        gate: tuple(
                            tf.get_variable(f"W_{gate}_diag_{word}{seen}_{block}", [units], dtype) for seen in "ft"
                        )
                        for gate in ("IO" if self._couple_input_forget_gates else "FIO")
                    }
        frequency = (*matrices["f"], peepholes.get("f"))
        return frequency, frequency if shared else (*matrices["t"], peepholes.get("t"))

    def _gates(self, joined, kernel, bias):
        values = tf.nn.bias_add(tf.matmul(joined, kernel), bias)
        return tf.split(values, 3 if self._couple_input_forget_gates else 4, axis=1)

    def _cell_state(self, gates, peepholes, c_prev, c_seen):
        """The new cell state from `c_prev`; `c_seen` are the states that the peepholes see. Also the output gate."""

        def gate(values, name):
            if peepholes:
                (first, second), (one, other) = peepholes[name], c_seen
                values += first * one + second * other
            return tf.sigmoid(values)

        i, j, *f, o = gates
        input_gate = gate(i, "I")
        forget_gate = gate(f[0] + self._forget_bias, "F") if f else 1.0 - input_gate
        return clip(forget_gate * c_prev + input_gate * tf.tanh(j), self._cell_clip), o

    def _run_block(self, bands, block, state, batch_size, prefix):
        units = self._num_units
        (kernel_f, bias_f, peep_f), (kernel_t, bias_t, peep_t) = self._block_weights(block, bands[0].dtype)
        m_below = tf.zeros([batch_size, units], bands[0].dtype)
        c_below = tf.zeros([batch_size, units], bands[0].dtype)
        outputs, states = [], []
        for index, band in enumerate(bands):
            if self._state_is_tuple:
                c_before, m_before = (getattr(state, f"{prefix}_f{index:02d}_b{block:02d}_{part}") for part in "cm")
            else:
                c_before, m_before = (tf.slice(state, [0, (2 * index + k) * units], [-1, units]) for k in (0, 1))
            joined = tf.concat([band, m_before, m_below], 1)
            gates_f = gates_t = self._gates(joined, kernel_f, bias_f)
            if kernel_t is not kernel_f:
                gates_t = self._gates(joined, kernel_t, bias_t)
            c_seen = (c_below, c_before)
            c_f, o_f = self._cell_state(gates_f, peep_f, c_below, c_seen)
            c_t, o_t = self._cell_state(gates_t, peep_t, c_before, c_seen)
            if self._use_peepholes:
                o_f += peep_f["O"][0] * c_f + peep_f["O"][1] * c_t
                o_t += peep_t["O"][0] * c_f + peep_t["O"][1] * c_t
            m_f, m_t = tf.sigmoid(o_f) * tf.tanh(c_f), tf.sigmoid(o_t) * tf.tanh(c_t)
            m_below, c_below = m_f, c_f
            outputs += [m_t, m_f]
            states += [c_t, m_t]
        return outputs, states

    def _blocks(self, inputs, offset=0):
        """The bands of each block; `offset` moves all of them, with zeros beyond the ends of the input."""
        width, skip, counts = self._feature_size, self._frequency_skip, self._num_frequency_blocks
        size = _input_width(inputs)
        if offset:
            inputs = tf.pad(inputs, [[0, 0], [max(-offset, 0), max(offset, 0)]])
            offset = max(offset, 0)
        starts, ends = self._start_freqindex_list, self._end_freqindex_list
        if not starts:
            starts, ends = [0], [size]
        if not len(counts) == len(starts) == len(ends):
            raise ValueError(
                "num_frequency_blocks, start_freqindex_list and end_freqindex_list must have the same length "
                f"(1 for num_frequency_blocks alone), got {len(counts)}, {len(starts)}, {len(ends)}"
            )
        blocks = []
        for count, start, end in zip(counts, starts, ends):
            fitting = _band_count(end - start, width, skip)
            if fitting != count:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {count} but gets {fitting}, please check the input size "
                    "and filter config are correct."
                )
            blocks.append(_bands(inputs, start + offset, count, width, skip))
        return blocks


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A `GridLSTMCell` that runs along the bands both ways, with weights of its own each way ("fwd", "bwd").

    Args:
      backward_slice_offset: moves the bands of the backward run.
      (others): as in `GridLSTMCell`; states are always a named tuple (fwd_state_f00_b00_c, ...).
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        share_time_frequency_weights=False,
        cell_clip=None,
        initializer=None,
        num_unit_shards=1,
        forget_bias=1.0,
        feature_size=None,
        frequency_skip=None,
        num_frequency_blocks=None,
        start_freqindex_list=None,
        end_freqindex_list=None,
        couple_input_forget_gates=False,
        backward_slice_offset=0,
        reuse=None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._backward_slice_offset = int(backward_slice_offset)
        self._name_states("BidirectionalGridLSTMStateTuple", ["fwd_", "bwd_"])
        self._output_size *= 2

    def call(self, inputs, state):
        batch_size = static_batch(inputs)
        forward = backward = self._blocks(inputs)
        if self._backward_slice_offset:
            backward = self._blocks(inputs, self._backward_slice_offset)
        with tf.variable_scope("fwd"):
            outputs, states = self._run_blocks(forward, state, batch_size, "fwd_state")
        with tf.variable_scope("bwd"):
            reverse = [bands[::-1] for bands in backward]
            outputs_back, states_back = self._run_blocks(reverse, state, batch_size, "bwd_state")
        return tf.concat(outputs + outputs_back, 1), self._state_tuple_type(*states, *states_back)
