"""Recurrent networks in one op: `tf.nn.dynamic_rnn` without a loop of small ops.

A loop over time runs some forty ops a step, each on a matrix of a few kilobytes, and its gradient twice as many. Where the cell
computes with products, sums and activations alone (GRU, LSTM, cells that users write), one op does all time steps, for a few rows
at a time, whose numbers stay in the cache: see `core/recurrent/loop.h`.

The loop is built as it always was, with a mark beside it (`deeprec/marks`) that holds the cell's program (`cell_program`).
"""

import functools

from tensorflow.deeprec import settings
from tensorflow.deeprec.recurrent import marking


def install() -> None:
    """Lets `dynamic_rnn` and what calls it mark their loops; TF_DEEPREC_DISABLE_FUSIONS=recurrent leaves them as they are."""
    if {"recurrent", "all"} & settings.DISABLED_FUSIONS:
        return
    from tensorflow.python.ops import rnn

    released = rnn._dynamic_rnn_loop

    @functools.wraps(released)
    def dynamic_rnn_loop(
        cell, inputs, initial_state, parallel_iterations, swap_memory, sequence_length=None, dtype=None
    ):
        recorder = marking.Recorder(cell)
        results = released(
            recorder if marking.may_mark() else cell,
            inputs,
            initial_state,
            parallel_iterations,
            swap_memory,
            sequence_length,
            dtype,
        )
        marking.mark(recorder, inputs, initial_state, sequence_length, results)
        return results

    rnn._dynamic_rnn_loop = dynamic_rnn_loop
