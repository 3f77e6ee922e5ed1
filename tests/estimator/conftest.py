"""Data and settings that the estimator tests share."""

import pathlib
import sys

import numpy as np
import pytest
import tensorflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from estimator_helpers import ROWS  # noqa: E402


@pytest.fixture
def data():
    """Two float features, a word, and labels that follow from them."""
    random = np.random.default_rng(3)
    x = random.normal(size=[ROWS, 2]).astype(np.float32)
    word = np.array(["a", "b", "c"])[random.integers(0, 3, ROWS)].reshape(ROWS, 1)
    score = x[:, :1] - x[:, 1:] + (word == "a")
    return {"x0": x[:, :1], "x1": x[:, 1:], "word": word}, score.astype(np.float32)


@pytest.fixture
def columns():
    """The feature columns of `data`: wide ones and deep ones."""
    fc = tf.feature_column
    word = fc.categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
    floats = [fc.numeric_column("x0"), fc.numeric_column("x1")]
    return [*floats, word], [*floats, fc.embedding_column(word, 2)]


@pytest.fixture
def config(tmp_path):
    return tf.estimator.RunConfig(model_dir=str(tmp_path / "model"), tf_random_seed=1, save_summary_steps=1000)
