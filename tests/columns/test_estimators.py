"""DeepRec's feature columns in canned estimators."""

import numpy as np


def test_estimators_train_evaluate_and_restore(tf, tmp_path):
    fc = tf.feature_column
    random = np.random.RandomState(0)
    words = random.choice(list("abcdefgh"), [200, 4]).astype(object)
    words[random.rand(200, 4) < 0.3] = ""
    numbers = random.randint(0, 100, [200, 2])
    # The first word that is there says what to predict.
    first = np.array([next((w for w in row if w), "a") for row in words])
    labels = (first > "d").astype(np.int64)[:, None]

    def batches():
        data = tf.data.Dataset.from_tensor_slices(
            ({"a": words.astype("S"), "b": words.astype("S"), "n": numbers}, labels)
        )
        return data.repeat(30).batch(50)

    wide = [
        fc.cutoff_categorical_column(fc.categorical_column_with_hash_bucket("a", 50), 2),
        fc.categorical_column_with_multi_hash_bucket("b", 50, ["farm", "murmur"]),
    ]
    deep = [
        fc.embedding_column(fc.cutoff_categorical_column(fc.categorical_column_with_embedding("a"), 1), 4),
        fc.multi_hash_embedding_column(
            fc.categorical_column_with_multi_hash_bucket("b", 50, ["farm", "murmur"]), 4, "multi"
        ),
        fc.indicator_column(fc.sparse_bucketized_column(fc.sparse_numeric_column("n"), [10, 50])),
        fc.sparse_numeric_column("n", 2),
    ]
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        str(tmp_path), wide, "Ftrl", deep, tf.train.AdagradOptimizer(0.1), [8]
    )
    estimator.train(batches, steps=60)
    first_score = estimator.evaluate(batches, steps=4)
    estimator.train(batches, steps=60)
    score = estimator.evaluate(batches, steps=4)
    assert score["loss"] < first_score["loss"] and score["accuracy"] > 0.8
    assert "dnn/input_from_feature_columns/input_layer/multi/embedding_weights" in estimator.get_variable_names()
