"""tf.contrib.cudnn_rnn on the CPU: equal to the compatible cells, through a checkpoint."""

import numpy as np
import pytest
import tensorflow as tf

R = tf.contrib.cudnn_rnn
N = tf.nn.rnn_cell
TIME, BATCH, SIZE, UNITS = 4, 3, 5, 6
KINDS = {
    "lstm": (R.CudnnLSTM, lambda: R.CudnnCompatibleLSTMCell(UNITS), R.CudnnParamsFormatConverterLSTM),
    "gru": (R.CudnnGRU, lambda: R.CudnnCompatibleGRUCell(UNITS), R.CudnnParamsFormatConverterGRU),
    "tanh": (R.CudnnRNNTanh, lambda: N.BasicRNNCell(UNITS), R.CudnnParamsFormatConverterTanh),
    "relu": (R.CudnnRNNRelu, lambda: N.BasicRNNCell(UNITS, activation=tf.nn.relu), R.CudnnParamsFormatConverterRelu),
}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        tf.set_random_seed(1)
        yield own


def inputs():
    return np.random.RandomState(1).normal(size=[TIME, BATCH, SIZE]).astype(np.float32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
@pytest.mark.parametrize("lengths", [None, [4, 2, 3]])
def test_checkpoint_of_the_layer_runs_in_compatible_cells_and_back(kind, direction, lengths, tmp_path):
    layer_class, make_cell, _ = KINDS[kind]
    x = inputs()

    def run_layer(restore=None):
        with tf.Graph().as_default():
            layer = layer_class(
                2, UNITS, direction=direction, bias_initializer=tf.random_normal_initializer(seed=2), name="net"
            )
            outputs, states = layer(tf.constant(x), sequence_lengths=lengths)
            saver = tf.train.Saver([layer.saveable] if restore else None)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                if restore:
                    saver.restore(session, restore)
                return session.run([outputs, states]), saver.save(
                    session, str(tmp_path / ("again" if restore else "layer"))
                )

    (want, want_states), path = run_layer()
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("net"):
            if direction == "unidirectional":
                cell = N.MultiRNNCell([make_cell() for _ in range(2)])
                got, _ = tf.nn.dynamic_rnn(
                    cell, tf.constant(x), sequence_length=lengths, dtype=tf.float32, time_major=True
                )
            else:
                cells = [[make_cell() for _ in range(2)] for _ in range(2)]
                got, _, _ = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
                    *cells, tf.constant(x), sequence_length=lengths, dtype=tf.float32, time_major=True
                )
        saver = tf.train.Saver()
        saver.restore(session, path)
        cells_path = saver.save(session, str(tmp_path / "cells"))
        np.testing.assert_allclose(session.run(got), want, atol=1e-5)
    (again, _), _ = run_layer(cells_path)
    np.testing.assert_allclose(again, want, atol=1e-5)
    last = want[np.array(lengths or [TIME] * BATCH) - 1, np.arange(BATCH)]
    top = want_states[0][2 if direction == "bidirectional" else 1]
    np.testing.assert_allclose(top, last[:, :UNITS], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
def test_converter_there_and_back(kind, direction):
    converter = KINDS[kind][2](2, UNITS, SIZE, direction=direction)
    opaque = tf.constant(np.random.RandomState(1).normal(size=[converter.opaque_size()]))
    weights, biases = converter.opaque_to_tf_canonical(opaque)
    again = converter.opaque_to_tf_canonical(converter.tf_canonical_to_opaque(weights + biases))
    with tf.Session() as session:
        for a, b in zip(*session.run([weights + biases, again[0] + again[1]])):
            np.testing.assert_array_equal(a, b)


def test_initial_state_batch_major_and_training():
    layer = R.CudnnLSTM(1, UNITS)
    x = tf.constant(inputs())
    state = tuple(tf.ones([1, BATCH, UNITS]) * k for k in (0.1, 0.2))
    first, (h, c) = layer(x, initial_state=state)
    swapped, _ = layer(
        tf.transpose(x, [1, 0, 2]), initial_state=tuple(tf.transpose(s, [1, 0, 2]) for s in state), time_major=False
    )
    train = tf.train.AdamOptimizer(0.05).minimize(tf.reduce_mean(tf.square(first - 0.5)))
    loss = tf.reduce_mean(tf.square(first - 0.5))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        a, b = session.run([first, swapped])
        np.testing.assert_allclose(a, np.transpose(b, [1, 0, 2]), atol=1e-6)
        before = session.run(loss)
        for _ in range(30):
            session.run(train)
        assert session.run(loss) < 0.5 * before
    assert h.shape.as_list() == c.shape.as_list() == [1, BATCH, UNITS]
    assert layer.trainable_variables[0].op.name == "cudnn_lstm/opaque_kernel"


def test_dropout_is_between_layers_and_in_training_only():
    layer = R.CudnnGRU(2, UNITS, dropout=0.5, seed=3)
    x = tf.constant(inputs())
    train, serve = layer(x, training=True)[0], layer(x, training=False)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert not np.allclose(*session.run([train, serve]))
        np.testing.assert_array_equal(session.run(serve), session.run(serve))


def test_bad_arguments():
    with pytest.raises(ValueError, match="direction"):
        R.CudnnLSTM(1, UNITS, direction="sideways")
    with pytest.raises(NotImplementedError, match="skip_input"):
        R.CudnnLSTM(1, UNITS, input_mode="skip_input")
    with pytest.raises(ValueError, match="dropout"):
        R.CudnnLSTM(1, UNITS, dropout=1.5)
    with pytest.raises(TypeError, match="initial_state"):
        R.CudnnGRU(1, UNITS)(tf.constant(inputs()), initial_state=[tf.zeros([1, BATCH, UNITS])])
    with pytest.raises(ValueError, match="built"):
        R.CudnnGRU(1, UNITS).input_size
