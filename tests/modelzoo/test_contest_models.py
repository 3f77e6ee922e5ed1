"""Parts of the contest's models against formulas in NumPy, and what their inputs are."""

import argparse

import numpy as np
import pytest
import tensorflow as tf

from common import eleme, eleme_columns, ev_flags, interactions
from common.embeddings import Embeddings
from modelzoo_helpers import load_model

DIM, BUCKETS = 4, 50
ARGS = argparse.Namespace(
    hash_buckets=BUCKETS,
    embedding_dim=DIM,
    **dict.fromkeys(ev_flags.KINDS, False),
    ev_filter=None,
    ev_elimination=None,
    group_embedding=False,
    emb_fusion=False,
    bf16=False,
    input_layer_partitioner=None,
    dense_layer_partitioner=None,
    optimizer="adamasync",
    learning_rate=0.01,
    linear_learning_rate=0.2,
    interaction_op="cat",
    bottom_units=(8,),
    top_units=(6, 5),
    hidden_units=(8, 5),
    final_units=(6,),
)
TEXTS = {name: ["1", "2", "3"] for name in eleme_columns.CATEGORIES} | {"time_type": ["lunch", "tea", "midnight"]}
FEATURES = {
    **TEXTS,
    **{name: np.array([0, 1.5, 40], np.float32) for name in eleme.NUMBERS},
    **{name: ["4;5", "6", ""] for name in eleme.HISTORY},
    "time_type_list": ["lunch;dinner", "tea;midnight", ""],
    "times": ["1", "2", "3"],
}


def tensors(**changes):
    return {name: tf.constant(values) for name, values in {**FEATURES, **changes}.items()}


def drawn(seed=4):
    """A session with all weights drawn anew from one seed, as a context."""
    session = tf.Session()
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    rng = np.random.default_rng(seed)
    for variable in tf.trainable_variables():
        variable.load(rng.standard_normal(variable.shape.as_list()), session)
    return session


def weights(session):
    return {variable.op.name: session.run(variable) for variable in tf.trainable_variables()}


def logits(name, training=False, change=lambda session: None, **features):
    with tf.Graph().as_default():
        result = load_model(name).logits(tensors(**features), ARGS, Embeddings(ARGS), tf.constant(training))
        with drawn() as session:
            change(session)
            return session.run(result)


def set_variables(session, part, value):
    """value: of each variable whose name has the part, from its old value."""
    chosen = [variable for variable in tf.trainable_variables() if part in variable.op.name]
    assert chosen, part
    for variable in chosen:
        variable.load(value(session.run(variable)), session)


def test_numbers_are_logarithms_of_the_columns_and_of_the_means_of_lists():
    features = {"price_list": ["1;2;6", "", "-4"], "avg_price": np.array([0, -3, 40], np.float32)}
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(eleme_columns.numbers(tensors(**features)))
    assert found.shape == (3, 10)
    # tf.feature_column concatenates in the order of the columns' names.
    names = sorted((*eleme.NUMBERS, *eleme.NUMBER_LISTS))
    np.testing.assert_allclose(found[:, names.index("price_list")], np.log1p([3, 0, 0]), rtol=1e-6)
    np.testing.assert_allclose(found[:, names.index("avg_price")], np.log1p([0, 0, 40]), rtol=1e-6)
    np.testing.assert_allclose(found[:, names.index("hours_list")], np.log1p([4.5, 6, 0]), rtol=1e-6)


def test_a_list_is_the_mean_of_the_rows_of_the_table_of_its_column():
    with tf.Graph().as_default():
        features = {name: ["4", "5", "6"] for name in eleme.LIST_OF} | {"time_type": ["lunch", "dinner", "tea"]}
        lists_of = {name: ["4;5", "6;6;4", ""] for name in eleme.LIST_OF.values()}
        lists_of["time_type_list"] = ["lunch;dinner", "tea;tea;lunch", ""]
        vectors = eleme_columns.vectors(tensors(**features, **lists_of), ARGS, Embeddings(ARGS))
        with drawn() as session:
            found, names = session.run(vectors), list(weights(session))
    assert len(found) == 18 + 9 and len(names) == 18
    at = 0
    for name in eleme_columns.CATEGORIES:
        own = found[at]
        at += 1
        assert own.shape == (3, DIM)
        if name in eleme.LIST_OF:
            expected = [(own[0] + own[1]) / 2, (2 * own[2] + own[0]) / 3, np.zeros(DIM)]
            np.testing.assert_allclose(found[at], expected, rtol=1e-5, atol=1e-6, err_msg=name)
            at += 1


def test_codes_have_their_own_number_of_buckets_and_all_others_that_of_the_flag():
    args = argparse.Namespace(hash_buckets=1000)
    assert {name: eleme_columns.buckets(args, name) for name in ("gender", "item_id")} == {
        "gender": 100,
        "item_id": 1000,
    }
    assert eleme_columns.buckets(argparse.Namespace(hash_buckets=7), "gender") == 7


def test_one_hot_has_a_one_for_each_category_but_a_time_of_day_that_is_none():
    with tf.Graph().as_default():
        found = load_model("contest_deepfm").one_hot(tensors(), ARGS)
        buckets = tf.strings.to_hash_bucket_fast(["1", "2", "3"], BUCKETS)
        with drawn() as session:
            found, buckets = session.run([found, buckets])
    assert found.shape == (3, 17 * BUCKETS + len(eleme.TIME_TYPES))
    names = sorted(eleme_columns.CATEGORIES)
    begin = 0
    for name in names:
        width = len(eleme.TIME_TYPES) if name == "time_type" else BUCKETS
        part = found[:, begin : begin + width]
        expected = np.zeros((3, width))
        if name == "time_type":
            expected[0, eleme.TIME_TYPES.index("lunch")] = expected[1, eleme.TIME_TYPES.index("tea")] = 1
        else:
            expected[np.arange(3), buckets] = 1
        np.testing.assert_array_equal(part, expected, err_msg=name)
        begin += width


