"""LSTM cells whose step, or whose whole sequence, is one op (`LSTMBlockCell`, `BlockLSTM`)."""

import abc

import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_rnn_ops, rnn_cell_impl

LayerRNNCell = rnn_cell_impl.LayerRNNCell
LSTMStateTuple = tf.nn.rnn_cell.LSTMStateTuple


def known_width(input_shape) -> int:
    """The last dimension of the inputs; a cell cannot be built without it."""
    width = tf.TensorShape(input_shape).dims[-1].value
    if width is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {input_shape}")
    return width


def _gradient(op, *grads):
    """The op gives the gradients of the gates before their activation; those of inputs and weights follow from them."""
    x, cs_prev, h_prev, w = op.inputs[:4]
    cs_grad, h_grad = grads[1], grads[6]
    cs_prev_grad, gates_grad, wci_grad, wcf_grad, wco_grad = gen_rnn_ops.lstm_block_cell_grad(
        *op.inputs, *op.outputs[:6], cs_grad, h_grad, use_peephole=op.get_attr("use_peephole")
    )
    joined_grad = tf.matmul(gates_grad, w, transpose_b=True)
    width = tf.shape(x)[1]
    x_grad, h_prev_grad = joined_grad[:, :width], joined_grad[:, width:]
    x_grad.set_shape(x.shape)
    h_prev_grad.set_shape(h_prev.shape)
    w_grad = tf.matmul(tf.concat([x, h_prev], 1), gates_grad, transpose_a=True)
    b_grad = tf.reduce_sum(gates_grad, 0)
    return x_grad, cs_prev_grad, h_prev_grad, w_grad, wci_grad, wcf_grad, wco_grad, b_grad


if "LSTMBlockCell" not in ops.gradient_registry.list():
    ops.RegisterGradient("LSTMBlockCell")(_gradient)


class _BlockWeights:
    """Variables that the two kinds of layer share: "kernel", "bias" and the peepholes "w_{i,f,o}_diag"."""

    def _add_weights(self, input_shape) -> None:
        size = self._num_units
        self._kernel = self.add_weight("kernel", [known_width(input_shape) + size, 4 * size])
        self._bias = self.add_weight("bias", [4 * size], initializer=tf.constant_initializer(0.0))
        if self._use_peephole:
            self._peepholes = tuple(self.add_weight(f"w_{gate}_diag", [size]) for gate in "ifo")

    def _weights_and_settings(self, dtype) -> dict:
        if self._use_peephole:
            wci, wcf, wco = self._peepholes
        else:
            wci = wcf = wco = tf.zeros([self._num_units], dtype)
        return dict(
            w=self._kernel,
            wci=wci,
            wcf=wcf,
            wco=wco,
            b=self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )


