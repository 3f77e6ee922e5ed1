# ruff: noqa: F401
"""`tf.contrib.grid_rnn`: recurrent cells on a grid of several dimensions."""

from tensorflow.contrib.grid_rnn.grid_rnn_cell import (
    Grid1BasicLSTMCell,
    Grid1BasicRNNCell,
    Grid1LSTMCell,
    Grid2BasicLSTMCell,
    Grid2BasicRNNCell,
    Grid2GRUCell,
    Grid2LSTMCell,
    Grid3LSTMCell,
    GridRNNCell,
)

__all__ = (
    "Grid1BasicLSTMCell Grid1BasicRNNCell Grid1LSTMCell Grid2BasicLSTMCell Grid2BasicRNNCell Grid2GRUCell "
    "Grid2LSTMCell Grid3LSTMCell GridRNNCell"
).split()
