"""AdamAsync on ordinary variables."""

import pathlib
import runpy
import types

import numpy as np
import pytest

# Test modules cannot import their neighbours.
cases = types.SimpleNamespace(**runpy.run_path(str(pathlib.Path(__file__).with_name("deeprec_cases.py"))))

# Exact in float32, which is what floats become on their way to a variable of any dtype.
RATE, BETA1, BETA2, EPSILON = 0.125, 0.75, 0.9375, 2**-10


def maker(tf, **kwargs):
    return lambda step: tf.train.AdamAsyncOptimizer(RATE, BETA1, BETA2, EPSILON, **kwargs)


def reference(start, steps, rmsprop=False):
    """Variable, m, v, powers of beta."""
    w = start.astype(np.float64)
    m, v = np.zeros_like(w), np.zeros_like(w)
    power1, power2 = BETA1, BETA2
    for step in steps:
        alpha = RATE * np.sqrt(1 - power2) / (1 - power1)
        for row, g in cases.touched(step).items():
            v[row] = BETA2 * v[row] + (1 - BETA2) * g * g
            if rmsprop:
                m[row] = BETA1 * m[row] + RATE * g / np.sqrt(v[row] + EPSILON)
                w[row] -= m[row]
            else:
                m[row] = BETA1 * m[row] + (1 - BETA1) * g
                w[row] -= alpha * m[row] / (np.sqrt(v[row]) + EPSILON)
        if not rmsprop:
            power1, power2 = power1 * BETA1, power2 * BETA2
    return w, m, v, power1, power2


