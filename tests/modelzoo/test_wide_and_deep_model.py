"""The network against NumPy on its own variables, its optimizers, and its slices."""

import argparse

import numpy as np
import pytest
import tensorflow as tf

import model
import train
from common import criteo, ev_flags, parts
from common.embeddings import Embeddings
from common.graph import session_config

SIZE = model.Size(hash_buckets=50, embedding_dim=3, widen_large=True, hidden_units=(16, 16))
BATCH = 6


@pytest.fixture(scope="module")
def batch():
    rng = np.random.default_rng(3)
    features = {name: rng.integers(0, 9, BATCH).astype(np.float32) for name in criteo.NUMERIC}
    features.update(
        {name: np.array([f"{v:x}" for v in rng.integers(0, 99, BATCH)], object) for name in criteo.CATEGORICAL}
    )
    features["C7"][2] = " "
    return features, rng.integers(0, 2, BATCH).astype(np.float32)


def grouped_if(group):
    kinds = dict.fromkeys(ev_flags.KINDS, False)
    return Embeddings(argparse.Namespace(group_embedding=group, emb_fusion=False, **kinds))


def build(batch, partitioner_bytes=None, **options):
    features, labels = batch
    features = {name: tf.constant(value) for name, value in features.items()}
    logits = model.logits(features, SIZE, *[parts.partitioner(partitioner_bytes, 1)] * 2, **options)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.constant(labels), logits=logits))
    return features, logits, loss


def reference(weights, features, buckets):
    """The formula of the model in NumPy; `weights` by variable name, `buckets` the hashed categories."""

    def weight(*parts):
        (name,) = [name for name in weights if all(part in name.split("/") for part in parts)]
        return weights[name]

    names = list(criteo.CATEGORICAL)
    wide = weight("linear", "bias_weights")[0]
    wide = wide + sum(weight("linear", name, "weights")[buckets[name], 0] for name in names)
    # tf.feature_column concatenates in the order of the columns' names.
    parts = {
        f"{name}_embedding": weight("deep", f"{name}_embedding", "embedding_weights")[buckets[name]] for name in names
    }
    for name, minimum, span in zip(criteo.NUMERIC, criteo.NUMERIC_MINIMUM, criteo.NUMERIC_RANGE):
        parts[name] = (features[name][:, None] - minimum) / span
    net = np.concatenate([parts[name] for name in sorted(parts)], axis=1)
    for layer in ("hidden_0", "hidden_1"):
        net = np.maximum(net @ weight("dnn", layer, "kernel") + weight("dnn", layer, "bias"), 0)
    return wide + (net @ weight("dnn", "logits", "kernel") + weight("dnn", "logits", "bias"))[:, 0]


@pytest.mark.parametrize("numbers_only", [False, True])
def test_logits_are_those_of_the_formula(batch, numbers_only):
    """Once with all of it, once with everything zero but the layers, where a wrong scale of a number shows."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        features, logits, _ = build(batch)
        buckets = {name: tf.strings.to_hash_bucket_fast(features[name], 50) for name in criteo.CATEGORICAL}
        session.run(tf.global_variables_initializer())
        rng = np.random.default_rng(4)
        for variable in tf.trainable_variables():
            shape = variable.shape.as_list()
            if "dnn" not in variable.op.name:
                variable.load(np.zeros(shape) if numbers_only else rng.standard_normal(shape), session)
        weights = {variable.op.name: session.run(variable) for variable in tf.trainable_variables()}
        buckets, actual = session.run([buckets, logits])
    expected = reference(weights, batch[0], buckets)
    assert len(weights) == 26 * 2 + 1 + 6 and np.ptp(expected) > 1e-3
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6)


@pytest.fixture
def three_categories(monkeypatch):
    """A graph of 26 columns takes seconds to build."""
    monkeypatch.setattr(criteo, "CATEGORICAL", criteo.CATEGORICAL[:3])


@pytest.mark.parametrize("optimizer", train.OPTIMIZERS)
def test_optimizer_lowers_the_loss_and_trains_both_parts(batch, optimizer, three_categories):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        _, _, loss = build(batch)
        make, rate = train.OPTIMIZERS[optimizer]
        step = tf.train.get_or_create_global_step()
        op = model.train_op(loss, tf.train.FtrlOptimizer(0.2), make(rate, step), step)
        session.run(tf.global_variables_initializer())
        variables = tf.trainable_variables()
        before, first_loss = session.run([variables, loss])
        for _ in range(10):
            session.run(op)
        after, last_loss, steps = session.run([variables, loss, step])
    assert last_loss < first_loss and steps == 10
    unchanged = [v.op.name for v, x, y in zip(variables, before, after) if np.array_equal(x, y)]
    # Units that are off for the whole batch may keep their bias.
    assert not [name for name in unchanged if not name.endswith("bias")]


def test_slices_by_the_partitioner_give_the_same_logits(batch, tmp_path, three_categories):
    """Whole variables are saved and restored into slices."""
    with tf.Graph().as_default(), tf.Session() as session:
        _, logits, _ = build(batch)
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
        whole, whole_count = session.run(logits), len(tf.trainable_variables())
    with tf.Graph().as_default(), tf.Session() as session:
        _, logits, loss = build(batch, partitioner_bytes=200)
        op = model.train_op(
            loss, tf.train.FtrlOptimizer(0.2), tf.train.AdamOptimizer(0.1), tf.train.get_or_create_global_step()
        )
        session.run(tf.global_variables_initializer())
        tf.train.Saver(tf.trainable_variables()).restore(session, path)
        np.testing.assert_allclose(session.run(logits), whole, rtol=1e-5, atol=1e-6)
        assert len(tf.trainable_variables()) > 2 * whole_count
        before = session.run(loss)
        for _ in range(5):
            session.run(op)
        assert session.run(loss) < before


def test_lookups_in_one_op_give_the_same_logits(batch, tmp_path, three_categories):
    results = []
    for group in (False, True):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            _, logits, loss = build(batch, embeddings=grouped_if(group))
            grouped = [op.name for op in graph.get_operations() if "GroupEmbedding" in op.type]
            assert bool(grouped) == group
            saver, path = tf.train.Saver(), str(tmp_path / "model")
            if group:
                saver.restore(session, path)
            else:
                session.run(tf.global_variables_initializer())
                saver.save(session, path)
            gradients = tf.gradients(loss, tf.trainable_variables())
            results.append(session.run([logits, *map(tf.convert_to_tensor, gradients)]))
    for plain, grouped in zip(*results):
        np.testing.assert_allclose(grouped, plain, rtol=1e-5, atol=1e-6)


def test_xla_gives_the_same_training(batch, three_categories):
    def losses(*flags):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            _, _, loss = build(batch)
            op = model.train_op(
                loss, tf.train.FtrlOptimizer(0.2), tf.train.AdamOptimizer(0.01), tf.train.get_or_create_global_step()
            )
            with tf.Session(config=session_config(train.parse(list(flags)))) as session:
                session.run(tf.global_variables_initializer())
                metadata, result = tf.RunMetadata(), []
                for _ in range(4):
                    options = tf.RunOptions(output_partition_graphs=True)
                    result.append(session.run([loss, op], options=options, run_metadata=metadata)[0])
        ops = {node.op for graph in metadata.partition_graphs for node in graph.node}
        return result, any("Xla" in name for name in ops)

    plain, plain_compiled = losses()
    compiled, is_compiled = losses("--xla")
    assert is_compiled and not plain_compiled
    np.testing.assert_allclose(compiled, plain, rtol=1e-4)
    assert compiled[-1] < compiled[0]
