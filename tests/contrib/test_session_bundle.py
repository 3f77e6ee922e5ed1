"""tf.contrib.session_bundle: exports are read back, filters of exports, messages; and exports of tf.contrib.learn."""

import os

import numpy as np
import pytest
import tensorflow as tf

from tensorflow.contrib.learn.python.learn.utils import export as export_lib
from tensorflow.contrib.session_bundle import constants, exporter, gc, manifest_pb2

L = tf.contrib.learn
C = tf.contrib.layers


def signatures(graph):
    [wrapped] = graph.get_collection(constants.SIGNATURES_KEY)
    message = manifest_pb2.Signatures()
    assert wrapped.Unpack(message)
    return message


class Bundle:
    """A session over an export."""

    def __init__(self, folder):
        folder = folder.decode()
        self.graph = tf.Graph()
        with self.graph.as_default():
            saver = tf.train.import_meta_graph(os.path.join(folder, constants.META_GRAPH_DEF_FILENAME))
            self.session = tf.Session()
            saver.restore(self.session, os.path.join(folder, constants.VARIABLES_FILENAME))
            [init] = self.graph.get_collection(constants.INIT_OP_KEY) or [None]
            if init is not None:
                self.session.run(init)
            self.signatures = signatures(self.graph)

    def run(self, output, feed):
        return self.session.run(output.tensor_name, {tensor.tensor_name: value for tensor, value in feed})


def make_exporter(step=3):
    """An exporter of y = 2 x + 1, and its session."""
    tf.train.get_or_create_global_step()
    weight = tf.get_variable("w", initializer=2.0)
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.add(weight * x, 1.0, name="y")
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    tf.train.get_global_step().load(step, session)
    return exporter.Exporter(tf.train.Saver(sharded=True)), session, x, y


def test_an_export_is_read_back(tmp_path):
    asset = tmp_path / "words.txt"
    asset.write_text("a\n")
    with tf.Graph().as_default():
        export, session, x, y = make_exporter()
        path = tf.constant(str(asset), name="path")
        export.init(
            init_op=tf.no_op("init"),
            default_graph_signature=exporter.regression_signature(x, y),
            named_graph_signatures={
                "generic": exporter.generic_signature({"in": x, "out": y}),
                "classes": exporter.classification_signature(x, classes_tensor=y, scores_tensor=y),
            },
            assets_collection=[path],
        )
        folder = export.export(str(tmp_path / "exports"), tf.train.get_global_step(), session)
    assert folder == str(tmp_path / "exports" / "00000003").encode()
    names = sorted(os.listdir(folder.decode()))
    assert names == ["assets", "export.data-00000-of-00001", "export.index", "export.meta"]
    assert (tmp_path / "exports" / "00000003" / "assets" / "words.txt").read_text() == "a\n"
    bundle = Bundle(folder)
    regression = bundle.signatures.default_signature.regression_signature
    np.testing.assert_array_equal(bundle.run(regression.output, [(regression.input, [1.0, 2.0])]), [3.0, 5.0])
    named = bundle.signatures.named_signatures
    assert named["generic"].generic_signature.map["out"].tensor_name == "y:0"
    classes = named["classes"].classification_signature
    assert (classes.input.tensor_name, classes.classes.tensor_name, classes.scores.tensor_name) == ("x:0", "y:0", "y:0")
    [wrapped] = bundle.graph.get_collection(constants.ASSETS_KEY)
    asset_file = manifest_pb2.AssetFile()
    assert wrapped.Unpack(asset_file) and asset_file.filename == "words.txt"
    assert asset_file.tensor_binding.tensor_name == "path:0"


def test_devices_are_cleared():
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:0"):
            tf.constant(1.0, name="placed")
        export, *_ = make_exporter()
        export.init(clear_devices=True)
        [wrapped] = graph.get_collection(constants.GRAPH_KEY)
        copy = tf.GraphDef()
        assert wrapped.Unpack(copy) and all(not node.device for node in copy.node)
        assert any(node.name == "placed" for node in copy.node)


