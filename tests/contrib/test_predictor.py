"""Predictors give what the model gives."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.contrib import predictor


@pytest.fixture
def estimator(tmp_path):
    def model_fn(features, labels, mode):
        y = tf.layers.dense(features["x"], 1, name="out")
        z = tf.add(y, 1.0, name="z")
        outputs = {
            "serving_default": tf.estimator.export.PredictOutput({"y": y}),
            "more": tf.estimator.export.PredictOutput({"z": z}),
        }
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, {"y": y}, export_outputs=outputs)
        loss = tf.losses.mean_squared_error(labels, y)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    made = tf.estimator.Estimator(model_fn, str(tmp_path / "model"))
    made.train(lambda: ({"x": tf.ones([2, 3])}, tf.ones([2, 1])), steps=2)
    return made


def _receiver():
    tensors = {"x": tf.placeholder(tf.float32, [None, 3], "x")}
    return tf.estimator.export.ServingInputReceiver(tensors, tensors)


@pytest.fixture
def rows(estimator):
    x = np.random.default_rng(2).normal(size=[5, 3]).astype(np.float32)
    return x, x @ estimator.get_variable_value("out/kernel") + estimator.get_variable_value("out/bias")


def test_from_estimator(estimator, rows):
    x, want = rows
    predict = predictor.from_estimator(estimator, _receiver)
    for _ in range(2):
        np.testing.assert_allclose(predict({"x": x})["y"], want, rtol=1e-5)
    more = predictor.from_estimator(estimator, _receiver, output_key="more")
    np.testing.assert_allclose(more({"x": x})["z"], want + 1, rtol=1e-5)
    assert set(predict.feed_tensors) == {"x"} and set(predict.fetch_tensors) == {"y"}
    assert predict.graph is not tf.get_default_graph()
    with pytest.raises(ValueError, match=r"\['unknown'\] are not among"):
        predict({"unknown": x})
    with pytest.raises(ValueError, match="'none' is not among"):
        predictor.from_estimator(estimator, _receiver, output_key="none")


def test_from_saved_model(estimator, rows, tmp_path):
    x, want = rows
    folder = estimator.export_saved_model(str(tmp_path / "export"), _receiver)
    np.testing.assert_allclose(predictor.from_saved_model(folder)({"x": x})["y"], want, rtol=1e-5)
    more = predictor.from_saved_model(folder, signature_def_key="more")
    np.testing.assert_allclose(more({"x": x})["z"], want + 1, rtol=1e-5)
    by_names = predictor.from_saved_model(folder, input_names={"in": "x:0"}, output_names={"out": "z:0"}, tags="serve")
    np.testing.assert_allclose(by_names({"in": x})["out"], want + 1, rtol=1e-5)
    graph = tf.Graph()
    with by_names.graph.as_default():
        signature = tf.saved_model.signature_def_utils.predict_signature_def(
            {"a": by_names.feed_tensors["in"]}, {"b": by_names.fetch_tensors["out"]}
        )
    by_signature = predictor.from_saved_model(folder, signature_def=signature, graph=graph)
    assert by_signature.graph is graph
    np.testing.assert_allclose(by_signature({"a": x})["b"], want + 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"signature_def_key": "none"}, "'none' is not among"),
        ({"tags": "train"}, "tags"),
        ({"input_names": {}}, "go together"),
        ({"signature_def_key": "more", "input_names": {}, "output_names": {}}, "Give one of"),
    ],
)
def test_bad_arguments_of_from_saved_model(estimator, tmp_path, arguments, message):
    folder = estimator.export_saved_model(str(tmp_path / "export"), _receiver)
    with pytest.raises(ValueError, match=message):
        predictor.from_saved_model(folder, **arguments)


def test_an_untrained_estimator_is_an_error(tmp_path):
    def model_fn(features, mode):
        output = tf.estimator.export.PredictOutput({"y": features["x"]})
        return tf.estimator.EstimatorSpec(mode, features, export_outputs={"serving_default": output})

    with pytest.raises(ValueError, match="train the estimator first"):
        predictor.from_estimator(tf.estimator.Estimator(model_fn, str(tmp_path)), _receiver)


def test_from_contrib_estimator_refuses_a_core_estimator(estimator):
    with pytest.raises(TypeError, match="from_estimator"):
        predictor.from_contrib_estimator(estimator, None)


def test_from_contrib_estimator(tmp_path):
    """What it asks of an estimator of contrib.learn: predict ops, a folder, and default inputs."""
    import collections

    class Model:
        model_dir = str(tmp_path)

        def _get_predict_ops(self, features):
            v = tf.get_variable("v", [], initializer=tf.constant_initializer(3.0))
            return collections.namedtuple("Ops", "predictions")({"y": features["x"] * v})

    inputs = collections.namedtuple("InputFnOps", "features labels default_inputs")

    def input_fn():
        x = tf.placeholder(tf.float32, [None])
        return inputs({"x": x}, None, {"x": x})

    with tf.Graph().as_default(), tf.Session() as session:
        Model()._get_predict_ops({"x": tf.zeros([1])})
        tf.train.get_or_create_global_step()
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    predict = predictor.from_contrib_estimator(Model(), input_fn)
    np.testing.assert_allclose(predict({"x": [1.0, 2.0]})["y"], [3, 6])
