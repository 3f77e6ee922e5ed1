"""TPUEstimator on a CPU: it trains with use_tpu=False, and says what is missing with use_tpu=True."""

import numpy as np
import pytest
import tensorflow as tf
from estimator_helpers import ROWS

_T = tf.estimator.tpu


def _model_fn(features, labels, mode, params):
    y = tf.layers.dense(features["x"], 1, name="out")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return _T.TPUEstimatorSpec(mode, predictions={"y": y})
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        if params["use_tpu"]:
            optimizer = tf.tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())

    def metrics(labels, y):
        return {"error": tf.metrics.mean_absolute_error(labels, y)}

    return _T.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=(metrics, [labels, y]))


def _input_fn(params):
    random = np.random.default_rng(1)
    x = random.normal(size=[ROWS, 2]).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(1, keepdims=True)))
    # The batch size comes with the parameters; TPUs need batches of one shape.
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def _make(tmp_path, use_tpu):
    config = _T.RunConfig(
        model_dir=str(tmp_path), tf_random_seed=1, tpu_config=_T.TPUConfig(iterations_per_loop=2, num_shards=1)
    )
    return _T.TPUEstimator(
        _model_fn,
        config=config,
        use_tpu=use_tpu,
        params={},
        train_batch_size=8,
        eval_batch_size=8,
        predict_batch_size=8,
    )


def test_trains_evaluates_and_predicts_on_cpu(tmp_path):
    estimator = _make(tmp_path, use_tpu=False)
    estimator.train(_input_fn, max_steps=2)
    first = estimator.evaluate(_input_fn, steps=4)
    estimator.train(_input_fn, max_steps=60)
    last = estimator.evaluate(_input_fn, steps=4)
    assert last["global_step"] == 60 and last["loss"] < first["loss"] and last["error"] < first["error"]
    predictions = estimator.predict(_input_fn)
    assert next(predictions)["y"].shape == (1,)
    np.testing.assert_allclose(estimator.get_variable_value("out/kernel"), [[1], [1]], atol=0.1)


def test_use_tpu_without_a_tpu_is_an_error(tmp_path):
    with pytest.raises((ValueError, RuntimeError, tf.errors.OpError)) as error:
        _make(tmp_path, use_tpu=True).train(_input_fn, max_steps=2)
    assert "TPU" in str(error.value)


def test_contrib_and_old_paths_are_the_same_classes():
    from tensorflow.contrib.tpu.python.tpu import tpu_config, tpu_estimator

    assert tf.contrib.tpu.TPUEstimator is _T.TPUEstimator is tpu_estimator.TPUEstimator
    assert tf.contrib.tpu.RunConfig is _T.RunConfig is tpu_config.RunConfig
    assert tf.contrib.tpu.CrossShardOptimizer is tf.tpu.CrossShardOptimizer
