"""tf.contrib.{integrate,recurrent,optimizer_v2,fused_conv,reduce_slice_ops} against NumPy and core compositions."""

import importlib

import numpy as np
import pytest
import tensorflow as tf


def contrib(name):
    # Some of these are no attributes of tf.contrib before they are imported.
    return importlib.import_module(f"tensorflow.contrib.{name}")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        tf.set_random_seed(1)
        yield own


def run(tensors, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors, feed)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_odeint_follows_the_exponential_and_the_pendulum(dtype):
    t = np.linspace(0, 3, 13)
    rate = -1.0 if dtype is np.float64 else -1.0 + 2.0j
    y0 = np.array([[1.0, 2.0]], dtype)
    y, info = run(contrib("integrate").odeint(lambda y, t: rate * y, tf.constant(y0), t, full_output=True))
    np.testing.assert_allclose(y, y0 * np.exp(rate * t)[:, None, None], rtol=1e-5)
    assert info["num_func_evals"] == 6 * len(info["integrate_points"]) + 2 and len(info["error_ratio"]) > 3
    swing = run(
        contrib("integrate").odeint(lambda y, t: tf.stack([y[1], -y[0]]), tf.constant([1.0, 0.0], tf.float64), t)
    )
    np.testing.assert_allclose(swing, np.stack([np.cos(t), -np.sin(t)], 1), atol=1e-5)


def test_odeint_uses_the_time_and_has_gradients():
    a = tf.constant(0.5, tf.float64)
    y = contrib("integrate").odeint(
        lambda y, t: a * tf.cast(t, y.dtype) + 0 * y, tf.constant(0.0, tf.float64), [0.0, 1.0, 2.0]
    )
    value, gradient = run([y, tf.gradients(y[-1], a)[0]])
    np.testing.assert_allclose(value, [0, 0.25, 1], atol=1e-9)
    np.testing.assert_allclose(gradient, 2, atol=1e-6)