def test_old_exports_are_removed(tmp_path):
    with tf.Graph().as_default():
        export, session, *_ = make_exporter()
        export.init()
        for step in (1, 2, 12):
            tf.train.get_global_step().load(step, session)
            export.export(str(tmp_path) + "/", "global_step:0", session, gc.largest_export_versions(2))
        assert sorted(os.listdir(tmp_path)) == ["00000002", "00000012"]
        with pytest.raises(RuntimeError, match="Duplicate export dir"):
            export.export(str(tmp_path), "global_step:0", session)


def test_exporter_refuses(tmp_path):
    with tf.Graph().as_default():
        export, session, x, _ = make_exporter()
        with pytest.raises(RuntimeError, match="init must be called first"):
            export.export(str(tmp_path), "global_step:0", session)
        with pytest.raises(TypeError, match="init_op"):
            export.init(init_op="init")
        for bad in (x, tf.constant(1.0), tf.constant(["a", "b"]), "path"):
            with pytest.raises(TypeError, match="asset"):
                export.init(assets_collection=[bad])
        with pytest.raises(ValueError, match="empty"):
            export.init(assets_collection=[tf.constant("")])
        export.init()
        with pytest.raises(RuntimeError, match="only once"):
            export.init()


def test_filters_of_exports(tmp_path):
    paths = [gc.Path(f"p{version}", version) for version in (0, 4, 5, 8, 9, 10, 16)] + [gc.Path("none", None)]

    def versions(filtered):
        return sorted(p.export_version for p in filtered if p.export_version is not None)

    assert versions(gc.largest_export_versions(3)(paths)) == [9, 10, 16]
    assert gc.largest_export_versions(0)(paths) == []
    assert versions(gc.one_of_every_n_export_versions(4)(paths)) == [4, 8, 10, 16]
    assert versions(gc.mod_export_version(5)(paths)) == [0, 5, 10]
    both = gc.union(gc.mod_export_version(5), gc.largest_export_versions(1))
    assert versions(both(paths)) == [0, 5, 10, 16]
    assert versions(gc.negation(gc.mod_export_version(2))(paths[:-1])) == [5, 9]
    for name in ("1", "2", "x"):
        (tmp_path / name).mkdir()

    def parser(path):
        name = os.path.basename(path.path)
        return path._replace(export_version=int(name)) if name.isdigit() else None

    assert gc.get_paths(str(tmp_path), parser) == [gc.Path(str(tmp_path / "1"), 1), gc.Path(str(tmp_path / "2"), 2)]


def test_a_signature_is_of_one_kind():
    signature = manifest_pb2.Signature()
    signature.regression_signature.input.tensor_name = "a"
    signature.generic_signature.map["k"].tensor_name = "b"
    assert signature.WhichOneof("type") == "generic_signature" and not signature.HasField("regression_signature")
    # Field 3, in it the map, field 1, with key 1 and value 2.
    assert signature.SerializeToString() == b"\x1a\x0a\x0a\x08\x0a\x01k\x12\x03\x0a\x01b"
    assert manifest_pb2.DESCRIPTOR.package == "tensorflow.serving"


# Exports of estimators.

X = np.random.RandomState(0).normal(size=[16, 2]).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int64)
COLUMNS = [C.real_valued_column("x", dimension=2)]


def input_fn():
    return {"x": tf.constant(X)}, tf.constant(Y)


def examples(x=X):
    def feature(row):
        return tf.train.Feature(float_list=tf.train.FloatList(value=row))

    return [tf.train.Example(features=tf.train.Features(feature={"x": feature(row)})).SerializeToString() for row in x]


def config(tmp_path, **kwargs):
    return L.RunConfig(model_dir=str(tmp_path / "model"), **kwargs)


