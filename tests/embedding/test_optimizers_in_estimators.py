"""DeepRec's optimizers on EmbeddingVariables, by way of columns and estimators."""

import numpy as np
import pytest


@pytest.fixture
def tf():
    import tensorflow

    return tensorflow


def optimizer(tf, name):
    step = tf.train.get_global_step()
    return {
        "AdagradDecay": lambda: tf.train.AdagradDecayOptimizer(0.2, step, accumulator_decay_step=20),
        "AdamAsync": lambda: tf.train.AdamAsyncOptimizer(0.02),
        "AdamW": lambda: tf.train.AdamWOptimizer(1e-4, 0.02),
        "Ftrl": lambda: tf.train.FtrlOptimizer(0.1),
    }[name]()


@pytest.mark.parametrize(
    "linear, dnn", [("Ftrl", "AdamAsync"), ("AdagradDecay", "AdamW"), ("AdamAsync", "AdagradDecay")]
)
def test_an_estimator_learns_and_goes_on_from_its_checkpoint(tf, linear, dnn, tmp_path):
    columns = tf.feature_column
    key = columns.categorical_column_with_embedding("key", dtype=tf.int64)
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        str(tmp_path),
        linear_feature_columns=[columns.numeric_column("x")],
        linear_optimizer=lambda: optimizer(tf, linear),
        dnn_feature_columns=[columns.embedding_column(key, 8)],
        dnn_optimizer=lambda: optimizer(tf, dnn),
        dnn_hidden_units=[16],
        config=tf.estimator.RunConfig(tf_random_seed=1),
    )
    rng = np.random.default_rng(0)
    features = {"key": rng.integers(0, 18, 256), "x": rng.normal(size=256).astype(np.float32)}
    labels = (features["key"] % 2).astype(np.int32)
    for _ in range(2):
        estimator.train(tf.estimator.inputs.numpy_input_fn(features, labels, 64, 20, shuffle=True))
    result = estimator.evaluate(tf.estimator.inputs.numpy_input_fn(features, labels, 64, shuffle=False))
    assert result["global_step"] == 160
    # The parity of the key: only its row can know.
    assert result["accuracy"] > 0.9
    slot = f"dnn/input_from_feature_columns/input_layer/key_embedding/embedding_weights/part_0/{dnn}"
    assert {f"{slot}-keys", f"{slot}-values"} < set(estimator.get_variable_names())
    assert len(estimator.get_variable_value(f"{slot}-keys")) == 18
