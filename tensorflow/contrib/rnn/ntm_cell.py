"""The Neural Turing Machine: a controller with heads that read from and write to a memory."""

import collections
import math

import tensorflow as tf
from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell

from tensorflow.contrib.rnn.core_rnn_cell import assert_like_cell
from tensorflow.contrib.rnn.lstm_ops import known_width

NTMControllerState = collections.namedtuple(
    "NTMControllerState", ("controller_state", "read_vector_list", "w_list", "M", "time")
)
NTMControllerState.__doc__ = """State of an `NTMCell`.

controller_state: of the controller. read_vector_list: [batch, memory_vector_dim] a reading head. w_list:
[batch, memory_size] a head, those that read first. M: the memory, [batch, memory_size, memory_vector_dim].
time: scalar; at 0 the learnt first values stand for the rest of the state but the controller's.
"""


class NTMCell(LayerRNNCell):
    """A Neural Turing Machine (Graves et al. 2014, arXiv:1410.5401; first values: Collier and Beel 2018, arXiv:1807.08518).

    Variables: "parameters_kernel", "parameters_bias" (of the heads), "output_kernel", "output_bias",
    "initial_read_vector_I", "initial_address_weights_I", "memory".

    Args:
      controller: an RNN cell with 2-D outputs.
      memory_size: number of places in the memory.
      memory_vector_dim: length of a place.
      read_head_num: number of heads that read.
      write_head_num: number of heads that write.
      shift_range: the most places that a head moves in a step, either way.
      output_dim: size of the output; that of the inputs by default.
      clip_value: bound of the heads' parameters and of the output.
      dtype: of the variables.
      name: name of the layer.

    Raises:
      TypeError: `controller` is no cell.
      ValueError: a shift reaches around the whole memory.
    """

    def __init__(
        self,
        controller,
        memory_size,
        memory_vector_dim,
        read_head_num,
        write_head_num,
        shift_range=1,
        output_dim=None,
        clip_value=20,
        dtype=tf.float32,
        name=None,
    ):
        super().__init__(dtype=dtype, name=name)
        assert_like_cell(controller)
        if memory_size < 2 * shift_range + 1:
            raise ValueError(
                f"NTMCell: memory_size must be at least 2 * shift_range + 1 = {2 * shift_range + 1}, got {memory_size}"
            )
        self.controller = controller
        self.memory_size = memory_size
        self.memory_vector_dim = memory_vector_dim
        self.read_head_num = read_head_num
        self.write_head_num = write_head_num
        self.clip_value = clip_value
        self.output_dim = output_dim
        self.shift_range = shift_range
        # A key, its strength, the gate, the shifts, the sharpening; and an erase and an add vector a writing head.
        self.num_parameters_per_head = memory_vector_dim + 2 * shift_range + 4
        self.num_heads = read_head_num + write_head_num
        self.total_parameter_num = (
            self.num_parameters_per_head * self.num_heads + memory_vector_dim * 2 * write_head_num
        )

    @property
    def state_size(self):
        return NTMControllerState(
            controller_state=self.controller.state_size,
            read_vector_list=[self.memory_vector_dim] * self.read_head_num,
            w_list=[self.memory_size] * self.num_heads,
            M=tf.TensorShape([self.memory_size * self.memory_vector_dim]),
            time=tf.TensorShape([]),
        )

    @property
    def output_size(self):
        return self.output_dim

    def zero_state(self, batch_size, dtype):
        def zeros(*shape):
            return tf.zeros([batch_size, *shape], dtype)

        return NTMControllerState(
            controller_state=self.controller.zero_state(batch_size, dtype),
            read_vector_list=[zeros(self.memory_vector_dim) for _ in range(self.read_head_num)],
            w_list=[zeros(self.memory_size) for _ in range(self.num_heads)],
            M=zeros(self.memory_size, self.memory_vector_dim),
            time=tf.constant(0),
        )

    def build(self, inputs_shape):
        if self.output_dim is None:
            self.output_dim = known_width(inputs_shape)
        zeros = tf.constant_initializer(0.0, dtype=self.dtype)
        width = self.controller.output_size

        def linear(name, rows, columns):
            start = tf.truncated_normal_initializer(stddev=1.0 / math.sqrt(rows), dtype=tf.as_dtype(self.dtype))
            kernel = self.add_weight(f"{name}_kernel", shape=[rows, columns], initializer=start)
            return kernel, self.add_weight(f"{name}_bias", shape=[columns], initializer=zeros)

        def rows(name, count, columns):
            start = tf.glorot_uniform_initializer()
            return [self.add_weight(f"{name}_{i}", shape=[1, columns], initializer=start) for i in range(count)]

        self._parameters = linear("parameters", width, self.total_parameter_num)
        self._output = linear("output", width + self.memory_vector_dim * self.read_head_num, self.output_dim)
        self._first_reads = rows("initial_read_vector", self.read_head_num, self.memory_vector_dim)
        self._first_weights = rows("initial_address_weights", self.num_heads, self.memory_size)
        self._first_memory = self.add_weight(
            "memory",
            shape=[self.memory_size, self.memory_vector_dim],
            initializer=tf.constant_initializer(1e-6, dtype=self.dtype),
        )
        self.built = True

    def call(self, x, prev_state):
        """One step: x [batch, inputs], an `NTMControllerState` -> (output [batch, output_dim], next state)."""
        reads, weights, memory = self._state_or_first(x, prev_state)
        controlled, controller_state = self.controller(tf.concat([x, *reads], axis=1), prev_state.controller_state)
        parameters = self._clipped_linear(controlled, self._parameters)
        addressing = self.num_parameters_per_head * self.num_heads
        heads = tf.split(parameters[:, :addressing], self.num_heads, axis=1)
        weights = [self._address(head, memory, last) for head, last in zip(heads, weights)]
        reading, writing = weights[: self.read_head_num], weights[self.read_head_num :]
        reads = [tf.reduce_sum(tf.expand_dims(w, 2) * memory, axis=1) for w in reading]
        if writing:
            changes = tf.split(parameters[:, addressing:], 2 * self.write_head_num, axis=1)
            for w, erase, add in zip(writing, changes[::2], changes[1::2]):
                w = tf.expand_dims(w, 2)
                kept = 1 - w * tf.expand_dims(tf.sigmoid(erase), 1)
                memory = memory * kept + w * tf.expand_dims(tf.tanh(add), 1)
        output = self._clipped_linear(tf.concat([controlled, *reads], axis=1), self._output)
        return output, NTMControllerState(
            controller_state=controller_state,
            read_vector_list=reads,
            w_list=weights,
            M=memory,
            time=prev_state.time + 1,
        )

    def _clipped_linear(self, values, kernel_and_bias):
        kernel, bias = kernel_and_bias
        return tf.clip_by_value(tf.nn.bias_add(tf.matmul(values, kernel), bias), -self.clip_value, self.clip_value)

    def _state_or_first(self, x, state):
        """(read vectors, weights, memory): of the state, or the learnt ones at time 0."""
        batch = x.shape.dims[0].value or tf.shape(x)[0]

        def first():
            reads = [tf.tile(tf.tanh(row), [batch, 1]) for row in self._first_reads]
            weights = [tf.tile(tf.nn.softmax(row), [batch, 1]) for row in self._first_weights]
            return [*reads, *weights, tf.tile(tf.expand_dims(self._first_memory, 0), [batch, 1, 1])]

        def last():
            return [tf.identity(t) for t in (*state.read_vector_list, *state.w_list, state.M)]

        values = tf.cond(tf.equal(state.time, 0), first, last, strict=True)
        return values[: self.read_head_num], values[self.read_head_num : -1], values[-1]

    def _address(self, parameters, memory, last):
        """Weights [batch, memory_size] of a head: by content (equations 5, 6), then by place (7 to 9)."""
        dim = self.memory_vector_dim
        key, strength, gate, shifts, sharpness = tf.split(parameters, [dim, 1, 1, 2 * self.shift_range + 1, 1], axis=1)
        key = tf.expand_dims(tf.tanh(key), 2)
        norms = tf.norm(memory, axis=2) * tf.norm(key, axis=1)
        similarity = tf.squeeze(tf.matmul(memory, key), [2]) / (norms + 1e-8)
        by_content = tf.nn.softmax(tf.nn.softplus(strength) * similarity)
        gate = tf.sigmoid(gate)
        gated = gate * by_content + (1 - gate) * last
        # Parameters come in the order 0, 1, ..., then -n, ..., -1 places.
        places = [*range(self.shift_range + 1), *range(-self.shift_range, 0)]
        shares = tf.split(tf.nn.softmax(shifts), len(places), axis=1)
        shifted = tf.add_n([share * tf.roll(gated, place, axis=1) for share, place in zip(shares, places)])
        sharpened = tf.pow(shifted, tf.nn.softplus(sharpness) + 1)
        return sharpened / tf.reduce_sum(sharpened, axis=1, keepdims=True)
