"""grid_rnn: one step of each grid against the same in NumPy, the names of 1.15, and training over time."""

import numpy as np
import pytest
import tensorflow as tf

grid_rnn = tf.contrib.grid_rnn
UNITS, BATCH, WIDTH = 3, 2, 4


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _basic_rnn(weights, inputs, memory, output):
    new = np.tanh(
        np.concatenate([inputs, output], 1) @ weights["basic_rnn_cell/kernel"] + weights["basic_rnn_cell/bias"]
    )
    return new, None


def _lstm(name):
    def step(weights, inputs, memory, output):
        gates = np.concatenate([inputs, output], 1) @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]
        i, j, f, o = np.split(gates, 4, 1)
        peep = {gate: weights.get(f"{name}/w_{gate}_diag", 0) for gate in "fio"}
        memory_new = memory * _sigmoid(f + 1 + peep["f"] * memory) + _sigmoid(i + peep["i"] * memory) * np.tanh(j)
        return np.tanh(memory_new) * _sigmoid(o + peep["o"] * memory_new), memory_new

    return step


def _gru(weights, inputs, memory, output):
    both = np.concatenate([inputs, output], 1)
    r, u = np.split(_sigmoid(both @ weights["gru_cell/gates/kernel"] + weights["gru_cell/gates/bias"]), 2, 1)
    both = np.concatenate([inputs, r * output], 1)
    c = np.tanh(both @ weights["gru_cell/candidate/kernel"] + weights["gru_cell/candidate/bias"])
    return u * output + (1 - u) * c, None


def _reference(step, weights, dims, x, memories, outputs, stateless, tied):
    """Dimension 0 takes the input and comes last."""
    memories, outputs = list(memories), list(outputs)
    outputs[0] = x @ weights["project_m_0"]
    if "project_c_0" in weights:
        memories[0] = x @ weights["project_c_0"]
    for group in (range(1, dims), [0]):
        seen = list(outputs)
        for dim in group:
            kind = "non_recurrent" if stateless and dim == 0 else "recurrent"
            prefix = f"{kind}/" if tied else f"{kind}/cell_{dim}/"
            own = {name[len(prefix) :]: value for name, value in weights.items() if name.startswith(prefix)}
            if kind == "non_recurrent":
                dense = np.concatenate(seen, 1) @ own["fully_connected/weights"] + own["fully_connected/biases"]
                outputs[0] = np.maximum(dense, 0)
            else:
                others = np.concatenate(seen[:-1], 1) if dims > 1 else np.zeros([len(x), 0])
                outputs[dim], memories[dim] = step(own, others, memories[dim], seen[-1])
    return outputs, memories


GRIDS = {
    "Grid1BasicRNNCell": (1, _basic_rnn, {}),
    "Grid2BasicRNNCell": (2, _basic_rnn, {}),
    "Grid1BasicLSTMCell": (1, _lstm("basic_lstm_cell"), {}),
    "Grid2BasicLSTMCell": (2, _lstm("basic_lstm_cell"), {}),
    "Grid1LSTMCell": (1, _lstm("lstm_cell"), {"use_peepholes": True}),
    "Grid2LSTMCell": (2, _lstm("lstm_cell"), {"use_peepholes": True}),
    "Grid3LSTMCell": (3, _lstm("lstm_cell"), {}),
    "Grid2GRUCell": (2, _gru, {}),
}
VARIANTS = [
    (name, variant, as_tuple)
    for name, (dims, _, _) in GRIDS.items()
    for variant in (["plain"] if dims == 1 else ["plain", "tied", "stateless", "tied stateless"])
    for as_tuple in (True, False)
]


@pytest.mark.parametrize("name,variant,as_tuple", VARIANTS)
def test_a_step_is_that_of_numpy(name, variant, as_tuple):
    dims, step, options = GRIDS[name]
    stateless, tied = "stateless" in variant, "tied" in variant
    options = dict(
        options, **({"tied": True} if tied else {}), **({"non_recurrent_fn": tf.nn.relu} if stateless else {})
    )
    rng = np.random.default_rng(len(name) + dims)
    x, memories, outputs = rng.normal(size=[BATCH, WIDTH]), *rng.normal(size=[2, dims, BATCH, UNITS])
    has_memory = "LSTM" in name
    recurrent = range(int(stateless), dims)
    with tf.Graph().as_default(), tf.Session() as session:
        cell = getattr(grid_rnn, name)(UNITS, state_is_tuple=as_tuple, output_is_tuple=as_tuple, **options)
        pair = tf.nn.rnn_cell.LSTMStateTuple
        state = tuple(
            pair(tf.constant(memories[d]), tf.constant(outputs[d])) if has_memory else tf.constant(outputs[d])
            for d in recurrent
        )
        if not as_tuple:
            state = tf.concat(tf.nest.flatten(state), 1)
        got, new_state = cell(tf.constant(x), state)
        session.run(tf.global_variables_initializer())
        for variable in tf.global_variables():
            variable.load(rng.normal(size=variable.shape.as_list()), session)
        weights = {v.op.name.partition("/")[2]: session.run(v) for v in tf.global_variables()}
        # A layer without state has no use for a memory.
        used = [v for v in tf.trainable_variables() if not (stateless and "project_c" in v.op.name)]
        gradients = tf.gradients(tf.nest.flatten([got, new_state]), used)
        got, new_state, gradients = session.run([got, new_state, gradients])
    assert all(np.isfinite(gradient).all() and gradient.any() for gradient in gradients)
    wanted, new_memories = _reference(step, weights, dims, x, memories, outputs, stateless, tied)
    np.testing.assert_allclose(got[0] if as_tuple else got, wanted[0], rtol=1e-6)
    parts = [part for d in recurrent for part in ([new_memories[d], wanted[d]] if has_memory else [wanted[d]])]
    flat = np.concatenate(tf.nest.flatten(new_state), 1) if as_tuple else new_state
    np.testing.assert_allclose(flat, np.concatenate(parts, 1), rtol=1e-6)


