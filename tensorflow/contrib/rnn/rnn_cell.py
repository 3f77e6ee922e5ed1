"""RNN cells beyond the basic ones: coupled gates, attention, normalization, highways, groups, phases, and others."""

import tensorflow as tf
from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell
from tensorflow.python.util import nest

from tensorflow.contrib.rnn.conv_lstm_cells import (  # noqa: F401
    Conv1DLSTMCell,
    Conv2DLSTMCell,
    Conv3DLSTMCell,
    ConvLSTMCell,
    _conv,
)
from tensorflow.contrib.rnn.core_rnn_cell import _Linear, _linear, assert_like_cell  # noqa: F401
from tensorflow.contrib.rnn.grid_lstm_cells import BidirectionalGridLSTMCell, GridLSTMCell, TimeFreqLSTMCell  # noqa: F401
from tensorflow.contrib.rnn.independent_cells import IndRNNCell, IndyGRUCell, IndyLSTMCell  # noqa: F401
from tensorflow.contrib.rnn.lstm_ops import known_width
from tensorflow.contrib.rnn.minimal_cells import CFNCell, MinimalRNNCell  # noqa: F401
from tensorflow.contrib.rnn.normalized_cells import (  # noqa: F401
    CoupledInputForgetGateLSTMCell,
    LayerNormBasicLSTMCell,
    LayerNormLSTMCell,
    WeightNormLSTMCell,
)
from tensorflow.contrib.rnn.ntm_cell import NTMCell, NTMControllerState  # noqa: F401
from tensorflow.contrib.rnn.scope_variables import (  # noqa: F401
    concat_variable as _get_concat_variable,
    normalized as _scope_normalized,
    row_shards as _get_sharded_variable,
)

RNNCell = tf.nn.rnn_cell.RNNCell
LSTMStateTuple = tf.nn.rnn_cell.LSTMStateTuple


def _norm(g, b, inp, scope):
    """Layer normalization of `inp` in SCOPE, with gain and shift initially `g` and `b`."""
    return _scope_normalized(inp, scope, g, b)


class AttentionCellWrapper(RNNCell):
    """Lets a cell attend to its own last outputs (Cheng et al. 2016, arXiv:1601.06733).

    The state is (state of the cell, attention vector, the last outputs side by side).

    Args:
      cell: the cell.
      attn_length: number of outputs that are remembered.
      attn_size: size of an output, the cell's by default.
      attn_vec_size: size of the hidden layer of the attention, `attn_size` by default.
      input_size: width of what the cell gets, that of the inputs by default.
      state_is_tuple: whether the state is a tuple, else side by side.
      reuse: as in `tf.variable_scope`.

    Raises:
      TypeError: `cell` is no cell.
      ValueError: `attn_length` is not positive, or the cell's state is a tuple and `state_is_tuple` is not set.
    """

    def __init__(
        self, cell, attn_length, attn_size=None, attn_vec_size=None, input_size=None, state_is_tuple=True, reuse=None
    ):
        super().__init__(_reuse=reuse)
        assert_like_cell(cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. "
                f"State size is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            tf.logging.warn("%s: Using a concatenated state is slower. Use state_is_tuple=True.", self)
        self._state_is_tuple = state_is_tuple
        self._cell = cell
        self._attn_length = attn_length
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size
        self._input_map = self._output_map = self._query_map = None

    @property
    def state_size(self):
        sizes = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self):
        return self._attn_size

    def _parts(self, state):
        if self._state_is_tuple:
            return state
        cell, size = self._cell.state_size, self._attn_size
        widths = ((0, cell), (cell, size), (cell + size, size * self._attn_length))
        return [tf.slice(state, [0, start], [-1, width]) for start, width in widths]

    def call(self, inputs, state):
        cell_state, attention, memory = self._parts(state)
        memory = tf.reshape(memory, [-1, self._attn_length, self._attn_size])
        if self._input_map is None:
            width = self._input_size if self._input_size is not None else inputs.shape.as_list()[1]
            self._input_map = _Linear([inputs, attention], width, True)
        cell_output, new_cell_state = self._cell(self._input_map([inputs, attention]), cell_state)
        query = tf.concat(nest.flatten(new_cell_state), 1) if self._state_is_tuple else new_cell_state
        new_attention, kept = self._attend(query, memory)
        with tf.variable_scope("attn_output_projection"):
            if self._output_map is None:
                self._output_map = _Linear([cell_output, new_attention], self._attn_size, True)
            output = self._output_map([cell_output, new_attention])
        memory = tf.concat([kept, tf.expand_dims(output, 1)], 1)
        memory = tf.reshape(memory, [-1, self._attn_length * self._attn_size])
        new_state = (new_cell_state, new_attention, memory)
        return output, new_state if self._state_is_tuple else tf.concat(new_state, 1)

    def _attend(self, query, memory):
        """The attention over `memory`, and `memory` without its oldest entry."""
        with tf.variable_scope("attention"):
            kernel = tf.get_variable("attn_w", [1, 1, self._attn_size, self._attn_vec_size])
            score_weights = tf.get_variable("attn_v", [self._attn_vec_size])
            spread = tf.reshape(memory, [-1, self._attn_length, 1, self._attn_size])
            features = tf.nn.conv2d(spread, kernel, [1, 1, 1, 1], "SAME")
            if self._query_map is None:
                self._query_map = _Linear(query, self._attn_vec_size, True)
            hidden = tf.reshape(self._query_map(query), [-1, 1, 1, self._attn_vec_size])
            weights = tf.nn.softmax(tf.reduce_sum(score_weights * tf.tanh(features + hidden), [2, 3]))
            attended = tf.reduce_sum(tf.reshape(weights, [-1, self._attn_length, 1, 1]) * spread, [1, 2])
            return tf.reshape(attended, [-1, self._attn_size]), tf.slice(memory, [0, 1, 0], [-1, -1, -1])


