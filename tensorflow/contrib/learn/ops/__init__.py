"""Small building blocks of models."""

from tensorflow.contrib.learn.ops.embeddings_ops import categorical_variable, embedding_lookup
from tensorflow.contrib.learn.ops.losses_ops import mean_squared_error_regressor, softmax_classifier
from tensorflow.contrib.learn.ops.seq2seq_ops import rnn_decoder, rnn_seq2seq, seq2seq_inputs, sequence_classifier

__all__ = [
    "categorical_variable",
    "embedding_lookup",
    "mean_squared_error_regressor",
    "rnn_decoder",
    "rnn_seq2seq",
    "seq2seq_inputs",
    "sequence_classifier",
    "softmax_classifier",
]
