"""The kinds of embeddings that the flags ask for, on one category."""

import argparse

import numpy as np
import pytest
import tensorflow as tf

from common import ev_flags
from common.embeddings import Embeddings

WORDS = ["a", "b", "c", "a"]


def embeddings(kind, **options):
    given = {name: name == kind for name in ev_flags.KINDS}
    plain = {"group_embedding": False, "emb_fusion": False, "input_layer_partitioner": None}
    sizes = {"hash_buckets": 10, "embedding_dim": 4, "ev_filter": None, "ev_elimination": None}
    return Embeddings(argparse.Namespace(**{**plain, **sizes, **given, **options}))


def rows_of(made, features, columns):
    with made.variable_scope("embeddings"):
        outputs = made.look_up(features, columns)
    return [outputs[column] for column in columns]


@pytest.fixture(autouse=True)
def graph(monkeypatch):
    monkeypatch.setenv("TF_RECORD_FREQ", "0")
    with tf.Graph().as_default():
        yield


def start():
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def test_multihash_adds_a_row_of_the_quotient_and_one_of_the_remainder():
    made = embeddings("multihash")
    (rows,) = rows_of(made, {"x": tf.constant(WORDS)}, [made.column("x")])
    ids = tf.strings.to_hash_bucket_fast(tf.constant(WORDS), 16)
    with start() as session:
        tables = {variable.op.name[-1]: session.run(variable) for variable in tf.global_variables()}
        assert tables["Q"].shape == tables["R"].shape == (4, 4)
        numbers = session.run(ids)
        np.testing.assert_allclose(session.run(rows), tables["Q"][numbers // 4] + tables["R"][numbers % 4], rtol=1e-6)


def test_dynamic_rows_have_their_second_half_after_three_trainings_and_columns_share_them():
    made = embeddings("dynamic_ev")
    features = {"x": tf.constant(WORDS), "y": tf.placeholder_with_default(["b", "", "a", "d"], [4])}
    own, listed = rows_of(made, features, made.shared(["x", "y"]))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(own))
    with start() as session:
        halves = []
        for _ in range(4):
            halves.append((session.run(own)[:, 2:] != 0).all(1).tolist())
            session.run(train)
        # "a" is there twice in a batch.
        assert halves == [[False] * 4, [False] * 4, [True, False, False, True], [True] * 4]
        first, second = session.run([own, listed])
        np.testing.assert_array_equal(second[[0, 2]], first[[1, 0]])
        assert not second[1].any() and second[3, :2].all() and not second[3, 2:].any()


def test_an_adaptive_row_starts_as_its_buckets_and_then_goes_its_own_way():
    made = embeddings("adaptive_emb", hash_buckets=1)
    (rows,) = rows_of(made, {"x": tf.constant(WORDS)}, [made.column("x")])
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(rows[:1]))
    with start() as session:
        (bucket,) = (session.run(v) for v in tf.global_variables() if v.shape.as_list() == [1, 4])
        np.testing.assert_array_equal(session.run(rows), np.tile(bucket, [4, 1]))
        session.run(train)
        moved = (session.run(rows) != bucket).any(1).tolist()
        assert moved == [True, False, False, True]


def test_lists_and_shared_tables_are_not_adaptive():
    made = embeddings("adaptive_emb")
    columns = [made.column("x", several=True), *made.shared(["y", "z"])]
    words = tf.constant(WORDS)
    assert len(rows_of(made, dict.fromkeys("xyz", words), columns)) == 3
    assert [variable.shape.as_list() for variable in tf.global_variables()] == [[10, 4]] * 2