class HighwayWrapper(RNNCell):
    """Mixes a cell's inputs into its outputs by a gate (Srivastava et al. 2015, arXiv:1505.00387).

    Variables "carry_w", "carry_b" (and "transform_w", "transform_b") lie in the surrounding variable scope.

    Args:
      cell: the cell; outputs must have the shape of the inputs.
      couple_carry_transform_gates: transform gate = 1 - carry gate.
      carry_bias_init: initial value of the carry gate's bias, and minus that of the transform gate's.
    """

    def __init__(self, cell, couple_carry_transform_gates=True, carry_bias_init=1.0):
        super().__init__()
        self._cell = cell
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def _gate(self, name, inputs, bias):
        width = inputs.shape.with_rank(2).dims[1].value
        weights = tf.get_variable(f"{name}_w", [width, width])
        biases = tf.get_variable(f"{name}_b", [width], initializer=tf.constant_initializer(bias))
        return tf.sigmoid(tf.nn.xw_plus_b(inputs, weights, biases))

    def _highway(self, inputs, outputs):
        inputs.shape.assert_is_compatible_with(outputs.shape)
        carry = self._gate("carry", inputs, self._carry_bias_init)
        if self._couple_carry_transform_gates:
            transform = 1 - carry
        else:
            transform = self._gate("transform", inputs, -self._carry_bias_init)
        return inputs * carry + outputs * transform

    def __call__(self, inputs, state, scope=None):
        outputs, new_state = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        return nest.map_structure(self._highway, inputs, outputs), new_state


