"""tf.contrib.learn: support vector machines against the dual solved in NumPy, recurrent estimators against loops in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from tensorflow.contrib.learn.python.learn.estimators import dynamic_rnn_estimator, rnn_common
from tensorflow.contrib.learn import sdca
from tensorflow.contrib.learn.python.learn.estimators.constants import ProblemType

L = tf.contrib.learn
C = tf.contrib.layers


def once(input_fn):
    """The features of an input function as an input that ends after one batch."""

    def features():
        with tf.Graph().as_default(), tf.Session() as session:
            values = session.run(input_fn()[0])
        features = {
            k: tf.SparseTensor(*v) if isinstance(v, tf.SparseTensorValue) else tf.constant(v) for k, v in values.items()
        }
        return tf.data.Dataset.from_tensors(features)

    return features


# Support vector machines.


def svm_weights(x, y, l2, weights, l1=0.0):
    """argmin_w sum_i weights_i max(0, 1 - y_i w.x_i) + l2 / 2 |w|^2 + l1 |w|_1 by coordinate ascent on the dual, y in -1, 1.

    The dual of the whole: w = shrink(v, l1 / l2) with v = sum_i a_i y_i x_i / l2 and 0 <= a_i <= weights_i.
    """
    v, a = np.zeros(x.shape[1]), np.zeros(len(x))
    for _ in range(3000):
        for i in range(len(x)):
            w = np.sign(v) * np.maximum(abs(v) - l1 / l2, 0)
            step = l2 * (1 - y[i] * w @ x[i]) / (x[i] @ x[i])
            new = np.clip(a[i] + step, 0, weights[i])
            v += (new - a[i]) * y[i] * x[i] / l2
            a[i] = new
    return np.sign(v) * np.maximum(abs(v) - l1 / l2, 0)


RANDOM = np.random.RandomState(3)
N = 24
DENSE = RANDOM.normal(size=(N, 2)).astype(np.float32)
WORDS = RANDOM.randint(0, 3, size=N)
LABELS = ((DENSE[:, 0] - DENSE[:, 1] + 0.8 * (WORDS == 1) + 0.3 * RANDOM.normal(size=N)) > 0).astype(np.int64)
WEIGHTS = RANDOM.uniform(0.5, 2.0, size=N).astype(np.float32)
IDS = np.array([str(i) for i in range(N)])


def svm_input(count=N):
    def input_fn():
        words = tf.SparseTensor([[i, 0] for i in range(count)], [f"w{w}" for w in WORDS[:count]], [count, 1])
        features = {
            "id": tf.constant(IDS[:count]),
            "x": tf.constant(DENSE[:count]),
            "word": words,
            "weight": tf.constant(WEIGHTS[:count, None]),
        }
        return features, tf.constant(LABELS[:count, None])

    return input_fn


def columns():
    return [C.real_valued_column("x", dimension=2), C.sparse_column_with_keys("word", ["w0", "w1", "w2"])]


def learned(svm):
    parts = ["linear/x/weight", "linear/word/weights", "linear/bias_weight"]
    return np.concatenate([svm.get_variable_value(name).ravel() for name in parts])


@pytest.mark.parametrize("weighted, l1", [(False, 0.0), (True, 0.0), (False, 0.5)])
def test_svm_reaches_the_optimum(tmp_path, weighted, l1):
    svm = L.SVM(
        "id",
        columns(),
        weight_column_name="weight" if weighted else None,
        model_dir=str(tmp_path),
        l1_regularization=l1,
        l2_regularization=1.0,
    )
    svm.fit(input_fn=svm_input(), steps=150)
    design = np.concatenate([DENSE, np.eye(3)[WORDS], np.ones((N, 1))], 1)
    want = svm_weights(design, 2.0 * LABELS - 1, 1.0, WEIGHTS if weighted else np.ones(N), l1)
    np.testing.assert_allclose(learned(svm), want, atol=5e-3)
    scores = design @ learned(svm)
    logits = [p["logits"] for p in svm.predict(input_fn=once(svm_input()))]
    np.testing.assert_allclose(np.ravel(logits), scores, rtol=1e-4, atol=1e-5)
    assert list(svm.predict_classes(input_fn=once(svm_input()))) == list((scores > 0).astype(int))
    result = svm.evaluate(input_fn=svm_input(), steps=1)
    weights = WEIGHTS if weighted else np.ones(N)
    hinge = np.maximum(0, 1 - (2 * LABELS - 1) * scores)
    np.testing.assert_allclose(result["loss"], (weights * hinge).sum() / weights.sum(), rtol=1e-4)
    np.testing.assert_allclose(result["accuracy"], weights[(scores > 0) == LABELS].sum() / weights.sum(), rtol=1e-5)


def test_svm_counts_steps_and_refuses(tmp_path):
    svm = L.SVM("id", columns(), model_dir=str(tmp_path), l2_regularization=1.0)
    svm.fit(input_fn=svm_input(), steps=3)
    assert svm.get_variable_value("global_step") == 3
    with pytest.raises(ValueError, match="no probabilities"):
        svm.predict_proba(input_fn=svm_input())
    with pytest.raises(ValueError, match="Kernel SVMs"):
        L.SVM("id", columns(), kernels=["rbf"])
    with pytest.raises(ValueError, match="at least one column"):
        L.SVM("id", [])
    with pytest.raises(ValueError, match="l2_regularization should be positive"):
        L.SVM("id", columns(), model_dir=str(tmp_path / "a")).fit(input_fn=svm_input(), steps=1)
    with pytest.raises(ValueError, match="example_id_column 'key' is not in"):
        L.SVM("key", columns(), model_dir=str(tmp_path / "b"), l2_regularization=1.0).fit(input_fn=svm_input(), steps=1)
    with pytest.raises(ValueError, match="weight_column_name"):
        L.SVM("id", columns(), "none", str(tmp_path / "c"), l2_regularization=1.0).fit(input_fn=svm_input(), steps=1)
    with pytest.raises(ValueError, match="reserved"):
        column = C.real_valued_column("tf_virtual_bias_column")
        L.SVM("id", [column], model_dir=str(tmp_path / "d"), l2_regularization=1.0).fit(input_fn=svm_input(), steps=1)


def triples(column, features):
    with tf.Graph().as_default(), tf.Session() as session:
        transformed = C.transform_features(features(), [column])[column]
        sparse = sdca._sparse_features(column, transformed)
        session.run(tf.tables_initializer())
        return session.run([sparse.example_indices, sparse.feature_indices, sparse.feature_values])


def test_svm_takes_buckets_weights_and_repeated_ids():
    examples, ids, values = triples(
        C.bucketized_column(C.real_valued_column("x", dimension=2), [0.0, 1.0]),
        lambda: {"x": tf.constant([[-1.0, 0.5], [2.0, 2.0]])},
    )
    assert examples.tolist() == [0, 0, 1, 1] and ids.tolist() == [0, 4, 2, 5] and values.tolist() == [1, 1, 1, 1]
    words = C.sparse_column_with_keys("word", ["a", "b"])
    places = [[0, 0], [0, 1], [0, 2], [1, 0]]
    examples, ids, values = triples(
        C.weighted_sparse_column(words, "w"),
        lambda: {
            "word": tf.SparseTensor(places, ["b", "b", "unknown", "a"], [2, 3]),
            "w": tf.SparseTensor(places, [0.5, 2.0, 9.0, 3.0], [2, 3]),
        },
    )
    assert (examples.tolist(), ids.tolist(), values.tolist()) == ([0, 1], [1, 0], [2.5, 3.0])
    with pytest.raises(ValueError, match="SDCA does not support columns of type _EmbeddingColumn"):
        triples(C.embedding_column(words, 2), lambda: {"word": tf.SparseTensor([[0, 0]], ["a"], [1, 1])})


def test_svm_exports_a_session_bundle(tmp_path):
    svm = L.SVM("id", [C.real_valued_column("x", dimension=2)], model_dir=str(tmp_path / "m"), l2_regularization=1.0)
    svm.fit(input_fn=svm_input(), steps=2)
    for name in ("export", "export_with_defaults"):
        folder = getattr(svm, name)(str(tmp_path / name), exports_to_keep=1)
        assert folder.endswith(b"00000002") and tf.gfile.Exists(folder + b"/export.meta")


# Recurrent estimators.

BATCH, TIME, WIDTH, UNITS = 4, 3, 2, 3
LENGTHS = np.array([3, 1, 2, 3], np.int32)
INPUTS = RANDOM.normal(size=(BATCH, TIME, WIDTH)).astype(np.float32)
CONTEXT = RANDOM.normal(size=(BATCH, 1)).astype(np.float32)
SEQUENCE_COLUMNS = [C.real_valued_column("x", dimension=WIDTH)]


def rnn_input(labels, lengths=True, state=None):
    def input_fn():
        features = {"x": tf.constant(INPUTS), "c": tf.constant(CONTEXT)}
        if lengths:
            features["sequence_length"] = tf.constant(LENGTHS)
        for i, part in enumerate(state or ()):
            features[f"rnn_cell_state_{i}"] = tf.constant(part)
        return features, tf.constant(labels)

    return input_fn


def basic_rnn(estimator, context=False, state=None):
    """(activations [batch, time, k], final state) of the trained variables."""
    kernel, bias = (estimator.get_variable_value(f"rnn/basic_rnn_cell/{n}") for n in ("kernel", "bias"))
    weights, biases = (estimator.get_variable_value(f"fully_connected/{n}") for n in ("weights", "biases"))
    h = np.zeros((BATCH, UNITS)) if state is None else state
    outputs = []
    for t in range(TIME):
        x = np.concatenate([INPUTS[:, t], CONTEXT], 1) if context else INPUTS[:, t]
        h = np.tanh(np.concatenate([x, h], 1) @ kernel + bias)
        outputs.append(h @ weights + biases)
    return np.stack(outputs, 1), h


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rnn(tmp_path, problem, prediction, **kwargs):
    arguments = dict(num_units=UNITS, model_dir=str(tmp_path), sequence_feature_columns=SEQUENCE_COLUMNS)
    return L.DynamicRnnEstimator(problem, prediction, **{**arguments, **kwargs})


def collect(estimator, input_fn):
    return estimator.predict(input_fn=once(input_fn), as_iterable=False)


STEPS = np.arange(TIME) < LENGTHS[:, None]


def test_rnn_of_numbers_for_each_step(tmp_path):
    labels = RANDOM.normal(size=(BATCH, TIME)).astype(np.float32)
    kind = rnn_common.PredictionType.MULTIPLE_VALUE
    estimator = rnn(tmp_path, ProblemType.LINEAR_REGRESSION, kind, context_feature_columns=[C.real_valued_column("c")])
    first = estimator.fit(input_fn=rnn_input(labels), steps=1).evaluate(input_fn=rnn_input(labels), steps=1)["loss"]
    activations, state = basic_rnn(estimator, context=True)
    np.testing.assert_allclose(first, np.mean((activations[..., 0] - labels)[STEPS] ** 2), rtol=1e-4)
    predictions = collect(estimator, rnn_input(labels))
    assert set(predictions) == {"scores", "rnn_cell_state_0"}
    np.testing.assert_allclose(predictions["scores"], activations[..., 0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(predictions["rnn_cell_state_0"], state, rtol=1e-4, atol=1e-5)
    estimator.fit(input_fn=rnn_input(labels), steps=40)
    assert estimator.evaluate(input_fn=rnn_input(labels), steps=1)["loss"] < first


@pytest.mark.parametrize("lengths", [True, False])
def test_rnn_of_one_class(tmp_path, lengths):
    labels = np.array([0, 2, 1, 2])
    kind = rnn_common.PredictionType.SINGLE_VALUE
    estimator = rnn(tmp_path, ProblemType.CLASSIFICATION, kind, num_classes=3, predict_probabilities=True)
    start = [RANDOM.normal(size=(BATCH, UNITS)).astype(np.float32)]
    estimator.fit(input_fn=rnn_input(labels, lengths, start), steps=2)
    activations, _ = basic_rnn(estimator, state=start[0])
    last = activations[np.arange(BATCH), LENGTHS - 1] if lengths else activations[:, -1]
    predictions = collect(estimator, rnn_input(labels, lengths, start))
    np.testing.assert_allclose(predictions["probabilities"], softmax(last), rtol=1e-4, atol=1e-5)
    assert predictions["classes"].tolist() == last.argmax(1).tolist()
    result = estimator.evaluate(input_fn=rnn_input(labels, lengths, start), steps=1)
    np.testing.assert_allclose(result["loss"], -np.log(softmax(last)[np.arange(BATCH), labels]).mean(), rtol=1e-4)
    np.testing.assert_allclose(result["accuracy"], np.mean(last.argmax(1) == labels))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("probabilities", [True, False])
def test_rnn_of_classes_for_each_step(tmp_path, classes, probabilities):
    labels = RANDOM.randint(0, classes, size=(BATCH, TIME))
    kind = rnn_common.PredictionType.MULTIPLE_VALUE
    estimator = rnn(
        tmp_path, ProblemType.CLASSIFICATION, kind, num_classes=classes, predict_probabilities=probabilities
    )
    estimator.fit(input_fn=rnn_input(labels), steps=2)
    activations, _ = basic_rnn(estimator)
    if classes == 2:
        activations = np.concatenate([np.zeros_like(activations), activations], 2)
    predictions = collect(estimator, rnn_input(labels))
    assert set(predictions) == {"classes", "rnn_cell_state_0"} | ({"probabilities"} if probabilities else set())
    assert predictions["classes"].tolist() == activations.argmax(2).tolist()
    if probabilities:
        np.testing.assert_allclose(predictions["probabilities"], softmax(activations), rtol=1e-4, atol=1e-5)
    result = estimator.evaluate(input_fn=rnn_input(labels), steps=1)
    np.testing.assert_allclose(result["accuracy"], (activations.argmax(2) == labels)[STEPS].mean(), rtol=1e-6)


def test_rnn_with_momentum_dropout_and_stacked_cells(tmp_path):
    labels = RANDOM.normal(size=BATCH).astype(np.float32)
    estimator = rnn(
        tmp_path,
        ProblemType.LINEAR_REGRESSION,
        rnn_common.PredictionType.SINGLE_VALUE,
        num_units=[3, 4],
        cell_type="lstm",
        optimizer="Momentum",
        momentum=0.9,
        dropout_keep_probabilities=[0.9, 0.8, 0.7],
    )
    estimator.fit(input_fn=rnn_input(labels), steps=2)
    names = estimator.get_variable_names()
    assert "rnn/multi_rnn_cell/cell_1/lstm_cell/kernel" in names
    assert any(name.endswith("fully_connected/weights/Momentum") for name in names)
    states = {k for k in collect(estimator, rnn_input(labels)) if k != "scores"}
    assert states == {f"rnn_cell_state_{i}" for i in range(4)}


def test_cells():
    with tf.Graph().as_default():
        assert isinstance(rnn_common.construct_rnn_cell(3, "gru"), tf.nn.rnn_cell.GRUCell)
        assert rnn_common.construct_rnn_cell([3], tf.nn.rnn_cell.BasicLSTMCell).output_size == 3
        cell = tf.nn.rnn_cell.GRUCell(5)
        assert rnn_common.construct_rnn_cell(3, cell) is cell
        dropped = rnn_common.apply_dropout([cell, cell], [0.5, 0.6, 0.7])
        assert all(isinstance(c, tf.nn.rnn_cell.DropoutWrapper) for c in dropped)
        with pytest.raises(ValueError, match="one greater"):
            rnn_common.construct_rnn_cell([3], "gru", [0.5])
        with pytest.raises(ValueError, match="supported cell types"):
            rnn_common.construct_rnn_cell(3, "other")
        with pytest.raises(TypeError, match="RNNCell"):
            rnn_common.construct_rnn_cell(3, dict)


def test_states_as_dicts():
    with tf.Graph().as_default():
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(2), tf.nn.rnn_cell.GRUCell(3)])
        state = cell.zero_state(4, tf.float32)
        as_dict = dynamic_rnn_estimator.state_tuple_to_dict(state)
        assert sorted(as_dict) == ["rnn_cell_state_0", "rnn_cell_state_1", "rnn_cell_state_2"]
        back = dynamic_rnn_estimator.dict_to_state_tuple(as_dict, cell)
        assert isinstance(back[0], tf.nn.rnn_cell.LSTMStateTuple) and back[1].shape.as_list() == [4, 3]
        assert dynamic_rnn_estimator.dict_to_state_tuple({}, cell) is None
        with pytest.raises(ValueError, match="partially specified"):
            dynamic_rnn_estimator.dict_to_state_tuple({"rnn_cell_state_0": as_dict["rnn_cell_state_0"]}, cell)
        parts = {"rnn_cell_state_0": tf.zeros([4, 7])}
        wrong = dynamic_rnn_estimator.dict_to_state_tuple(parts, tf.nn.rnn_cell.GRUCell(3))
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(wrong)


def test_rnn_refuses(tmp_path):
    single, numbers = rnn_common.PredictionType.SINGLE_VALUE, ProblemType.LINEAR_REGRESSION
    with pytest.raises(ValueError, match="prediction_type"):
        rnn(tmp_path, numbers, 7)
    with pytest.raises(ValueError, match="problem_type"):
        rnn(tmp_path, ProblemType.LOGISTIC_REGRESSION, single)
    with pytest.raises(ValueError, match="num_classes"):
        rnn(tmp_path, ProblemType.CLASSIFICATION, single)
    with pytest.raises(ValueError, match="predict_probabilities"):
        rnn(tmp_path, numbers, single, predict_probabilities=True)
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="rank 3"):
            dynamic_rnn_estimator._concatenate_context_input(tf.zeros([2, 3]), tf.zeros([2, 3]))
        with pytest.raises(TypeError, match="float32"):
            dynamic_rnn_estimator._concatenate_context_input(tf.zeros([2, 3, 1], tf.float64), tf.zeros([2, 3]))
