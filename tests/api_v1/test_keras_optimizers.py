"""Optimizers of Keras whose defaults or variables changed after 1.15. Values are those of a run of 1.15.5."""

import numpy as np
import pytest
import tensorflow as tf


def trained(optimizer):
    with tf.Graph().as_default(), tf.Session().as_default():
        x, y = np.eye(4, dtype=np.float32), np.ones((4, 1), np.float32)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,), kernel_initializer="ones")])
        model.compile(optimizer, "mse")
        for _ in range(2):
            model.fit(x, 3 * y, batch_size=4, epochs=1, shuffle=False, verbose=0)
        return model.get_weights(), [v.name for v in tf.global_variables()], model.optimizer.get_config()


def test_adagrad_by_name_starts_its_accumulators_at_zero():
    weights, _, config = trained("adagrad")
    np.testing.assert_allclose(weights[1], [0.0017066], rtol=1e-4)
    np.testing.assert_allclose(weights[0].ravel(), [1.0017067] * 4, rtol=1e-6)
    assert config["initial_accumulator_value"] == 0.0
    assert tf.keras.optimizers.Adagrad().get_config()["initial_accumulator_value"] == 0.1
    given = tf.keras.optimizers.Adagrad.from_config({"initial_accumulator_value": 0.3, "learning_rate": 0.1})
    assert given.get_config()["initial_accumulator_value"] == 0.3


@pytest.mark.parametrize(
    "make, kernel, bias",
    [
        (lambda: "ftrl", 0.7001809, 0.0017504196),
        (lambda: tf.keras.optimizers.Ftrl(0.1, l2_regularization_strength=0.2), 0.8341735, 0.17111085),
    ],
)
def test_ftrl_has_no_beta(make, kernel, bias):
    weights, names, config = trained(make())
    np.testing.assert_allclose(weights[0].ravel(), [kernel] * 4, rtol=1e-5)
    np.testing.assert_allclose(weights[1], [bias], rtol=1e-4)
    hyper = [
        "decay",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "learning_rate",
        "learning_rate_power",
    ]
    assert sorted(name for name in names if name.count("/") == 2 and "Ftrl" in name) == [
        f"training/Ftrl/{name}:0" for name in sorted([*hyper, "iter"])
    ]
    assert "beta" not in config


def test_a_beta_that_is_asked_for_stays():
    optimizer = tf.keras.optimizers.Ftrl(0.1, beta=0.5)
    assert optimizer.get_config()["beta"] == 0.5
    _, names, _ = trained(optimizer)
    assert "training/Ftrl/beta:0" in names
