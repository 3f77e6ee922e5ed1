"""Recurrent classes of Keras that went, or that take a rank now."""

import inspect

from tf_keras.src import backend
from tf_keras.src.layers.rnn import base_conv_lstm, base_conv_rnn, lstm_v1


class ConvRNN2D(base_conv_rnn.ConvRNN):
    """Runs a convolutional cell over [batch, time, height, width, channels], or with the channels third.

    Arguments and errors are those of `tf.keras.layers.RNN`; there is no unrolling.
    """

    def __init__(
        self,
        cell,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        **kwargs,
    ):
        super().__init__(2, cell, return_sequences, return_state, go_backwards, stateful, unroll, **kwargs)


class ConvLSTM2DCell(base_conv_lstm.ConvLSTMCell):
    """The cell of `tf.keras.layers.ConvLSTM2D`, which explains the arguments."""

    def __init__(self, filters, kernel_size, *args, **kwargs):
        super().__init__(2, filters, kernel_size, *args, **kwargs)


_SIGNATURE = inspect.signature(base_conv_lstm.ConvLSTMCell.__init__)
ConvLSTM2DCell.__init__.__signature__ = _SIGNATURE.replace(
    parameters=[p for name, p in _SIGNATURE.parameters.items() if name != "rank"]
)


class PeepholeLSTMCell(lstm_v1.LSTMCell):
    """LSTM cell with peepholes (Gers, Schraudolph, Schmidhuber 2002, without the projection of Sak et al. 2014).

    With z = x K + h R + b split into z_i, z_f, z_c, z_o and peephole vectors p (one weight for each unit):

        i = s(z_i + p_i c)    f = s(z_f + p_f c)    c' = f c + i a(z_c)    o = s(z_o + p_o c')    h' = o a(c')

    Arguments, shapes and errors are those of `tf.keras.layers.LSTMCell`. The peepholes are initialized by kernel_initializer.
    """

    def build(self, input_shape):
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            name = f"{gate}_gate_peephole_weights"
            weight = self.add_weight(shape=(self.units,), name=name, initializer=self.kernel_initializer)
            setattr(self, name, weight)

    def _compute_carry_and_output(self, x, h_tm1, c_tm1):
        n = self.units
        z = [
            x[gate] + backend.dot(h_tm1[gate], self.recurrent_kernel[:, gate * n : (gate + 1) * n]) for gate in range(4)
        ]
        return self._compute_carry_and_output_fused(z, c_tm1)

    def _compute_carry_and_output_fused(self, z, c_tm1):
        i = self.recurrent_activation(z[0] + self.input_gate_peephole_weights * c_tm1)
        f = self.recurrent_activation(z[1] + self.forget_gate_peephole_weights * c_tm1)
        c = f * c_tm1 + i * self.activation(z[2])
        o = self.recurrent_activation(z[3] + self.output_gate_peephole_weights * c)
        return c, o
