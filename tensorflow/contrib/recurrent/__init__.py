# ruff: noqa: F401
"""RNN loops as functions."""

from tensorflow.contrib.recurrent.functional_rnn import bidirectional_functional_rnn, functional_rnn
from tensorflow.contrib.recurrent.recurrent import Recurrent

__all__ = ("Recurrent bidirectional_functional_rnn functional_rnn ").split()