class NASCell(LayerRNNCell):
    """The cell found by architecture search (Zoph and Le 2017, arXiv:1611.01578).

    Args:
      num_units: size of the cell state.
      num_proj: size of the output; `num_units`, unprojected, by default.
      use_bias: whether there is a bias.
      reuse: as in `tf.variable_scope`.
      **kwargs: of the layer.
    """

    _GATES = 8

    def __init__(self, num_units, num_proj=None, use_bias=False, reuse=None, **kwargs):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias
        self._output_size = num_units if num_proj is None else num_proj

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._output_size)

    @property
    def output_size(self):
        return self._output_size

    def build(self, inputs_shape):
        width = self._GATES * self._num_units
        self.recurrent_kernel = self.add_weight("recurrent_kernel", [self._output_size, width])
        self.kernel = self.add_weight("kernel", [known_width(inputs_shape), width])
        if self._use_bias:
            self.bias = self.add_weight("bias", shape=[width], initializer=tf.zeros_initializer)
        if self._num_proj is not None:
            self.projection_weights = self.add_weight("projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs, state):
        c_prev, m_prev = state
        from_state = tf.matmul(m_prev, self.recurrent_kernel)
        from_inputs = tf.matmul(inputs, self.kernel)
        if self._use_bias:
            from_state = tf.nn.bias_add(from_state, self.bias)
        m = tf.split(from_state, self._GATES, axis=1)
        x = tf.split(from_inputs, self._GATES, axis=1)
        # The tree of the paper's figure 8, leaves first; the third right leaf multiplies.
        first = [
            tf.sigmoid(x[0] + m[0]),
            tf.nn.relu(x[1] + m[1]),
            tf.sigmoid(x[2] + m[2]),
            tf.nn.relu(x[3] * m[3]),
            tf.tanh(x[4] + m[4]),
            tf.sigmoid(x[5] + m[5]),
            tf.tanh(x[6] + m[6]),
            tf.sigmoid(x[7] + m[7]),
        ]
        second = [
            tf.tanh(first[0] * first[1]),
            tf.tanh(first[2] + first[3]),
            tf.tanh(first[4] * first[5]),
            tf.sigmoid(first[6] + first[7]),
        ]
        new_c = tf.tanh(second[0] + c_prev) * second[1]
        new_m = tf.tanh(new_c * tf.tanh(second[2] + second[3]))
        if self._num_proj is not None:
            new_m = tf.matmul(new_m, self.projection_weights)
        return new_m, LSTMStateTuple(new_c, new_m)


class UGRNNCell(RNNCell):
    """The update gate RNN (Collins et al. 2017, arXiv:1611.09913); variables "kernel", "bias".

    Args:
      num_units: size of the state.
      initializer: of the kernel; the variable scope's by default.
      forget_bias: added to the gate.
      activation: of the candidate.
      reuse: as in `tf.variable_scope`.
    """

    def __init__(self, num_units, initializer=None, forget_bias=1.0, activation=tf.tanh, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._map = None

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def call(self, inputs, state):
        known_width(inputs.shape)
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            joined = tf.concat([inputs, state], 1)
            if self._map is None:
                self._map = _Linear(joined, 2 * self._num_units, True)
            gate, candidate = tf.split(self._map(joined), 2, axis=1)
            candidate = self._activation(candidate)
            gate = tf.sigmoid(gate + self._forget_bias)
            new_state = gate * state + (1.0 - gate) * candidate
        return new_state, new_state


class IntersectionRNNCell(RNNCell):
    """The intersection RNN (Collins et al. 2017, arXiv:1611.09913): gates over time and over depth.

    Args:
      num_units: size of state and output.
      num_in_proj: `num_units`, to project inputs of another size.
      initializer: of the kernels; the variable scope's by default.
      forget_bias: added to both gates.
      y_activation: of the output's candidate.
      reuse: as in `tf.variable_scope`.

    Raises:
      ValueError: in a call, inputs of another size than `num_units` and no `num_in_proj`.
    """

    def __init__(
        self, num_units, num_in_proj=None, initializer=None, forget_bias=1.0, y_activation=tf.nn.relu, reuse=None
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._num_input_proj = num_in_proj
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._y_activation = y_activation
        self._input_map = self._map = None

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def call(self, inputs, state):
        units = self._num_units
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            if known_width(inputs.shape) != units:
                if not self._num_input_proj:
                    raise ValueError(
                        "Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set "
                        "to num_units at cell init."
                    )
                with tf.variable_scope("in_projection"):
                    if self._input_map is None:
                        self._input_map = _Linear(inputs, self._num_input_proj, True)
                    inputs = self._input_map(inputs)
            joined = tf.concat([inputs, state], 1)
            if self._map is None:
                self._map = _Linear(joined, 4 * units, True)
            mapped, n = self._map(joined), self._num_units
            # Slices, not one split: the op seeds count them.
            gate_h, h, gate_y, y = (mapped[:, i * n : (i + 1) * n] for i in range(4))
            h, y = tf.tanh(h), self._y_activation(y)
            gate_h = tf.sigmoid(gate_h + self._forget_bias)
            gate_y = tf.sigmoid(gate_y + self._forget_bias)
            return gate_y * inputs + (1.0 - gate_y) * y, gate_h * state + (1.0 - gate_h) * h


class CompiledWrapper(RNNCell):
    """Asks XLA to compile a cell's step.

    Args:
      cell: the cell.
      compile_stateful: whether ops with state (variables, random ops) are compiled too.
    """

    def __init__(self, cell, compile_stateful=False):
        super().__init__()
        self._cell = cell
        self._compile_stateful = compile_stateful

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        from tensorflow.python.compiler.xla import jit
        from tensorflow.python.framework import op_def_registry

        def stateless(node_def):
            definition = op_def_registry.get(node_def.op)
            return definition is None or not definition.is_stateful

        with jit.experimental_jit_scope(compile_ops=self._compile_stateful or stateless):
            return self._cell(inputs, state, scope=scope)


def _random_exp_initializer(minval, maxval, seed=None, dtype=tf.float32):
    """exp of a uniform value, so that the logarithm is uniform between those of `minval` and `maxval`."""

    def initializer(shape, dtype=dtype, partition_info=None):
        del partition_info
        uniform = tf.random_uniform(shape, tf.log(minval), tf.log(maxval), dtype, seed=seed)
        return tf.exp(uniform)

    return initializer


class PhasedLSTMCell(RNNCell):
    """An LSTM whose units are open only in a part of a learnt period (Neil et al. 2016, arXiv:1610.09513).

    Inputs are pairs (time [batch, 1], x [batch, width]).

    Args:
      num_units: size of the state.
      use_peepholes: whether gates see the cell state.
      leak: rate at which closed units leak.
      ratio_on: part of the period in which a unit is open, initially.
      trainable_ratio_on: whether that is learnt.
      period_init_min: least period, initially; periods are log uniform.
      period_init_max: greatest period, initially.
      reuse: as in `tf.variable_scope`.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        leak=0.001,
        ratio_on=0.1,
        trainable_ratio_on=True,
        period_init_min=1.0,
        period_init_max=1000.0,
        reuse=None,
    ):
        # The layer's bookkeeping is not wanted where inputs are a pair.
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._period_init_min = period_init_min
        self._period_init_max = period_init_max
        self._gate_map = self._input_map = self._output_map = None

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def _cycle_ratio(self, time, phase, period):
        """Where in its cycle a unit is, 0 to 1; in the type of `time`, whose large values need it."""
        phase, period = tf.cast(phase, time.dtype), tf.cast(period, time.dtype)
        shifted = time - phase
        # The remainder has no gradient for the divisor's floor; the identity's is taken.
        remainder = tf.stop_gradient(tf.mod(shifted, period) - shifted) + shifted
        return tf.cast(remainder / period, tf.float32)

    def call(self, inputs, state):
        c_prev, h_prev = state
        time, x = inputs
        units = self._num_units

        with tf.variable_scope("mask_gates"):
            seen = [x, h_prev] + ([c_prev] if self._use_peepholes else [])
            if self._gate_map is None:
                self._gate_map = _Linear(seen, 2 * units, True)
            input_gate, forget_gate = tf.split(tf.sigmoid(self._gate_map(seen)), 2, axis=1)
        with tf.variable_scope("new_input"):
            if self._input_map is None:
                self._input_map = _Linear([x, h_prev], units, True)
            new_input = tf.tanh(self._input_map([x, h_prev]))
        new_c = c_prev * forget_gate + input_gate * new_input
        with tf.variable_scope("output_gate"):
            seen = [x, h_prev] + ([new_c] if self._use_peepholes else [])
            if self._output_map is None:
                self._output_map = _Linear(seen, units, True)
            output_gate = tf.sigmoid(self._output_map(seen))
        new_h = tf.tanh(new_c) * output_gate

        periods = _random_exp_initializer(self._period_init_min, self._period_init_max)
        period = tf.get_variable("period", [units], initializer=periods)
        phases = tf.random_uniform_initializer(0.0, period.initial_value)
        phase = tf.get_variable("phase", [units], initializer=phases)
        ratio_on = tf.get_variable(
            "ratio_on",
            [units],
            initializer=tf.constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        cycle = self._cycle_ratio(time, phase, period)
        rising = 2 * cycle / ratio_on
        openness = tf.where(cycle < ratio_on, 2 - rising, self._leak * cycle)
        openness = tf.where(cycle < 0.5 * ratio_on, rising, openness)
        new_c = openness * new_c + (1 - openness) * c_prev
        new_h = openness * new_h + (1 - openness) * h_prev
        return new_h, LSTMStateTuple(new_c, new_h)


class GLSTMCell(RNNCell):
    """An LSTM in groups that do not see each other (Kuchaiev and Ginsburg 2017, arXiv:1703.10722).

    Args:
      num_units: size of the cell state.
      initializer: of the kernels; the variable scope's by default.
      num_proj: size of the output; `num_units`, unprojected, by default.
      number_of_groups: must divide `num_units`, `num_proj` and the size of the inputs.
      forget_bias: added to the forget gate.
      activation: of the cell state.
      reuse: as in `tf.variable_scope`.

    Raises:
      ValueError: `number_of_groups` does not divide a size.
    """

    def __init__(
        self,
        num_units,
        initializer=None,
        num_proj=None,
        number_of_groups=1,
        forget_bias=1.0,
        activation=tf.tanh,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._number_of_groups = number_of_groups
        self._project = num_proj is not None
        self._output_size = num_proj if num_proj else num_units
        self._group_size("num_units", num_units)
        self._group_size("num_proj", self._output_size)
        self._group_maps = [None] * number_of_groups
        self._projection = None

    def _group_size(self, name, size) -> int:
        if size % self._number_of_groups:
            raise ValueError(f"{name} ({size}) must be divisible by number_of_groups ({self._number_of_groups})")
        return size // self._number_of_groups

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._output_size)

    @property
    def output_size(self):
        return self._output_size

    def call(self, inputs, state):
        c_prev, m_prev = state
        units = self._num_units
        width = self._group_size("input size", known_width(inputs.shape))
        m_width = self._group_size("num_proj", self._output_size)
        batch = inputs.shape.dims[0].value or tf.shape(inputs)[0]
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            parts = []
            for group in range(self._number_of_groups):
                with tf.variable_scope(f"group{group}"):
                    x = tf.slice(inputs, [0, group * width], [batch, width])
                    m = tf.slice(m_prev, [0, group * m_width], [batch, m_width])
                    joined = tf.concat([x, m], axis=1)
                    if self._group_maps[group] is None:
                        self._group_maps[group] = _Linear(joined, 4 * units // self._number_of_groups, False)
                    parts.append(tf.split(self._group_maps[group](joined), 4, 1))
            zero = tf.constant_initializer(0.0, dtype=inputs.dtype)
            biases = [tf.get_variable(f"bias_{gate}", [units], inputs.dtype, zero) for gate in "ijfo"]
            i, j, f, o = (tf.nn.bias_add(tf.concat(part, axis=1), bias) for part, bias in zip(zip(*parts), biases))
        c = tf.sigmoid(f + self._forget_bias) * c_prev + tf.sigmoid(i) * tf.tanh(j)
        m = tf.sigmoid(o) * self._activation(c)
        if self._project:
            with tf.variable_scope("projection"):
                if self._projection is None:
                    self._projection = _Linear(m, self._output_size, False)
                m = self._projection(m)
        return m, LSTMStateTuple(c, m)


class SRUCell(LayerRNNCell):
    """The simple recurrent unit (Lei et al. 2017, arXiv:1709.02755); variables "kernel", "bias".

    Args:
      num_units: size of the state.
      activation: of the state, tanh by default.
      reuse: as in `tf.variable_scope`.
      name: name of the layer.
      **kwargs: of the layer.
    """

    def __init__(self, num_units, activation=None, reuse=None, name=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._num_units = num_units
        self._activation = tf.keras.activations.get(activation) if activation else tf.tanh
        self.input_spec = tf.layers.InputSpec(ndim=2)

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        self._kernel = self.add_weight("kernel", shape=[known_width(inputs_shape), 4 * self._num_units])
        self._bias = self.add_weight("bias", shape=[2 * self._num_units], initializer=tf.zeros_initializer)
        self.built = True

    def call(self, inputs, state):
        candidate, forget, reset, passed = tf.split(tf.matmul(inputs, self._kernel), 4, axis=1)
        gates = tf.sigmoid(tf.nn.bias_add(tf.concat([forget, reset], 1), self._bias))
        forget, reset = tf.split(gates, 2, axis=1)
        c = forget * state + (1.0 - forget) * candidate
        return reset * self._activation(c) + (1.0 - reset) * passed, c
