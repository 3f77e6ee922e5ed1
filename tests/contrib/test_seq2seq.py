"""tf.contrib.seq2seq against loops in NumPy: decoding, helpers, attention, beam search, losses."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

S = tf.contrib.seq2seq
N = tf.nn.rnn_cell
BATCH, TIME, UNITS, IDS = 3, 4, 5, 6


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        tf.set_random_seed(1)
        yield own


def random(*shape, seed=0):
    return np.random.RandomState(seed + sum(shape)).normal(size=shape).astype(np.float32)


def run(tensors, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors, feed)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Table(N.RNNCell):
    """A cell without state worth the name: outputs are rows of a table of logits by input id and step."""

    def __init__(self, table):
        super().__init__()
        self._table = tf.constant(table)

    @property
    def state_size(self):
        return 1

    @property
    def output_size(self):
        return self._table.shape.as_list()[-1]

    def call(self, inputs, state):
        where = tf.stack([tf.cast(state[:, 0], tf.int32), tf.cast(inputs[:, 0], tf.int32)], 1)
        return tf.gather_nd(self._table, where), state + 1


def ids_as_inputs(ids):
    return tf.expand_dims(tf.cast(ids, tf.float32), -1)


# Helpers under BasicDecoder


@pytest.mark.parametrize("impute", [True, False])
@pytest.mark.parametrize("time_major", [True, False])
def test_training_helper_is_a_dynamic_rnn(impute, time_major):
    x, lengths = random(BATCH, TIME, 2), [4, 2, 0]
    inputs = np.transpose(x, [1, 0, 2]) if time_major else x
    cell = N.GRUCell(UNITS)
    decoder = S.BasicDecoder(cell, S.TrainingHelper(inputs, lengths, time_major), cell.zero_state(BATCH, tf.float32))
    outputs, state, got_lengths = S.dynamic_decode(decoder, impute_finished=impute)
    with tf.variable_scope("decoder", reuse=True):
        want, want_state = tf.nn.dynamic_rnn(
            cell, x, sequence_length=lengths, dtype=tf.float32, scope=tf.get_variable_scope()
        )
    got, want, state, want_state, got_lengths = run([outputs, want, state, want_state, got_lengths])
    np.testing.assert_array_equal(got_lengths, lengths)
    for b, n in enumerate(lengths):
        np.testing.assert_allclose(got.rnn_output[b, :n], want[b, :n], atol=1e-6)
        np.testing.assert_array_equal(got.sample_id[b, :n], want[b, :n].argmax(-1))
        if impute:
            assert not got.rnn_output[b, n:].any()
    if impute:
        np.testing.assert_allclose(state, want_state, atol=1e-6)


def test_greedy_decoding_stops_at_the_end_token_and_at_the_limit():
    table = random(8, IDS, IDS)
    helper = S.GreedyEmbeddingHelper(ids_as_inputs, [1, 2, 3], 0)
    decoder = S.BasicDecoder(Table(table), helper, tf.zeros([BATCH, 1]))
    outputs, _, lengths = run(S.dynamic_decode(decoder, maximum_iterations=8))
    for b, token in enumerate([1, 2, 3]):
        path = []
        while len(path) < 8 and (not path or path[-1] != 0):
            path.append(table[len(path), path[-1] if path else token].argmax())
        assert lengths[b] == len(path)
        np.testing.assert_array_equal(outputs.sample_id[b, : len(path)], path)


def test_output_time_major():
    decoder = S.BasicDecoder(
        Table(random(8, IDS, IDS)), S.GreedyEmbeddingHelper(ids_as_inputs, [1, 2], 0), tf.zeros([2, 1])
    )
    outputs, _, _ = S.dynamic_decode(decoder, maximum_iterations=3, output_time_major=True)
    assert run(outputs.rnn_output).shape[1:] == (2, IDS)


@pytest.mark.parametrize("temperature", [None, 0.5])
def test_sampling_follows_the_softmax(temperature):
    logits = np.array([0.0, 1.0, 2.0, -1.0], np.float32)
    helper = S.SampleEmbeddingHelper(
        ids_as_inputs, tf.zeros([4000], tf.int32), 9, softmax_temperature=temperature, seed=7
    )
    drawn = run(helper.sample(0, tf.constant(np.tile(logits, [4000, 1])), None))
    shares = np.bincount(drawn, minlength=4) / 4000
    np.testing.assert_allclose(shares, softmax(logits / (temperature or 1)), atol=0.03)


@pytest.mark.parametrize("probability", [0.0, 1.0, [0.0, 1.0, 0.0]])
def test_scheduled_embedding_sampling(probability):
    x = random(BATCH, TIME, 2)
    table = random(IDS, 2)
    helper = S.ScheduledEmbeddingTrainingHelper(x, [TIME] * BATCH, table, probability, seed=1, scheduling_seed=2)
    logits = random(BATCH, IDS) * 100
    sampled = helper.sample(0, tf.constant(logits), None)
    _, inputs, _ = helper.next_inputs(0, tf.constant(logits), (), sampled)
    sampled, inputs = run([sampled, inputs])
    for b, p in enumerate(np.broadcast_to(probability, [BATCH])):
        best = logits[b].argmax()
        assert sampled[b] == (best if p else -1)
        np.testing.assert_allclose(inputs[b], table[best] if p else x[b, 1], atol=1e-6)


@pytest.mark.parametrize("function", [None, lambda x: 2 * x])
@pytest.mark.parametrize("auxiliary", [None, random(BATCH, TIME, 1)])
@pytest.mark.parametrize("probability", [0.0, 1.0, [0.0, 1.0, 1.0]])
def test_scheduled_output_sampling(function, auxiliary, probability):
    x, outputs = random(BATCH, TIME, 2), random(BATCH, 2)
    helper = S.ScheduledOutputTrainingHelper(
        x, [TIME] * BATCH, probability, seed=1, next_inputs_fn=function, auxiliary_inputs=auxiliary
    )
    sampled = helper.sample(0, tf.constant(outputs), None)
    _, inputs, _ = helper.next_inputs(0, tf.constant(outputs), (), sampled)
    inputs = run(inputs)
    for b, p in enumerate(np.broadcast_to(probability, [BATCH])):
        want = (outputs[b] * (2 if function else 1)) if p else x[b, 1]
        if auxiliary is not None:
            want = np.concatenate([want, auxiliary[b, 1]])
        np.testing.assert_allclose(inputs[b], want, atol=1e-6)


def test_inference_helper_feeds_the_sample_back():
    cell = N.BasicRNNCell(2)
    helper = S.InferenceHelper(
        lambda outputs: outputs,
        [2],
        tf.float32,
        tf.ones([BATCH, 2]),
        lambda s: tf.zeros([BATCH], tf.bool),
        lambda s: 3 * s,
    )
    decoder = S.BasicDecoder(cell, helper, tf.zeros([BATCH, 2]))
    outputs, state, _ = S.dynamic_decode(decoder, maximum_iterations=2)
    with tf.variable_scope("decoder", reuse=True):
        first, state_1 = cell(tf.ones([BATCH, 2]), tf.zeros([BATCH, 2]))
        second, _ = cell(3 * first, state_1)
    got, want = run([outputs.sample_id, tf.stack([first, second], 1)])
    np.testing.assert_allclose(got, want, atol=1e-6)


def test_custom_helper():
    helper = S.CustomHelper(
        lambda: (tf.zeros([2], tf.bool), tf.ones([2, 1])),
        lambda time, outputs, state: tf.argmax(outputs, -1, output_type=tf.int32),
        lambda time, outputs, state, sample_ids: (tf.fill([2], time >= 1), tf.ones([2, 1]), state),
    )
    with pytest.raises(ValueError, match="before initialize"):
        helper.batch_size
    decoder = S.BasicDecoder(Table(random(8, IDS, IDS)), helper, tf.zeros([2, 1]))
    # The decoder asks for the batch size after initialize.
    _, _, lengths = S.dynamic_decode(decoder)
    np.testing.assert_array_equal(run(lengths), [2, 2])


def test_helpers_refuse_bad_shapes():
    with pytest.raises(ValueError, match="sequence_length"):
        S.TrainingHelper(tf.zeros([2, 3, 4]), 3)
    with pytest.raises(ValueError, match="start_tokens must be a vector"):
        S.GreedyEmbeddingHelper(ids_as_inputs, [[1]], 0)
    with pytest.raises(ValueError, match="end_token must be a scalar"):
        S.GreedyEmbeddingHelper(ids_as_inputs, [1], [0])
    with pytest.raises(ValueError, match="sampling_probability"):
        S.ScheduledOutputTrainingHelper(tf.zeros([2, 3, 4]), [3, 3], [[0.5]])


def test_decoders_refuse_other_types():
    with pytest.raises(TypeError, match="Decoder"):
        S.dynamic_decode("no decoder")
    with pytest.raises(TypeError, match="helper"):
        S.BasicDecoder(N.GRUCell(2), "no helper", None)
    decoder = S.BasicDecoder(
        Table(random(8, IDS, IDS)), S.GreedyEmbeddingHelper(ids_as_inputs, [1], 0), tf.zeros([1, 1])
    )
    with pytest.raises(ValueError, match="maximum_iterations"):
        S.dynamic_decode(decoder, maximum_iterations=[1])


# Attention


def attend(mechanism, query, state=None):
    state = mechanism.initial_state(BATCH, tf.float32) if state is None else state
    alignments, _ = mechanism(tf.constant(query), state)
    variables = {v.op.name.split("/", 1)[-1]: v for v in tf.global_variables()}
    return run([alignments, mechanism.values, variables])


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("lengths", [None, [4, 2, 1]])
def test_luong(scale, lengths):
    memory, query = random(BATCH, TIME, 3), random(BATCH, UNITS)
    alignments, values, v = attend(S.LuongAttention(UNITS, memory, lengths, scale=scale), query)
    for b, n in enumerate(lengths or [TIME] * BATCH):
        scores = memory[b, :n] @ v["kernel"] @ query[b] * (v["attention_g"] if scale else 1)
        np.testing.assert_allclose(alignments[b, :n], softmax(scores), rtol=1e-4, atol=1e-6)
        assert not alignments[b, n:].any() and not values[b, n:].any()


@pytest.mark.parametrize("normalize", [False, True])
def test_bahdanau(normalize):
    memory, query = random(BATCH, TIME, 3), random(BATCH, 2)
    alignments, _, v = attend(S.BahdanauAttention(UNITS, memory, normalize=normalize), query)
    hidden = memory @ v["kernel"] + (query @ v["query_layer/kernel"])[:, None]
    weights = v["attention_v"]
    if normalize:
        weights = v["attention_g"] * weights / np.sqrt((weights**2).sum())
        hidden = hidden + v["attention_b"]
        np.testing.assert_allclose(v["attention_g"], np.sqrt(1 / UNITS), rtol=1e-6)
    np.testing.assert_allclose(alignments, softmax((weights * np.tanh(hidden)).sum(-1)), rtol=1e-4, atol=1e-6)


def monotonic(p, previous):
    """Recursion of the paper's equation 9."""
    out = np.zeros_like(p)
    for b in range(len(p)):
        q = 0.0
        for j in range(p.shape[1]):
            q = (1 - p[b, j - 1] if j else 1.0) * q + previous[b, j]
            out[b, j] = p[b, j] * q
    return out


