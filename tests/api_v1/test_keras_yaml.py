"""Models as YAML, where PyYAML is installed."""

import io
import sys

import numpy as np
import pytest
import tensorflow as tf


def _model():
    keras = tf.keras
    image = keras.layers.Input([6, 6, 3], name="image")
    x = keras.layers.Conv2D(2, (3, 3), kernel_regularizer=keras.regularizers.l2(0.01))(image)
    x = keras.layers.concatenate([keras.layers.Flatten()(x), keras.layers.GlobalMaxPooling2D()(x)])
    return keras.Model(image, [keras.layers.Dense(3, activation="softmax", name="a")(x), x], name="two")


@pytest.fixture
def yaml(graph):
    return pytest.importorskip("yaml")


@pytest.mark.parametrize("as_file", [False, True])
def test_a_model_comes_back_from_yaml(yaml, as_file):
    model = _model()
    text = model.to_yaml()
    again = tf.keras.models.model_from_yaml(io.StringIO(text) if as_file else text)
    assert again.to_json() == model.to_json() and again.name == "two"
    again.set_weights(model.get_weights())
    x = np.random.RandomState(0).rand(2, 6, 6, 3)
    for got, want in zip(again.predict(x), model.predict(x)):
        np.testing.assert_array_equal(got, want)


def test_the_text_is_plain_yaml_and_takes_options_of_dump(yaml):
    text = _model().to_yaml(default_flow_style=True, width=1000)
    assert "!!" not in text and text.startswith("{")
    assert yaml.safe_load(text)["class_name"] in ("Model", "Functional")


def test_sequential_and_custom_objects(yaml):
    class Twice(tf.keras.layers.Layer):
        def call(self, inputs):
            return 2 * inputs

    model = tf.keras.Sequential([Twice(input_shape=(3,))])
    with pytest.raises(ValueError, match="Twice"):
        tf.keras.models.model_from_yaml(model.to_yaml())
    again = tf.keras.models.model_from_yaml(model.to_yaml(), custom_objects={"Twice": Twice})
    np.testing.assert_array_equal(again.predict(np.ones([1, 3])), [[2, 2, 2]])


def test_yaml_of_1_15_is_read(yaml):
    text = """
backend: tensorflow
class_name: Sequential
config:
  layers:
  - class_name: Conv2D
    config:
      activation: relu
      batch_input_shape: !!python/tuple [null, 6, 6, 3]
      data_format: channels_last
      dtype: float32
      filters: 4
      kernel_size: !!python/tuple
      - 3
      - 3
      name: !!python/unicode 'c'
      strides: !!python/tuple [2, 2]
  name: old
keras_version: 2.2.4-tf
"""
    model = tf.keras.models.model_from_yaml(text)
    assert model.name == "old" and model.layers[0].kernel_size == (3, 3) and model.layers[0].strides == (2, 2)
    assert model.output_shape == (None, 2, 2, 4)


@pytest.mark.parametrize(
    "tag",
    ["!!python/object/apply:os.system ['touch hacked']", "!!python/name:os.system", "!!python/module:os", "!mine 1"],
)
def test_tags_that_would_run_code_are_refused(yaml, tag, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="plain data only"):
        tf.keras.models.model_from_yaml(f"class_name: Sequential\nconfig: {tag}\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "- 1", "config: {}", "just words"])
def test_text_that_is_no_model_is_refused(yaml, text):
    with pytest.raises(ValueError, match="must describe a model"):
        tf.keras.models.model_from_yaml(text)


def test_a_missing_pyyaml_is_named(graph, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ImportError, match="pip install pyyaml"):
        _model().to_yaml()
    with pytest.raises(ImportError, match="pip install pyyaml"):
        tf.keras.models.model_from_yaml("class_name: Sequential")


def test_the_names_are_the_same_everywhere():
    from tensorflow.python.keras.saving import model_config

    assert tf.keras.models.model_from_yaml is tf.contrib.keras.models.model_from_yaml is model_config.model_from_yaml
