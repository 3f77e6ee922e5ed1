"""A cell with attention over memories."""

import collections

import tensorflow as tf
from tensorflow.python.framework import tensor_util
from tensorflow.python.ops.rnn_cell_impl import _zero_state_tensors
from tensorflow.python.util import nest

from tensorflow.contrib.rnn.core_rnn_cell import assert_like_cell
from tensorflow.contrib.seq2seq.attention_mechanisms import (  # noqa: F401
    AttentionMechanism,
    BahdanauAttention,
    BahdanauMonotonicAttention,
    LuongAttention,
    LuongMonotonicAttention,
    _bahdanau_score,
    _BaseAttentionMechanism,
    _BaseMonotonicAttentionMechanism,
    _known,
    _luong_score,
    _maybe_mask_score,
    _monotonic_probability_fn,
    _prepare_memory,
    hardmax,
    monotonic_attention,
    safe_cumprod,
)


class AttentionWrapperState(
    collections.namedtuple(
        "AttentionWrapperState",
        ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"),
    )
):
    """State of an `AttentionWrapper`.

    cell_state: of the wrapped cell. attention: [batch, attention size], emitted at the last step. time: scalar int32.
    alignments: of the last step. alignment_history: a TensorArray of alignments, or (). attention_state: of the
    mechanisms. The last three are tuples if there are several mechanisms.
    """

    def clone(self, **kwargs):
        """A copy with other values in some fields; their static shapes must fit the old ones'.

        Raises:
          ValueError: shapes do not fit.
        """

        def fitting(old, new):
            if isinstance(old, tf.Tensor) and isinstance(new, tf.Tensor):
                return (
                    tensor_util.with_same_shape(old, new) if hasattr(tensor_util, "with_same_shape") else _set(old, new)
                )
            return new

        return nest.map_structure(fitting, self, super()._replace(**kwargs))


def _set(old, new):
    new.set_shape(old.shape)
    return new


def _compute_attention(attention_mechanism, cell_output, attention_state, attention_layer):
    """(attention, alignments, next attention state) of one mechanism."""
    alignments, next_attention_state = attention_mechanism(cell_output, state=attention_state)
    context = tf.squeeze(tf.matmul(tf.expand_dims(alignments, 1), attention_mechanism.values), [1])
    if attention_layer is not None:
        context = attention_layer(tf.concat([cell_output, context], 1))
    return context, alignments, next_attention_state