@pytest.mark.parametrize("mode", ["recursive", "parallel", "hard"])
def test_monotonic_attention(mode):
    r = np.random.RandomState(2)
    p, previous = r.uniform(0.1, 0.9, [BATCH, TIME]), softmax(r.normal(size=[BATCH, TIME]))
    if mode == "hard":
        p, previous = np.round(p), np.eye(TIME)[[0, 1, 3]]
    got = run(S.monotonic_attention(tf.constant(p), tf.constant(previous), mode))
    np.testing.assert_allclose(got, monotonic(p, previous), atol=1e-6)
    with pytest.raises(ValueError, match="mode must be"):
        S.monotonic_attention(p, previous, "soft")


@pytest.mark.parametrize("kind", [S.LuongMonotonicAttention, S.BahdanauMonotonicAttention])
@pytest.mark.parametrize("mode", ["parallel", "hard"])
def test_monotonic_mechanisms_start_at_the_first_entry(kind, mode):
    memory, query = random(BATCH, TIME, 3), random(BATCH, UNITS)
    mechanism = kind(UNITS, memory, score_bias_init=-0.5, mode=mode)
    first = run(mechanism.initial_alignments(BATCH, tf.float32))
    np.testing.assert_array_equal(first, np.eye(TIME)[[0] * BATCH])
    alignments, _, v = attend(mechanism, query)
    assert v["attention_score_bias"] == -0.5
    keys = memory @ v["kernel"]
    if kind is S.LuongMonotonicAttention:
        scores = np.einsum("btu,bu->bt", keys, query)
    else:
        scores = (v["attention_v"] * np.tanh(keys + (query @ v["query_layer/kernel"])[:, None])).sum(-1)
    scores = scores - 0.5
    p = (scores > 0).astype(np.float32) if mode == "hard" else 1 / (1 + np.exp(-scores))
    np.testing.assert_allclose(alignments, monotonic(p, first), atol=1e-5)


