"""tf.contrib.opt: update rules against NumPy, on reference and resource variables, dense and sparse."""

import numpy as np
import pytest
import tensorflow as tf

from tensorflow.contrib.opt.python.training import matrix_functions, sign_decay

opt_lib = tf.contrib.opt
STEPS, RATE = 5, 0.1
W0 = np.random.RandomState(0).normal(size=[4, 3])
GRADS = np.random.RandomState(1).normal(size=[STEPS, 4, 3])
ROWS = np.array([[0, 2], [2, 3], [0, 1], [1, 3], [2, 0]])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def train(make, sparse=False, resource=False, steps=STEPS, w0=W0):
    """The variable after steps with fixed gradients; of a sparse one, the rows of ROWS."""
    w = tf.get_variable("w", initializer=w0.astype(np.float32), use_resource=resource)
    step = tf.train.get_or_create_global_step()
    grad = tf.placeholder(tf.float32, [None, 3])
    rows = tf.placeholder(tf.int64, [None])
    gradient = tf.IndexedSlices(grad, rows, tf.constant([4, 3], tf.int64)) if sparse else grad
    update = make(step).apply_gradients([(gradient, w)], global_step=step)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for i in range(steps):
            feed = {grad: GRADS[i][ROWS[i]] if sparse else GRADS[i], rows: ROWS[i]}
            session.run(update, feed)
        return session.run(w)


def dense_gradient(i, sparse):
    g = np.zeros([4, 3])
    touched = ROWS[i] if sparse else np.arange(4)
    g[touched] = GRADS[i][touched]
    return g, touched


def adam(lazy=False, decay=0.0, nesterov=False, infinity=False):
    def reference(sparse):
        w, m, v = W0.copy(), np.zeros_like(W0), np.zeros_like(W0)
        for i in range(STEPS):
            t = i + 1
            g, touched = dense_gradient(i, sparse)
            where = touched if (lazy or infinity) and sparse else np.arange(4)
            if decay:
                w[touched] -= decay * w[touched]
            m[where] = 0.9 * m[where] + 0.1 * g[where]
            if infinity:
                v[where] = np.maximum(0.999 * v[where], np.abs(g[where]))
                w[where] -= RATE / (1 - 0.9**t) * m[where] / (v[where] + 1e-8)
                continue
            v[where] = 0.999 * v[where] + 0.001 * g[where] ** 2
            rate = RATE * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            moment = 0.9 * m + 0.1 * g if nesterov else m
            if nesterov and sparse:
                where = touched
            w[where] -= rate * moment[where] / (np.sqrt(v[where]) + 1e-8)
        return w

    return reference


def momentum(decay=0.0):
    def reference(sparse):
        w, a = W0.copy(), np.zeros_like(W0)
        for i in range(STEPS):
            g, touched = dense_gradient(i, sparse)
            w[touched] -= decay * w[touched]
            a[touched] = 0.9 * a[touched] + g[touched]
            w[touched] -= RATE * a[touched]
        return w

    return reference


def adagrad(decay=0.0, slots=True):
    def reference(sparse):
        w, a = W0.copy(), np.full_like(W0, 0.1)
        for i in range(STEPS):
            g, touched = dense_gradient(i, sparse)
            w[touched] -= decay * w[touched]
            a[touched] += slots * g[touched] ** 2
            w[touched] -= RATE * g[touched] / np.sqrt(a[touched])
        return w

    return reference


def sign(combine):
    def reference(sparse):
        w, m = W0.copy(), np.zeros_like(W0)
        for i in range(STEPS):
            g, _ = dense_gradient(i, sparse)
            m = 0.9 * m + 0.1 * g
            w -= RATE * combine(np.sign(g) * np.sign(m)) * g
        return w

    return reference


