"""Layers in one op against the ops that make them up."""

import numpy as np
import pytest

TOLERANCES = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-12}


def values(tf, dtype, *shape, seed=0):
    return tf.cast(np.random.RandomState(seed).randn(*shape) * 2, dtype)


def both(tf, run, ours, composed, inputs, seed=9):
    """Results and gradients of two functions of the same inputs, as float64."""
    results = []
    for function in (ours, composed):
        y = function(*inputs)
        dy = values(tf, y.dtype, *y.shape.as_list(), seed=seed)
        results.append([tf.cast(t, tf.float64) for t in (y, *tf.gradients(y, inputs, dy))])
    return run(results)


def assert_equal(tf, run, ours, composed, inputs, tolerance):
    for got, expected in zip(*both(tf, run, ours, composed, inputs)):
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("approximate", [False, True])
def test_gelu(tf, run, dtype, approximate):
    def composed(x):
        x = x if dtype == "float64" else tf.cast(x, tf.float32)
        if approximate:
            gate = tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x))
        else:
            gate = tf.math.erf(x / np.sqrt(2))
        return tf.cast(0.5 * x * (1 + gate), dtype)

    x = values(tf, dtype, 37, 41)
    assert_equal(tf, run, lambda x: tf.nn.gelu(x, approximate=approximate), composed, [x], TOLERANCES[dtype])


def test_gelu_of_nothing_and_of_nan(tf, run):
    assert run(tf.nn.gelu(tf.zeros([0, 3]))).shape == (0, 3)
    got = run(tf.nn.gelu([np.nan, np.inf, -1e30]))
    assert np.isnan(got[0]) and got[1] == np.inf and got[2] == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("epsilon", [1e-12, 30.0])
def test_l2_normalize(tf, run, dtype, axis, epsilon):
    x = values(tf, dtype, 4, 5, 33)
    ours = lambda x: tf.nn.fused_l2_normalize(x, axis=axis, epsilon=epsilon)  # noqa: E731
    assert_equal(tf, run, ours, lambda x: tf.nn.l2_normalize(x, axis, epsilon), [x], TOLERANCES[dtype])


def test_l2_normalize_of_nothing_and_zero(tf, run):
    assert run(tf.nn.fused_l2_normalize(tf.zeros([0, 3]))).shape == (0, 3)
    assert run(tf.nn.fused_l2_normalize(tf.zeros([3, 0]))).shape == (3, 0)
    x = tf.zeros([2, 3])
    assert np.isfinite(run(tf.gradients(tf.nn.fused_l2_normalize(x), x))[0]).all()


def test_l2_normalize_refuses(tf, run):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"axis must be in \[-2, 2\), got 2"):
        run(tf.nn.fused_l2_normalize(tf.zeros([2, 3]), axis=2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="epsilon must be positive, got 0"):
        run(tf.nn.fused_l2_normalize(tf.zeros([2, 3]), epsilon=0.0))
    with pytest.raises(TypeError):
        tf.nn.fused_l2_normalize(tf.zeros([2, 3], tf.int32))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(7,), (65, 255), (3, 4, 17)])
def test_layer_normalize(tf, run, dtype, shape):
    def composed(x, gamma, beta):
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        return (x - mean) * tf.rsqrt(variance + 2**-10) * gamma + beta

    inputs = [values(tf, dtype, *shape), values(tf, dtype, shape[-1], seed=1), values(tf, dtype, shape[-1], seed=2)]
    ours = lambda *inputs: tf.nn.fused_layer_normalize(*inputs, epsilon=2**-10)  # noqa: E731
    assert_equal(tf, run, ours, composed, inputs, 5 * TOLERANCES[dtype])


def test_layer_normalize_of_nothing(tf, run):
    for rows, size in ((0, 3), (3, 0)):
        inputs = [tf.zeros([rows, size]), tf.ones([size]), tf.zeros([size])]
        y = tf.nn.fused_layer_normalize(*inputs)
        got = run([y, *tf.gradients(y, inputs)])
        assert [g.shape for g in got] == [(rows, size), (rows, size), (size,), (size,)]
        assert all((g == 0).all() for g in got)