def test_odeint_refuses_bad_input():
    odeint = contrib("integrate").odeint
    with pytest.raises(ValueError, match="method"):
        odeint(lambda y, t: y, 1.0, [0.0, 1.0], method="euler")
    with pytest.raises(ValueError, match="options"):
        odeint(lambda y, t: y, 1.0, [0.0, 1.0], options={"speed": 3})
    with pytest.raises(TypeError, match="y0"):
        odeint(lambda y, t: y, 1, [0.0, 1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="monotonic"):
        run(odeint(lambda y, t: -y, tf.constant(1.0, tf.float64), [0.0, 1.0, 0.5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="max_num_steps"):
        run(odeint(lambda y, t: -y, tf.constant(1.0, tf.float64), [0.0, 9.0], options={"max_num_steps": 2}))


@pytest.mark.parametrize("method, tolerance", [("rk4", 1e-6), ("midpoint", 1e-3)])
@pytest.mark.parametrize("dt", [None, 0.01])
def test_odeint_fixed(method, tolerance, dt):
    t = np.linspace(0, 1, 41)
    y = run(contrib("integrate").odeint_fixed(lambda y, t: -y, tf.constant([1.0], tf.float64), t, dt=dt, method=method))
    np.testing.assert_allclose(y[:, 0], np.exp(-t), atol=max(tolerance, 0 if dt is None else 2e-5))
    with pytest.raises(ValueError, match="method"):
        contrib("integrate").odeint_fixed(lambda y, t: -y, 1.0, t, method="euler")


@pytest.mark.parametrize("time_major", [False, True])
def test_functional_rnns_are_dynamic_rnns(time_major):
    x = np.random.RandomState(1).normal(size=[3, 4, 2]).astype(np.float32)
    fed = tf.constant(np.transpose(x, [1, 0, 2]) if time_major else x)
    fw, bw = tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.LSTMCell(3)
    (a, b), (sa, sb) = contrib("recurrent").bidirectional_functional_rnn(
        fw, bw, fed, dtype=tf.float32, sequence_length=[4, 2, 3], time_major=time_major
    )
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        (c, d), (sc, sd) = tf.nn.bidirectional_dynamic_rnn(
            fw, bw, fed, dtype=tf.float32, sequence_length=[4, 2, 3], time_major=time_major
        )
    for got, want in run([(a, c), (b, d), (sa, sc), (sb.h, sd.h)]):
        np.testing.assert_allclose(got, want, atol=1e-6)
    names = {v.op.name.split("/gru")[0].split("/lstm")[0] for v in tf.global_variables()}
    assert names == {"bidirectional_rnn/fw", "bidirectional_rnn/bw"}
    with pytest.raises(NotImplementedError, match="TPU"):
        contrib("recurrent").functional_rnn(fw, fed, dtype=tf.float32, use_tpu=True)


@pytest.mark.parametrize("aligned_end", [False, True])
def test_recurrent_loops_over_time(aligned_end):
    x = np.arange(1.0, 6.0)
    w = tf.constant(0.5, tf.float64)
    states, final = contrib("recurrent").Recurrent(
        {"w": w}, {"s": tf.constant(1.0, tf.float64)}, {"x": tf.constant(x)},
        lambda theta, state, step: ({"s": theta["w"] * state["s"] + step["x"]}, {}), max_input_length=3, aligned_end=aligned_end,
    )  # fmt: skip
    want, s = [], 1.0
    for k, value in enumerate(x):
        s = 0.5 * s + value if (k >= 2 if aligned_end else k < 3) else s
        want.append(s)
    got, last, gradient = run([states["s"], final["s"], tf.gradients(final["s"], w)[0]])
    np.testing.assert_allclose(got, want)
    assert last == want[-1] and np.isfinite(gradient) and gradient > 0
    with pytest.raises(NotImplementedError, match="cell_grad"):
        contrib("recurrent").Recurrent({}, {}, {}, None, cell_grad=lambda: None)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("Adadelta", dict(learning_rate=0.1)),
        ("Adagrad", dict(learning_rate=0.1)),
        ("Adam", dict(learning_rate=0.1)),
        ("GradientDescent", dict(learning_rate=0.1)),
        ("Momentum", dict(learning_rate=0.1, momentum=0.9, use_nesterov=True)),
        ("RMSProp", dict(learning_rate=0.1, centered=True)),
    ],
)
def test_second_optimizers_step_like_the_first(name, arguments):
    values = []
    for module in (contrib("optimizer_v2"), tf.train):
        with tf.Graph().as_default():
            x = tf.Variable([1.0, -2.0])
            train = getattr(module, f"{name}Optimizer")(**arguments).minimize(tf.reduce_sum(x**2))
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for _ in range(3):
                    session.run(train)
                values.append(session.run(x))
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_fused_convolution(data_format):
    r = np.random.RandomState(1)
    x, w, b, side = (
        r.normal(size=[2, 5, 4, 3]),
        r.normal(size=[2, 2, 3, 4]),
        r.normal(size=[4]),
        r.normal(size=[2, 3, 2, 4]),
    )
    layout = [0, 3, 1, 2] if data_format == "NCHW" else [0, 1, 2, 3]
    strides = [1, 1, 2, 2] if data_format == "NCHW" else [1, 2, 2, 1]
    y = contrib("fused_conv").fused_conv2d_bias_activation(
        np.transpose(x, layout), np.transpose(w, [3, 2, 0, 1]), b, strides, "SAME", 0.5, 2.0, np.transpose(side, layout), "Relu",
        data_format, "OIHW",
    )  # fmt: skip
    want = tf.nn.relu(0.5 * tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME") + 2 * side + b)
    got, want = run([y, want])
    np.testing.assert_allclose(got, np.transpose(want, layout), rtol=1e-6)
    with pytest.raises(ValueError, match="activation_mode"):
        contrib("fused_conv").fused_conv2d_bias_activation(x, w, b, activation_mode="Tanh")


@pytest.mark.parametrize("name, function, empty", [("sum", np.sum, 0), ("prod", np.prod, 1), ("max", np.max, np.finfo(np.float32).min), ("min", np.min, np.finfo(np.float32).max)])  # fmt: skip
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_slices_reduce(name, function, empty, axis):
    data = np.random.RandomState(1).uniform(0.5, 2, size=[4, 5, 6]).astype(np.float32)
    reduce = getattr(contrib("reduce_slice_ops"), f"reduce_slice_{name}")
    pairs = [[0, 2], [1, 4], [3, 3], [2, 99]]
    got, chained = run([reduce(data, pairs, axis), reduce(data, [0, 2, 3], axis)])
    front, got = np.moveaxis(data, axis, 0), np.moveaxis(got, axis, 0)
    for row, (first, end) in zip(got, pairs):
        part = front[first:end]
        np.testing.assert_allclose(
            row, function(part, axis=0) if len(part) else np.full(front.shape[1:], empty), rtol=1e-5
        )
    np.testing.assert_allclose(
        np.moveaxis(chained, axis, 0), [function(front[0:2], 0), function(front[2:3], 0)], rtol=1e-5
    )