def test_monotonic_noise_is_seeded():
    mechanism = S.LuongMonotonicAttention(UNITS, random(BATCH, TIME, 3), sigmoid_noise=1.0, sigmoid_noise_seed=3)
    first, _ = mechanism(tf.constant(random(BATCH, UNITS)), mechanism.initial_state(BATCH, tf.float32))
    assert not np.allclose(run(first), run(first * 0))
    assert [
        op.get_attr("seed2") for op in tf.get_default_graph().get_operations() if op.type == "RandomStandardNormal"
    ] == [3]


def test_hardmax_and_safe_cumprod():
    x = random(2, 3, 4)
    np.testing.assert_array_equal(run(S.hardmax(x)), np.eye(4)[x.argmax(-1)])
    p = np.random.RandomState(1).uniform(0, 1, [2, 5])
    np.testing.assert_allclose(run(S.safe_cumprod(p, axis=1)), np.cumprod(p, 1), rtol=1e-6)
    want = np.concatenate([np.ones([2, 1]), np.cumprod(p, 1)[:, :-1]], 1)
    np.testing.assert_allclose(run(S.safe_cumprod(p, axis=1, exclusive=True)), want, rtol=1e-6)


def test_wrapper_with_two_mechanisms_joins_their_attentions():
    memory = random(BATCH, TIME, 3)
    mechanisms = [S.LuongAttention(UNITS, memory), S.BahdanauAttention(2, memory)]
    cell = S.AttentionWrapper(N.GRUCell(UNITS), mechanisms, attention_layer_size=[2, 3], output_attention=False)
    state = cell.zero_state(BATCH, tf.float32)
    output, next_state = cell(tf.constant(random(BATCH, 2)), state)
    assert cell.state_size.attention == 5 and next_state.attention.shape.as_list() == [BATCH, 5]
    names = [v.op.name for v in tf.trainable_variables()]
    assert "attention_wrapper/attention_layer/kernel" in names and "attention_wrapper/attention_layer_1/kernel" in names
    output, got, v = run([output, next_state, {v.op.name: v for v in tf.global_variables()}])
    for i, name in enumerate(["attention_layer", "attention_layer_1"]):
        context = np.einsum("bt,bts->bs", got.alignments[i], memory)
        want = np.concatenate([output, context], 1) @ v[f"attention_wrapper/{name}/kernel"]
        np.testing.assert_allclose(np.split(got.attention, [2], 1)[i], want, atol=1e-5)
    assert got.time == 1