def test_names_of_variables():
    with tf.Graph().as_default():
        cell = grid_rnn.Grid2LSTMCell(UNITS, non_recurrent_fn=tf.nn.tanh)
        with tf.variable_scope("root"):
            cell(tf.zeros([BATCH, WIDTH]), cell.zero_state(BATCH, tf.float32))
        assert [v.op.name for v in tf.global_variables()] == [
            "root/Grid2LSTMCell/project_m_0",
            "root/Grid2LSTMCell/project_c_0",
            "root/Grid2LSTMCell/recurrent/cell_1/lstm_cell/kernel",
            "root/Grid2LSTMCell/recurrent/cell_1/lstm_cell/bias",
            "root/Grid2LSTMCell/non_recurrent/cell_0/fully_connected/weights",
            "root/Grid2LSTMCell/non_recurrent/cell_0/fully_connected/biases",
        ]


@pytest.mark.parametrize("unroll", ["static", "dynamic"])
def test_a_grid_learns_over_time(unroll):
    value = np.random.default_rng(9).normal(size=[8, 5, WIDTH]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        cell = grid_rnn.Grid2BasicLSTMCell(UNITS)
        if unroll == "static":
            outputs = tf.nn.static_rnn(cell, tf.unstack(tf.constant(value), axis=1), dtype=tf.float32)[0][-1][0]
        else:
            outputs = tf.nn.dynamic_rnn(cell, tf.constant(value), dtype=tf.float32)[0][0][:, -1]
        loss = tf.reduce_mean(tf.square(outputs - 0.5 * np.sign(value[:, 4, :UNITS])))
        train = tf.train.AdamOptimizer(0.05).minimize(loss)
        session.run(tf.global_variables_initializer())
        first = session.run(loss)
        for _ in range(60):
            session.run(train)
        assert session.run(loss) < 0.5 * first


def test_without_input_the_grid_goes_on_from_its_state():
    with tf.Graph().as_default(), tf.Session() as session:
        cell = grid_rnn.Grid1BasicRNNCell(UNITS)
        start = tf.ones([BATCH, UNITS])
        got = cell(None, (start,))[0][0]
        session.run(tf.global_variables_initializer())
        kernel, got = session.run([tf.trainable_variables()[0], got])
    np.testing.assert_allclose(got, np.tanh(np.ones([BATCH, UNITS]) @ kernel), rtol=1e-5)


def test_several_inputs_and_outputs():
    rng = np.random.default_rng(10)
    values = rng.normal(size=[2, BATCH, WIDTH]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        cell = grid_rnn.GridRNNCell(
            UNITS, num_dims=2, input_dims=[0, 1], output_dims=[0, 1], cell_fn=tf.nn.rnn_cell.BasicRNNCell
        )
        state = cell.zero_state(BATCH, tf.float32)
        apart = cell(tuple(tf.constant(v) for v in values), state, scope="g")[0]
        with tf.variable_scope("", reuse=True):
            joined = cell(tf.constant(np.concatenate(values, 1)), state, scope="g")[0]
        session.run(tf.global_variables_initializer())
        weights = {v.op.name: session.run(v) for v in tf.global_variables()}
        apart, joined = session.run([apart, joined])
    seen = np.concatenate([values[d] @ weights[f"g/project_m_{d}"] for d in range(2)], 1)
    for dim in range(2):
        wanted = np.tanh(seen @ weights[f"g/recurrent/cell_{dim}/basic_rnn_cell/kernel"])
        np.testing.assert_allclose(apart[dim], wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(joined[dim], wanted, rtol=1e-4, atol=1e-5)


def test_bad_arguments_are_named():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="num_dims: expected at least 1, got 0"):
            grid_rnn.GridRNNCell(2, num_dims=0)
        with pytest.raises(ValueError, match=r"output_dims: expected dimensions from 0 to 1, got \[2\]"):
            grid_rnn.GridRNNCell(2, num_dims=2, output_dims=2)
        with pytest.raises(ValueError, match="cell_fn"):
            grid_rnn.GridRNNCell(2, cell_fn=lambda units: None)
        with pytest.raises(ValueError, match="state: expected a tuple of 2, got 1"):
            grid_rnn.Grid2BasicRNNCell(2)(tf.zeros([1, 2]), (tf.zeros([1, 2]),))
        with pytest.raises(ValueError, match="inputs: dimensions without state"):
            cell = grid_rnn.Grid2BasicRNNCell(2, non_recurrent_fn=tf.nn.relu)
            cell(None, (tf.zeros([1, 2]),))
