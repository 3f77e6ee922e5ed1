"""Layers that take whole sequences, time first: adaptors from and to cells."""

import abc

import tensorflow as tf


class FusedRNNCell(metaclass=abc.ABCMeta):
    """A layer that runs over a whole sequence at once."""

    @abc.abstractmethod
    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        """Runs over `inputs`.

        Args:
          inputs: [time, batch, input size], or a list of `time` tensors [batch, input size].
          initial_state: the state before the first step.
          dtype: of the state and outputs; needed where there is no initial state.
          sequence_length: [batch] integers, or none if all sequences have full length.
          scope: variable scope, or its name.

        Returns:
          Outputs [time, batch, output size] (a list if `inputs` was one) and the final state.
        """


class FusedRNNCellAdaptor(FusedRNNCell):
    """Runs a cell as a `FusedRNNCell`.

    Args:
      cell: an RNN cell.
      use_dynamic_rnn: run it with `tf.nn.dynamic_rnn`, else with `tf.nn.static_rnn`.
    """

    def __init__(self, cell, use_dynamic_rnn=False):
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        as_list = isinstance(inputs, list)
        arguments = dict(sequence_length=sequence_length, initial_state=initial_state, dtype=dtype, scope=scope)
        if self._use_dynamic_rnn:
            stacked = tf.stack(inputs) if as_list else inputs
            outputs, state = tf.nn.dynamic_rnn(self._cell, stacked, time_major=True, **arguments)
            return (tf.unstack(outputs) if as_list else outputs), state
        steps = inputs if as_list else tf.unstack(inputs)
        outputs, state = tf.nn.static_rnn(self._cell, steps, **arguments)
        return (outputs if as_list else tf.stack(outputs)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """Runs a `FusedRNNCell` from the end to the start: inputs are reversed (each up to its own length), outputs back.

    Args:
      cell: a `FusedRNNCell`.
    """

    def __init__(self, cell):
        self._cell = cell

    def _reversed(self, steps, lengths):
        if isinstance(steps, list):
            return self._reversed_list(steps, lengths)
        if lengths is None:
            return tf.reverse(steps, [0])
        return tf.reverse_sequence(steps, lengths, seq_axis=0, batch_axis=1)

    def _reversed_list(self, steps, lengths):
        if lengths is None:
            return list(reversed(steps))
        return tf.unstack(tf.reverse_sequence(tf.stack(steps), lengths, seq_axis=0, batch_axis=1))

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        outputs, state = self._cell(
            self._reversed(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return self._reversed(outputs, sequence_length), state
