"""The decoding loop and what it asks of a decoder."""

import abc

import tensorflow as tf
from tensorflow.python.ops import control_flow_util, rnn_cell_impl
from tensorflow.python.ops.rnn import _transpose_batch_time
from tensorflow.python.util import nest


class Decoder(metaclass=abc.ABCMeta):
    """What `dynamic_decode` runs.

    States, inputs and outputs may be nested structures; states may hold TensorArrays.
    """

    @property
    def batch_size(self):
        """Scalar: number of sequences."""
        raise NotImplementedError

    @property
    def output_size(self):
        """Structure of sizes or shapes of one step's outputs, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self):
        """Structure of dtypes of one step's outputs."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name=None):
        """Returns (finished [batch] bool, first inputs, first state)."""
        raise NotImplementedError

    @abc.abstractmethod
    def step(self, time, inputs, state, name=None):
        """Returns (outputs, next state, next inputs, finished [batch] bool) of step `time`, a scalar int32 tensor."""
        raise NotImplementedError

    def finalize(self, outputs, final_state, sequence_lengths):
        """Returns (outputs, final state) as the caller is to see them; outputs are time first."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self):
        """Whether `finished` of a step is complete. If not, a sequence that was finished once stays so."""
        return False


def _create_zero_outputs(size, dtype, batch_size):
    """Zeros of [batch] + size for structures of sizes and dtypes, which are alike."""
    return nest.map_structure(
        lambda one_size, one_dtype: rnn_cell_impl._zero_state_tensors(one_size, batch_size, one_dtype), size, dtype
    )


def _element_shape(batch_size, shape):
    if not isinstance(shape, tf.TensorShape) or shape.ndims == 0:
        return None
    batch = tf.get_static_value(tf.convert_to_tensor(batch_size, name="batch_size"))
    return tf.TensorShape([batch]).concatenate(shape)


def dynamic_decode(
    decoder,
    output_time_major=False,
    impute_finished=False,
    maximum_iterations=None,
    parallel_iterations=32,
    swap_memory=False,
    scope=None,
    **kwargs,
):
    """Runs a decoder until all sequences are finished.

    Args:
      decoder: a `Decoder`.
      output_time_major: whether outputs stay [time, batch, ...]; else they are [batch, time, ...].
      impute_finished: a finished sequence keeps its state, and its outputs are zero.
      maximum_iterations: scalar int32, the most steps.
      parallel_iterations: as in `tf.while_loop`.
      swap_memory: as in `tf.while_loop`.
      scope: variable scope; "decoder" by default.
      **kwargs: none is known; 1.15 has it for decoders that are Keras layers.

    Returns:
      (outputs, final state, lengths [batch] int32 of the sequences).

    Raises:
      TypeError: `decoder` is no `Decoder`, or an unknown argument is given.
      ValueError: `maximum_iterations` is no scalar.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    if kwargs:
        raise TypeError(f"dynamic_decode got unexpected arguments {sorted(kwargs)}")
    with tf.variable_scope(scope, "decoder") as varscope:
        in_loop = not tf.executing_eagerly() and (
            control_flow_util.GetContainingWhileContext(tf.get_default_graph()._get_control_flow_context()) is not None
        )
        # Variables are read once, outside of the loop; in a surrounding loop the cache would hide their updates.
        if not tf.executing_eagerly() and not in_loop and varscope.caching_device is None:
            varscope.set_caching_device(lambda op: op.device)
        if maximum_iterations is not None:
            maximum_iterations = tf.convert_to_tensor(maximum_iterations, dtype=tf.int32, name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError(f"maximum_iterations must be a scalar, got shape {maximum_iterations.shape}")

        finished, inputs, state = decoder.initialize()
        zeros = _create_zero_outputs(decoder.output_size, decoder.output_dtype, decoder.batch_size)
        if maximum_iterations is not None:
            finished = tf.logical_or(finished, 0 >= maximum_iterations)
        lengths = tf.zeros_like(finished, dtype=tf.int32)
        time = tf.constant(0, dtype=tf.int32)
        arrays = nest.map_structure(
            lambda size, dtype: tf.TensorArray(
                dtype=dtype, size=0, dynamic_size=True, element_shape=_element_shape(decoder.batch_size, size)
            ),
            decoder.output_size,
            decoder.output_dtype,
        )

        def goes_on(time, arrays, state, inputs, finished, lengths):
            return tf.logical_not(tf.reduce_all(finished))

        def one_step(time, arrays, state, inputs, finished, lengths):
            outputs, next_state, next_inputs, ended = decoder.step(time, inputs, state)
            next_finished = ended if decoder.tracks_own_finished else tf.logical_or(ended, finished)
            next_lengths = tf.where(tf.logical_not(finished), tf.fill(tf.shape(lengths), time + 1), lengths)
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(arrays, outputs)
            nest.assert_same_structure(inputs, next_inputs)
            if impute_finished:
                outputs = nest.map_structure(lambda new, zero: tf.where(finished, zero, new), outputs, zeros)

                def keep(new, old):
                    if isinstance(old, tf.TensorArray):
                        return new
                    new.set_shape(old.shape)
                    return new if new.shape.ndims == 0 else tf.where(finished, old, new)

                next_state = nest.map_structure(keep, next_state, state)
            arrays = nest.map_structure(lambda array, out: array.write(time, out), arrays, outputs)
            return time + 1, arrays, next_state, next_inputs, next_finished, next_lengths

        _, arrays, state, _, _, lengths = tf.while_loop(
            goes_on,
            one_step,
            loop_vars=(time, arrays, state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        outputs = nest.map_structure(lambda array: array.stack(), arrays)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass
        if not output_time_major:
            outputs = nest.map_structure(_transpose_batch_time, outputs)
    return outputs, state, lengths
