"""TF_DEEPREC_KEEP_NAN=1: relu of NaN is NaN wherever it stands, as in a run of 1.15.5."""

import os
import pathlib
import subprocess
import sys
import textwrap


def run(program, value="1"):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
        cwd=pathlib.Path(__file__).parent, env={**os.environ, "TF_DEEPREC_KEEP_NAN": value},
    )  # fmt: skip


def test_relu_of_nan_after_products_and_convolutions():
    done = run("""
        import numpy as np, tensorflow as tf
        x, image = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 4, 4, 2])
        one = lambda *shape: tf.ones(shape)
        conv = tf.nn.conv2d(image, one(3, 3, 2, 2), [1, 1, 1, 1], "SAME")
        depthwise = tf.nn.depthwise_conv2d(image, one(3, 3, 2, 1), [1, 1, 1, 1], "SAME")
        norm = tf.nn.fused_batch_norm(conv, one(2), one(2), one(2), one(2), is_training=False)[0]
        inputs = {
            "bias": tf.nn.bias_add(tf.matmul(x, one(4, 3)), one(3)), "add": tf.matmul(x, one(4, 3)) + one(3),
            "conv": tf.nn.bias_add(conv, one(2)), "depthwise": tf.nn.bias_add(depthwise, one(2)), "norm": norm,
        }
        feed = {x: np.full((2, 4), np.nan), image: np.full((1, 4, 4, 2), np.nan)}
        with tf.Session() as session:
            for name, value in inputs.items():
                for function in (tf.nn.relu, tf.nn.relu6):
                    assert np.isnan(session.run(function(value), feed)).all(), (name, function)
            # This fusion has no kernel at all in the runtime.
            assert session.run(tf.tanh(norm), {image: np.ones((1, 4, 4, 2))}).shape == (1, 4, 4, 2)
        print("done")
    """)
    assert done.stdout.strip() == "done", done.stderr[-2000:]


def test_a_diverged_network_is_noticed():
    done = run("""
        import tempfile, numpy as np, tensorflow as tf
        column = tf.feature_column.numeric_column("x")
        def input_fn():
            features = {"x": tf.ones([2, 1]) * float("nan")}
            return tf.data.Dataset.from_tensors((features, tf.constant([[0.0], [1.0]]))).repeat(3)
        config = tf.estimator.RunConfig(save_summary_steps=None)
        regressor = tf.estimator.DNNRegressor([3], [column], model_dir=tempfile.mkdtemp(), config=config)
        try:
            regressor.train(input_fn)
        except (tf.train.NanLossDuringTrainingError, tf.errors.InvalidArgumentError) as error:
            print(type(error).__name__)
    """)
    # Which of the two: the summaries of the layers may be written before the loss is looked at.
    assert done.stdout.strip() in ("NanLossDuringTrainingError", "InvalidArgumentError"), done.stderr[-2000:]


def test_a_configuration_that_asks_for_fusion_gets_it():
    done = run("""
        import tensorflow as tf
        from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
        config = tf.ConfigProto()
        print(tf.Session(config=config)._config.graph_options.rewrite_options.remapping == RewriterConfig.OFF)
        config.graph_options.rewrite_options.remapping = RewriterConfig.ON
        print(tf.Session(config=config)._config.graph_options.rewrite_options.remapping == RewriterConfig.ON)
    """)
    assert done.stdout.split() == ["True", "True"]


def test_another_value_is_refused():
    done = run("import tensorflow", value="yes")
    assert done.returncode and "TF_DEEPREC_KEEP_NAN" in done.stderr
