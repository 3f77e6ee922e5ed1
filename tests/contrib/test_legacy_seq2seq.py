"""tf.contrib.legacy_seq2seq: models against steps done by hand with the same variables."""

import numpy as np
import pytest
import tensorflow as tf

L = tf.contrib.legacy_seq2seq
N = tf.nn.rnn_cell
BATCH, UNITS, SYMBOLS, SIZE = 2, 4, 5, 3


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        tf.set_random_seed(4)
        yield own


def symbols(steps, seed=0):
    r = np.random.RandomState(seed)
    return [tf.constant(r.randint(0, SYMBOLS, [BATCH]).astype(np.int32)) for _ in range(steps)]


def vectors(steps, size=SIZE, seed=0):
    r = np.random.RandomState(seed)
    return [tf.constant(r.normal(size=[BATCH, size]).astype(np.float32)) for _ in range(steps)]


def run(tensors, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors, feed)


def test_rnn_decoder_is_a_static_rnn():
    cell, inputs = N.GRUCell(UNITS), vectors(3)
    state = tf.ones([BATCH, UNITS])
    outputs, final = L.rnn_decoder(inputs, state, cell)
    want, want_final = tf.nn.static_rnn(cell, inputs, initial_state=state, scope="rnn_decoder")
    got, expected = run([(outputs, final), (want, want_final)])
    np.testing.assert_allclose(got[0], expected[0], atol=1e-6)
    np.testing.assert_allclose(got[1], expected[1], atol=1e-6)


def test_loop_function_replaces_inputs_after_the_first():
    cell, inputs = N.GRUCell(UNITS), vectors(3, UNITS)
    outputs, _ = L.rnn_decoder(inputs, tf.zeros([BATCH, UNITS]), cell, loop_function=lambda prev, i: prev * 2)
    with tf.variable_scope("rnn_decoder", reuse=True):
        first, state = cell(inputs[0], tf.zeros([BATCH, UNITS]))
        second, _ = cell(first * 2, state)
    got, want = run([outputs[1], second])
    np.testing.assert_allclose(got, want, atol=1e-6)


def test_basic_and_tied_models_differ_in_their_weights():
    L.basic_rnn_seq2seq(vectors(2), vectors(2), N.GRUCell(UNITS))
    names = [v.op.name for v in tf.global_variables() if v.op.name.endswith("gates/kernel")]
    assert names == [
        "basic_rnn_seq2seq/rnn/gru_cell/gates/kernel",
        "basic_rnn_seq2seq/rnn_decoder/gru_cell/gates/kernel",
    ]
    L.tied_rnn_seq2seq(vectors(2), vectors(2), N.GRUCell(UNITS))
    names = [v.op.name for v in tf.global_variables() if v.op.name.startswith("combined")]
    assert names[0] == "combined_tied_rnn_seq2seq/tied_rnn_seq2seq/gru_cell/gates/kernel" and len(names) == 4


@pytest.mark.parametrize(
    "model",
    [
        lambda enc, dec, feed: L.embedding_rnn_seq2seq(
            enc, dec, N.GRUCell(UNITS), SYMBOLS, SYMBOLS, SIZE, feed_previous=feed
        ),
        lambda enc, dec, feed: L.embedding_tied_rnn_seq2seq(enc, dec, N.BasicLSTMCell(UNITS), SYMBOLS, SIZE, feed_previous=feed),
        lambda enc, dec, feed: L.embedding_attention_seq2seq(
            enc, dec, N.GRUCell(UNITS), SYMBOLS, SYMBOLS, SIZE, num_heads=2, feed_previous=feed, initial_state_attention=True
        ),
    ],
    ids=["rnn", "tied", "attention"],
)  # fmt: skip
def test_feeding_back_equals_feeding_the_greatest_outputs(model):
    feed = tf.placeholder(tf.bool, [])
    dec = [tf.placeholder(tf.int32, [BATCH]) for _ in range(3)]
    outputs, _ = model(symbols(3), dec, feed)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        start = np.array([1, 2])
        fed = session.run(outputs, {feed: True, dec[0]: start, dec[1]: [0, 0], dec[2]: [0, 0]})
        best = [o.argmax(1) for o in fed]
        given = session.run(outputs, {feed: False, dec[0]: start, dec[1]: best[0], dec[2]: best[1]})
    np.testing.assert_allclose(fed, given, atol=1e-5)


