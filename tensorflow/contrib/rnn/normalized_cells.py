"""LSTM cells with layer or weight normalization."""

import tensorflow as tf

from tensorflow.contrib.rnn.core_rnn_cell import _Linear, _linear
from tensorflow.contrib.rnn.lstm_ops import known_width
from tensorflow.contrib.rnn.scope_variables import clip, concat_variable, normalized

RNNCell = tf.nn.rnn_cell.RNNCell
LSTMStateTuple = tf.nn.rnn_cell.LSTMStateTuple


class LayerNormBasicLSTMCell(RNNCell):
    """A basic LSTM with layer normalization (arXiv:1607.06450) and recurrent dropout (arXiv:1603.05118).

    Args:
      num_units: size of the state.
      forget_bias: added to the forget gate.
      input_size: not used any more, warns.
      activation: of the inner states.
      layer_norm: whether gates and cell state are normalized; else there is a bias.
      norm_gain: initial gain.
      norm_shift: initial shift.
      dropout_keep_prob: number or scalar tensor; part of the candidate that is kept.
      dropout_prob_seed: seed of the dropout.
      reuse: as in `tf.variable_scope`.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        input_size=None,
        activation=tf.tanh,
        layer_norm=True,
        norm_gain=1.0,
        norm_shift=0.0,
        dropout_keep_prob=1.0,
        dropout_prob_seed=None,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        if input_size is not None:
            tf.logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def _norm(self, values, scope, dtype=tf.float32):
        return normalized(values, scope, self._norm_gain, self._norm_shift, dtype) if self._layer_norm else values

    def call(self, inputs, state):
        c, h = state
        joined = tf.concat([inputs, h], 1)
        dtype = joined.dtype
        width = 4 * self._num_units
        gates = tf.matmul(joined, tf.get_variable("kernel", [joined.shape[-1], width], dtype=dtype))
        if not self._layer_norm:
            gates = tf.nn.bias_add(gates, tf.get_variable("bias", [width], dtype=dtype))
        names = ("input", "transform", "forget", "output")
        i, j, f, o = (self._norm(gate, name, dtype) for gate, name in zip(tf.split(gates, 4, axis=1), names))
        candidate = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            candidate = tf.nn.dropout(candidate, self._keep_prob, seed=self._seed)
        new_c = self._norm(c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * candidate, "state", dtype)
        new_h = self._activation(new_c) * tf.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class CoupledInputForgetGateLSTMCell(RNNCell):
    """An LSTM with input gate = 1 - forget gate (Greff et al. 2015, arXiv:1503.04069).

    Variables: "W_0" ... (one a shard), "B", "W_F_diag", "W_O_diag" with peepholes, "W_P_0" ... with a projection.

    Args:
      num_units: size of the cell state.
      use_peepholes: whether gates see the cell state.
      initializer: of the matrices and peepholes; the variable scope's by default.
      num_proj: size of the output; `num_units`, unprojected, by default.
      proj_clip: bound of the projected output.
      num_unit_shards: number of variables that hold the weight matrix.
      num_proj_shards: number of variables that hold the projection.
      forget_bias: added to the forget gate.
      state_is_tuple: states are `LSTMStateTuple`s, else side by side.
      activation: of the inner states.
      reuse: as in `tf.variable_scope`.
      layer_norm: whether gates and cell state are normalized.
      norm_gain: initial gain.
      norm_shift: initial shift.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        num_unit_shards=1,
        num_proj_shards=1,
        forget_bias=1.0,
        state_is_tuple=True,
        activation=tf.tanh,
        reuse=None,
        layer_norm=False,
        norm_gain=1.0,
        norm_shift=0.0,
    ):
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            tf.logging.warn("%s: Using a concatenated state is slower. Use state_is_tuple=True.", self)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift
        self._output_size = num_proj if num_proj else num_units

    @property
    def state_size(self):
        sizes = LSTMStateTuple(self._num_units, self._output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self):
        return self._output_size

    def call(self, inputs, state):
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            return self._step(inputs, state)

    def _step(self, inputs, state):
        units, dtype = self._num_units, inputs.dtype
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            c_prev = tf.slice(state, [0, 0], [-1, units])
            m_prev = tf.slice(state, [0, units], [-1, self._output_size])
        rows = known_width(inputs.shape.with_rank(2)) + self._output_size
        kernel = concat_variable("W", [rows, 3 * units], dtype, self._num_unit_shards)
        bias = tf.get_variable("B", [3 * units], dtype, tf.zeros_initializer())
        gates = tf.matmul(tf.concat([inputs, m_prev], 1), kernel)
        if not self._layer_norm:
            gates = tf.nn.bias_add(gates, bias)
        j, f, o = tf.split(gates, 3, axis=1)
        if self._layer_norm:
            gain, shift = self._norm_gain, self._norm_shift
            j, f, o = (normalized(g, name, gain, shift) for g, name in ((j, "transform"), (f, "forget"), (o, "output")))
        if self._use_peepholes:
            peep_f = tf.get_variable("W_F_diag", [units], dtype)
            peep_o = tf.get_variable("W_O_diag", [units], dtype)
        f += self._forget_bias
        if self._use_peepholes:
            f += peep_f * c_prev
        forget = tf.sigmoid(f)
        c = forget * c_prev + (1 - forget) * self._activation(j)
        if self._layer_norm:
            c = normalized(c, "state", self._norm_gain, self._norm_shift)
        m = tf.sigmoid(o + peep_o * c if self._use_peepholes else o) * self._activation(c)
        if self._num_proj is not None:
            m = tf.matmul(m, concat_variable("W_P", [units, self._num_proj], dtype, self._num_proj_shards))
            m = clip(m, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else tf.concat([c, m], 1)


class LayerNormLSTMCell(RNNCell):
    """An LSTM with optional layer normalization (arXiv:1607.06450), peepholes, clipping and projection.

    Variables: "kernel", "bias" (there, but not added, with layer normalization), "input/gamma", "input/beta" and so on for
    "transform", "forget", "output" and "state", "w_f_diag", "w_i_diag", "w_o_diag", "projection/kernel".

    Args:
      num_units: size of the cell state.
      use_peepholes: whether gates see the cell state.
      cell_clip: bound of the cell state; none by default.
      initializer: of the matrices and peepholes; the variable scope's by default.
      num_proj: size of the output; `num_units`, unprojected, by default.
      proj_clip: bound of the projected output.
      forget_bias: added to the forget gate.
      activation: of the inner states, tanh by default.
      layer_norm: whether gates and cell state are normalized.
      norm_gain: initial gain.
      norm_shift: initial shift.
      reuse: as in `tf.variable_scope`.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        forget_bias=1.0,
        activation=None,
        layer_norm=False,
        norm_gain=1.0,
        norm_shift=0.0,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._activation = activation or tf.tanh
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift
        self._output_size = num_proj if num_proj else num_units

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._output_size)

    @property
    def output_size(self):
        return self._output_size

    def _norm(self, values, scope):
        if not self._layer_norm:
            return values
        return normalized(values, scope, self._norm_gain, self._norm_shift, values.dtype)

    def call(self, inputs, state):
        c_prev, m_prev = state
        known_width(inputs.shape.with_rank(2))
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            gates = _Linear([inputs, m_prev], 4 * self._num_units, True)(
                [inputs, m_prev], add_bias=not self._layer_norm
            )
            names = ("input", "transform", "forget", "output")
            i, j, f, o = (self._norm(gate, name) for gate, name in zip(tf.split(gates, 4, axis=1), names))
            f += self._forget_bias
            if self._use_peepholes:
                peep_f, peep_i, peep_o = (
                    tf.get_variable(f"w_{g}_diag", [self._num_units], inputs.dtype) for g in "fio"
                )
                f, i = f + peep_f * c_prev, i + peep_i * c_prev
            c = tf.sigmoid(f) * c_prev + tf.sigmoid(i) * self._activation(j)
            c = clip(self._norm(c, "state"), self._cell_clip)
            m = tf.sigmoid(o + peep_o * c if self._use_peepholes else o) * self._activation(c)
            if self._num_proj is not None:
                with tf.variable_scope("projection"):
                    m = clip(_linear(m, self._num_proj, False), self._proj_clip)
        return m, LSTMStateTuple(c, m)


class WeightNormLSTMCell(RNNCell):
    """An LSTM with weight normalization (Salimans and Kingma 2016, arXiv:1602.07868).

    The kernel's parts over inputs and over the state are normalized apart, with gains "norm_0" and "norm_1".

    Args:
      num_units: size of the cell state.
      norm: whether there is normalization.
      use_peepholes: whether gates see the cell state.
      cell_clip: bound of the cell state; none by default.
      initializer: of the matrices and peepholes; the variable scope's by default.
      num_proj: size of the output; `num_units`, unprojected, by default.
      proj_clip: bound of the projected output.
      forget_bias: added to the forget gate.
      activation: of the inner states, tanh by default.
      reuse: as in `tf.variable_scope`.
    """

    def __init__(
        self,
        num_units,
        norm=True,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        forget_bias=1,
        activation=None,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._norm = norm
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._activation = activation or tf.tanh
        self._output_size = num_proj if num_proj else num_units

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._output_size)

    @property
    def output_size(self):
        return self._output_size

    def _linear(self, args, output_size, bias):
        sizes = [known_width(arg.shape) for arg in args]
        dtype = args[0].dtype
        weights = tf.get_variable("kernel", [sum(sizes), output_size], dtype=dtype)
        if self._norm:
            parts = tf.split(weights, sizes, axis=0)
            gains = [tf.get_variable(f"norm_{i}", [output_size], dtype=dtype) for i in range(len(parts))]
            weights = tf.concat([tf.nn.l2_normalize(part, axis=0) * gain for part, gain in zip(parts, gains)], axis=0)
        result = tf.matmul(args[0] if len(args) == 1 else tf.concat(args, 1), weights)
        if not bias:
            return result
        zeros = tf.constant_initializer(0.0, dtype=dtype)
        return tf.nn.bias_add(result, tf.get_variable("bias", [output_size], dtype=dtype, initializer=zeros))

    def call(self, inputs, state):
        c, h = state
        units = self._num_units
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            i, j, f, o = tf.split(self._linear([inputs, h], 4 * units, bias=True), 4, axis=1)
            f += self._forget_bias
            if self._use_peepholes:
                peep_f, peep_i, peep_o = (tf.get_variable(f"w_{g}_diag", [units], inputs.dtype) for g in "fio")
                f, i = f + peep_f * c, i + peep_i * c
            new_c = clip(c * tf.sigmoid(f) + tf.sigmoid(i) * self._activation(j), self._cell_clip)
            new_h = tf.sigmoid(o + peep_o * new_c if self._use_peepholes else o) * self._activation(new_c)
            if self._num_proj is not None:
                with tf.variable_scope("projection"):
                    new_h = clip(self._linear([new_h], self._num_proj, bias=False), self._proj_clip)
        return new_h, LSTMStateTuple(new_c, new_h)
