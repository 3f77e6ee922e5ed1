"""tf.contrib.crf against sums over all tag sequences, spelled out in NumPy."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

C = tf.contrib.crf
BATCH, TIME, TAGS = 4, 4, 3
LENGTHS = np.array([4, 1, 3, 0], np.int32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


@pytest.fixture
def data():
    r = np.random.RandomState(3)
    return (
        r.normal(size=[BATCH, TIME, TAGS]).astype(np.float32),
        r.normal(size=[TAGS, TAGS]).astype(np.float32),
        r.randint(0, TAGS, [BATCH, TIME]).astype(np.int32),
    )


def score(unary, transitions, tags):
    return sum(unary[t, k] for t, k in enumerate(tags)) + sum(transitions[a, b] for a, b in zip(tags, tags[1:]))


def all_scores(unary, transitions, length, admits=lambda tags: True):
    sequences = [s for s in itertools.product(range(TAGS), repeat=length) if admits(s)]
    return sequences, np.array([score(unary, transitions, s) for s in sequences])


def log_sum(values):
    return np.log(np.exp(values).sum())


def run(tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


@pytest.mark.parametrize("time", [TIME, 1])
@pytest.mark.parametrize("known", [True, False])
def test_norm_score_and_likelihood(data, time, known):
    unary, transitions, tags = data
    unary, tags, lengths = unary[:, :time], tags[:, :time], np.minimum(LENGTHS, time)
    x = tf.constant(unary) if known else tf.placeholder_with_default(unary, [None, None, TAGS])
    norm = run(C.crf_log_norm(x, lengths, transitions))
    got = run(C.crf_sequence_score(x, tags, lengths, transitions))
    likelihood, _ = C.crf_log_likelihood(x, tags, lengths, transitions)
    likelihood = run(likelihood)
    for b, n in enumerate(lengths):
        if n == 0:
            assert norm[b] == got[b] == likelihood[b] == 0
            continue
        want_norm = log_sum(all_scores(unary[b], transitions, n)[1])
        want = score(unary[b], transitions, tags[b, :n])
        np.testing.assert_allclose(
            [norm[b], got[b], likelihood[b]], [want_norm, want, want - want_norm], rtol=1e-4, atol=1e-5
        )


def test_unary_and_binary_scores(data):
    unary, transitions, tags = data
    got = run([C.crf_unary_score(tags, LENGTHS, unary), C.crf_binary_score(tags, LENGTHS, transitions)])
    for b, n in enumerate(LENGTHS):
        np.testing.assert_allclose(got[0][b], sum(unary[b, t, tags[b, t]] for t in range(n)), atol=1e-5)
        pairs = zip(tags[b, :n], tags[b, 1:n])
        np.testing.assert_allclose(got[1][b], sum(transitions[p] for p in pairs), atol=1e-5)


def test_tags_and_lengths_of_64_bits(data):
    unary, transitions, tags = data
    wide, _ = C.crf_log_likelihood(tf.constant(unary), tags.astype(np.int64), LENGTHS, transitions)
    narrow, _ = C.crf_log_likelihood(tf.constant(unary), tags, LENGTHS.astype(np.int64), transitions)
    wide, narrow = run([wide, narrow])
    np.testing.assert_allclose(wide, narrow, rtol=1e-6)


@pytest.mark.parametrize("time", [TIME, 1])
def test_multitag_score_sums_over_admitted_sequences(data, time):
    unary, transitions, _ = data
    bitmap = np.random.RandomState(5).uniform(size=[BATCH, time, TAGS]) < 0.6
    bitmap[:, :, 0] = True
    lengths = np.minimum(LENGTHS, time)
    got = run(C.crf_multitag_sequence_score(tf.constant(unary[:, :time]), bitmap, lengths, transitions))
    for b, n in enumerate(lengths):
        admits = lambda s: all(bitmap[b, t, k] for t, k in enumerate(s))  # noqa: B023, E731
        want = log_sum(all_scores(unary[b], transitions, n, admits)[1]) if n else 0
        np.testing.assert_allclose(got[b], want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("time", [TIME, 1])
def test_decoding_finds_the_best_sequence(data, time):
    unary, transitions, _ = data
    lengths = np.minimum(np.maximum(LENGTHS, 1), time)
    tags, best = run(C.crf_decode(tf.constant(unary[:, :time]), tf.constant(transitions), tf.constant(lengths)))
    for b, n in enumerate(lengths):
        sequences, scores = all_scores(unary[b], transitions, n)
        assert tuple(tags[b, :n]) == sequences[scores.argmax()]
        np.testing.assert_allclose(best[b], scores.max(), rtol=1e-5)
        path, path_score = C.viterbi_decode(unary[b, :n], transitions)
        assert tuple(path) == sequences[scores.argmax()]
        np.testing.assert_allclose(path_score, scores.max(), rtol=1e-5)


def test_gradient_of_the_norm_is_the_marginal(data):
    unary, transitions, _ = data
    x = tf.constant(unary[:1, :3])
    marginal = run(tf.gradients(C.crf_log_norm(x, [3], transitions), x)[0])[0]
    sequences, scores = all_scores(unary[0], transitions, 3)
    p = np.exp(scores - log_sum(scores))
    want = np.zeros([3, TAGS])
    for sequence, weight in zip(sequences, p):
        for t, k in enumerate(sequence):
            want[t, k] += weight
    np.testing.assert_allclose(marginal, want, atol=1e-5)


def test_transitions_are_made_where_none_are_given(data):
    unary, _, tags = data
    _, transitions = C.crf_log_likelihood(tf.constant(unary), tags, LENGTHS)
    assert transitions.op.name.startswith("transitions") and transitions.shape.as_list() == [TAGS, TAGS]


def test_cells(data):
    unary, transitions, _ = data
    alphas, _ = C.CrfForwardRnnCell(transitions)(tf.constant(unary[:, 1]), tf.constant(unary[:, 0]))
    pointers, scores = C.CrfDecodeForwardRnnCell(transitions)(tf.constant(unary[:, 1]), tf.constant(unary[:, 0]))
    before, _ = C.CrfDecodeBackwardRnnCell(TAGS)(pointers, tf.constant([[0], [1], [2], [0]]))
    alphas, pointers, scores, before = run([alphas, pointers, scores, before])
    joined = unary[:, 0, :, None] + transitions[None]
    np.testing.assert_allclose(alphas, unary[:, 1] + np.log(np.exp(joined).sum(1)), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(pointers, joined.argmax(1))
    np.testing.assert_allclose(scores, unary[:, 1] + joined.max(1), rtol=1e-5)
    np.testing.assert_array_equal(before[:, 0], pointers[np.arange(BATCH), [0, 1, 2, 0]])


def test_old_import_path():
    from tensorflow.contrib.crf.python.ops.crf import crf_log_norm

    assert crf_log_norm is C.crf_log_norm
