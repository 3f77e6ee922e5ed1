"""What the tests of DeepRec's feature columns share."""

import numpy as np
import pytest


@pytest.fixture
def tf():
    """TensorFlow with an empty default graph."""
    import tensorflow

    with tensorflow.Graph().as_default():
        yield tensorflow


@pytest.fixture
def run(tf):
    """Initializes all variables and runs tensors."""

    def run(fetches, feeds=None):
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            return session.run(fetches, feeds)

    return run


@pytest.fixture
def trained(tf):
    """The tensor before and after two steps that lower its sum."""

    def trained(tensor):
        train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tensor))
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            before = session.run(tensor)
            for _ in range(2):
                session.run(train)
            return before, session.run(tensor)

    return trained


@pytest.fixture
def again(tf):
    """The column that its configuration makes."""
    from tensorflow.python.feature_column import serialization

    def again(column):
        return serialization.deserialize_feature_column(serialization.serialize_feature_column(column))

    return again


@pytest.fixture
def dense_layers(tf):
    """The layers that make a tensor of dense columns: of the older and of the newer interface."""
    from tensorflow.python.feature_column import dense_features

    return {
        "input_layer": tf.feature_column.input_layer,
        "dense_features": lambda features, columns: dense_features.DenseFeatures(columns)(features),
    }


def bag(tf, rows, columns=None, dtype=None):
    """A SparseTensor of rows of unequal length."""
    values = [v for row in rows for v in row]
    indices = np.array([[i, j] for i, row in enumerate(rows) for j in range(len(row))], np.int64).reshape(-1, 2)
    columns = columns or max([len(row) for row in rows] + [1])
    return tf.SparseTensor(indices, tf.constant(values, dtype), [len(rows), columns])
