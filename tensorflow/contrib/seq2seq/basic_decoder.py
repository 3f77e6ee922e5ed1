"""A decoder that samples with a helper."""

import collections

import tensorflow as tf
from tensorflow.python.util import nest

from tensorflow.contrib.rnn.core_rnn_cell import assert_like_cell
from tensorflow.contrib.seq2seq import decoder, helper as helper_module
from tensorflow.contrib.seq2seq.output_layers import check_output_layer, size_after_layer


class BasicDecoderOutput(collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """Outputs of the cell (after the output layer) and what the helper sampled from them."""

    __slots__ = ()


class BasicDecoder(decoder.Decoder):
    """Runs a cell on the inputs that a helper gives.

    Args:
      cell: an RNN cell.
      helper: a `Helper`.
      initial_state: state of the cell.
      output_layer: Keras layer for the cell's outputs, e.g. `tf.layers.Dense`; none by default.

    Raises:
      TypeError: `cell`, `helper` or `output_layer` is of another type.
    """

    def __init__(self, cell, helper, initial_state, output_layer=None):
        assert_like_cell(cell)
        if not isinstance(helper, helper_module.Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        check_output_layer(output_layer)
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self):
        return self._helper.batch_size

    @property
    def output_size(self):
        return BasicDecoderOutput(
            rnn_output=size_after_layer(self._cell.output_size, self._output_layer),
            sample_id=self._helper.sample_ids_shape,
        )

    @property
    def output_dtype(self):
        # Outputs have the type of the state's first part.
        dtype = nest.flatten(self._initial_state)[0].dtype
        size = size_after_layer(self._cell.output_size, self._output_layer)
        return BasicDecoderOutput(nest.map_structure(lambda _: dtype, size), self._helper.sample_ids_dtype)

    def initialize(self, name=None):
        return self._helper.initialize() + (self._initial_state,)

    def step(self, time, inputs, state, name=None):
        with tf.name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )
        return BasicDecoderOutput(outputs, sample_ids), next_state, next_inputs, finished