def test_wrapper_without_a_layer_emits_the_context_and_keeps_the_history():
    memory = random(BATCH, TIME, 3)
    cell = S.AttentionWrapper(N.GRUCell(UNITS), S.LuongAttention(UNITS, memory), alignment_history=True)
    output, state = cell(tf.constant(random(BATCH, 2)), cell.zero_state(BATCH, tf.float32))
    output, alignments, history = run([output, state.alignments, state.alignment_history.stack()])
    np.testing.assert_allclose(output, np.einsum("bt,bts->bs", alignments, memory), atol=1e-6)
    np.testing.assert_array_equal(history[0], alignments)


def test_wrapper_checks_batch_sizes_when_it_runs():
    memory = tf.placeholder(tf.float32, [None, TIME, 3])
    cell = S.AttentionWrapper(N.GRUCell(UNITS), S.LuongAttention(UNITS, memory))
    state = cell.zero_state(tf.placeholder_with_default(2, []), tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Non-matching batch sizes"):
        run(state.cell_state, {memory: random(BATCH, TIME, 3)})


def test_wrapper_takes_the_initial_cell_state_and_clone_another():
    memory = random(BATCH, TIME, 3)
    start = tf.ones([BATCH, UNITS])
    cell = S.AttentionWrapper(N.GRUCell(UNITS), S.LuongAttention(UNITS, memory), initial_cell_state=start)
    state = cell.zero_state(BATCH, tf.float32)
    other = state.clone(cell_state=2 * start)
    np.testing.assert_array_equal(run([state.cell_state, other.cell_state]), [np.ones([3, 5]), 2 * np.ones([3, 5])])
    with pytest.raises(ValueError):
        state.clone(cell_state=tf.ones([BATCH, UNITS + 1]))


def test_wrapper_refuses_bad_arguments():
    mechanism = S.LuongAttention(UNITS, random(BATCH, TIME, 3))
    with pytest.raises(TypeError, match="AttentionMechanism"):
        S.AttentionWrapper(N.GRUCell(UNITS), "attention")
    with pytest.raises(ValueError, match="exactly one integer"):
        S.AttentionWrapper(N.GRUCell(UNITS), [mechanism, mechanism], attention_layer_size=[2])
    with pytest.raises(ValueError, match="Only one of"):
        S.AttentionWrapper(N.GRUCell(UNITS), mechanism, 2, attention_layer=tf.layers.Dense(2))
    cell = S.AttentionWrapper(N.GRUCell(UNITS), mechanism)
    with pytest.raises(TypeError, match="AttentionWrapperState"):
        cell(tf.zeros([BATCH, 2]), tf.zeros([BATCH, UNITS]))
    with pytest.raises(ValueError, match="inner dimensions"):
        S.LuongAttention(UNITS, random(BATCH, TIME, 3))(tf.zeros([BATCH, 2]), None)


# Beam search


def best_beams(table, start, end, width, steps, penalty):
    """Beam search over `Table`, one sequence."""
    beams = [((), 0.0)]
    for step in range(steps):
        grown = []
        for path, log_prob in beams:
            if path and path[-1] == end:
                grown.append((path, log_prob, path))
                continue
            logs = np.log(softmax(table[step, path[-1] if path else start].astype(np.float64)))
            grown += [(path + (k,), log_prob + logs[k], path) for k in range(table.shape[-1])]

        def value(beam):
            # An end token does not count for the length, unless the beam had ended before.
            path = beam[0]
            length = len(path) - (1 if path[-1] == end and path is not beam[2] else 0)
            return beam[1] / ((5 + length) / 6) ** penalty

        grown.sort(key=value, reverse=True)
        beams = [(path, log_prob) for path, log_prob, _ in grown[:width]]
    return beams


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_beam_search_finds_the_beams_of_the_definition(width, penalty):
    table = random(4, IDS, IDS) * 2
    decoder = S.BeamSearchDecoder(
        Table(table),
        ids_as_inputs,
        [1, 2, 3],
        0,
        S.tile_batch(tf.zeros([BATCH, 1]), width),
        width,
        length_penalty_weight=penalty,
    )
    outputs, state, _ = run(S.dynamic_decode(decoder, maximum_iterations=4))
    for b, start in enumerate([1, 2, 3]):
        for k, (path, log_prob) in enumerate(best_beams(table, start, 0, width, 4, penalty)):
            got = outputs.predicted_ids[b, : len(path), k]
            np.testing.assert_array_equal(got, path)
            assert not outputs.predicted_ids[b, len(path) :, k].any()
            np.testing.assert_allclose(state.log_probs[b, k], log_prob, rtol=1e-4)
            assert state.lengths[b, k] == len(path)


def test_beam_search_with_attention_puts_the_history_in_the_beams_order():
    width, memory = 2, random(BATCH, TIME, 3)
    tiled = S.tile_batch(tf.constant(memory), width)
    cell = S.AttentionWrapper(N.GRUCell(UNITS), S.LuongAttention(UNITS, tiled), alignment_history=True)
    decoder = S.BeamSearchDecoder(
        cell,
        tf.constant(random(IDS, 2)),
        [1] * BATCH,
        0,
        cell.zero_state(BATCH * width, tf.float32),
        width,
        output_layer=tf.layers.Dense(IDS),
        coverage_penalty_weight=0.3,
    )
    outputs, state, _ = S.dynamic_decode(decoder, maximum_iterations=4)
    history = state.cell_state.alignment_history
    assert isinstance(history, tf.Tensor)
    history, parents, ids = run([history, outputs.beam_search_decoder_output.parent_ids, outputs.predicted_ids])
    assert history.shape == (ids.shape[1], BATCH * width, TIME)
    np.testing.assert_allclose(history.sum(-1), 1, rtol=1e-5)


def test_gather_tree_from_array_follows_the_parents():
    values = np.arange(3 * 1 * 2).reshape(3, 1, 2)
    parents = np.array([[[0, 0]], [[0, 1]], [[1, 0]]], np.int32)
    from tensorflow.contrib.seq2seq.python.ops.beam_search_decoder import gather_tree_from_array

    got = run(gather_tree_from_array(tf.constant(values), tf.constant(parents), tf.constant([[3, 3]])))
    # Beam 0 ends at step 2 beam 0, whose parent is 1, whose parent is 1.
    np.testing.assert_array_equal(got[:, 0], [[1, 0], [3, 2], [4, 5]])
    joined = run(
        gather_tree_from_array(tf.constant(values.reshape(3, 2, 1)), tf.constant(parents), tf.constant([[3, 3]]))
    )
    np.testing.assert_array_equal(joined[:, :, 0], [[1, 0], [3, 2], [4, 5]])


def test_gather_tree():
    r = np.random.RandomState(4)
    ids, parents = r.randint(1, 9, [5, 2, 3]), r.randint(0, 3, [5, 2, 3])
    got = run(S.gather_tree(ids.astype(np.int32), parents.astype(np.int32), [5, 3], 1))
    for b, k in itertools.product(range(2), range(3)):
        at, path = k, []
        for t in reversed(range([5, 3][b])):
            path.append(ids[t, b, at])
            at = parents[t, b, at]
        path = path[::-1]
        if 1 in path:
            path = path[: path.index(1)]
        np.testing.assert_array_equal(got[:, b, k], (path + [1] * 5)[:5])


def test_gather_tree_refuses_bad_input():
    ids = tf.zeros([2, 1, 2], tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="invalid parent id 2"):
        run(S.gather_tree(ids, tf.constant([[[0, 0]], [[2, 0]]]), [2], 0))
    with pytest.raises(ValueError):
        S.gather_tree(ids, tf.zeros([2, 1, 3], tf.int32), [2], 0)
    with pytest.raises(ValueError):
        S.gather_tree(ids, ids, [2, 2], 0)


def test_beam_search_refuses_bad_input():
    with pytest.raises(ValueError, match="start_tokens must be a vector"):
        S.BeamSearchDecoder(N.GRUCell(2), ids_as_inputs, 1, 0, tf.zeros([2, 2]), 2)
    with pytest.raises(ValueError, match="forgot to create a zero_state"):
        S.BeamSearchDecoder(N.GRUCell(3), ids_as_inputs, [1, 1], 0, tf.zeros([4, 2]), 2)
    decoder = S.BeamSearchDecoder(
        N.GRUCell(2), ids_as_inputs, [1], 0, tf.zeros([2, 2]), 2, coverage_penalty_weight=1.0
    )  # fmt: skip
    with pytest.raises(ValueError, match="no cell is attentional"):
        S.dynamic_decode(decoder)


def test_tile_batch():
    x = random(2, 3)
    got = S.tile_batch((tf.constant(x), tf.constant(x[:, 0])), 3)
    assert got[0].shape.as_list() == [6, 3]
    matrix, vector = run(got)
    np.testing.assert_array_equal(matrix, np.repeat(x, 3, 0))
    np.testing.assert_array_equal(vector, np.repeat(x[:, 0], 3))
    with pytest.raises(ValueError, match="rank"):
        S.tile_batch(tf.constant(1.0), 2)


# Loss


@pytest.mark.parametrize("over_time, over_batch", itertools.product([None, "average", "sum"], repeat=2))
def test_sequence_loss(over_time, over_batch):
    logits, targets = random(BATCH, TIME, IDS), np.random.RandomState(1).randint(0, IDS, [BATCH, TIME])
    weights = np.array([[1, 1, 0.5, 0], [1, 0, 0, 0], [0, 0, 0, 0]], np.float32)
    arguments = dict(
        average_across_timesteps=over_time == "average",
        average_across_batch=over_batch == "average",
        sum_over_timesteps=over_time == "sum",
        sum_over_batch=over_batch == "sum",
    )
    if {over_time, over_batch} == {"average", "sum"}:
        with pytest.raises(ValueError):
            S.sequence_loss(logits, targets, weights, **arguments)
        return
    got = run(S.sequence_loss(tf.constant(logits), tf.constant(targets), tf.constant(weights), **arguments))
    log_p = np.log(softmax(logits.astype(np.float64)))
    losses = -np.take_along_axis(log_p, targets[..., None], -1)[..., 0] * weights
    axes = tuple(axis for axis, over in ((1, over_time), (0, over_batch)) if over)
    if axes:
        per = weights if "average" in (over_time, over_batch) else weights != 0
        total = per.sum(axes)
        losses = np.where(total > 0, losses.sum(axes) / np.maximum(total, 1e-30), 0)
    np.testing.assert_allclose(got, losses, rtol=1e-4, atol=1e-6)


def test_sequence_loss_refuses_bad_ranks():
    with pytest.raises(ValueError, match="Logits must be a 3-D"):
        S.sequence_loss(tf.zeros([2, 3]), tf.zeros([2, 3], tf.int32), tf.ones([2, 3]))
    with pytest.raises(ValueError, match="Weights must be a 2-D"):
        S.sequence_loss(tf.zeros([2, 3, 4]), tf.zeros([2, 3], tf.int32), tf.ones([2]))


def test_training_lowers_the_loss():
    x, targets = random(BATCH, TIME, 2), np.random.RandomState(1).randint(0, IDS, [BATCH, TIME])
    memory = tf.constant(random(BATCH, 6, 3))
    cell = S.AttentionWrapper(N.LSTMCell(UNITS), S.BahdanauAttention(UNITS, memory), attention_layer_size=4)
    decoder = S.BasicDecoder(
        cell, S.TrainingHelper(x, [TIME] * BATCH), cell.zero_state(BATCH, tf.float32), tf.layers.Dense(IDS)
    )
    outputs, _, _ = S.dynamic_decode(decoder)
    loss = S.sequence_loss(outputs.rnn_output, tf.constant(targets), tf.ones([BATCH, TIME]))
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(40):
            session.run(train)
        assert session.run(loss) < 0.5 * before


def test_old_import_paths():
    from tensorflow.contrib.seq2seq.python.ops import (
        attention_wrapper,
        basic_decoder,
        beam_search_ops,
        decoder,
        helper,
        loss,
    )

    assert attention_wrapper.AttentionWrapper is S.AttentionWrapper and decoder.dynamic_decode is S.dynamic_decode
    assert helper.TrainingHelper is S.TrainingHelper and basic_decoder.BasicDecoder is S.BasicDecoder
    assert beam_search_ops.gather_tree is S.gather_tree and loss.sequence_loss is S.sequence_loss
    assert attention_wrapper._BaseAttentionMechanism and attention_wrapper._bahdanau_score