RULES = {
    "LazyAdam": (lambda step: opt_lib.LazyAdamOptimizer(RATE), adam(lazy=True)),
    "AdamGS": (lambda step: opt_lib.AdamGSOptimizer(step, RATE), adam()),
    "LazyAdamGS": (lambda step: opt_lib.LazyAdamGSOptimizer(step, RATE), adam(lazy=True)),
    "AdaMax": (lambda step: opt_lib.AdaMaxOptimizer(RATE), adam(infinity=True)),
    "Nadam": (lambda step: opt_lib.NadamOptimizer(RATE), adam(nesterov=True)),
    "AdamW": (lambda step: opt_lib.AdamWOptimizer(0.05, RATE), adam(decay=0.05)),
    "MomentumW": (lambda step: opt_lib.MomentumWOptimizer(lambda: 0.05, RATE, 0.9), momentum(decay=0.05)),
    "extended": (
        lambda step: opt_lib.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)(0.05, learning_rate=RATE),
        adagrad(decay=0.05),
    ),
    "RegAdagrad": (lambda step: opt_lib.RegAdagradOptimizer(RATE), adagrad()),
    "AddSign": (lambda step: opt_lib.AddSignOptimizer(RATE), sign(lambda s: 1 + s)),
    "PowerSign": (lambda step: opt_lib.PowerSignOptimizer(RATE), sign(lambda s: np.e**s)),
    "skipped LARS": (lambda step: opt_lib.LARSOptimizer(RATE, skip_list=["w"]), momentum()),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_update_rule(rule, sparse, resource):
    make, reference = RULES[rule]
    np.testing.assert_allclose(train(make, sparse, resource), reference(sparse), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("resource", [False, True])
def test_reg_adagrad_leaves_slots_alone(resource):
    class Avoiding(opt_lib.RegAdagradOptimizer):
        def apply_gradients(self, *args, **kwargs):
            with self.avoid_updating_slots():
                return super().apply_gradients(*args, **kwargs)

    got = train(lambda step: Avoiding(RATE), resource=resource)
    np.testing.assert_allclose(got, adagrad(slots=False)(False), rtol=1e-5)


@pytest.mark.parametrize("resource", [False, True])
def test_lars(resource):
    w, a = W0.copy(), np.zeros_like(W0)
    for g in GRADS:
        ratio = 0.01 * np.linalg.norm(w) / (np.linalg.norm(g) + 0.1 * np.linalg.norm(w))
        a = 0.9 * a + RATE * ratio * (g + 0.1 * w)
        w = w - a
    got = train(lambda step: opt_lib.LARSOptimizer(RATE, weight_decay=0.1, eeta=0.01), resource=resource)
    np.testing.assert_allclose(got, w, rtol=1e-5)
    with pytest.raises(ValueError, match="momentum"):
        opt_lib.LARSOptimizer(RATE, momentum=-1.0)
    with pytest.raises(ValueError, match="weight_decay"):
        opt_lib.LARSOptimizer(RATE, weight_decay=-1.0)


def power(matrix, exponent):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * values**exponent) @ vectors.T


