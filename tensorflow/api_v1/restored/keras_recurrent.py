"""PeepholeLSTMCell: an LSTM whose gates see the cell state."""

from tf_keras.src import backend
from tf_keras.src.layers.rnn import lstm_v1


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