def check(got, start, steps, rmsprop=False, rtol=1e-11):
    expected = reference(start, steps, rmsprop)
    for name, want in zip(("", "/AdamAsync", "/AdamAsync_1", "/AdamAsync_2", "/AdamAsync_3"), expected):
        np.testing.assert_allclose(got[f"table{name}"].astype(float), want, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("resource", [False, True])
def test_dense(tf, resource):
    rng = np.random.default_rng(0)
    start, steps = cases.initial(rng), cases.dense_steps(rng, 6)
    got = cases.train(tf, maker(tf), start, steps, resource)
    check(got, start, steps)
    assert got["table/AdamAsync_2"].shape == ()


@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
@pytest.mark.parametrize("rmsprop", [False, True])
@pytest.mark.parametrize("resource", [False, True])
def test_sparse_rows_sum_duplicates(tf, resource, rmsprop, index_dtype):
    rng = np.random.default_rng(1)
    start, steps = cases.initial(rng), cases.sparse_steps(rng, 9)
    optimizer = maker(tf, apply_sparse_rmsprop=rmsprop)
    check(cases.train(tf, optimizer, start, steps, resource, index_dtype=index_dtype), start, steps, rmsprop)


@pytest.mark.parametrize("resource", [False, True])
def test_dense_gradients_are_adam_where_sparse_ones_are_rmsprop(tf, resource):
    rng = np.random.default_rng(2)
    start, steps = cases.initial(rng), cases.dense_steps(rng, 3)
    check(cases.train(tf, maker(tf, apply_sparse_rmsprop=True), start, steps, resource), start, steps)


@pytest.mark.parametrize("resource", [False, True])
def test_equals_adam_while_every_variable_gets_a_gradient(tf, resource):
    rng = np.random.default_rng(3)
    start, steps = cases.initial(rng), cases.dense_steps(rng, 5)
    ours = cases.train(tf, maker(tf), start, steps, resource)["table"]
    with tf.Graph().as_default():
        adam = cases.train(tf, lambda step: tf.train.AdamOptimizer(RATE, BETA1, BETA2, EPSILON), start, steps, resource)
    np.testing.assert_allclose(ours, adam["table"], rtol=1e-11)


@pytest.mark.parametrize("resource", [False, True])
def test_powers_advance_only_with_their_variable(tf, resource):
    a = tf.get_variable("a", initializer=1.0, use_resource=resource)
    b = tf.get_variable("b", initializer=1.0, use_resource=resource)
    optimizer = maker(tf)(None)
    both = optimizer.apply_gradients([(tf.constant(1.0), a), (tf.constant(1.0), b)])
    one = optimizer.apply_gradients([(tf.constant(1.0), a)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for op in (both, one, one):
            session.run(op)
        powers = session.run([optimizer.get_slot(v, "beta1_power") for v in (a, b)])
    np.testing.assert_allclose(powers, [BETA1**4, BETA1**2], rtol=1e-6)


@pytest.mark.parametrize("resource", [False, True])
def test_partitioned(tf, resource):
    rng = np.random.default_rng(4)
    start, steps = cases.initial(rng), cases.dense_steps(rng, 4)
    got = cases.train(tf, maker(tf), start, steps, resource, partitioner=tf.fixed_size_partitioner(2))
    joined = {
        "table" + s: np.concatenate([got[f"table/part_{i}{s}"] for i in range(2)])
        for s in ("", "/AdamAsync", "/AdamAsync_1")
    }
    for s in ("/AdamAsync_2", "/AdamAsync_3"):
        assert got["table/part_0" + s] == got["table/part_1" + s]
        joined["table" + s] = got["table/part_0" + s]
    check(joined, start, steps)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype, rtol", [("float32", 1e-5), ("bfloat16", 0.15), ("float16", 0.02)])
def test_dtypes(tf, dtype, rtol, sparse):
    rng = np.random.default_rng(5)
    start, steps = cases.initial(rng), (cases.sparse_steps if sparse else cases.dense_steps)(rng, 4)
    check(cases.train(tf, maker(tf), start, steps, dtype=dtype), start, steps, rtol=rtol)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("resource", [False, True])
def test_use_locking_changes_nothing(tf, resource, sparse):
    rng = np.random.default_rng(8)
    start, steps = cases.initial(rng), (cases.sparse_steps if sparse else cases.dense_steps)(rng, 4)
    check(cases.train(tf, maker(tf, use_locking=True), start, steps, resource), start, steps)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("resource", [False, True])
def test_the_usual_beta2_in_bfloat16(tf, resource, sparse):
    """0.999 is 1 in bfloat16, so powers and scalars must be in more bits."""
    grad = np.full((3, 2), 0.5)
    steps = [(np.arange(3) if sparse else None, grad)] * 3
    got = cases.train(
        tf, lambda step: tf.train.AdamAsyncOptimizer(0.125), np.zeros((3, 2)), steps, resource, dtype="bfloat16"
    )
    # Equal gradients: each step is the learning rate.
    np.testing.assert_allclose(got["table"].astype(float), -0.375, rtol=0.02)
    assert got["table/AdamAsync_3"] == pytest.approx(0.999**4, rel=1e-6)


@pytest.mark.parametrize("resource", [False, True])
def test_save_and_restore(tf, resource, tmp_path):
    rng = np.random.default_rng(6)
    cases.check_save_and_restore(tf, maker(tf), cases.initial(rng), cases.sparse_steps(rng, 8), tmp_path, resource)


def test_concurrent_steps_take_different_powers(tf):
    table = tf.get_variable("table", initializer=np.zeros((4, 3)), use_resource=True)
    optimizer = maker(tf)(None)
    grads = [(tf.IndexedSlices(tf.ones([1, 3], tf.float64), tf.constant([i])), table) for i in range(4)]
    steps = [optimizer.apply_gradients([pair]) for pair in grads]
    power = optimizer.get_slot(table, "beta1_power")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            session.run(steps)
        assert session.run(power) == pytest.approx(BETA1**81, rel=1e-9)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("index", [7, -1])
def test_indices_outside_are_refused(tf, resource, index):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[0\] = {index} is not in \[0, 7\)"):
        cases.train(tf, maker(tf), np.ones((7, 5)), [(np.array([index]), np.ones((1, 5)))], resource)


@pytest.mark.parametrize("resource", [False, True])
def test_gradients_of_another_shape_are_refused(tf, resource):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"grad must have shape \[2,5\].*got \[1,5\]"):
        cases.train(tf, maker(tf), np.ones((7, 5)), [(np.array([0, 1]), np.ones((1, 5)))], resource)


@pytest.mark.parametrize("resource", [False, True])
def test_a_refused_step_changes_nothing(tf, resource):
    table = tf.get_variable("table", initializer=np.ones((7, 5)), use_resource=resource)
    indices = tf.placeholder(tf.int64, [None])
    optimizer = maker(tf)(None)
    train = optimizer.apply_gradients([(tf.IndexedSlices(tf.ones([2, 5], tf.float64), indices), table)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(tf.global_variables())
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(train, {indices: [0, 9]})
        for got, want in zip(session.run(tf.global_variables()), before):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("powers", ["var, b2", "b1, m", "b1, b1"])
def test_a_power_that_is_another_of_the_variables_is_refused_and_does_not_hang(tf, resource, powers):
    from tensorflow.deeprec import library

    names = ["var", "m", "v", *powers.split(", ")]
    variables = {n: tf.get_variable(n, initializer=[0.5], use_resource=resource) for n in {*names, "b1", "b2"}}
    inputs = [variables[n].handle if resource else variables[n] for n in names]
    op = library.ops().resource_apply_adam_async if resource else library.ops().apply_adam_async
    step = op(*inputs, 0.1, 0.9, 0.9, 0.1, [1.0], use_locking=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="must not be var|must be different variables"):
            session.run(step)


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("m", np.zeros(2), "m has dtype double, expected float"),
        ("v", np.zeros(3, np.float32), r"var and v do not have the same shape: \[2\] and \[3\]"),
        ("b1", np.zeros(2, np.float32), r"beta1_power must have one element, got shape \[2\]"),
        ("b2", np.int32(1), "beta2_power must be of a floating dtype, got int32"),
    ],
)
def test_handles_of_other_variables_are_refused(tf, name, value, message):
    from tensorflow.deeprec import library

    zeros = np.zeros(2, np.float32)
    values = {"var": zeros, "m": zeros, "v": zeros, "b1": np.float32(0.9), "b2": np.float32(0.9), name: value}
    with tf.Graph().as_default():
        handles = []
        for key, initial in values.items():
            variable = tf.get_variable(key, initializer=initial, use_resource=True)
            # Without what the shape function would refuse.
            handles.append(tf.placeholder_with_default(variable.handle, []))
        step = library.ops().resource_apply_adam_async(*handles, 0.1, 0.9, 0.9, 0.1, [1.0, 1.0])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(step)


def test_old_import_path(tf):
    from tensorflow.python.training import adam_async

    assert adam_async.AdamAsyncOptimizer is tf.train.AdamAsyncOptimizer is tf.compat.v1.train.AdamAsyncOptimizer