@pytest.mark.parametrize("settings", [{}, {"use_iterative_root": True}, {"svd_interval": 2}, {"gbar_decay": 0.5}])
def test_shampoo(settings):
    w, left, right, mean = W0.copy(), np.zeros([4, 4]), np.zeros([3, 3]), np.zeros_like(W0)
    roots = [np.eye(4), np.eye(3)]
    for i, g in enumerate(GRADS):
        left, right = left + g @ g.T, right + g.T @ g
        if (i + 1) % settings.get("svd_interval", 1) == 0:
            roots = [power(m / len(m) + 1e-4 * np.eye(len(m)), -0.25) for m in (left, right)]
        mean = settings.get("gbar_decay", 0.0) * mean + g
        w -= RATE * roots[0] @ mean @ roots[1]
    got = train(lambda step: opt_lib.ShampooOptimizer(step, learning_rate=RATE, **settings))
    np.testing.assert_allclose(got, w, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("resource", [False, True])
def test_shampoo_with_diagonals(sparse, resource):
    w, left, right = W0.copy(), np.zeros(4), np.zeros(3)
    for i in range(STEPS):
        g, touched = dense_gradient(i, sparse)
        left += (g**2).sum(1) / (1 if sparse else 4)
        right += (g**2).sum(0) / (1 if sparse else 3)
        factors = np.where(left > 0, np.maximum(left, 1e-30) ** -0.25, 0)[:, None] * right**-0.25
        w[touched] -= RATE * (g * factors)[touched]
    got = train(lambda step: opt_lib.ShampooOptimizer(step, 2, learning_rate=RATE), sparse, resource)
    np.testing.assert_allclose(got, w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("resource", [False, True])
def test_ggt(resource):
    w, m, buffer = W0.ravel().copy(), np.zeros(12), np.zeros([3, 12])
    for i, g in enumerate(GRADS):
        m = 0.9 * m + 0.1 * g.ravel()
        buffer[i % 3] = m
        matrix = buffer.T / np.sqrt(min(i + 1, 3))
        sigma, u = np.linalg.eigh(matrix.T @ matrix + 1e-6 * np.eye(3))
        root, inside = np.sqrt(sigma), u.T @ matrix.T @ m
        step = matrix @ u @ (inside / (root + 1e-2) ** 3)
        if root.min() > 1e-4:
            step += (m - matrix @ u @ (inside / sigma)) / root.min()
        w -= 0.01 * step
    got = train(lambda step: opt_lib.GGTOptimizer(0.01, window=3), resource=resource)
    np.testing.assert_allclose(got.ravel(), w, rtol=5e-2, atol=5e-3)


def test_ggt_refuses_sparse_gradients():
    with pytest.raises(NotImplementedError, match="Sparse"):
        train(lambda step: opt_lib.GGTOptimizer(), sparse=True)


def test_matrix_functions():
    a = GRADS[0] @ GRADS[0].T + np.eye(4)
    root = matrix_functions.matrix_square_root(tf.constant(a, tf.float32), 4, ridge_epsilon=0.0)
    inverse = matrix_functions.matrix_inverse_pth_root(tf.constant(a, tf.float32), 4, -1.0 / 3, ridge_epsilon=0.0)
    with tf.Session() as session:
        got = session.run([root, inverse])
    np.testing.assert_allclose(got[0], power(a, 0.5), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(got[1], power(a, -1.0 / 3), rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match="alpha"):
        matrix_functions.matrix_inverse_pth_root(tf.eye(2), 2, 0.3)


def test_sign_decays():
    step = tf.placeholder(tf.int32, [])
    functions = [
        sign_decay.get_linear_decay_fn(10),
        sign_decay.get_cosine_decay_fn(10),
        sign_decay.get_cosine_decay_fn(10, num_periods=2, zero_after=0.5),
        sign_decay.get_restart_decay_fn(10, num_periods=2),
        sign_decay.get_restart_decay_fn(10, num_periods=2, zero_after=1),
    ]
    tensors = [f(step) for f in functions]
    with tf.Session() as session:
        for s in (0, 3, 7, 10, 15):
            t = min(s, 10)
            half = lambda x: 0.5 * (1 + np.cos(np.pi * x))  # noqa: E731
            want = [
                max(0, 1 - t / 10), half(t / 10), 0 if 4 * t / 10 >= 1 else half(4 * t / 10), half((2 * t % 10) / 10),
                0 if 2 * t / 10 >= 1 else half((2 * t % 10) / 10),
            ]  # fmt: skip
            np.testing.assert_allclose(session.run(tensors, {step: s}), want, atol=1e-6)
    with pytest.raises(ValueError, match="global_step"):
        functions[0](None)


def test_sign_decay_of_an_optimizer():
    got = train(lambda step: opt_lib.AddSignOptimizer(RATE, sign_decay_fn=sign_decay.get_linear_decay_fn(2)))
    w, m = W0.copy(), np.zeros_like(W0)
    for i, g in enumerate(GRADS):
        m = 0.9 * m + 0.1 * g
        w -= RATE * (1 + max(0, 1 - i / 2) * np.sign(g) * np.sign(m)) * g
    np.testing.assert_allclose(got, w, rtol=1e-5)


def test_decay_var_list():
    a, b = tf.get_variable("a", initializer=1.0), tf.get_variable("b", initializer=1.0)
    train_op = opt_lib.MomentumWOptimizer(0.5, 0.0, 0.9).minimize(a + b, decay_var_list=[b])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train_op)
        assert session.run([a, b]) == [1.0, 0.5]


@pytest.mark.parametrize("resource", [False, True])
def test_moving_average_and_swapping_saver(resource, tmp_path):
    w = tf.get_variable("w", initializer=1.0, use_resource=resource)
    opt = opt_lib.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), average_decay=0.5)
    with pytest.raises(RuntimeError, match="minimize"):
        opt.swapping_saver()
    step = opt.minimize(w)
    saver = opt.swapping_saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(step)
        path = saver.save(session, str(tmp_path / "m"))
        # w: 1, 0, -1; the average: 1, 0.5, -0.25.
        assert tf.train.load_variable(path, "w") == -0.25
        assert tf.train.load_variable(path, "w/ExponentialMovingAverage") == -1.0
        saver.restore(session, path)
        assert session.run(w) == -1.0


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("resource", [False, True])
def test_variable_clipping(sparse, resource):
    def make(step):
        (w,) = tf.trainable_variables()
        return opt_lib.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(RATE), {w: [1]}, 0.7)

    w = W0.copy()
    for i in range(STEPS):
        g, touched = dense_gradient(i, sparse)
        w -= RATE * g
        w[touched] *= np.minimum(1, 0.7 / np.linalg.norm(w[touched], axis=1, keepdims=True))
    np.testing.assert_allclose(train(make, sparse, resource), w, rtol=1e-5, atol=1e-6)


