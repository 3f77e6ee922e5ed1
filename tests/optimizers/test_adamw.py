"""AdamW and decoupled weight decay on ordinary variables."""

import pathlib
import runpy
import types

import numpy as np
import pytest

# Test modules cannot import their neighbours.
cases = types.SimpleNamespace(**runpy.run_path(str(pathlib.Path(__file__).with_name("deeprec_cases.py"))))

# Exact in float32, which is what floats become on their way to a variable of any dtype.
DECAY, RATE, BETA1, BETA2, EPSILON = 0.0625, 0.125, 0.75, 0.9375, 2**-10


def maker(tf, **kwargs):
    return lambda step: tf.train.AdamWOptimizer(DECAY, RATE, BETA1, BETA2, EPSILON, **kwargs)


def reference(start, steps, lazy):
    """Variable, m, v."""
    w = start.astype(np.float64)
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t, step in enumerate(steps, 1):
        alpha = RATE * np.sqrt(1 - BETA2**t) / (1 - BETA1**t)
        sums = cases.touched(step)
        for row in range(len(w)):
            if row not in sums and lazy:
                continue
            if row in sums:
                w[row] -= DECAY * w[row]
            g = sums.get(row, 0)
            m[row] = BETA1 * m[row] + (1 - BETA1) * g
            v[row] = BETA2 * v[row] + (1 - BETA2) * g * g
            w[row] -= alpha * m[row] / (np.sqrt(v[row]) + EPSILON)
    return w, m, v


