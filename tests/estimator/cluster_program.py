"""One task of a cluster, as a program: `python cluster_program.py KIND MODEL_DIR STEPS`, with TF_CONFIG in the environment."""

import os
import sys

import numpy as np
import tensorflow as tf


def features():
    random = np.random.default_rng(7)
    x = random.normal(size=[64, 2]).astype(np.float32)
    return {"x0": x[:, :1], "x1": x[:, 1:]}, (x[:, :1] - x[:, 1:] > 0).astype(np.int64)


def make(kind, config):
    fc = tf.feature_column
    columns = [fc.numeric_column("x0"), fc.numeric_column("x1")]
    if kind == "trees":
        columns = [fc.bucketized_column(c, [-1.0, -0.3, 0.0, 0.4, 1.0]) for c in columns]
        return tf.estimator.BoostedTreesClassifier(columns, 1, n_trees=5, max_depth=2, learning_rate=0.4, config=config)
    return tf.estimator.DNNClassifier([4], columns, config=config)


def main(kind, model_dir, steps):
    arrays, labels = features()

    def input_fn(epochs=None):
        return tf.data.Dataset.from_tensor_slices((arrays, labels)).repeat(epochs).batch(32)

    config = tf.estimator.RunConfig(
        model_dir=model_dir, tf_random_seed=1, save_checkpoints_steps=10, log_step_count_steps=10
    )
    estimator = make(kind, config)
    print(config.task_type, config.task_id, "is chief" if config.is_chief else "", flush=True)
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(input_fn, max_steps=steps),
        tf.estimator.EvalSpec(lambda: input_fn(1), steps=None, start_delay_secs=0, throttle_secs=0),
    )
    print("done", flush=True)


if __name__ == "__main__":
    # Workers of a real cluster start some seconds apart; here the wait would only cost time.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