def test_drop_stale_gradients():
    w = tf.get_variable("w", initializer=1.0)
    step = tf.train.get_or_create_global_step()
    opt = opt_lib.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(1.0), staleness=2)
    pairs = opt.compute_gradients(2.0 * w)
    age = tf.placeholder(tf.int64, [])
    opt._local_step = step.read_value() - age
    dropped = opt.apply_gradients(pairs, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(dropped, {age: a}) for a in (2, 3, 0)] == [0.0, 1.0, 1.0]
        assert session.run([w, step]) == [-3.0, 2]
    with pytest.raises(ValueError, match="global_step"):
        opt.apply_gradients(pairs)


@pytest.mark.parametrize("resource", [False, True])
def test_multitask_skips_zero_gradients(resource):
    a = tf.get_variable("a", initializer=1.0, use_resource=resource)
    opt = opt_lib.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(1.0, 0.5))
    g = tf.placeholder(tf.float32, [])
    update = opt.apply_gradients([(g, a)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = []
        for x in (1.0, 0.0, 1.0):
            session.run(update, {g: x})
            values.append(session.run(a))
    # Plain momentum would move in the second step.
    assert values == [0.0, 0.0, -1.5]
    with pytest.raises(TypeError, match="Optimizer"):
        opt_lib.MultitaskOptimizerWrapper("x")


def test_clip_gradients_by_global_norm():
    v = [tf.get_variable(n, initializer=[0.0, 0.0]) for n in "abc"]
    pairs = list(zip([tf.constant([3.0, 4.0]), tf.zeros([2]), None], v))
    clipped, norm = opt_lib.clip_gradients_by_global_norm(pairs, 1.0)
    with tf.Session() as session:
        got, total = session.run([[g for g, _ in clipped[:2]], norm])
    np.testing.assert_allclose(got, [[0.6, 0.8], [0.0, 0.0]], rtol=1e-6)
    assert total == 5.0 and clipped[2] == (None, v[2])


def test_scipy_interface():
    pytest.importorskip("scipy")
    v = tf.get_variable("v", initializer=[7.0, 7.0])
    w = tf.get_variable("w", initializer=5.0)
    loss = tf.reduce_sum(v * v) + w * w
    seen = []
    optimizers = {
        (0, 0): opt_lib.ScipyOptimizerInterface(loss, options={"maxiter": 100}),
        (1, 2): opt_lib.ScipyOptimizerInterface(loss, var_to_bounds={v: ([1, 2], np.inf)}),
        (1, 1): opt_lib.ScipyOptimizerInterface(
            loss, var_list=[v], equalities=[v[1] - 1.0], inequalities=[v[0] - 1.0], method="SLSQP"
        ),
    }
    with tf.Session() as session:
        for want, optimizer in optimizers.items():
            session.run(tf.global_variables_initializer())
            optimizer.minimize(session, fetches=[loss], loss_callback=seen.append)
            np.testing.assert_allclose(session.run(v), want, atol=1e-3)
    assert seen
    with pytest.raises(ValueError, match="var_to_bounds"):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            opt_lib.ScipyOptimizerInterface(loss, bounds=[]).minimize(session)
    with pytest.raises(NotImplementedError, match="_minimize"):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            opt_lib.ExternalOptimizerInterface(loss).minimize(session)


def local_model(getter):
    with tf.variable_scope("", custom_getter=getter):
        w = tf.get_variable("w", initializer=8.0)
        tf.get_variable("fixed", initializer=0.0, trainable=False)
    return w, tf.train.get_or_create_global_step()


def with_hook(hook, train_op, fetches, steps):
    init = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer())
    scaffold = tf.train.Scaffold(init_op=init, local_init_op=tf.no_op(), ready_op=tf.constant([], tf.string))
    creator = tf.train.ChiefSessionCreator(scaffold)
    with tf.train.MonitoredSession(creator, hooks=[hook]) as session:
        values = []
        for _ in range(steps):
            session.run(train_op)
            values.append(session.run(fetches))
        return values


def test_elastic_average(tmp_path):
    getter = opt_lib.ElasticAverageCustomGetter("/cpu:0")
    w, step = local_model(getter)
    center = getter._global_map[w]
    assert center.op.name == "global_center_variable/w" and w in tf.local_variables()
    opt = opt_lib.ElasticAverageOptimizer(
        tf.train.GradientDescentOptimizer(1.0), 1, getter, communication_period=2, moving_rate=0.5, rho=0.0
    )
    train_op = opt.apply_gradients(opt.compute_gradients(2.0 * w), global_step=step)
    values = with_hook(opt.make_session_run_hook(True, 0), train_op, [w, center, step], 4)
    # Every second step both move by half of their distance.
    assert values == [[6.0, 8.0, 0], [6.0, 6.0, 1], [4.0, 6.0, 1], [4.0, 4.0, 2]]
    saver = opt.swapping_saver()
    assert saver is not None


def test_elastic_average_pulls_towards_the_center():
    getter = opt_lib.ElasticAverageCustomGetter("/cpu:0")
    w, _ = local_model(getter)
    opt = opt_lib.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 1, getter, rho=0.5)
    ((grad, _),) = opt.compute_gradients(2.0 * w)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(getter._local_map[w].assign(2.0))
        assert session.run(grad) == 2.0 + 0.5 * (8.0 - 2.0)