def test_layer_normalize_refuses(tf, run):
    with pytest.raises(ValueError, match="3 and 4"):
        tf.nn.fused_layer_normalize(tf.zeros([2, 3]), tf.zeros([4]), tf.zeros([3]))
    x = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"gamma must be \[3\], got shape \[4\]"):
        run(tf.nn.fused_layer_normalize(x, tf.zeros([4]), tf.zeros([4])), {x: np.zeros([2, 3])})
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must have a dimension"):
        run(tf.nn.fused_layer_normalize(x, tf.zeros([4]), tf.zeros([4])), {x: 1.0})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(6,), (65, 33), (3, 4, 17)])
def test_dice(tf, run, dtype, shape):
    def composed(x, mean, rvar, gamma):
        p = tf.sigmoid((x - mean) * rvar)
        return p * x + (1 - p) * gamma * x

    inputs = [values(tf, dtype, *shape)] + [values(tf, dtype, shape[-1], seed=s) for s in range(1, 4)]
    assert_equal(tf, run, tf.nn.dice, composed, inputs, 20 * TOLERANCES[dtype])


def test_dice_refuses(tf):
    with pytest.raises(ValueError, match="3 and 2"):
        tf.nn.dice(tf.zeros([2, 3]), tf.zeros([3]), tf.zeros([2]), tf.zeros([3]))


@pytest.mark.parametrize("dtype", ["int16", "int32", "float32"])
@pytest.mark.parametrize("lengths", [(4, 4), (1, 4), (4, 1), (0, 0), (1, 0)])
def test_logical_sum_counts_unequal_signs(tf, run, dtype, lengths):
    random = np.random.RandomState(1)
    q, k = (random.randn(3, length, 37).astype(np.float32) for length in lengths)
    got = tf.nn.logical_sum(q, k, dtype=dtype)
    expected = -(np.signbit(q) != np.signbit(k)).sum(-1)
    assert got.shape.as_list() == list(expected.shape) and got.dtype == dtype
    np.testing.assert_array_equal(run(got), expected)


def test_logical_sum_refuses(tf, run):
    with pytest.raises(ValueError):
        tf.nn.logical_sum(tf.zeros([2, 3, 4]), tf.zeros([2, 2, 4]))
    q = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="q_input and k_input must be"):
        run(tf.nn.logical_sum(q, tf.zeros([2, 2, 4])), {q: np.zeros([2, 3, 4])})


def test_logical_sum_refuses_counts_that_do_not_fit(tf, run):
    q = tf.zeros([1, 1, 40000])
    assert run(tf.nn.logical_sum(q, -q - 1, dtype="int32")).tolist() == [[-40000]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="dim must be at most 32767.*got 40000"):
        run(tf.nn.logical_sum(q, -q, dtype="int16"))


def test_a_bad_gradient_is_refused(tf, run):
    from tensorflow.deeprec import library

    x, dy = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    feeds = {x: np.zeros([2, 3]), dy: np.zeros([2, 2])}
    vector = tf.zeros([3])
    for make in (
        lambda: library.ops().gelu_grad(dy, x),
        lambda: library.ops().fused_l2_normalize_grad(dy, x),
        lambda: library.ops().fused_layer_norm_grad(dy, x, vector, vector, vector),
    ):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"must have the shape of (x|features), \[2,3\], got \[2,2\]"
        ):
            run(make(), feeds)
    with pytest.raises(tf.errors.InvalidArgumentError, match="mean must have 2 elements"):
        run(library.ops().fused_layer_norm_grad(dy, x, vector, vector, vector), {x: feeds[x], dy: feeds[x]})


def test_empty_tensors_of_huge_dimensions_are_no_crash(tf, run):
    from tensorflow.python.ops import data_flow_ops

    shape = tf.placeholder(tf.int64)
    x = tf.reshape(tf.zeros([0]), shape)
    # Without its first dimension the shape has more elements than can be counted.
    dims = [0, 2**30, 2**30, 2**30]
    for axis in (0, 1, -1):
        assert run(tf.size(tf.nn.fused_l2_normalize(x, axis=axis)), {shape: dims}) == 0
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(data_flow_ops.dynamic_stitch_fast([tf.zeros([0], tf.int32)], [x]), {shape: dims})
