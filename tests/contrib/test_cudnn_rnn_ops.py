"""The low-level interface of contrib.cudnn_rnn: stacks whose weights are a flat vector of the caller's."""

import inspect

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.contrib.cudnn_rnn.python.ops import cudnn_rnn_ops as ops

TIME, BATCH, SIZE, UNITS, LAYERS = 4, 3, 5, 6, 2
CLASSES = {"lstm": "CudnnLSTM", "gru": "CudnnGRU", "rnn_tanh": "CudnnRNNTanh", "rnn_relu": "CudnnRNNRelu"}
DIRECTIONS = ["unidirectional", "bidirectional"]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        tf.set_random_seed(1)
        yield own


def values(*shape):
    return np.random.RandomState(len(shape)).normal(size=shape).astype(np.float32)


def evaluate(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("lengths", "time_major"), [(None, True), ([4, 2, 3], True), ([4, 2, 3], False)])
def test_a_stack_computes_what_the_layer_computes(kind, direction, lengths, time_major):
    layer = getattr(tf.contrib.cudnn_rnn, CLASSES[kind])(LAYERS, UNITS, direction=direction)
    x = tf.constant(values(TIME, BATCH, SIZE))
    rows = LAYERS * (2 if direction == "bidirectional" else 1)
    states = [tf.constant(0.1 * values(rows, BATCH, UNITS))] * (2 if kind == "lstm" else 1)
    if not time_major:
        x, *states = (tf.transpose(t, [1, 0, 2]) for t in (x, *states))
    want, want_states = layer(x, tuple(states), lengths, time_major)
    stack = getattr(ops, CLASSES[kind])(LAYERS, UNITS, SIZE, direction=direction)
    got, *got_states = stack(x, *states, layer.kernel, lengths, time_major)
    for a, b in zip(*evaluate([[got, *got_states], [want, *want_states]])):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", CLASSES)
def test_a_function_computes_what_its_class_computes(kind):
    stack = getattr(ops, CLASSES[kind])(LAYERS, UNITS, SIZE)
    function = getattr(ops, f"cudnn_{kind}")
    params = tf.constant(values(evaluate(stack.params_size())))
    states = [tf.constant(values(LAYERS, BATCH, UNITS))] * (2 if kind == "lstm" else 1)
    arguments = (tf.constant(values(TIME, BATCH, SIZE)), *states, params)
    for a, b in zip(*evaluate([stack(*arguments), function(*arguments, True)])):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_flat_weights_go_to_canonical_ones_and_back(kind, direction):
    stack = getattr(ops, CLASSES[kind])(LAYERS, UNITS, SIZE, direction=direction)
    params = values(evaluate(stack.params_size()))
    weights, biases = stack.params_to_canonical(params)
    per_layer = getattr(ops, f"CUDNN_{kind.upper()}_PARAMS_PER_LAYER")
    assert len(weights) == len(biases) == LAYERS * per_layer * (2 if direction == "bidirectional" else 1)
    np.testing.assert_array_equal(evaluate(stack.canonical_to_params(weights, biases)), params)


def test_the_size_makes_a_variable_that_trains():
    stack = ops.CudnnGRU(1, UNITS, SIZE)
    params = tf.Variable(tf.random_uniform([stack.params_size()], -0.1, 0.1), validate_shape=False)
    outputs, _ = stack(tf.constant(values(TIME, BATCH, SIZE)), tf.zeros([1, BATCH, UNITS]), params)
    loss = tf.reduce_mean(tf.square(outputs - 0.5))
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(30):
            session.run(train)
        assert session.run(loss) < 0.5 * before


def test_dropout_is_in_training_only():
    stack = ops.CudnnGRU(2, UNITS, SIZE, dropout=0.5, seed=3)
    params = tf.constant(values(evaluate(stack.params_size())))
    arguments = (tf.constant(values(TIME, BATCH, SIZE)), tf.zeros([2, BATCH, UNITS]), params)
    train, serve, again = evaluate([stack(*arguments, is_training=t)[0] for t in (True, False, False)])
    assert not np.allclose(train, serve)
    np.testing.assert_array_equal(serve, again)


def test_an_auto_select_input_is_linear():
    size = ops.cudnn_rnn_opaque_params_size("lstm", 1, 2, 3, "auto_select")
    assert evaluate(size) == 4 * (2 * 3 + 2 * 2) + 8 * 2


def test_the_relu_function_has_its_lengths_behind_the_seed():
    names = list(inspect.signature(ops.cudnn_rnn_relu).parameters)
    assert names[4:] == "input_mode direction dropout seed sequence_lengths time_major name".split()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ops.CudnnLSTM(1, 2, 3, direction="sideways"), ValueError, "direction must be .* got 'sideways'"),
        (lambda: ops.CudnnLSTM(1, 2, 3, input_mode="all"), ValueError, "input_mode must be .* got 'all'"),
        (lambda: ops.check_direction("up"), ValueError, "direction must be .* got 'up'"),
        (lambda: ops.check_input_mode("all"), ValueError, "input_mode must be .* got 'all'"),
        (lambda: ops.CudnnLSTM(1, 2, 3, num_proj=4), NotImplementedError, "num_proj"),
        (lambda: ops.cudnn_rnn_opaque_params_size("elman", 1, 2, 3), ValueError, "rnn_mode must be .* got 'elman'"),
        (
            lambda: ops.CudnnGRU(1, 2, 3)(tf.zeros([4, 1, 3]), tf.zeros([1, 1, 2]), tf.zeros([7])),
            ValueError,
            r"params must have shape \[42\], got \(7,\)",
        ),
        (
            lambda: ops.CudnnGRU(2, 2, 3)(tf.zeros([4, 1, 3]), tf.zeros([1, 1, 2]), tf.zeros([7])),
            ValueError,
            r"input_h must have shape \[2, None, 2\], got \(1, 1, 2\)",
        ),
        (
            lambda: ops.CudnnGRU(1, 2, 3).canonical_to_params([], []),
            ValueError,
            "weights must have 6 elements, got 0",
        ),
    ],
)
def test_a_bad_argument_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