def test_attention_decoder_first_step():
    states = np.random.RandomState(3).normal(size=[BATCH, 3, 4]).astype(np.float32)
    inputs = vectors(1)
    cell = N.GRUCell(UNITS)
    zero = tf.zeros([BATCH, UNITS])
    outputs, _ = L.attention_decoder(inputs, zero, tf.constant(states), cell, output_size=2)
    variables = {v.op.name.removeprefix("attention_decoder/"): v for v in tf.global_variables()}
    with tf.variable_scope("attention_decoder", reuse=True):
        fed = tf.matmul(tf.concat([inputs[0], tf.zeros([BATCH, 4])], 1), variables["kernel"]) + variables["bias"]
        cell_output, _ = cell(fed, zero)
    output, h, v = run([outputs[0], cell_output, variables])
    query = h @ v["Attention_0/kernel"] + v["Attention_0/bias"]
    s = (v["AttnV_0"] * np.tanh(states @ v["AttnW_0"][0, 0] + query[:, None])).sum(-1)
    weights = np.exp(s) / np.exp(s).sum(1, keepdims=True)
    context = (weights[..., None] * states).sum(1)
    want = np.concatenate([h, context], 1) @ v["AttnOutputProjection/kernel"] + v["AttnOutputProjection/bias"]
    np.testing.assert_allclose(output, want, atol=1e-5)


def test_output_projection_leaves_outputs_unprojected():
    projection = (tf.ones([UNITS, SYMBOLS]), tf.zeros([SYMBOLS]))
    outputs, _ = L.embedding_rnn_seq2seq(
        symbols(2), symbols(2), N.GRUCell(UNITS), SYMBOLS, SYMBOLS, SIZE, projection, feed_previous=True
    )
    assert outputs[0].shape.as_list() == [BATCH, UNITS]
    with pytest.raises(ValueError, match="compatible"):
        L.embedding_rnn_decoder(
            symbols(2), tf.zeros([BATCH, UNITS]), N.GRUCell(UNITS), SYMBOLS, SIZE, (tf.ones([UNITS, 2]), tf.zeros([2]))
        )


def test_one_encoder_many_decoders():
    outputs, states = L.one2many_rnn_seq2seq(
        symbols(2),
        {"a": symbols(2), "b": symbols(3)},
        N.GRUCell(UNITS),
        {"a": N.GRUCell(UNITS), "b": N.GRUCell(UNITS)},
        SYMBOLS,
        {"a": 6, "b": 7},
        SIZE,
    )
    assert [o.shape.as_list() for o in outputs["b"]] == [[BATCH, 7]] * 3 and set(states) == {"a", "b"}
    assert any(v.op.name.startswith("one2many_rnn_seq2seq/one2many_decoder_a/embedding") for v in tf.global_variables())
    run([outputs, states])


def test_losses():
    logits, targets = vectors(3, SYMBOLS), symbols(3)
    weights = [tf.constant([1.0, 0.5]), tf.constant([1.0, 0.0]), tf.constant([0.0, 0.0])]
    by_example = L.sequence_loss_by_example(logits, targets, weights)
    mean = L.sequence_loss(logits, targets, weights)
    total = L.sequence_loss(logits, targets, weights, average_across_timesteps=False, average_across_batch=False)
    own = L.sequence_loss_by_example(
        logits, targets, weights, softmax_loss_function=lambda labels, logits: tf.cast(labels, tf.float32)
    )
    x, y, w, by_example, mean, total, own = run([logits, targets, weights, by_example, mean, total, own])
    x, y, w = np.array(x), np.array(y), np.array(w)
    p = x - np.log(np.exp(x).sum(-1, keepdims=True))
    ce = -np.take_along_axis(p, y[..., None], -1)[..., 0] * w
    np.testing.assert_allclose(by_example, ce.sum(0) / w.sum(0), rtol=1e-5)
    np.testing.assert_allclose(mean, (ce.sum(0) / w.sum(0)).mean(), rtol=1e-5)
    np.testing.assert_allclose(total, ce.sum(), rtol=1e-5)
    np.testing.assert_allclose(own, (y * w).sum(0) / w.sum(0), rtol=1e-5)
    with pytest.raises(ValueError, match="Lengths of logits"):
        L.sequence_loss_by_example(logits, targets[:2], weights)


@pytest.mark.parametrize("per_example", [True, False])
def test_buckets_share_variables(per_example):
    enc, dec, weights = symbols(4), symbols(4, 1), [tf.ones([BATCH])] * 4

    def model(x, y):
        return L.embedding_rnn_seq2seq(x, y, N.GRUCell(UNITS), SYMBOLS, SYMBOLS, SIZE)

    outputs, losses = L.model_with_buckets(
        enc, dec, dec, weights, [(2, 2), (4, 4)], model, per_example_loss=per_example
    )
    assert [len(o) for o in outputs] == [2, 4]
    assert len(tf.global_variables()) == 12
    assert losses[0].shape.as_list() == ([BATCH] if per_example else [])
    run(losses)


def test_bad_input():
    with pytest.raises(ValueError, match="at least 1 input"):
        L.attention_decoder([], None, None, None)
    with pytest.raises(ValueError, match="1 heads"):
        L.attention_decoder(vectors(1), None, tf.zeros([1, 2, 3]), N.GRUCell(2), num_heads=0)
    with pytest.raises(ValueError, match="Length of targets"):
        L.model_with_buckets(symbols(4), symbols(4), symbols(2), [], [(4, 4)], None)