def model_fn(features, labels, mode):
    x = tf.cast(features["x"] if isinstance(features, dict) else features, tf.float32)
    y = tf.reduce_sum(x * tf.get_variable("w", initializer=[1.0, 3.0]), 1)
    if mode == L.ModeKeys.INFER:
        return L.ModelFnOps(mode, predictions={"y": y, "twice": 2 * y})
    train_op = tf.assign_add(tf.train.get_global_step(), 1).op
    return L.ModelFnOps(mode, predictions={"y": y}, loss=tf.reduce_mean(y), train_op=train_op)


def test_export_estimator_with_all_predictions(tmp_path):
    estimator = L.Estimator(model_fn, config=config(tmp_path))
    estimator.fit(input_fn=input_fn, steps=2)
    assert L.utils.export_estimator(estimator, str(tmp_path / "e"), default_batch_size=None) is None
    bundle = Bundle(str(tmp_path / "e" / "00000002").encode())
    tensors = bundle.signatures.default_signature.generic_signature.map
    assert set(tensors) == {"inputs", "y", "twice"}
    got = bundle.run(tensors["twice"], [(tensors["inputs"], examples())])
    np.testing.assert_allclose(got, 2 * X @ [1, 3], rtol=1e-5)
    with pytest.raises(RuntimeError, match="Duplicate"):
        L.utils.export_estimator(estimator, str(tmp_path / "e"))


def test_estimator_export_of_one_prediction(tmp_path):
    estimator = L.Estimator(model_fn, config=config(tmp_path))
    with pytest.raises(ValueError, match="trained model"):
        estimator.export(str(tmp_path / "e"))
    estimator.fit(input_fn=input_fn, steps=2)

    def serving():
        strings = tf.placeholder(tf.string, [None])
        features = tf.parse_example(strings, {"x": tf.FixedLenFeature([2], tf.float32)})
        return {**features, "raw": strings}, None

    folder = estimator.export(
        str(tmp_path / "e"),
        input_fn=serving,
        input_feature_key="raw",
        use_deprecated_input_fn=False,
        signature_fn=export_lib.regression_signature_fn,
        prediction_key="y",
    )
    bundle = Bundle(folder)
    signature = bundle.signatures.default_signature.regression_signature
    got = bundle.run(signature.output, [(signature.input, examples())])
    np.testing.assert_allclose(got, X @ [1, 3], rtol=1e-5)
    with pytest.raises(ValueError, match="input_fn must be defined"):
        estimator.export(str(tmp_path / "f"), input_fn=None, use_deprecated_input_fn=False)
    with pytest.raises(ValueError, match="features or examples"):
        estimator.export(str(tmp_path / "f"), input_fn=lambda: ({}, None), use_deprecated_input_fn=False)
    fresh = L.Estimator(model_fn, config=config(tmp_path))
    with pytest.raises(ValueError, match="was fit"):
        fresh.export(str(tmp_path / "f"))


def test_features_that_are_no_dict_are_parsed_as_feature(tmp_path):
    estimator = L.Estimator(model_fn, config=config(tmp_path))
    estimator.fit(x=X.astype(np.float64), y=Y, steps=1)
    with tf.Graph().as_default(), tf.Session() as session:
        rows = [{"feature": tf.train.Feature(float_list=tf.train.FloatList(value=row))} for row in X]
        strings = [tf.train.Example(features=tf.train.Features(feature=r)).SerializeToString() for r in rows]
        parsed = estimator._get_feature_ops_from_example(tf.constant(strings))
        assert parsed.dtype == tf.float64
        np.testing.assert_array_equal(session.run(parsed), X)