def test_agn():
    getter = opt_lib.AGNCustomGetter("/cpu:0")
    w, step = local_model(getter)
    opt = opt_lib.AGNOptimizer(tf.train.GradientDescentOptimizer(1.0), 1, getter, communication_period=2)
    g = tf.get_variable("g", initializer=1.0, trainable=False)
    train_op = opt.apply_gradients([(g * 2.0, w)], global_step=step)
    center = getter._global_map[w]
    values = with_hook(opt.make_session_run_hook(True, 0), train_op, [w, center, step], 4)
    # The center moves by the mean gradient of a period, 2.
    assert values == [[6.0, 8.0, 0], [6.0, 6.0, 1], [4.0, 6.0, 1], [4.0, 4.0, 2]]


def test_agn_with_slots():
    getter = opt_lib.AGNCustomGetter("/cpu:0")
    w, step = local_model(getter)
    opt = opt_lib.AGNOptimizer(tf.train.AdamOptimizer(1.0), 1, getter, communication_period=2)
    train_op = opt.apply_gradients([(tf.constant(2.0), w)], global_step=step)
    values = with_hook(opt.make_session_run_hook(True, 0), train_op, [getter._global_map[w]], 2)
    assert values[0] == [8.0] and values[1][0] < 8.0


def test_model_average_of_one_worker():
    getter = opt_lib.ModelAverageCustomGetter("/cpu:0")
    w, step = local_model(getter)
    opt = opt_lib.ModelAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 1, True, getter, interval_steps=2)
    train_op = opt.apply_gradients(opt.compute_gradients(2.0 * w), global_step=step)
    center = getter._local_2_global[w]
    values = with_hook(opt.make_session_run_hook(), train_op, [w, center, step], 4)
    assert values == [[6.0, 8.0, 0], [4.0, 4.0, 1], [2.0, 4.0, 1], [0.0, 0.0, 2]]


def test_model_average_needs_a_global_step():
    getter = opt_lib.ModelAverageCustomGetter("/cpu:0")
    w, _ = local_model(getter)
    opt = opt_lib.ModelAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 1, True, getter)
    with pytest.raises(ValueError, match="Global step"):
        opt.apply_gradients(opt.compute_gradients(w))
