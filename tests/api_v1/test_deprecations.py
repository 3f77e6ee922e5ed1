"""What is printed about deprecated names: 1.15's notices, through TensorFlow's log, and no others."""

import re

import pytest

_HEAD = "import warnings, numpy as np\nimport tensorflow as tf\n"


def _notices(run_python, code, *flags, **settings):
    """Names of the notices in the log, and all of standard error."""
    done = run_python(_HEAD + code, **settings)
    assert done.returncode == 0, done.stderr
    return re.findall(r"WARNING:tensorflow:From .*: (?:calling )?([\w.]+) \(from", done.stderr), done.stderr


def test_feature_columns_and_datasets_print_nothing_new(run_python):
    code = """
fc = tf.feature_column
words = fc.categorical_column_with_vocabulary_list("w", ["a", "b"])
columns = [fc.numeric_column("x"), fc.bucketized_column(fc.numeric_column("x"), [0.0]), fc.embedding_column(words, 2),
           fc.indicator_column(fc.crossed_column(["w", "v"], 10))]
fc.weighted_categorical_column(words, "k")
fc.make_parse_example_spec(columns)
features = {k: tf.constant([["a"]]) for k in "wv"}
features.update({k: tf.constant([[1.0]]) for k in "xk"})
tf.keras.layers.DenseFeatures(columns)(features)
fc.linear_model(features, [words])
d = tf.data.Dataset.from_generator(lambda: iter([1, 2]), tf.int32)
d = d.apply(tf.data.experimental.group_by_window(lambda x: 0, lambda k, w: w.batch(2), 2))
d = tf.data.experimental.sample_from_datasets([d, d]).apply(tf.data.experimental.ignore_errors())
d.options()
tf.map_fn(lambda a: a, tf.ones([3]), dtype=tf.float32)
tf.gather([1], [0], validate_indices=True)
tf.layers.BatchNormalization()(tf.ones([2, 3]), training=True)
"""
    names, text = _notices(run_python, code)
    # 1.15 said of the methods that its own linear_model uses that they are old.
    assert {n for n in names if "._" not in n and n != "layer.add_variable"} == set(), text
    assert "Keras preprocessing" not in text and "UserWarning" not in text


def test_keras_training_prints_nothing(run_python):
    code = """
model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.BatchNormalization()])
model.compile(tf.keras.optimizers.Adam(lr=0.1), "mse")
x, y = np.ones((8, 3)), np.ones((8, 2))
def batches():
    while True:
        yield x, y
tf.keras.backend.set_learning_phase(1)
model.fit(x, y, verbose=0)
model.fit_generator(batches(), 1, verbose=0)
model.evaluate_generator(batches(), 1)
model.predict_generator(batches(), 1)
model.save("m.h5")
model.updates, model.state_updates, model.layers[1].updates
class Mean(tf.keras.metrics.Metric):
    def update_state(self, x): pass
    def result(self): return tf.constant(0.0)
    def reset_states(self): pass
Mean()
"""
    names, text = _notices(run_python, code)
    assert names == [] and "Warning" not in text.replace("UserWarning: Converting", ""), text


_OLD_LAYERS = """
x = tf.ones([2, 4, 4, 3])
for _ in range(2):
    tf.layers.dense(tf.layers.flatten(tf.layers.conv2d(x, 2, 2)), 2)
    tf.nn.rnn_cell.GRUCell(2)
"""


def test_what_1_15_called_deprecated_is_logged_once_with_the_callers_line(run_python):
    names, text = _notices(run_python, _OLD_LAYERS)
    assert names == ["conv2d", "flatten", "dense", "GRUCell"]
    line = _HEAD.count("\n") + 4
    assert f"From <string>:{line}: dense (from tensorflow.python.layers.core) is deprecated" in text
    assert "UserWarning" not in text


@pytest.mark.parametrize(
    "switch",
    [
        "tf.logging.set_verbosity(tf.logging.ERROR)",
        "from tensorflow.python.util import deprecation\ndeprecation._PRINT_DEPRECATION_WARNINGS = False",
    ],
)
def test_the_switches_of_1_15_turn_them_off(run_python, switch):
    names, text = _notices(run_python, switch + _OLD_LAYERS)
    assert names == [] and "deprecated" not in text


def test_programs_that_turn_warnings_into_errors_run(run_python):
    _notices(run_python, "warnings.simplefilter('error')" + _OLD_LAYERS)


def test_other_warnings_of_keras_are_still_warnings(run_python):
    code = """
from tf_keras.src import backend
backend.warnings.warn("something else", stacklevel=1)
"""
    assert "UserWarning: something else" in _notices(run_python, code)[1]