@pytest.mark.parametrize("kind", ["linear", "dnn", "both"])
def test_canned_classifiers_export_probabilities(tmp_path, kind):
    makers = {
        "linear": lambda **kw: L.LinearClassifier(COLUMNS, **kw),
        "dnn": lambda **kw: L.DNNClassifier([3], COLUMNS, **kw),
        "both": lambda **kw: L.DNNLinearCombinedClassifier(
            linear_feature_columns=COLUMNS, dnn_feature_columns=COLUMNS, dnn_hidden_units=[3], **kw
        ),
    }
    estimator = makers[kind](config=config(tmp_path))
    estimator.fit(input_fn=input_fn, steps=3)
    bundle = Bundle(estimator.export(str(tmp_path / "e"), default_batch_size=None))
    signature = bundle.signatures.default_signature.classification_signature
    got = bundle.run(signature.scores, [(signature.input, examples())])
    np.testing.assert_allclose(got, list(estimator.predict_proba(x={"x": X})), rtol=1e-5)


def test_canned_regressors_export_scores(tmp_path):
    estimator = L.LinearRegressor(COLUMNS, config=config(tmp_path))
    estimator.fit(input_fn=input_fn, steps=3)
    bundle = Bundle(estimator.export(str(tmp_path / "e"), default_batch_size=None))
    signature = bundle.signatures.default_signature.regression_signature
    got = bundle.run(signature.output, [(signature.input, examples())])
    np.testing.assert_allclose(got, list(estimator.predict_scores(x={"x": X})), rtol=1e-5)


def test_signature_functions():
    with tf.Graph().as_default():
        strings, tensor = tf.placeholder(tf.string, name="s"), tf.placeholder(tf.float32, [None, 2], name="t")
        signature, more = export_lib.generic_signature_fn(strings, {}, tensor)
        assert signature.generic_signature.map["outputs"].tensor_name == "t:0" and more == {}
        for predictions in (tensor, {"classes": tensor}):
            signature, _ = export_lib.classification_signature_fn(strings, {}, predictions)
            assert signature.classification_signature.classes.tensor_name == "t:0"
        signature, _ = export_lib.classification_signature_fn_with_prob(strings, {}, {"probabilities": tensor})
        assert signature.classification_signature.scores.tensor_name == "t:0"
        signature, _ = export_lib.logistic_regression_signature_fn(strings, {}, {"probabilities": tensor})
        with tf.Session() as session:
            second = session.run(signature.regression_signature.output.tensor_name, {tensor: [[1, 2], [3, 4]]})
        assert second.tolist() == [2, 4]
        with pytest.raises(ValueError, match="examples cannot be None"):
            export_lib.generic_signature_fn(None, {}, tensor)
        with pytest.raises(ValueError, match="'classes'"):
            export_lib.classification_signature_fn(strings, {}, {})
        with pytest.raises(ValueError, match=r"\[batch, 2\]"):
            export_lib.logistic_regression_signature_fn(strings, {}, tf.zeros([3, 3]))


def test_export_monitor(tmp_path):
    estimator = L.Estimator(model_fn, config=config(tmp_path, save_checkpoints_steps=2, save_checkpoints_secs=None))
    monitor = L.monitors.ExportMonitor(2, str(tmp_path / "e"), exports_to_keep=2, default_batch_size=None)
    assert monitor.last_export_dir is None
    estimator.fit(input_fn=input_fn, steps=7, monitors=[monitor])
    kept = sorted(os.listdir(tmp_path / "e"))
    assert len(kept) == 2 and kept == sorted(kept) and kept[-1] in ("00000006", "00000007")
    assert monitor.last_export_dir == str(tmp_path / "e" / kept[-1]).encode()
    tensors = Bundle(monitor.last_export_dir).signatures.default_signature.generic_signature.map
    assert set(tensors) == {"inputs", "y", "twice"}
    assert (monitor.export_dir, monitor.exports_to_keep, monitor.signature_fn) == (str(tmp_path / "e"), 2, None)
    with pytest.raises(ValueError, match="both"):
        L.monitors.ExportMonitor(1, "e", input_fn=input_fn)
