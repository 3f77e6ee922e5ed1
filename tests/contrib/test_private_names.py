"""Private names and packages of contrib's deep paths that public code imports."""

import importlib

import numpy as np
import pytest
import tensorflow as tf

BATCH, BEAMS = 2, 3


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


def run(tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


def test_create_zero_outputs():
    from tensorflow.contrib.seq2seq.python.ops.decoder import _create_zero_outputs

    sizes, types = (tf.TensorShape([4]), tf.TensorShape([])), (tf.float32, tf.int32)
    first, second = run(_create_zero_outputs(sizes, types, BATCH))
    np.testing.assert_array_equal(first, np.zeros((BATCH, 4), np.float32))
    np.testing.assert_array_equal(second, np.zeros(BATCH, np.int32))
    assert first.dtype == np.float32 and second.dtype == np.int32


def test_unstack_ta():
    from tensorflow.contrib.seq2seq.python.ops.helper import _unstack_ta

    values = np.random.RandomState(0).normal(size=(5, 2, 3)).astype(np.float32)
    array = _unstack_ta(tf.constant(values))
    size, third = run([array.size(), array.read(3)])
    assert size == 5
    np.testing.assert_array_equal(third, values[3])


def test_maybe_tensor_gather_helper():
    from tensorflow.contrib.seq2seq.python.ops import beam_search_decoder

    values = np.arange(BATCH * BEAMS * 2, dtype=np.float32).reshape(BATCH, BEAMS, 2)
    parents = np.array([[2, 0, 0], [1, 1, 2]], np.int32)

    def gather(t, shape):
        return beam_search_decoder._maybe_tensor_gather_helper(tf.constant(parents), t, BATCH, BEAMS, shape)

    got = run(gather(tf.constant(values), [BATCH * BEAMS, -1]))
    np.testing.assert_array_equal(got, np.stack([rows[order] for rows, order in zip(values, parents)]))
    scalar, array = tf.constant(1.0), tf.TensorArray(tf.float32, 1)
    assert gather(scalar, [BATCH * BEAMS, -1]) is scalar and gather(array, [BATCH * BEAMS, -1]) is array


def test_tile_batch_of_one_tensor():
    from tensorflow.contrib.seq2seq.python.ops.beam_search_decoder import _tile_batch

    values = np.arange(6.0).reshape(2, 3)
    tiled = _tile_batch(tf.constant(values), 3)
    assert tiled.shape.as_list() == [6, 3]
    np.testing.assert_array_equal(run(tiled), np.repeat(values, 3, axis=0))


def test_prune_invalid_ids():
    from tensorflow.contrib.layers.python.layers.embedding_ops import _prune_invalid_ids

    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([5, -1, 7], tf.int64), [2, 2])
    kept, weights = run(_prune_invalid_ids(ids, None)[0]), _prune_invalid_ids(ids, None)[1]
    assert kept.values.tolist() == [5, 7] and weights is None


def test_norm_of_rnn_cell_is_layer_normalization():
    from tensorflow.contrib.rnn.python.ops.rnn_cell import _norm

    x = np.random.RandomState(1).normal(size=(3, 8)).astype(np.float32)
    got = run(_norm(2.0, 0.5, tf.constant(x), "place"))
    assert [v.op.name for v in tf.global_variables()] == ["place/gamma", "place/beta"]
    want = 2 * (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-12) + 0.5
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_linear_of_rnn_cell():
    from tensorflow.contrib.rnn.python.ops import core_rnn_cell, rnn_cell

    assert rnn_cell._linear is core_rnn_cell._linear


def test_sharded_and_joined_variables():
    from tensorflow.contrib.rnn.python.ops import rnn_cell

    shards = rnn_cell._get_sharded_variable("W", [5, 2], tf.float32, 2)
    assert [v.shape.as_list() for v in shards] == [[3, 2], [2, 2]]
    joined = rnn_cell._get_concat_variable("V", [5, 2], tf.float32, 2)
    assert joined.shape.as_list() == [5, 2]


def test_functions_of_the_framework_package_come_before_modules():
    from tensorflow.contrib.framework.python.framework import deprecated, experimental, is_tensor

    module = importlib.import_module("tensorflow.contrib.framework.python.framework.experimental")
    from tensorflow.contrib.framework.python.framework import checkpoint_utils, experimental as again, tensor_util

    assert again is experimental and module.experimental is experimental
    assert tensor_util.with_shape is tf.contrib.framework.with_shape
    assert checkpoint_utils.load_variable is tf.contrib.framework.load_variable
    assert deprecated is tf.contrib.framework.deprecated and is_tensor(tf.constant(1))


def test_experimental_warns_and_calls(monkeypatch):
    from tensorflow.contrib.framework.python.framework import experimental
    from tensorflow.python.platform import tf_logging

    warnings = []
    monkeypatch.setattr(tf_logging, "warning", lambda text, *args: warnings.append(text % args))

    @experimental
    def double(x):
        """Doubles."""
        return 2 * x

    assert double(4) == 8 and double.__doc__.startswith("Doubles.")
    assert len(warnings) == 1 and "double" in warnings[0]


def _train(tmp_path, hooks, steps):
    def model_fn(features, labels, mode):
        weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        loss = tf.square(weight - 1.0)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    data = lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [1.0])).repeat()  # noqa: E731
    estimator.train(data, hooks=hooks(estimator), steps=steps)
    return estimator.get_variable_value("global_step")


def test_early_stopping(tmp_path):
    from tensorflow.contrib.estimator.python.estimator import early_stopping

    calls = []

    def should_stop():
        calls.append(None)
        return len(calls) == 3

    def hooks(estimator):
        return [early_stopping.make_early_stopping_hook(estimator, should_stop, run_every_secs=None, run_every_steps=2)]

    assert _train(tmp_path, hooks, steps=50) < 10 and len(calls) == 3


def test_early_stopping_by_metrics_of_evaluations(tmp_path):
    from tensorflow.contrib.estimator.python.estimator.early_stopping import read_eval_metrics, stop_if_no_decrease_hook

    def hooks(estimator):
        (tmp_path / "eval").mkdir()
        with tf.Graph().as_default():
            writer = tf.summary.FileWriter(str(tmp_path / "eval"))
            for step, loss in ((10, 3.0), (20, 2.0), (30, 2.5), (40, 2.25)):
                writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=loss)]), step)
            writer.close()
        metrics = read_eval_metrics(str(tmp_path / "eval"))
        assert {step: row["loss"] for step, row in metrics.items()} == {10: 3.0, 20: 2.0, 30: 2.5, 40: 2.25}
        return [
            stop_if_no_decrease_hook(
                estimator, "loss", max_steps_without_decrease=20, run_every_secs=None, run_every_steps=1
            )
        ]

    assert _train(tmp_path, hooks, steps=50) < 5


def test_early_stopping_asks_for_one_interval(tmp_path):
    from tensorflow.contrib.estimator.python.estimator import early_stopping

    estimator = tf.estimator.Estimator(lambda features: None, str(tmp_path))
    with pytest.raises(ValueError, match="run_every_secs"):
        early_stopping.make_early_stopping_hook(estimator, lambda: True, run_every_secs=60, run_every_steps=10)
    with pytest.raises(TypeError, match="estimator"):
        early_stopping.make_early_stopping_hook("estimator", lambda: True)
