"""Recurrent classes of Keras that 2.21 lacks compute what their formulas say, and come back from their configuration."""

import importlib
import inspect

import numpy as np
import pytest
import tensorflow as tf


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("implementation", [1, 2])
def test_peephole_lstm_is_its_formula(graph, implementation):
    random = np.random.RandomState(0)
    x, h, c = (random.randn(3, n) for n in (4, 2, 2))
    cell = tf.keras.experimental.PeepholeLSTMCell(2, recurrent_activation="sigmoid", implementation=implementation)
    _, (h1, c1) = cell(tf.constant(x, tf.float32), [tf.constant(h, tf.float32), tf.constant(c, tf.float32)])
    values = [random.randn(*w.shape.as_list()) for w in cell.weights]
    with tf.Session() as session:
        tf.keras.backend.set_session(session)
        cell.set_weights(values)
        got_h, got_c = session.run([h1, c1])
    named = {w.name.split("/")[-1].split(":")[0]: v for w, v in zip(cell.weights, values)}
    z = np.split(x @ named["kernel"] + h @ named["recurrent_kernel"] + named["bias"], 4, axis=1)
    p = {gate: named[f"{gate}_gate_peephole_weights"] for gate in ("input", "forget", "output")}
    want_c = _sigmoid(z[1] + p["forget"] * c) * c + _sigmoid(z[0] + p["input"] * c) * np.tanh(z[2])
    want_h = _sigmoid(z[3] + p["output"] * want_c) * np.tanh(want_c)
    np.testing.assert_allclose(got_c, want_c, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got_h, want_h, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["ConvLSTM2DCell", "ConvRNN2D"])
def test_a_convolutional_layer_of_a_private_module_comes_back_from_its_config(graph, name):
    module = importlib.import_module("tensorflow.python.keras.layers.convolutional_recurrent")
    layer = module.ConvLSTM2DCell(2, 3, (1, 1), "same")
    if name == "ConvRNN2D":
        layer = module.ConvRNN2D(layer, True)
    copy = tf.keras.layers.deserialize(tf.keras.layers.serialize(layer))
    assert type(copy) is getattr(module, name)
    assert copy.get_config() == layer.get_config()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ConvRNN2D", "cell return_sequences return_state go_backwards stateful unroll"),
        (
            "ConvLSTM2DCell",
            "filters kernel_size strides padding data_format dilation_rate activation recurrent_activation use_bias "
            "kernel_initializer recurrent_initializer bias_initializer unit_forget_bias kernel_regularizer "
            "recurrent_regularizer bias_regularizer kernel_constraint recurrent_constraint bias_constraint dropout "
            "recurrent_dropout",
        ),
    ],
)
def test_a_convolutional_layer_shows_the_arguments_of_1_15(name, arguments):
    module = importlib.import_module("tensorflow.python.keras.layers.convolutional_recurrent")
    assert list(inspect.signature(getattr(module, name)).parameters) == [*arguments.split(), "kwargs"]


def test_conv_rnn_2d_over_the_cell_is_conv_lstm_2d(graph):
    module = importlib.import_module("tensorflow.python.keras.layers.convolutional_recurrent")
    x = tf.constant(np.random.RandomState(0).randn(2, 3, 5, 6, 1), tf.float32)
    layers = [
        module.ConvRNN2D(module.ConvLSTM2DCell(2, 3, (1, 1), "same"), return_sequences=True),
        tf.keras.layers.ConvLSTM2D(2, 3, padding="same", return_sequences=True),
    ]
    outputs = [layer(x) for layer in layers]
    with tf.Session() as session:
        tf.keras.backend.set_session(session)
        layers[0].set_weights(layers[1].get_weights())
        got, want = session.run(outputs)
    assert got.shape == (2, 3, 5, 6, 2)
    np.testing.assert_array_equal(got, want)


def test_a_peephole_cell_comes_back_from_its_config(graph):
    layer = tf.keras.layers.RNN(tf.keras.experimental.PeepholeLSTMCell(2))
    copy = tf.keras.layers.deserialize(tf.keras.layers.serialize(layer))
    assert type(copy.cell) is tf.keras.experimental.PeepholeLSTMCell
