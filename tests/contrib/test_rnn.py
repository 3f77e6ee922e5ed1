"""tf.contrib.rnn: cells against their formulas in NumPy, 1.15's variable names, gradients, drivers, bad input."""

import numpy as np
import pytest
import tensorflow as tf

R = tf.contrib.rnn
BATCH, WIDTH, UNITS = 3, 4, 4


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def random(*shape, seed=0):
    return np.random.RandomState(seed + sum(shape)).uniform(-0.9, 0.9, shape).astype(np.float32)


def one_step(cell, x, state):
    """Runs one step with random weights; returns output, state and {variable name below the scope: value}."""
    with tf.variable_scope("s"):
        output, new_state = cell(x, state)
    variables = tf.global_variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for index, variable in enumerate(variables):
            variable.load(random(*variable.shape.as_list(), seed=index), session)
        output, new_state, values = session.run([output, new_state, variables])
    return output, new_state, {v.op.name.removeprefix("s/"): value for v, value in zip(variables, values)}


def lstm_state(units=UNITS):
    return tf.nn.rnn_cell.LSTMStateTuple(random(BATCH, units, seed=5), random(BATCH, units, seed=6))


def below(values, layer):
    return {name.removeprefix(layer + "/"): value for name, value in values.items()}


def test_ugrnn():
    x, h = random(BATCH, WIDTH), random(BATCH, UNITS, seed=1)
    output, state, v = one_step(R.UGRNNCell(UNITS), tf.constant(x), tf.constant(h))
    v = below(v, "ugrnn_cell")
    g, c = np.split(np.concatenate([x, h], 1) @ v["kernel"] + v["bias"], 2, 1)
    want = sigmoid(g + 1) * h + (1 - sigmoid(g + 1)) * np.tanh(c)
    np.testing.assert_allclose(output, want, rtol=1e-5)
    np.testing.assert_allclose(state, want, rtol=1e-5)


