"""Parts of the Taobao models against formulas in NumPy."""

import argparse

import numpy as np
import pytest
import tensorflow as tf

from common import ev_flags, model_flags
from common.embeddings import Embeddings
from modelzoo_helpers import load_model


def run(tensors):
    """Values of the tensors with freshly drawn variables, and those by name."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        rng = np.random.default_rng(4)
        for variable in tf.trainable_variables():
            variable.load(rng.standard_normal(variable.shape.as_list()), session)
        return session.run(tensors), {v.op.name: session.run(v) for v in tf.trainable_variables()}


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def relu(x):
    return np.maximum(x, 0)


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_mixture_is_the_sum_of_the_experts_by_a_softmax_gate():
    net, experts = random(5, 3), [random(5, 4, seed=i) for i in (1, 2, 3)]
    with tf.Graph().as_default():
        result, weights = run(model_flags.mixture(tf.constant(net), [tf.constant(e) for e in experts], "gate"))
    gate = softmax(net @ weights["gate/kernel"])
    expected = sum(gate[:, i : i + 1] * experts[i] for i in range(3))
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_product_cross_entropy_is_that_of_the_product_of_the_probabilities():
    esmm = load_model("esmm")
    a, b = np.random.default_rng(1).uniform(-6, 6, (2, 200))
    labels = np.random.default_rng(2).integers(0, 2, 200).astype(float)
    p = 1 / (1 + np.exp(-a)) / (1 + np.exp(-b))
    expected = -(labels * np.log(p) + (1 - labels) * np.log1p(-p))
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(esmm.product_cross_entropy(*map(tf.constant, (labels, a, b))))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_product_cross_entropy_and_its_gradient_are_finite_for_certain_predictions():
    esmm = load_model("esmm")
    values = np.array([-100.0, -1.0, 0.0, 1.0, 100.0], np.float32)
    a, b, labels = (grid.ravel() for grid in np.meshgrid(values, values, np.array([0.0, 1.0], np.float32)))
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.constant(a), tf.constant(b)
        loss = esmm.product_cross_entropy(tf.constant(labels), a, b)
        for result in session.run([loss, *tf.gradients(loss, [a, b])]):
            assert np.isfinite(result).all()


@pytest.mark.parametrize("last", [False, True])
def test_extraction_mixes_own_and_shared_experts_and_the_shared_part_all_of_them(last):
    ple = load_model("ple")
    args = argparse.Namespace(shared_experts=1, task_experts=2, expert_units=(4,))
    inputs = {"clk": random(5, 3), "buy": random(5, 3, seed=1), "shared": random(5, 3, seed=2)}
    with tf.Graph().as_default():
        tensors = {name: tf.constant(value) for name, value in inputs.items()}
        result, weights = run(ple.extraction(tensors, args, last))

    def expert(part, i):
        name = f"{part}_expert_{i}_0"
        return relu(inputs[part] @ weights[f"{name}/kernel"] + weights[f"{name}/bias"])

    experts = {part: [expert(part, i) for i in range(1 if part == "shared" else 2)] for part in inputs}
    takes = {
        "clk": experts["clk"] + experts["shared"],
        "buy": experts["buy"] + experts["shared"],
        "shared": experts["clk"] + experts["buy"] + experts["shared"],
    }
    if last:
        del takes["shared"]
    assert set(result) == set(takes)
    for part, taken in takes.items():
        gate = softmax(inputs[part] @ weights[f"{part}_gate/kernel"])
        expected = sum(gate[:, i : i + 1] * values for i, values in enumerate(taken))
        np.testing.assert_allclose(result[part], expected, rtol=1e-4, atol=1e-5)


def test_attention_is_that_of_several_heads_on_the_places_that_are_there():
    bst = load_model("bst")
    net, mask = random(3, 5, 6), np.array([[1, 1, 0, 0, 1], [0, 0, 0, 0, 1], [1] * 5], np.float32)
    with tf.Graph().as_default():
        result, weights = run(bst.attention(tf.constant(net), tf.constant(mask), heads=2))
    query, key, value = (net @ weights[f"{n}/kernel"] + weights[f"{n}/bias"] for n in ("query", "key", "value"))
    heads = []
    for head in (slice(0, 3), slice(3, 6)):
        scores = query[..., head] @ key[..., head].transpose(0, 2, 1) / 3**0.5
        heads.append(softmax(np.where(mask[:, None, :] > 0, scores, -np.inf)) @ value[..., head])
    expected = np.concatenate(heads, -1) @ weights["mixed/kernel"] + weights["mixed/bias"]
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-4)


def test_layer_norm_is_over_the_last_dimension():
    bst = load_model("bst")
    net = random(3, 5, 6)
    with tf.Graph().as_default(), tf.Session() as session:
        result = bst.layer_norm(tf.constant(net), "norm")
        session.run(tf.global_variables_initializer())
        result = session.run(result)
    expected = (net - net.mean(-1, keepdims=True)) / net.std(-1, keepdims=True)
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-3)


_FEATURES = {
    "pid": ["430548_1007", "430539_1007"],
    **{name: ["1", "2"] for name in ("adgroup_id", "cate_id", "campaign_id", "customer", "brand", "user_id")},
    **{name: ["1", "2"] for name in ("cms_segid", "cms_group_id", "final_gender_code", "age_level", "pvalue_level")},
    **{name: ["1", " "] for name in ("shopping_level", "occupation", "new_user_class_level")},
    "tag_category_list": ["7|8|9", "5"],
    "tag_brand_list": ["1|2|3", "6"],
    "price": np.array([3, 77], np.float32),
}


def _logits(name, parsed, features):
    """Of a click, with all weights drawn anew from one seed."""
    with tf.Graph().as_default():
        tensors = {feature: tf.constant(values) for feature, values in features.items()}
        logits = load_model(name).logits(tensors, parsed, Embeddings(parsed), tf.constant(False))
        return run(logits["clk"])[0]


@pytest.fixture
def bst_args():
    return argparse.Namespace(
        hash_buckets=50,
        embedding_dim=4,
        sequence_length=3,
        heads=2,
        blocks=2,
        hidden_units=(8,),
        **dict.fromkeys(ev_flags.KINDS, False),
        ev_filter=None,
        ev_elimination=None,
        group_embedding=False,
        emb_fusion=False,
        bf16=False,
        tf=False,
        input_layer_partitioner=None,
        dense_layer_partitioner=None,
    )


def test_bst_reads_the_events_and_their_order(bst_args):
    logits = _logits("bst", bst_args, _FEATURES)
    for categories, changes in (("7|8|9|10", False), ("8|7|9", True), ("7|8", True), ("7|8|10", True)):
        other = _logits("bst", bst_args, {**_FEATURES, "tag_category_list": [categories, "5"]})
        assert (abs(other[0] - logits[0]) > 1e-3) == changes, categories
        assert other[1] == pytest.approx(logits[1], rel=1e-4)


def test_bst_of_no_events_is_finite(bst_args):
    logits = _logits("bst", bst_args, {**_FEATURES, "tag_category_list": ["", ""], "tag_brand_list": ["", ""]})
    assert np.isfinite(logits).all()


def test_bst_refuses_heads_that_do_not_divide_the_width(capsys):
    parser = argparse.ArgumentParser()
    with pytest.raises(SystemExit):
        load_model("bst").check(parser, argparse.Namespace(embedding_dim=3, heads=4))
    assert "--heads is 4, which does not divide 2 times --embedding_dim 3" in capsys.readouterr().err