def test_second_order_is_the_sum_of_the_products_of_all_pairs():
    vectors = np.random.default_rng(1).standard_normal((5, 3, DIM))
    expected = sum(vectors[i] * vectors[j] for i in range(5) for j in range(i))
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(interactions.second_order([tf.constant(vector) for vector in vectors]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_dots_are_those_of_all_pairs():
    vectors = np.random.default_rng(2).standard_normal((4, 3, DIM))
    expected = np.stack([(vectors[i] * vectors[j]).sum(1) for i in range(4) for j in range(i)], 1)
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(interactions.side_by_side_or_dots([tf.constant(vector) for vector in vectors], "dot"))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_wdl_looks_at_the_direction_of_embeddings_only():
    plain = logits("contest_wdl")
    longer = logits("contest_wdl", change=lambda session: set_variables(session, "deep/embeddings", lambda x: 3 * x))
    np.testing.assert_allclose(longer, plain, rtol=1e-4)
    other = logits("contest_wdl", change=lambda session: set_variables(session, "deep/embeddings", lambda x: x + 1))
    assert abs(other - plain).max() > 1e-2


def test_wdl_adds_the_linear_weights_of_all_categories():
    plain = logits("contest_wdl")
    more = logits("contest_wdl", change=lambda session: set_variables(session, "linear/", lambda x: x + 1))
    # 18 weights and the bias; "midnight" is no time of day.
    np.testing.assert_allclose(more - plain, [19, 19, 18], atol=1e-3)


def test_wdl_trains_the_linear_part_by_ftrl_and_the_deep_one_by_the_optimizer():
    wdl = load_model("contest_wdl")
    with tf.Graph().as_default():
        loss = tf.reduce_mean(tf.square(wdl.logits(tensors(), ARGS, Embeddings(ARGS), tf.constant(True)) - 1))
        step = tf.train.get_or_create_global_step()
        op = wdl.minimize(ARGS, loss, step)
        with drawn() as session:
            before = weights(session)
            first = session.run(loss)
            session.run(op)
            number, last, after = session.run(step), session.run(loss), weights(session)
        slots = {variable.op.name for variable in tf.global_variables()} - set(before)
    assert number == 1 and last < first
    for part in ("linear/", "deep/embeddings", "deep/dnn"):
        assert any(part in name and (before[name] != after[name]).any() for name in before), part
    assert all(("linear/" in name) == ("Ftrl" in name) for name in slots if "/Ftrl" in name or "linear/" in name)
    assert any("/Ftrl" in name for name in slots) and any("deep/" in name and "Adam" in name for name in slots)


def test_every_top_layer_of_dlrm_reads_the_one_before_it():
    """In the contest's script each reads the first one's input, so that a first layer of zeros would change nothing."""
    plain = logits("contest_dlrm")
    assert len({round(float(value), 3) for value in plain}) == 3
    blocked = logits("contest_dlrm", change=lambda session: set_variables(session, "top/hidden_0", lambda x: 0 * x))
    assert abs(blocked - plain).max() > 1e-2 and len({round(float(value), 4) for value in blocked}) == 1


@pytest.mark.parametrize("name", ["contest_wdl", "contest_dlrm", "contest_deepfm"])
def test_every_column_but_times_matters(name):
    with tf.Graph().as_default():
        features = tensors()
        result = load_model(name).logits(features, ARGS, Embeddings(ARGS), tf.constant(False))
        with drawn() as session:
            plain = session.run(result)
            assert plain.shape == (3,) and np.isfinite(plain).all()
            for column in (*eleme_columns.CATEGORIES, *eleme.NUMBERS, *eleme.HISTORY):
                value = 17 if column in eleme.NUMBERS else "night" if column.startswith("time_type") else "17"
                changed = {**FEATURES, column: [value] * 3}
                # All are fed: each other set of fed tensors would be another graph.
                changed = session.run(result, {features[feature]: values for feature, values in changed.items()})
                assert abs(changed - plain).max() > 1e-4, column


@pytest.mark.parametrize("name, layers", [("contest_dlrm", 2), ("contest_deepfm", 3)])
def test_batch_normalization_stands_behind_each_layer_and_tells_training_from_prediction(name, layers):
    with tf.Graph().as_default():
        load_model(name).logits(tensors(), ARGS, Embeddings(ARGS), tf.constant(True))
        assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * layers
    assert abs(logits(name, training=True) - logits(name, training=False)).max() > 1e-3


def test_lists_that_are_all_empty_give_finite_gradients():
    wdl = load_model("contest_wdl")
    with tf.Graph().as_default():
        empty = {name: [""] * 3 for name in eleme.HISTORY}
        result = wdl.logits(tensors(**empty), ARGS, Embeddings(ARGS), tf.constant(True))
        gradients = tf.gradients(result, tf.trainable_variables())
        gradients = [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients if g is not None]
        with drawn() as session:
            assert all(np.isfinite(gradient).all() for gradient in session.run(gradients))
            assert np.isfinite(session.run(result)).all()