def test_intersection_with_projection():
    x, h = random(BATCH, 6), random(BATCH, UNITS, seed=1)
    output, state, v = one_step(R.IntersectionRNNCell(UNITS, num_in_proj=UNITS), tf.constant(x), tf.constant(h))
    v = below(v, "intersection_rnn_cell")
    p = x @ v["in_projection/kernel"] + v["in_projection/bias"]
    gh, hh, gy, y = np.split(np.concatenate([p, h], 1) @ v["kernel"] + v["bias"], 4, 1)
    gh, gy = sigmoid(gh + 1), sigmoid(gy + 1)
    np.testing.assert_allclose(output, gy * p + (1 - gy) * np.maximum(y, 0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(state, gh * h + (1 - gh) * np.tanh(hh), rtol=1e-4, atol=1e-6)


def test_intersection_refuses_another_input_size():
    with pytest.raises(ValueError, match="num_in_proj"):
        one_step(R.IntersectionRNNCell(UNITS), tf.zeros([BATCH, 6]), tf.zeros([BATCH, UNITS]))


@pytest.mark.parametrize("peepholes", [False, True])
def test_coupled_gates_with_shards_and_projection(peepholes):
    cell = R.CoupledInputForgetGateLSTMCell(
        UNITS, use_peepholes=peepholes, num_proj=3, proj_clip=0.4, num_unit_shards=2, forget_bias=0.5
    )
    x, c, m = random(BATCH, WIDTH), random(BATCH, UNITS, seed=1), random(BATCH, 3, seed=2)
    output, state, v = one_step(cell, tf.constant(x), (tf.constant(c), tf.constant(m)))
    v = below(v, "coupled_input_forget_gate_lstm_cell")
    assert v["W_0"].shape == (4, 12) and v["W_1"].shape == (3, 12)
    j, f, o = np.split(np.concatenate([x, m], 1) @ np.concatenate([v["W_0"], v["W_1"]]) + v["B"], 3, 1)
    f = sigmoid(f + 0.5 + (v["W_F_diag"] * c if peepholes else 0))
    new_c = f * c + (1 - f) * np.tanh(j)
    out = sigmoid(o + (v["W_O_diag"] * new_c if peepholes else 0)) * np.tanh(new_c)
    np.testing.assert_allclose(state.c, new_c, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(output, np.clip(out @ v["W_P_0"], -0.4, 0.4), rtol=1e-4, atol=1e-6)


def test_coupled_gates_state_side_by_side():
    cell = R.CoupledInputForgetGateLSTMCell(UNITS, state_is_tuple=False)
    both = random(BATCH, 2 * UNITS)
    _, state, _ = one_step(cell, tf.constant(random(BATCH, WIDTH)), tf.constant(both))
    assert state.shape == (BATCH, 2 * UNITS) and cell.state_size == 2 * UNITS


def test_layer_norm_lstm():
    x, s = random(BATCH, WIDTH), lstm_state()
    output, state, v = one_step(R.LayerNormBasicLSTMCell(UNITS), tf.constant(x), s)
    v = below(v, "layer_norm_basic_lstm_cell")

    def norm(values, name):
        centred = values - values.mean(1, keepdims=True)
        centred /= np.sqrt((centred**2).mean(1, keepdims=True) + 1e-12)
        return centred * v[f"{name}/gamma"] + v[f"{name}/beta"]

    gates = np.split(np.concatenate([x, s.h], 1) @ v["kernel"], 4, 1)
    i, j, f, o = (norm(g, n) for g, n in zip(gates, ("input", "transform", "forget", "output")))
    c = norm(s.c * sigmoid(f + 1) + sigmoid(i) * np.tanh(j), "state")
    np.testing.assert_allclose(output, np.tanh(c) * sigmoid(o), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(state.c, c, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("norm", [True, False])
def test_weight_norm_lstm(norm):
    from tensorflow.contrib.rnn.python.ops.rnn_cell import WeightNormLSTMCell

    x, s = random(BATCH, WIDTH), lstm_state()
    cell = WeightNormLSTMCell(UNITS, norm=norm, use_peepholes=True, num_proj=UNITS, cell_clip=0.8)
    output, state, v = one_step(cell, tf.constant(x), tf.nn.rnn_cell.LSTMStateTuple(*map(tf.constant, s)))
    v = below(v, "weight_norm_lstm_cell")
    unit = lambda w, g: w / np.sqrt((w**2).sum(0)) * g  # noqa: E731
    kernel, projection = v["kernel"], v["projection/kernel"]
    if norm:
        kernel = np.concatenate([unit(kernel[:WIDTH], v["norm_0"]), unit(kernel[WIDTH:], v["norm_1"])])
        projection = unit(projection, v["projection/norm_0"])
    i, j, f, o = np.split(np.concatenate([x, s.h], 1) @ kernel + v["bias"], 4, 1)
    c = sigmoid(f + 1 + v["w_f_diag"] * s.c) * s.c + sigmoid(i + v["w_i_diag"] * s.c) * np.tanh(j)
    c = np.clip(c, -0.8, 0.8)
    np.testing.assert_allclose(state.c, c, atol=1e-5)
    np.testing.assert_allclose(output, sigmoid(o + v["w_o_diag"] * c) * np.tanh(c) @ projection, atol=1e-5)


def test_layer_norm_lstm_drops_out_of_the_candidate():
    cell = R.LayerNormBasicLSTMCell(UNITS, layer_norm=False, dropout_keep_prob=0.5, dropout_prob_seed=1)
    output, _, v = one_step(cell, tf.constant(random(BATCH, WIDTH)), lstm_state())
    assert set(below(v, "layer_norm_basic_lstm_cell")) == {"kernel", "bias"}
    assert any(op.type == "RandomUniform" and "dropout" in op.name for op in tf.get_default_graph().get_operations())


@pytest.mark.parametrize("bias, projection", [(False, None), (True, 3)])
def test_nas(bias, projection):
    size = projection or UNITS
    x, c, m = random(BATCH, WIDTH), random(BATCH, UNITS, seed=1), random(BATCH, size, seed=2)
    cell = R.NASCell(UNITS, num_proj=projection, use_bias=bias)
    output, state, v = one_step(cell, tf.constant(x), (tf.constant(c), tf.constant(m)))
    v = below(v, "nas_cell")
    a = np.split(x @ v["kernel"], 8, 1)
    b = np.split(m @ v["recurrent_kernel"] + v.get("bias", 0), 8, 1)
    relu = lambda t: np.maximum(t, 0)  # noqa: E731
    l0, l1 = np.tanh(sigmoid(a[0] + b[0]) * relu(a[1] + b[1])), np.tanh(sigmoid(a[2] + b[2]) + relu(a[3] * b[3]))
    l2 = np.tanh(np.tanh(a[4] + b[4]) * sigmoid(a[5] + b[5]))
    l3 = sigmoid(np.tanh(a[6] + b[6]) + sigmoid(a[7] + b[7]))
    new_c = np.tanh(l0 + c) * l1
    new_m = np.tanh(new_c * np.tanh(l2 + l3))
    new_m = new_m @ v["projection_weights"] if projection else new_m
    np.testing.assert_allclose(state.c, new_c, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(output, new_m, rtol=1e-4, atol=1e-6)


def test_sru():
    x, c = random(BATCH, WIDTH), random(BATCH, UNITS, seed=1)
    output, state, v = one_step(R.SRUCell(UNITS), tf.constant(x), tf.constant(c))
    v = below(v, "sru_cell")
    xb, f, r, xt = np.split(x @ v["kernel"], 4, 1)
    f, r = sigmoid(f + v["bias"][:UNITS]), sigmoid(r + v["bias"][UNITS:])
    new_c = f * c + (1 - f) * xb
    np.testing.assert_allclose(state, new_c, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(output, r * np.tanh(new_c) + (1 - r) * xt, rtol=1e-4, atol=1e-6)


def test_independent_rnn_gru_lstm():
    x, h, s = random(BATCH, WIDTH), random(BATCH, UNITS, seed=1), lstm_state()
    output, _, v = one_step(R.IndRNNCell(UNITS, activation="relu"), tf.constant(x), tf.constant(h))
    v = below(v, "ind_rnn_cell")
    np.testing.assert_allclose(output, np.maximum(x @ v["kernel_w"] + h * v["kernel_u"] + v["bias"], 0), atol=1e-6)

    with tf.Graph().as_default():
        output, _, v = one_step(R.IndyGRUCell(UNITS), tf.constant(x), tf.constant(h))
    v = below(v, "indy_gru_cell")
    gates = sigmoid(x @ v["gates/kernel_w"] + np.tile(h, [1, 2]) * v["gates/kernel_u"] + v["gates/bias"])
    r, u = np.split(gates, 2, 1)
    c = np.tanh(x @ v["candidate/kernel"] + r * h * v["candidate/kernel_u"] + v["candidate/bias"])
    np.testing.assert_allclose(output, u * h + (1 - u) * c, atol=1e-6)

    with tf.Graph().as_default():
        output, state, v = one_step(R.IndyLSTMCell(UNITS), tf.constant(x), s)
    v = below(v, "indy_lstm_cell")
    i, j, f, o = np.split(x @ v["kernel_w"] + np.tile(s.h, [1, 4]) * v["kernel_u"] + v["bias"], 4, 1)
    c = s.c * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
    np.testing.assert_allclose(output, np.tanh(c) * sigmoid(o), atol=1e-6)


def test_groups_equal_separate_lstms():
    x, s = random(BATCH, WIDTH), lstm_state()
    output, state, v = one_step(R.GLSTMCell(UNITS, number_of_groups=2, num_proj=2), tf.constant(x), (s.c, s.h[:, :2]))
    v = below(v, "glstm_cell")
    parts = []
    for g in range(2):
        joined = np.concatenate([x[:, 2 * g : 2 * g + 2], s.h[:, g : g + 1]], 1)
        parts.append(np.split(joined @ v[f"group{g}/kernel"], 4, 1))
    i, j, f, o = (np.concatenate(p, 1) + v[f"bias_{n}"] for p, n in zip(zip(*parts), "ijfo"))
    c = sigmoid(f + 1) * s.c + sigmoid(i) * np.tanh(j)
    np.testing.assert_allclose(state.c, c, atol=1e-6)
    np.testing.assert_allclose(output, sigmoid(o) * np.tanh(c) @ v["projection/kernel"], atol=1e-5)


def test_groups_must_divide():
    with pytest.raises(ValueError, match="divisible"):
        R.GLSTMCell(5, number_of_groups=2)


def test_phased_lstm():
    # Where the phase makes the cycle's start hit a time step, rounding decides between open and shut.
    tf.set_random_seed(1)
    time, x, s = np.array([[0.3], [70.0], [5.5]], np.float32), random(BATCH, WIDTH), lstm_state()
    with tf.variable_scope("s"):
        output, state = R.PhasedLSTMCell(UNITS, use_peepholes=True)(
            (tf.constant(time), tf.constant(x)), (tf.constant(s.c), tf.constant(s.h))
        )
    variables = {v.op.name.removeprefix("s/phased_lstm_cell/"): v for v in tf.global_variables()}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        output, state, v = session.run([output, state, variables])
    assert (v["period"] >= 1).all() and (v["period"] <= 1000).all() and (v["phase"] <= v["period"]).all()

    def linear(name, *args):
        return np.concatenate(args, 1) @ v[f"{name}/kernel"] + v[f"{name}/bias"]

    i, f = np.split(sigmoid(linear("mask_gates", x, s.h, s.c)), 2, 1)
    c = s.c * f + i * np.tanh(linear("new_input", x, s.h))
    h = np.tanh(c) * sigmoid(linear("output_gate", x, s.h, c))
    ratio = np.mod(time - v["phase"], v["period"]) / v["period"]
    up = 2 * ratio / v["ratio_on"]
    k = np.where(ratio < 0.5 * v["ratio_on"], up, np.where(ratio < v["ratio_on"], 2 - up, 0.001 * ratio))
    np.testing.assert_allclose(state.c, k * c + (1 - k) * s.c, atol=1e-5)
    np.testing.assert_allclose(output, k * h + (1 - k) * s.h, atol=1e-5)


def test_conv_lstm_of_one_pixel_is_an_lstm():
    x, s = random(BATCH, 2), lstm_state(3)
    cell = R.Conv2DLSTMCell(input_shape=[1, 1, 2], output_channels=3, kernel_shape=[1, 1], skip_connection=True)
    images = [tf.constant(t[:, None, None, :]) for t in (x, s.c, s.h)]
    output, state, v = one_step(cell, images[0], tf.nn.rnn_cell.LSTMStateTuple(*images[1:]))
    v = below(v, "conv_2d_lstm_cell")
    i, j, f, o = np.split(np.concatenate([x, s.h], 1) @ v["kernel"][0, 0] + v["biases"], 4, 1)
    c = sigmoid(f + 1) * s.c + sigmoid(i) * np.tanh(j)
    np.testing.assert_allclose(state.c[:, 0, 0], c, atol=1e-6)
    np.testing.assert_allclose(output[:, 0, 0], np.concatenate([np.tanh(c) * sigmoid(o), x], 1), atol=1e-6)


@pytest.mark.parametrize("cell, space", [(R.Conv1DLSTMCell, [5]), (R.Conv3DLSTMCell, [2, 3, 2])])
def test_conv_lstm_shapes(cell, space):
    made = cell(input_shape=space + [2], output_channels=3, kernel_shape=[2] * len(space))
    output, state, _ = one_step(made, tf.zeros([BATCH] + space + [2]), made.zero_state(BATCH, tf.float32))
    assert output.shape == (BATCH, *space, 3) and state.c.shape == (BATCH, *space, 3)


def test_conv_lstm_refuses_a_shape_of_another_rank():
    with pytest.raises(ValueError, match="conv_ndims"):
        R.ConvLSTMCell(2, [4, 2], 3, [3])


def bands(x):
    return [x[:, 0:2], x[:, 1:3], x[:, 2:4]]


def test_time_frequency_lstm():
    x, state = random(BATCH, 4), random(BATCH, 6 * 2, seed=3)
    cell = R.TimeFreqLSTMCell(2, use_peepholes=True, feature_size=2, frequency_skip=1, cell_clip=0.5)
    output, new_state, v = one_step(cell, tf.constant(x), tf.constant(state))
    v = below(v, "time_freq_lstm_cell")
    below_m, outputs, states = np.zeros([BATCH, 2], np.float32), [], []
    for k, band in enumerate(bands(x)):
        c, m = state[:, 4 * k : 4 * k + 2], state[:, 4 * k + 2 : 4 * k + 4]
        i, j, f, o = np.split(np.concatenate([band, m, below_m], 1) @ v["W_0"] + v["B"], 4, 1)
        c = sigmoid(f + 1 + v["W_F_diag"] * c) * c + sigmoid(i + v["W_I_diag"] * c) * np.tanh(j)
        c = np.clip(c, -0.5, 0.5)
        below_m = sigmoid(o + v["W_O_diag"] * c) * np.tanh(c)
        outputs.append(below_m)
        states += [c, below_m]
    np.testing.assert_allclose(output, np.concatenate(outputs, 1), atol=1e-6)
    np.testing.assert_allclose(new_state, np.concatenate(states, 1), atol=1e-6)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("coupled", [False, True])
def test_grid_lstm(shared, coupled):
    x = random(BATCH, 4)
    cell = R.GridLSTMCell(
        2,
        use_peepholes=True,
        share_time_frequency_weights=shared,
        couple_input_forget_gates=coupled,
        feature_size=2,
        frequency_skip=1,
        num_frequency_blocks=[3],
    )
    state = cell.state_tuple_type(*[random(BATCH, 2, seed=k) for k in range(6)])
    output, new_state, v = one_step(cell, tf.constant(x), state)
    v = below(v, "grid_lstm_cell")

    def run(way, word, joined, previous, c_f, c_t):
        parts = np.split(joined @ v[f"W_{way}_0_0"] + v[f"B_{way}_0"], 3 if coupled else 4, 1)
        peep = lambda g: v[f"W_{g}_diag_{word}f_0"] * c_f + v[f"W_{g}_diag_{word}t_0"] * c_t  # noqa: E731
        i = sigmoid(parts[0] + peep("I"))
        f = 1 - i if coupled else sigmoid(parts[2] + 1 + peep("F"))
        return f * previous + i * np.tanh(parts[1]), parts[-1]

    time = ("f", "freq") if shared else ("t", "time")
    below_m = below_c = np.zeros([BATCH, 2], np.float32)
    outputs, states = [], []
    for k, band in enumerate(bands(x)):
        c, m = state[2 * k], state[2 * k + 1]
        joined = np.concatenate([band, m, below_m], 1)
        c_f, o_f = run("f", "freq", joined, below_c, below_c, c)
        c_t, o_t = run(*time, joined, c, below_c, c)

        def out(o, word, c_):
            seen = v[f"W_O_diag_{word}f_0"] * c_f + v[f"W_O_diag_{word}t_0"] * c_t  # noqa: B023
            return sigmoid(o + seen) * np.tanh(c_)

        m_f, m_t = out(o_f, "freq", c_f), out(o_t, time[1], c_t)
        below_m, below_c = m_f, c_f
        outputs += [m_t, m_f]
        states += [c_t, m_t]
    np.testing.assert_allclose(output, np.concatenate(outputs, 1), atol=1e-5)
    np.testing.assert_allclose(np.concatenate(new_state, 1), np.concatenate(states, 1), atol=1e-5)


def test_bidirectional_grid_lstm_runs_backward_over_reversed_bands():
    cell = R.BidirectionalGridLSTMCell(2, feature_size=2, frequency_skip=1, num_frequency_blocks=[3])
    zero = [np.zeros([BATCH, 2], np.float32)] * 12
    x = random(BATCH, 4)
    output, state, v = one_step(cell, tf.constant(x), cell.state_tuple_type(*zero))
    assert cell.state_size._fields[0] == "fwd_state_f00_b00_c" and output.shape == (BATCH, cell.output_size)
    assert {n.split("/")[1] for n in v} == {"fwd", "bwd"}
    with tf.Graph().as_default():
        grid = R.GridLSTMCell(2, feature_size=2, frequency_skip=1, num_frequency_blocks=[3], start_freqindex_list=[0],
                              end_freqindex_list=[4])  # fmt: skip
        with tf.variable_scope("g"):
            again, _ = grid(tf.constant(x), grid.state_tuple_type(*zero[:6]))
        with tf.Session() as session:
            for variable in tf.global_variables():
                name = variable.op.name.replace("g/grid_lstm_cell", "bidirectional_grid_lstm_cell/fwd")
                variable.load(v[name], session)
            np.testing.assert_allclose(session.run(again), output[:, :12], atol=1e-6)


def test_grid_lstm_names_what_does_not_fit():
    with pytest.raises(ValueError, match="Must specify num_frequency_blocks"):
        R.GridLSTMCell(2)
    cell = R.GridLSTMCell(2, feature_size=2, frequency_skip=1, num_frequency_blocks=[2])
    with pytest.raises(ValueError, match="requires 2 but gets 3"):
        cell(tf.zeros([BATCH, 4]), cell.zero_state(BATCH, tf.float32))


@pytest.mark.parametrize("peephole", [False, True])
def test_block_lstm_is_the_lstm_and_so_is_its_gradient(peephole):
    x = tf.constant(random(BATCH, 5, WIDTH))
    lengths = [5, 2, 3]
    results, weights = [], []
    cells = [
        R.LSTMBlockCell(UNITS, use_peephole=peephole),
        tf.nn.rnn_cell.LSTMCell(UNITS, use_peepholes=peephole),
    ]
    for name, cell in zip("ab", cells):
        with tf.variable_scope(name):
            y, state = tf.nn.dynamic_rnn(cell, x, sequence_length=lengths, dtype=tf.float32)
        loss = tf.reduce_sum(y * y) + tf.reduce_sum(state.c)
        variables = tf.trainable_variables(name + "/")
        weights.append(variables)
        results.append([y, state.c] + tf.gradients(loss, [x] + variables))
    # The block op names peepholes in the order i, f, o; the plain cell makes them as f, i, o.
    order = lambda v: v.op.name.split("/", 1)[1]  # noqa: E731
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        pairs = {order(v): v for v in weights[1]}
        for index, v in enumerate(weights[0]):
            value = random(*v.shape.as_list(), seed=index)
            v.load(value, session)
            pairs[order(v)].load(value, session)
        ours, plain = session.run(results)
    names = ["y", "c", "x"] + [order(v) for v in weights[0]]
    plain = dict(zip(["y", "c", "x"] + [order(v) for v in weights[1]], plain))
    for name, got in zip(names, ours):
        np.testing.assert_allclose(got, plain[name], rtol=1e-4, atol=1e-5, err_msg=name)


def test_fused_block_lstm_is_the_lstm():
    x = tf.constant(random(5, BATCH, WIDTH))
    fused = R.LSTMBlockFusedCell(UNITS)
    y, state = fused(x, dtype=tf.float32, sequence_length=[5, 0, 3])
    cell = R.LSTMBlockCell(UNITS)
    want, want_state = tf.nn.dynamic_rnn(cell, x, sequence_length=[5, 0, 3], dtype=tf.float32, time_major=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([tf.assign(a, b) for a, b in zip(cell.variables, fused.variables)])
        got, expected = session.run([(y, state), (want, want_state)])
    np.testing.assert_allclose(got[0], expected[0], atol=1e-6)
    np.testing.assert_allclose(got[1].c, expected[1].c, atol=1e-6)
    np.testing.assert_allclose(got[1].h, expected[1].h, atol=1e-6)


def test_fused_block_lstm_takes_a_list_and_asks_for_a_dtype():
    steps = [tf.constant(random(BATCH, WIDTH, seed=k)) for k in range(3)]
    y, _ = R.LSTMBlockFusedCell(UNITS)(steps, dtype=tf.float32)
    assert isinstance(y, list) and len(y) == 3
    with pytest.raises(ValueError, match="initial_state or dtype"):
        R.LSTMBlockFusedCell(UNITS)(tf.stack(steps))


@pytest.mark.parametrize("kind", [R.GRUBlockCell, R.GRUBlockCellV2])
def test_block_gru_is_the_gru_and_so_is_its_gradient(kind):
    x = tf.constant(random(BATCH, 5, WIDTH))
    results = []
    cells = [kind(UNITS), tf.nn.rnn_cell.GRUCell(UNITS)]
    for name, cell in zip("ab", cells):
        with tf.variable_scope(name):
            y, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        results.append([y] + tf.gradients(tf.reduce_sum(y * y), [x] + cell.variables))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([tf.assign(a, b) for a, b in zip(cells[0].variables, cells[1].variables)])
        for got, want in zip(*session.run(results)):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    names = [v.op.name for v in cells[0].variables]
    assert names[0] == ("a/rnn/gru_cell/w_ru" if kind is R.GRUBlockCell else "a/rnn/gru_cell/gates/kernel")


def test_block_gru_wants_one_size():
    with pytest.raises(ValueError, match="Exactly one"):
        R.GRUBlockCell()


@pytest.mark.parametrize("tuple_state", [True, False])
def test_attention_wrapper(tuple_state):
    inner = tf.nn.rnn_cell.GRUCell(UNITS)
    cell = R.AttentionCellWrapper(inner, 2, attn_size=3, attn_vec_size=5, state_is_tuple=tuple_state)
    x, h, a, past = random(BATCH, WIDTH), random(BATCH, UNITS), random(BATCH, 3), random(BATCH, 6)
    state = (h, a, past) if tuple_state else np.concatenate([h, a, past], 1)
    output, new_state, v = one_step(cell, tf.constant(x), tf.nest.map_structure(tf.constant, state))
    v = below(v, "attention_cell_wrapper")
    if not tuple_state:
        new_state = np.split(new_state, [UNITS, UNITS + 3], 1)
    new_h, new_a, new_past = new_state
    fed = np.concatenate([x, a], 1) @ v["kernel"] + v["bias"]
    r, u = np.split(sigmoid(np.concatenate([fed, h], 1) @ v["gru_cell/gates/kernel"] + v["gru_cell/gates/bias"]), 2, 1)
    c = np.tanh(np.concatenate([fed, r * h], 1) @ v["gru_cell/candidate/kernel"] + v["gru_cell/candidate/bias"])
    np.testing.assert_allclose(new_h, u * h + (1 - u) * c, atol=1e-5)
    memory = past.reshape(BATCH, 2, 3)
    query = new_h @ v["attention/kernel"] + v["attention/bias"]
    scores = (v["attention/attn_v"] * np.tanh(memory @ v["attention/attn_w"][0, 0] + query[:, None])).sum(-1)
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    np.testing.assert_allclose(new_a, (weights[..., None] * memory).sum(1), atol=1e-5)
    want = np.concatenate([new_h, new_a], 1) @ v["attn_output_projection/kernel"] + v["attn_output_projection/bias"]
    np.testing.assert_allclose(output, want, atol=1e-5)
    np.testing.assert_allclose(new_past, np.concatenate([memory[:, 1], want], 1), atol=1e-5)


def test_attention_wrapper_refuses_bad_arguments():
    with pytest.raises(ValueError, match="attn_length"):
        R.AttentionCellWrapper(tf.nn.rnn_cell.GRUCell(2), 0)
    with pytest.raises(ValueError, match="state_is_tuple"):
        R.AttentionCellWrapper(tf.nn.rnn_cell.LSTMCell(2), 2, state_is_tuple=False)


@pytest.mark.parametrize("couple", [True, False])
def test_highway(couple):
    x, h = random(BATCH, UNITS), random(BATCH, UNITS, seed=1)
    cell = R.HighwayWrapper(tf.nn.rnn_cell.BasicRNNCell(UNITS), couple_carry_transform_gates=couple)
    output, state, v = one_step(cell, tf.constant(x), tf.constant(h))
    carry = sigmoid(x @ v["carry_w"] + v["carry_b"])
    transform = 1 - carry if couple else sigmoid(x @ v["transform_w"] + v["transform_b"])
    np.testing.assert_allclose(output, x * carry + state * transform, atol=1e-6)


def test_compiled_wrapper_changes_no_value():
    x, h = tf.constant(random(BATCH, WIDTH)), tf.constant(random(BATCH, UNITS))
    output, _, v = one_step(R.CompiledWrapper(tf.nn.rnn_cell.BasicRNNCell(UNITS)), x, h)
    v = below(v, "basic_rnn_cell")
    joined = np.concatenate([random(BATCH, WIDTH), random(BATCH, UNITS)], 1)
    np.testing.assert_allclose(output, np.tanh(joined @ v["kernel"] + v["bias"]), atol=1e-5)


def test_projection_and_embedding_wrappers():
    x, h = random(BATCH, WIDTH), random(BATCH, UNITS)
    cell = R.InputProjectionWrapper(
        R.OutputProjectionWrapper(tf.nn.rnn_cell.BasicRNNCell(UNITS), 2, tf.tanh), 6, tf.nn.relu
    )
    output, state, v = one_step(cell, tf.constant(x), tf.constant(h))
    v = below(v, "input_projection_wrapper")
    fed = np.maximum(x @ v["kernel"] + v["bias"], 0)
    inner = "output_projection_wrapper/"
    hidden = np.tanh(
        np.concatenate([fed, h], 1) @ v[inner + "basic_rnn_cell/kernel"] + v[inner + "basic_rnn_cell/bias"]
    )
    np.testing.assert_allclose(output, np.tanh(hidden @ v[inner + "kernel"] + v[inner + "bias"]), atol=1e-5)
    with tf.Graph().as_default():
        cell = R.EmbeddingWrapper(tf.nn.rnn_cell.BasicRNNCell(UNITS), 7, 2)
        output, _, v = one_step(cell, tf.constant([[1], [6], [0]]), tf.constant(h))
    v = below(v, "embedding_wrapper")
    joined = np.concatenate([v["embedding"][[1, 6, 0]], h], 1)
    np.testing.assert_allclose(
        output, np.tanh(joined @ v["basic_rnn_cell/kernel"] + v["basic_rnn_cell/bias"]), atol=1e-5
    )


def test_wrappers_refuse_bad_arguments():
    with pytest.raises(ValueError, match="embedding_classes"):
        R.EmbeddingWrapper(tf.nn.rnn_cell.GRUCell(2), 0, 3)
    with pytest.raises(ValueError, match="output_size"):
        R.OutputProjectionWrapper(tf.nn.rnn_cell.GRUCell(2), 0)
    with pytest.raises(TypeError):
        R.InputProjectionWrapper("no cell", 3)


@pytest.mark.parametrize("lengths", [None, [4, 1, 2]])
def test_time_reversed_fused_rnn(lengths):
    x = random(4, BATCH, WIDTH)
    cell = tf.nn.rnn_cell.GRUCell(UNITS)
    fused = R.FusedRNNCellAdaptor(cell, use_dynamic_rnn=True)
    y, _ = R.TimeReversedFusedRNN(fused)(tf.constant(x), dtype=tf.float32, sequence_length=lengths)
    backward = x.copy()
    for b, n in enumerate(lengths or [4] * BATCH):
        backward[:n, b] = x[:n, b][::-1]
    want, _ = R.FusedRNNCellAdaptor(cell)(
        tf.unstack(tf.constant(backward)), dtype=tf.float32, sequence_length=lengths, scope="rnn"
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        y, want = session.run([y, tf.stack(want)])
    for b, n in enumerate(lengths or [4] * BATCH):
        np.testing.assert_allclose(y[:n, b], want[:n, b][::-1], atol=1e-6)


def test_time_reversed_takes_lists():
    fused = R.TimeReversedFusedRNN(R.FusedRNNCellAdaptor(tf.nn.rnn_cell.GRUCell(UNITS)))
    y, _ = fused([tf.zeros([BATCH, WIDTH])] * 3, dtype=tf.float32)
    assert isinstance(y, list) and len(y) == 3


def test_stacked_bidirectional_static_equals_dynamic():
    x = random(BATCH, 4, WIDTH)
    cells = [[tf.nn.rnn_cell.GRUCell(n) for n in (3, 2)] for _ in range(2)]
    y, f, b = R.stack_bidirectional_dynamic_rnn(*cells, tf.constant(x), dtype=tf.float32, sequence_length=[4, 2, 3])
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        ys, fs, bs = R.stack_bidirectional_rnn(
            *cells, tf.unstack(tf.constant(x), axis=1), dtype=tf.float32, sequence_length=[4, 2, 3]
        )
    names = {v.op.name.rsplit("/", 3)[0] for v in tf.global_variables()}
    assert "stack_bidirectional_rnn/cell_1/bidirectional_rnn/bw" in names
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got, want = session.run([(y, f, b), (tf.stack(ys, 1), fs, bs)])
    for g, w in zip(tf.nest.flatten(got), tf.nest.flatten(want)):
        np.testing.assert_allclose(g, w, atol=1e-6)


def test_stacked_bidirectional_refuses_bad_lists():
    cell = tf.nn.rnn_cell.GRUCell(2)
    with pytest.raises(ValueError, match="cells_fw must be a list"):
        R.stack_bidirectional_dynamic_rnn(cell, [cell], tf.zeros([1, 2, 3]))
    with pytest.raises(ValueError, match="same depth"):
        R.stack_bidirectional_rnn([cell], [cell, cell], [tf.zeros([1, 2])])
    with pytest.raises(ValueError, match="initial_states_bw"):
        R.stack_bidirectional_rnn([cell], [cell], [tf.zeros([1, 2])], initial_states_bw=cell)


def test_linear_refuses_unknown_sizes():
    from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _linear

    with pytest.raises(ValueError, match="at least one"):
        _linear([], 3, True)
    with pytest.raises(ValueError, match="known size"):
        _linear(tf.placeholder(tf.float32, [None, None]), 3, True)


def test_linear_joins_its_arguments():
    from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _linear

    a, b = random(BATCH, 2), random(BATCH, 3)
    y = _linear([tf.constant(a), tf.constant(b)], 2, True, bias_initializer=tf.ones_initializer())
    kernel, bias = tf.global_variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        y, k = session.run([y, kernel])
    assert (kernel.op.name, bias.op.name) == ("kernel", "bias")
    np.testing.assert_allclose(y, np.concatenate([a, b], 1) @ k + 1, atol=1e-5)


def test_transpose_batch_time_and_batch_size():
    assert R.transpose_batch_time(tf.zeros([2, 3, 4])).shape.as_list() == [3, 2, 4]
    assert R.best_effort_input_batch_size([tf.zeros([2, 3, 4])]) == 3


def test_old_import_paths():
    from tensorflow.contrib.rnn.python.ops import core_rnn_cell, fused_rnn_cell, gru_ops, lstm_ops, rnn, rnn_cell

    assert rnn_cell.GridLSTMCell is R.GridLSTMCell and lstm_ops.LSTMBlockCell is R.LSTMBlockCell
    assert core_rnn_cell.EmbeddingWrapper is R.EmbeddingWrapper and gru_ops.GRUBlockCell is R.GRUBlockCell
    assert rnn.stack_bidirectional_rnn is R.stack_bidirectional_rnn
    assert fused_rnn_cell.TimeReversedFusedRNN is R.TimeReversedFusedRNN