class AttentionWrapper(tf.nn.rnn_cell.RNNCell):
    """Feeds a cell its inputs with the last attention, and attends with its output.

    Args:
      cell: the cell.
      attention_mechanism: an `AttentionMechanism`, or a list of them.
      attention_layer_size: size of the attention layer (or a list of sizes), fed with cell output and context; without
        it the context is the attention.
      alignment_history: whether the state keeps the alignments of all steps.
      cell_input_fn: (inputs, attention) -> inputs of the cell; by default both side by side.
      output_attention: whether the output is the attention, else that of the cell.
      initial_cell_state: state of the cell for `zero_state`.
      name: name of the layer.
      attention_layer: in place of a size, a layer (or a list of them).
      attention_fn: (mechanism, cell output, attention state, attention layer) -> (attention, alignments, next attention
        state), in place of the usual way.
      dtype: of the layers.

    Raises:
      TypeError: an argument is of another type.
      ValueError: lists differ in length, or size and layer are both given.
    """

    def __init__(
        self,
        cell,
        attention_mechanism,
        attention_layer_size=None,
        alignment_history=False,
        cell_input_fn=None,
        output_attention=True,
        initial_cell_state=None,
        name=None,
        attention_layer=None,
        attention_fn=None,
        dtype=None,
    ):
        super().__init__(name=name, dtype=dtype)
        assert_like_cell(cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = tuple(attention_mechanism) if self._is_multi else (attention_mechanism,)
        for mechanism in mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    "attention_mechanism must be an AttentionMechanism or a list of them, "
                    f"saw type: {type(mechanism).__name__}"
                )
        if cell_input_fn is None:
            cell_input_fn = lambda inputs, attention: tf.concat([inputs, attention], -1)  # noqa: E731
        elif not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._attention_layers = _attention_layers(attention_layer_size, attention_layer, len(mechanisms), dtype)
        if self._attention_layers is None:
            sizes = [mechanism.values.shape.dims[-1].value for mechanism in mechanisms]
        else:
            sizes = [
                layer.compute_output_shape([None, cell.output_size + mechanism.values.shape.dims[-1].value])[-1]
                for layer, mechanism in zip(self._attention_layers, mechanisms)
            ]
        self._attention_layer_size = sum(getattr(size, "value", size) for size in sizes)
        self._cell = cell
        self._attention_mechanisms = mechanisms
        self._cell_input_fn = cell_input_fn
        self._attention_fn = attention_fn or _compute_attention
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        with tf.name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                last = nest.flatten(initial_cell_state)[-1]
                checks = self._batch_size_checks(
                    _known(last, 0),
                    f"When constructing AttentionWrapper {self.name}: Non-matching batch sizes between the memory "
                    "(encoder output) and initial_cell_state. Are you using the BeamSearchDecoder? You may need to "
                    "tile your initial state via the tf.contrib.seq2seq.tile_batch function with argument "
                    "multiple=beam_width.",
                )
                with tf.control_dependencies(checks):
                    self._initial_cell_state = nest.map_structure(
                        lambda s: tf.identity(s, name="check_initial_cell_state"), initial_cell_state
                    )

    def _batch_size_checks(self, batch_size, error_message):
        return [
            tf.assert_equal(batch_size, mechanism.batch_size, message=error_message)
            for mechanism in self._attention_mechanisms
        ]

    def _item_or_tuple(self, items):
        items = tuple(items)
        return items if self._is_multi else items[0]

    def _as_tuple(self, item):
        return tuple(item) if self._is_multi else (item,)

    @property
    def output_size(self):
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self):
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=tf.TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(m.alignments_size for m in mechanisms),
            attention_state=self._item_or_tuple(m.state_size for m in mechanisms),
            alignment_history=self._item_or_tuple(
                m.alignments_size if self._alignment_history else () for m in mechanisms
            ),
        )

    def zero_state(self, batch_size, dtype):
        """The state before the first step; `batch_size` must be that of the memories (checked when it runs)."""
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._initial_cell_state is not None:
                cell_state = self._initial_cell_state
            else:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            message = (
                f"When calling zero_state of AttentionWrapper {self.name}: Non-matching batch sizes between the memory "
                "(encoder output) and the requested batch size. Are you using the BeamSearchDecoder? If so, make sure "
                "your encoder output has been tiled to beam_width via tf.contrib.seq2seq.tile_batch, and the "
                "batch_size= argument passed to zero_state is batch_size * beam_width."
            )
            with tf.control_dependencies(self._batch_size_checks(batch_size, message)):
                cell_state = nest.map_structure(lambda s: tf.identity(s, name="checked_cell_state"), cell_state)
            alignments = [m.initial_alignments(batch_size, dtype) for m in self._attention_mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=tf.zeros([], dtype=tf.int32),
                attention=_zero_state_tensors(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    m.initial_state(batch_size, dtype) for m in self._attention_mechanisms
                ),
                alignment_history=self._item_or_tuple(
                    tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=alignment.shape)
                    if self._alignment_history
                    else ()
                    for alignment in alignments
                ),
            )

    def call(self, inputs, state):
        """One step.

        Args:
          inputs: of the cell, without the attention.
          state: an `AttentionWrapperState`.

        Returns:
          (attention or cell output, next state).

        Raises:
          TypeError: `state` is of another type.
        """
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} instead."
            )
        cell_output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        checks = self._batch_size_checks(
            _known(cell_output, 0),
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the memory (encoder output) "
            "and the query (decoder output). Are you using the BeamSearchDecoder? You may need to tile your memory "
            "input via the tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width.",
        )
        with tf.control_dependencies(checks):
            cell_output = tf.identity(cell_output, name="checked_cell_output")
        layers = self._attention_layers or [None] * len(self._attention_mechanisms)
        attentions, all_alignments, states, histories = [], [], [], []
        for mechanism, layer, last, history in zip(
            self._attention_mechanisms,
            layers,
            self._as_tuple(state.attention_state),
            self._as_tuple(state.alignment_history),
        ):
            attention, alignments, next_state = self._attention_fn(mechanism, cell_output, last, layer)
            histories.append(history.write(state.time, alignments) if self._alignment_history else ())
            attentions.append(attention)
            all_alignments.append(alignments)
            states.append(next_state)
        attention = tf.concat(attentions, 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(all_alignments),
            alignment_history=self._item_or_tuple(histories),
        )
        return (attention if self._output_attention else cell_output), next_state


def _attention_layers(sizes, layers, count, dtype):
    if sizes is not None:
        sizes = tuple(sizes) if isinstance(sizes, (list, tuple)) else (sizes,)
        if len(sizes) != count:
            raise ValueError(
                "If provided, attention_layer_size must contain exactly one integer per attention_mechanism, "
                f"saw: {len(sizes)} vs {count}"
            )
        return tuple(
            tf.layers.Dense(
                size,
                name="attention_layer" if index == 0 else f"attention_layer_{index}",
                use_bias=False,
                dtype=dtype,
            )
            for index, size in enumerate(sizes)
        )
    if layers is not None:
        layers = tuple(layers) if isinstance(layers, (list, tuple)) else (layers,)
        if len(layers) != count:
            raise ValueError(
                "If provided, attention_layer must contain exactly one layer per attention_mechanism, "
                f"saw: {len(layers)} vs {count}"
            )
        return layers
    return None
