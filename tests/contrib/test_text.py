"""tf.contrib.text's op: the distances that it draws, its arguments."""

import numpy as np
import pytest
import tensorflow as tf

skip_gram_sample = tf.contrib.text.skip_gram_sample


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        tf.set_random_seed(3)
        yield own


def run(tensors):
    with tf.Session() as session:
        return session.run(tensors)


def pairs_of(tokens, skips, emit_self):
    out = []
    for i, skip in enumerate(skips):
        out += [
            (tokens[i], tokens[j])
            for j in range(max(0, i - skip), min(len(tokens), i + skip + 1))
            if j != i or emit_self
        ]
    return out


@pytest.mark.parametrize("low, high", [(0, 3), (1, 3), (2, 6)])
@pytest.mark.parametrize("emit_self", [False, True])
def test_each_token_takes_one_number_of_the_seeds_stream(low, high, emit_self):
    tokens = np.arange(100, 160)
    # The same generator gives uniform integers one number each, and both take the remainder.
    skips = tf.random_uniform([60], low, high + 1, dtype=tf.int32, seed=11)
    got = skip_gram_sample(tf.constant(tokens), low, high, emit_self_as_target=emit_self, seed=11)
    (got, labels), skips = run([got, skips])
    assert set(skips) == set(range(low, high + 1))
    assert list(zip(got, labels)) == pairs_of(tokens, skips, emit_self)


def test_a_part_of_the_tokens_is_paired_among_itself():
    tokens = np.arange(10, dtype=np.float64)
    got = run(skip_gram_sample(tf.constant(tokens), 2, 2, start=3, limit=4))
    assert list(zip(*got)) == pairs_of(tokens[3:7], [2] * 4, False)
    got = run(skip_gram_sample(tf.constant(tokens), 2, 2, start=8, limit=40))
    assert list(zip(*got)) == [(8, 9), (9, 8)]


def test_the_op_and_its_seeds_are_in_the_graph(graph):
    skip_gram_sample(["a", "b"], name="pairs")
    op = graph.get_operation_by_name("pairs/SkipGramGenerateCandidates")
    assert op.get_attr("seed") == 3 and op.get_attr("seed2") != 0
    assert [t.shape.as_list() for t in op.outputs] == [[None], [None]]


def test_no_token_gives_no_pair():
    got = run(skip_gram_sample(tf.constant([], tf.string)))
    assert [v.shape for v in got] == [(0,), (0,)]


@pytest.mark.parametrize(
    "arguments, message",
    [((-1, 2), "must be >= 0"), ((3, 2), "min_skips must be <="), ((1, 2, 9), "start"), ((1, 2, -1), "start")],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(skip_gram_sample(["a", "b", "c"], *arguments))


def test_tokens_must_be_a_vector():
    with pytest.raises(ValueError, match="rank 1"):
        skip_gram_sample([["a", "b"]])