class LSTMBlockCell(_BlockWeights, LayerRNNCell):
    """An LSTM (Zaremba et al. 2014, arXiv:1409.2329), one op a step; variables as `tf.nn.rnn_cell.LSTMCell` has them.

    Gates lie in the order i, j, f, o in both.

    Args:
      num_units: size of the state.
      forget_bias: added to the forget gate.
      cell_clip: bound of the cell state; none by default.
      use_peephole: whether gates see the cell state.
      dtype: of the variables.
      reuse: as in `tf.variable_scope`.
      name: name of the layer.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        cell_clip=None,
        use_peephole=False,
        dtype=None,
        reuse=None,
        name="lstm_cell",
    ):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = tf.layers.InputSpec(ndim=2)

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        self._add_weights(inputs_shape)
        self.built = True

    def call(self, inputs, state):
        if len(state) != 2:
            raise ValueError(f"Expecting state to be a tuple with length 2, got {len(state)} parts")
        c_prev, h_prev = state
        _, c, _, _, _, _, h = gen_rnn_ops.lstm_block_cell(
            x=inputs, cs_prev=c_prev, h_prev=h_prev, **self._weights_and_settings(inputs.dtype)
        )
        return h, LSTMStateTuple(c, h)


class LSTMBlockWrapper(tf.layers.Layer):
    """Base of LSTM layers that take a whole sequence; a subclass has `num_units` and `_call_cell`."""

    @property
    @abc.abstractmethod
    def num_units(self):
        """Size of the state."""

    @abc.abstractmethod
    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype, sequence_length):
        """Runs the layer over [time, batch, input size].

        Returns:
          Cell states and outputs of all steps, both [time, batch, num_units].
        """

    def __call__(self, inputs, *args, **kwargs):
        if not isinstance(inputs, list):
            return super().__call__(inputs, *args, **kwargs)
        # Joined before the layer looks at its inputs: it expects one tensor.
        outputs, state = super().__call__(tf.stack(inputs), *args, **kwargs)
        return tf.unstack(outputs), state

    def call(self, inputs, initial_state=None, dtype=None, sequence_length=None):
        """Runs the layer over a sequence.

        Args:
          inputs: [time, batch, input size], or a list of `time` tensors [batch, input size].
          initial_state: a pair (cell state, output), each [batch, num_units]; zeros by default.
          dtype: of the zeros; needed when there is no `initial_state`.
          sequence_length: [batch] integers in 0..time; steps past it give 0 and leave the state alone.

        Returns:
          Outputs (a list if `inputs` was one) and the final `LSTMStateTuple`.

        Raises:
          ValueError: the input size is unknown, or the initial state is no pair, or neither it nor `dtype` is given.
        """
        shape = inputs.shape.with_rank(3)
        if not shape.dims[2].value:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {shape}")
        time, batch = shape.as_list()[:2]
        batch = tf.shape(inputs)[1] if batch is None else batch
        time = tf.shape(inputs)[0] if time is None else time
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            zeros = tf.zeros(tf.stack([batch, self.num_units]), dtype=dtype)
            initial_state = zeros, zeros
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        dtype = dtype or initial_state[0].dtype
        if sequence_length is not None:
            sequence_length = tf.convert_to_tensor(sequence_length)
        cell_states, outputs = self._call_cell(inputs, *initial_state, dtype, sequence_length)

        if sequence_length is None:
            last = (cell_states[-1], outputs[-1])
        else:
            mask = tf.transpose(tf.sequence_mask(sequence_length, time, dtype=dtype), [1, 0])
            outputs *= tf.tile(tf.expand_dims(mask, [-1]), [1, 1, self.num_units])
            # The initial state is put in front, so that length 0 finds it.
            steps = [
                tf.concat([tf.expand_dims(first, [0]), rest], 0)
                for first, rest in zip(initial_state, (cell_states, outputs))
            ]
            last = [self._at_end(values, sequence_length, batch) for values in steps]
        return outputs, LSTMStateTuple(*last)

    def _at_end(self, values, sequence_length, batch):
        """values[sequence_length[b], b] of each entry b of the batch."""
        where = tf.stack([sequence_length, tf.range(batch, dtype=sequence_length.dtype)], axis=1)
        return tf.gather_nd(values, where)


class LSTMBlockFusedCell(_BlockWeights, LSTMBlockWrapper):
    """A whole LSTM layer over time as one op; arguments as in `LSTMBlockCell`, calls as in `LSTMBlockWrapper`."""

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        cell_clip=None,
        use_peephole=False,
        reuse=None,
        dtype=None,
        name="lstm_fused_cell",
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = tf.layers.InputSpec(ndim=3)

    @property
    def num_units(self):
        return self._num_units

    def build(self, input_shape):
        self._add_weights(input_shape)
        self.built = True

    def _call_cell(self, inputs, initial_cell_state=None, initial_output=None, dtype=None, sequence_length=None):
        time = inputs.shape.dims[0].value
        if time is None:
            time = tf.shape(inputs)[0]
        settings = self._weights_and_settings(dtype)
        longest = time if sequence_length is None else tf.reduce_max(sequence_length)
        _, cell_states, _, _, _, _, outputs = gen_rnn_ops.block_lstm(
            seq_len_max=tf.to_int64(longest),
            x=inputs,
            cs_prev=initial_cell_state,
            h_prev=initial_output,
            **settings,
        )
        return cell_states, outputs
