"""pandas_input_fn with columns of text: pandas 3 gives them a string type of its own."""

import numpy as np
import pytest
import tensorflow as tf

pandas = pytest.importorskip("pandas")

_WORDS = ["ab", "c", "", "d\u00e9", "ab"]
_BYTES = [word.encode() for word in _WORDS]


def _text(kind):
    if kind.startswith("ArrowDtype"):
        pyarrow = pytest.importorskip("pyarrow", exc_type=ImportError)
        large = kind.endswith("large_string")
        return pandas.Series(_WORDS, dtype=pandas.ArrowDtype(pyarrow.large_string() if large else pyarrow.string()))
    if kind == "string[pyarrow]":
        pytest.importorskip("pyarrow", exc_type=ImportError)
    return pandas.Series(_WORDS) if kind == "inferred" else pandas.Series(_WORDS, dtype=kind)


def _read(x, y=None, **kwargs):
    """All batches of pandas_input_fn, in a session with queue runners."""
    with tf.Graph().as_default():
        made = tf.estimator.inputs.pandas_input_fn(x, y, batch_size=2, num_epochs=1, shuffle=False, **kwargs)()
        batches = []
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                batches.append(session.run(made))
        return batches


@pytest.mark.parametrize(
    "kind", ["inferred", "object", "string", "string[pyarrow]", "ArrowDtype string", "ArrowDtype large_string"]
)
def test_text_columns_are_fed_as_strings(kind):
    x = pandas.DataFrame({"word": _text(kind), "number": np.arange(5.0)})
    batches = _read(x)
    assert [len(b["word"]) for b in batches] == [2, 2, 1]
    assert [w for b in batches for w in b["word"]] == _BYTES
    np.testing.assert_array_equal(np.concatenate([b["number"] for b in batches]), np.arange(5.0))


def test_text_labels_and_a_text_index_are_fed():
    x = pandas.DataFrame({"number": np.arange(5)}, index=pandas.Index(list("vwxyz")))
    batches = _read(x, pandas.Series(_WORDS, index=x.index))
    assert [w for _, labels in batches for w in labels] == _BYTES
    np.testing.assert_array_equal(np.concatenate([f["number"] for f, _ in batches]), np.arange(5))


def test_the_callers_frame_keeps_its_types():
    x = pandas.DataFrame({"word": _WORDS}, index=pandas.Index(list("vwxyz")))
    before = x.copy()
    _read(x)
    pandas.testing.assert_frame_equal(x, before)


def test_contrib_learn_feeds_text_columns():
    x = pandas.DataFrame({"word": _text("inferred")})
    with tf.Graph().as_default():
        made = tf.contrib.learn.learn_io.pandas_input_fn(x, batch_size=5, num_epochs=1, shuffle=False)()
        with tf.train.MonitoredSession() as session:
            assert list(session.run(made)["word"]) == _BYTES


def test_a_classifier_trains_on_a_vocabulary_column_of_a_frame(tmp_path):
    x = pandas.DataFrame({"word": ["yes", "no"] * 16})
    y = pandas.Series(["good", "bad"] * 16)
    column = tf.feature_column.categorical_column_with_vocabulary_list("word", ["yes", "no"])
    estimator = tf.estimator.LinearClassifier([column], str(tmp_path), label_vocabulary=["bad", "good"])
    fn = tf.estimator.inputs.pandas_input_fn(x, y, batch_size=8, num_epochs=20, shuffle=True)
    estimator.train(fn)
    metrics = estimator.evaluate(tf.estimator.inputs.pandas_input_fn(x, y, shuffle=False))
    assert metrics["accuracy"] == 1.0
