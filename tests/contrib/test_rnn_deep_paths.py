"""Cells that only `tensorflow.contrib.rnn.python.ops.rnn_cell` has, against their formulas in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from tensorflow.contrib.rnn.python.ops import rnn_cell

BATCH, WIDTH, UNITS = 3, 5, 4
PLACES, LENGTH = 6, 3


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log1p(np.exp(x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def random(*shape, seed=0):
    return np.random.RandomState(seed + sum(shape)).uniform(-0.9, 0.9, shape).astype(np.float32)


def evaluate(fetches):
    """Values of `fetches` and, by the names below the scope "s", of the variables, which are random."""
    variables = tf.global_variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for index, variable in enumerate(variables):
            variable.load(random(*variable.shape.as_list(), seed=index), session)
        values, loaded = session.run([fetches, variables])
    return values, {v.op.name.removeprefix("s/"): value for v, value in zip(variables, loaded)}


def one_step(cell, x, state):
    with tf.variable_scope("s"):
        output, new_state = cell(tf.constant(x), state)
    return evaluate([output, new_state])


def check_gradient(cell, state_values, make_state):
    """The gradient with respect to the inputs, by central differences in float64."""
    x = random(BATCH, WIDTH).astype(np.float64)
    placeholder = tf.placeholder(tf.float64, x.shape)
    output, _ = cell(placeholder, make_state([tf.constant(s, tf.float64) for s in state_values]))
    loss = tf.reduce_sum(output * random(*output.shape.as_list(), seed=9))
    [gradient] = tf.gradients(loss, placeholder)
    variables = tf.global_variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for index, variable in enumerate(variables):
            variable.load(random(*variable.shape.as_list(), seed=index), session)
        got = session.run(gradient, {placeholder: x})
        want = np.zeros_like(x)
        for place in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[place] = 1e-6
            above, below = (session.run(loss, {placeholder: x + s}) for s in (step, -step))
            want[place] = (above - below) / 2e-6
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)


def test_minimal_rnn():
    x, h = random(BATCH, WIDTH), random(BATCH, UNITS, seed=1)
    (output, state), v = one_step(rnn_cell.MinimalRNNCell(UNITS), x, tf.constant(h))
    assert list(v) == ["minimal_rnn_cell/kernel", "minimal_rnn_cell/bias"]
    kernel, bias = v.values()
    z = np.tanh(x @ kernel[:WIDTH])
    u = sigmoid(np.concatenate([z, h], 1) @ kernel[WIDTH:] + bias)
    np.testing.assert_allclose(output, u * h + (1 - u) * z, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(state, output)


def test_chaos_free_network():
    x, h = random(BATCH, WIDTH), random(BATCH, UNITS, seed=1)
    (output, state), v = one_step(rnn_cell.CFNCell(UNITS, activation="relu"), x, tf.constant(h))
    assert list(v) == ["cfn_cell/kernel", "cfn_cell/recurrent_kernel", "cfn_cell/bias"]
    kernel, recurrent, bias = v.values()
    theta, eta = np.split(sigmoid(h @ recurrent + x @ kernel[:, : 2 * UNITS] + bias), 2, 1)
    want = theta * np.maximum(h, 0) + (1 - eta) * np.maximum(x @ kernel[:, 2 * UNITS :], 0)
    np.testing.assert_allclose(output, want, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(state, output)


@pytest.mark.parametrize("cell", [rnn_cell.MinimalRNNCell, rnn_cell.CFNCell])
def test_minimal_cells_start_with_their_initializers(cell):
    with tf.variable_scope("s"):
        made = cell(UNITS, kernel_initializer="zeros")
        made(tf.zeros([BATCH, WIDTH]), tf.zeros([BATCH, UNITS]))
    assert made.state_size == made.output_size == UNITS
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = dict(zip([v.op.name.rpartition("/")[2] for v in made.variables], session.run(made.variables)))
    assert not values["kernel"].any()
    np.testing.assert_array_equal(values["bias"], np.ones_like(values["bias"]))


@pytest.mark.parametrize("cell", [rnn_cell.MinimalRNNCell, rnn_cell.CFNCell])
def test_minimal_cells_need_a_known_width(cell):
    with pytest.raises(ValueError, match="shape"):
        cell(UNITS)(tf.placeholder(tf.float32, [BATCH, None]), tf.zeros([BATCH, UNITS]))
    with pytest.raises(ValueError, match="ndim"):
        cell(UNITS)(tf.zeros([BATCH, 2, 2]), tf.zeros([BATCH, UNITS]))


@pytest.mark.parametrize("cell", [rnn_cell.MinimalRNNCell, rnn_cell.CFNCell])
def test_gradients_of_minimal_cells(cell):
    check_gradient(cell(UNITS, dtype=tf.float64), [random(BATCH, UNITS)], lambda states: states[0])


def normalized(values, gamma, beta):
    mean, variance = values.mean(1, keepdims=True), values.var(1, keepdims=True)
    return (values - mean) / np.sqrt(variance + 1e-12) * gamma + beta


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("rich", [False, True])
def test_layer_norm_lstm(norm, rich):
    size = 2 if rich else UNITS
    more = dict(use_peepholes=True, num_proj=2, cell_clip=0.4, proj_clip=0.3) if rich else {}
    x, c, m = random(BATCH, WIDTH), random(BATCH, UNITS, seed=5), random(BATCH, size, seed=6)
    cell = rnn_cell.LayerNormLSTMCell(UNITS, layer_norm=norm, **more)
    assert cell.state_size == (UNITS, size) and cell.output_size == size
    (output, state), v = one_step(cell, x, tf.nn.rnn_cell.LSTMStateTuple(tf.constant(c), tf.constant(m)))
    v = {name.removeprefix("layer_norm_lstm_cell/"): value for name, value in v.items()}
    gates = ["input", "transform", "forget", "output"]
    names = ["kernel", "bias"]
    names += [f"{gate}/{part}" for gate in gates for part in ("gamma", "beta")] if norm else []
    names += ["w_f_diag", "w_i_diag", "w_o_diag"] if rich else []
    names += ["state/gamma", "state/beta"] if norm else []
    assert list(v) == names + (["projection/kernel"] if rich else [])

    def norm_of(values, name):
        return normalized(values, v[f"{name}/gamma"], v[f"{name}/beta"]) if norm else values

    joined = np.concatenate([x, m], 1) @ v["kernel"] + (0 if norm else v["bias"])
    i, j, f, o = (norm_of(gate, name) for gate, name in zip(np.split(joined, 4, 1), gates))
    peep = {g: v.get(f"w_{g}_diag", 0.0) for g in "fio"}
    new_c = sigmoid(f + 1 + peep["f"] * c) * c + sigmoid(i + peep["i"] * c) * np.tanh(j)
    new_c = norm_of(new_c, "state")
    new_c = np.clip(new_c, -0.4, 0.4) if rich else new_c
    new_m = sigmoid(o + peep["o"] * new_c) * np.tanh(new_c)
    new_m = np.clip(new_m @ v["projection/kernel"], -0.3, 0.3) if rich else new_m
    np.testing.assert_allclose(state.c, new_c, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(output, new_m, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(state.h, output)


def test_layer_norm_lstm_starts_with_gain_shift_and_initializer():
    cell = rnn_cell.LayerNormLSTMCell(
        UNITS, layer_norm=True, norm_gain=3.0, norm_shift=0.25, initializer=tf.constant_initializer(0.5)
    )
    cell(tf.zeros([BATCH, WIDTH]), cell.zero_state(BATCH, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable, value in zip(cell.variables, session.run(cell.variables)):
            kind = variable.op.name.rpartition("/")[2]
            assert (value == {"kernel": 0.5, "bias": 0.0, "gamma": 3.0, "beta": 0.25}[kind]).all(), variable


def test_layer_norm_lstm_over_time_shares_its_variables():
    cell = rnn_cell.LayerNormLSTMCell(UNITS, layer_norm=True)
    tf.nn.static_rnn(cell, [tf.constant(random(BATCH, WIDTH, seed=i)) for i in range(3)], dtype=tf.float32)
    assert len(tf.global_variables()) == 12


def test_layer_norm_lstm_needs_a_known_width():
    cell = rnn_cell.LayerNormLSTMCell(UNITS)
    with pytest.raises(ValueError, match="shape"):
        cell(tf.placeholder(tf.float32, [BATCH, None]), cell.zero_state(BATCH, tf.float32))


def test_gradients_of_layer_norm_lstm():
    states = [random(BATCH, UNITS, seed=i) for i in range(2)]
    cell = rnn_cell.LayerNormLSTMCell(UNITS, use_peepholes=True)
    check_gradient(cell, states, lambda s: tf.nn.rnn_cell.LSTMStateTuple(*s))


def turing_machine(v, xs, reads_num, writes_num, shift, clip, controller):
    """The machine of arXiv:1410.5401, section 3, one batch entry and one step at a time; returns the outputs."""
    outputs = []
    for row in range(BATCH):
        read = [np.tanh(v[f"initial_read_vector_{i}"][0]) for i in range(reads_num)]
        w = [softmax(v[f"initial_address_weights_{i}"][0]) for i in range(reads_num + writes_num)]
        memory = v["memory"].astype(np.float64)
        state = np.zeros(UNITS)
        outputs.append([])
        for x in xs:
            state = controller(np.concatenate([x[row], *read]), state)
            p = np.clip(state @ v["parameters_kernel"] + v["parameters_bias"], -clip, clip)
            per_head = LENGTH + 2 * shift + 4
            for head in range(reads_num + writes_num):
                q = p[head * per_head : (head + 1) * per_head]
                key, strength, gate = np.tanh(q[:LENGTH]), softplus(q[LENGTH]), sigmoid(q[LENGTH + 1])
                moves, sharp = softmax(q[LENGTH + 2 : -1]), 1 + softplus(q[-1])
                cosine = [m @ key / (np.linalg.norm(m) * np.linalg.norm(key) + 1e-8) for m in memory]
                mixed = gate * softmax(strength * np.array(cosine)) + (1 - gate) * w[head]
                moved = np.zeros(PLACES)
                for index, share in enumerate(moves):
                    offset = index if index <= shift else index - len(moves)
                    for place in range(PLACES):
                        moved[(place + offset) % PLACES] += share * mixed[place]
                w[head] = moved**sharp / (moved**sharp).sum()
            read = [w[i] @ memory for i in range(reads_num)]
            changes = p[(reads_num + writes_num) * per_head :].reshape(2 * writes_num, LENGTH)
            for i in range(writes_num):
                weights = w[reads_num + i][:, None]
                memory = memory * (1 - weights * sigmoid(changes[2 * i])) + weights * np.tanh(changes[2 * i + 1])
            out = np.concatenate([state, *read]) @ v["output_kernel"] + v["output_bias"]
            outputs[-1].append(np.clip(out, -clip, clip))
    return np.array(outputs).transpose(1, 0, 2)


@pytest.mark.parametrize("reads, writes, shift", [(1, 1, 1), (2, 1, 2), (1, 2, 0), (0, 1, 1), (1, 0, 1)])
def test_neural_turing_machine(reads, writes, shift):
    xs = [random(BATCH, WIDTH, seed=i) for i in range(3)]
    cell = rnn_cell.NTMCell(
        tf.nn.rnn_cell.BasicRNNCell(UNITS),
        PLACES,
        LENGTH,
        reads,
        writes,
        shift_range=shift,
        output_dim=2,
        clip_value=1.5,
    )
    with tf.variable_scope("s"):
        state = cell.zero_state(BATCH, tf.float32)
        outputs = []
        for x in xs:
            output, state = cell(tf.constant(x), state)
            outputs.append(output)
    (outputs, state), v = evaluate([outputs, state])
    assert state.time == 3 and state.M.shape == (BATCH, PLACES, LENGTH) and len(state.w_list) == reads + writes
    v = {name.removeprefix("ntm_cell/"): value for name, value in v.items()}
    machine = {"parameters_kernel", "parameters_bias", "output_kernel", "output_bias", "memory"}
    machine |= {f"initial_read_vector_{i}" for i in range(reads)}
    machine |= {f"initial_address_weights_{i}" for i in range(reads + writes)}
    assert set(v) == machine | {"basic_rnn_cell/kernel", "basic_rnn_cell/bias"}

    def controller(inputs, state):
        return np.tanh(np.concatenate([inputs, state]) @ v["basic_rnn_cell/kernel"] + v["basic_rnn_cell/bias"])

    want = turing_machine(v, xs, reads, writes, shift, 1.5, controller)
    np.testing.assert_allclose(outputs, want, rtol=2e-4, atol=2e-5)


def test_neural_turing_machine_starts_as_stated():
    cell = rnn_cell.NTMCell(tf.nn.rnn_cell.BasicRNNCell(UNITS), PLACES, LENGTH, 1, 1)
    cell(tf.zeros([1, WIDTH]), cell.zero_state(1, tf.float32))
    assert cell.output_size == WIDTH and cell.state_size.w_list == [PLACES, PLACES]
    values = {v.op.name.rpartition("/")[2]: v for v in cell.variables}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(values)
    np.testing.assert_array_equal(values["memory"], np.full((PLACES, LENGTH), 1e-6, np.float32))
    assert not values["parameters_bias"].any() and not values["output_bias"].any()
    # Truncated at two deviations of 1 / sqrt(rows).
    assert abs(values["parameters_kernel"]).max() <= 2 / np.sqrt(UNITS)


@pytest.mark.parametrize("static", [True, False])
def test_neural_turing_machine_learns(static):
    """A gradient reaches every variable, the first values included."""
    cell = rnn_cell.NTMCell(tf.nn.rnn_cell.BasicLSTMCell(UNITS), PLACES, LENGTH, 1, 1, output_dim=2)
    xs = np.stack([random(BATCH, WIDTH, seed=i) for i in range(3)], 1)
    state = cell.zero_state(BATCH, tf.float32)
    if static:
        outputs, _ = tf.nn.static_rnn(cell, [tf.constant(xs[:, i]) for i in range(3)], initial_state=state)
    else:
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(xs), initial_state=state, dtype=tf.float32)
    gradients = tf.gradients(tf.reduce_sum(tf.square(outputs)), tf.trainable_variables())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable, gradient in zip(tf.trainable_variables(), session.run(gradients)):
            assert np.isfinite(gradient).all() and gradient.any(), variable


def test_neural_turing_machine_refuses_bad_arguments():
    with pytest.raises(ValueError, match="memory_size must be at least 2 \\* shift_range \\+ 1 = 7, got 6"):
        rnn_cell.NTMCell(tf.nn.rnn_cell.BasicRNNCell(UNITS), PLACES, LENGTH, 1, 1, shift_range=3)
    with pytest.raises(TypeError):
        rnn_cell.NTMCell("cell", PLACES, LENGTH, 1, 1)