def check(got, start, steps, lazy=False, rtol=1e-6):  # the beta powers are float32
    for name, want in zip(("", "/AdamW", "/AdamW_1"), reference(start, steps, lazy)):
        np.testing.assert_allclose(got[f"table{name}"].astype(float), want, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("resource", [False, True])
def test_dense_gradients_decay_the_variable(tf, resource):
    rng = np.random.default_rng(0)
    start, steps = cases.initial(rng), cases.dense_steps(rng, 5)
    got = cases.train(tf, maker(tf), start, steps, resource)
    check(got, start, steps)
    assert {"beta1_power", "beta2_power"} < set(got)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("resource", [False, True])
def test_sparse_gradients_decay_the_rows_they_name_once(tf, resource, lazy):
    rng = np.random.default_rng(1)
    start, steps = cases.initial(rng), cases.sparse_steps(rng, 9)
    check(cases.train(tf, maker(tf, lazy=lazy), start, steps, resource), start, steps, lazy)


@pytest.mark.parametrize("dtype, rtol", [("float32", 1e-5), ("bfloat16", 0.15), ("float16", 0.02)])
def test_dtypes(tf, dtype, rtol):
    rng = np.random.default_rng(2)
    start, steps = cases.initial(rng), cases.sparse_steps(rng, 4)
    check(cases.train(tf, maker(tf), start, steps, dtype=dtype, resource=True), start, steps, rtol=rtol)


@pytest.mark.parametrize("resource", [False, True])
def test_partitioned(tf, resource):
    rng = np.random.default_rng(3)
    start, steps = cases.initial(rng), cases.dense_steps(rng, 4)
    got = cases.train(tf, maker(tf), start, steps, resource, partitioner=tf.fixed_size_partitioner(2))
    check(
        {
            "table" + s: np.concatenate([got[f"table/part_{i}{s}"] for i in range(2)])
            for s in ("", "/AdamW", "/AdamW_1")
        },
        start,
        steps,
    )


@pytest.mark.parametrize("resource", [False, True])
def test_save_and_restore(tf, resource, tmp_path):
    rng = np.random.default_rng(4)
    cases.check_save_and_restore(tf, maker(tf), cases.initial(rng), cases.sparse_steps(rng, 8), tmp_path, resource)


def one_step(tf, method, chosen):
    """What one step without gradient leaves of ones, of two variables and a partitioned one."""
    names = ("a", "b")
    v = {name: tf.get_variable(name, initializer=tf.ones([2])) for name in names}
    v["p"] = tf.get_variable("p", [2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
    optimizer = tf.train.AdamWOptimizer(0.25)
    flat = [v["a"], v["b"], *v["p"]]
    decay = None if chosen is None else [v[name] for name in chosen]
    if method == "minimize":
        train = optimizer.minimize(0 * tf.add_n([tf.reduce_sum(x) for x in flat]), decay_var_list=decay)
    else:
        train = optimizer.apply_gradients([(tf.zeros_like(x), x) for x in flat], decay_var_list=decay)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        return {name: session.run(tf.convert_to_tensor(x))[1] for name, x in v.items()}


@pytest.mark.parametrize("method", ["minimize", "apply_gradients"])
@pytest.mark.parametrize("chosen", [None, [], ["a"], ["p"]])
def test_decay_var_list_names_what_decays(tf, method, chosen):
    got = one_step(tf, method, chosen)
    assert got == {name: 0.75 if not chosen or name in chosen else 1 for name in "abp"}


@pytest.mark.parametrize("kind", ["tensor of another dtype", "function"])
def test_weight_decay_may_be_a_tensor_or_a_function(tf, run_session, kind):
    decay = (lambda: tf.constant(0.25)) if kind == "function" else tf.constant(0.25, tf.float64)
    v = tf.get_variable("v", initializer=np.ones(2, np.float32))
    train = tf.train.AdamWOptimizer(decay).apply_gradients([(tf.zeros([2]), v)])
    np.testing.assert_array_equal(run_session(train, v), [0.75, 0.75])


@pytest.mark.parametrize("resource", [False, True])
def test_extending_any_optimizer(tf, resource):
    rng = np.random.default_rng(5)
    start, steps = cases.initial(rng), cases.sparse_steps(rng, 6)
    cls = tf.train.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    assert issubclass(cls, tf.train.DecoupledWeightDecayExtension)
    got = cases.train(tf, lambda step: cls(DECAY, learning_rate=RATE), start, steps, resource)["table"]
    w = start.copy()
    for step in steps:
        for row, g in cases.touched(step).items():
            w[row] = w[row] * (1 - DECAY) - RATE * g
    np.testing.assert_allclose(got, w, rtol=1e-11)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_gradients_are_of_the_variable_before_it_decays(tf, sparse, resource):
    start = np.random.default_rng(6).uniform(-1, 1, size=(200, 50))
    v = tf.get_variable("v", initializer=start, use_resource=resource)
    indices = np.arange(0, 200, 2) if sparse else np.arange(200)
    read = tf.nn.embedding_lookup(v, tf.constant(indices)) if sparse else v
    train = tf.train.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)(0.25, learning_rate=0.5)
    train = train.minimize(tf.reduce_sum(read**4) / 16)
    w = start.copy()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(10):
            session.run(train)
            w[indices] = 0.75 * w[indices] - 0.125 * w[indices] ** 3
        np.testing.assert_allclose(session.run(v), w, rtol=1e-9)


@pytest.mark.parametrize("resource", [False, True])
def test_gradients_of_two_lookups_are_of_the_variable_before_it_decays(tf, resource):
    start = np.random.default_rng(7).uniform(-1, 1, size=(20, 3))
    v = tf.get_variable("v", initializer=start, use_resource=resource)
    ids = [tf.placeholder(tf.int64, [None]) for _ in range(2)]
    loss = tf.add_n([tf.reduce_sum(tf.nn.embedding_lookup(v, i) ** 2) for i in ids])
    train = tf.train.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)(0.25, learning_rate=0.125)
    train = train.minimize(loss)
    w = start.copy()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for first, second in (([3, 3, 5], [5, 9]), ([], [0]), ([], []), ([5, 1], [1, 0])):
            session.run(train, {ids[0]: first, ids[1]: second})
            for row in set(first + second):
                w[row] = 0.75 * w[row] - 0.25 * (first + second).count(row) * w[row]
        np.testing.assert_allclose(session.run(v), w, rtol=1e-12)


def test_indices_outside_are_refused(tf):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 7 is not in \[0, 7\)"):
        cases.train(tf, maker(tf), np.ones((7, 5)), [(np.array([7]), np.ones((1, 5)))])


def test_every_path_leads_to_the_same_class(tf):
    from tensorflow.python.training import weight_decay_optimizers

    assert tf.train.AdamWOptimizer is weight_decay_optimizers.AdamWOptimizer is tf.contrib.opt.AdamWOptimizer
    assert tf.compat.v1.train.AdamWOptimizer is tf.train.AdamWOptimizer
    assert issubclass(tf.train.AdamWOptimizer, tf.train.AdamOptimizer)
