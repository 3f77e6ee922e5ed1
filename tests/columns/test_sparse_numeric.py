"""sparse_numeric_column and sparse_bucketized_column."""

import numpy as np
import pytest

from .conftest import bag

ROWS = [[3.0, -1, 10], [], [2.5], [1e6, 2]]
BOUNDARIES = [0, 2.5, 10]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("layer", ["input_layer", "dense_features"])
def test_buckets_are_those_of_numpy(tf, run, dense_layers, dtype, layer):
    fc = tf.feature_column
    rows = [[min(v, 1000) for v in row] for row in ROWS]
    column = fc.sparse_bucketized_column(fc.sparse_numeric_column("x", dtype=tf.as_dtype(dtype)), BOUNDARIES)
    features = {"x": bag(tf, [np.array(row, dtype) for row in rows], dtype=dtype)}
    got = run(dense_layers[layer](features, [fc.indicator_column(column)]))
    expected = np.zeros([4, 4])
    for i, row in enumerate(rows):
        for bucket in np.digitize(np.array(row, dtype).astype(np.float64), BOUNDARIES):
            expected[i, bucket] += 1
    np.testing.assert_array_equal(got, expected)


def test_buckets_of_a_dense_source(tf, run):
    fc = tf.feature_column
    column = fc.sparse_bucketized_column(fc.numeric_column("x", 2), [1])
    got = run(fc.input_layer({"x": tf.constant([[0.0, 0.0], [0.0, 5.0]])}, [fc.indicator_column(column)]))
    assert got.tolist() == [[2, 0], [1, 1]]


def test_embeddings_and_linear_weights(tf, trained):
    fc = tf.feature_column
    column = fc.sparse_bucketized_column(fc.sparse_numeric_column("x", dtype=tf.float32), BOUNDARIES)
    features = {"x": bag(tf, ROWS, dtype=tf.float32)}
    cutoff = fc.cutoff_categorical_column(column, 2)
    outputs = [fc.input_layer(features, [fc.embedding_column(cutoff, 3)]), fc.linear_model(features, [column, cutoff])]
    before, after = trained(tf.concat(outputs, 1))
    assert (before[1] == 0).all() and np.abs(after[0] - before[0]).max() > 0.05


@pytest.mark.parametrize("layer", ["input_layer", "dense_features"])
def test_with_a_shape_it_is_dense(tf, run, dense_layers, layer):
    column = tf.feature_column.sparse_numeric_column("x", 3, tf.float32)
    got = run(dense_layers[layer]({"x": bag(tf, ROWS, dtype=tf.float32)}, [column]))
    np.testing.assert_array_equal(got, [[3, -1, 10], [0, 0, 0], [2.5, 0, 0], [1e6, 2, 0]])


def test_integers_become_floats_and_minus_one_is_absent(tf, run):
    column = tf.feature_column.sparse_numeric_column("x", (2, 2))
    layer = tf.feature_column.linear_model({"x": tf.constant([[4, -1, 7, -1]], tf.int64)}, [column])
    assert run(layer).tolist() == [[0]]
    assert run(tf.feature_column.input_layer({"x": tf.constant([[4, -1, 7, -1]], tf.int64)}, [column])).tolist() == [
        [4, 0, 7, 0]
    ]


def test_rows_longer_than_the_shape_are_refused(tf, run):
    layer = tf.feature_column.input_layer(
        {"x": bag(tf, ROWS, dtype=tf.float32)}, [tf.feature_column.sparse_numeric_column("x", 2, tf.float32)]
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have at most 2 values, as the shape"):
        run(layer)


def test_without_a_shape_it_is_not_dense(tf):
    with pytest.raises(ValueError, match=r"sparse_numeric_column\('x'\) must have a shape"):
        tf.feature_column.input_layer(
            {"x": bag(tf, ROWS, dtype=tf.float32)}, [tf.feature_column.sparse_numeric_column("x", dtype=tf.float32)]
        )


def test_examples_are_parsed(tf, run):
    fc = tf.feature_column
    column = fc.indicator_column(fc.sparse_bucketized_column(fc.sparse_numeric_column("x"), [5]))
    spec = fc.make_parse_example_spec([column])
    assert spec == {"x": tf.io.VarLenFeature(tf.int64)}
    examples = [
        tf.train.Example(
            features=tf.train.Features(feature={"x": tf.train.Feature(int64_list=tf.train.Int64List(value=v))})
        )
        for v in ([1, 7, 9], [])
    ]
    features = tf.io.parse_example([e.SerializeToString() for e in examples], spec)
    assert run(fc.input_layer(features, [column])).tolist() == [[1, 2], [0, 0]]


def test_configuration(tf, again):
    fc = tf.feature_column
    for column in (
        fc.sparse_numeric_column("x", [2, 3], tf.float32),
        fc.sparse_bucketized_column(fc.sparse_numeric_column("x"), [1, 2.5]),
    ):
        assert again(column) == column
    assert column.name == "x_bucketized" and column.num_buckets == 3


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda fc, tf: fc.sparse_numeric_column(3), ValueError, "key must be a string"),
        (
            lambda fc, tf: fc.sparse_numeric_column("x", dtype=tf.string),
            ValueError,
            "integer or float type, got string",
        ),
        (lambda fc, tf: fc.sparse_numeric_column("x", [1.5]), TypeError, "integer"),
        (lambda fc, tf: fc.sparse_numeric_column("x", 0), ValueError, "greater than 0"),
        (lambda fc, tf: fc.sparse_bucketized_column("x", [1]), ValueError, "source_column must be"),
        (
            lambda fc, tf: fc.sparse_bucketized_column(fc.sparse_numeric_column("x", (2, 2)), [1]),
            ValueError,
            "one dimension",
        ),
        (lambda fc, tf: fc.sparse_bucketized_column(fc.sparse_numeric_column("x"), []), ValueError, "boundaries"),
        (lambda fc, tf: fc.sparse_bucketized_column(fc.sparse_numeric_column("x"), [2, 2]), ValueError, "in order"),
    ],
)
def test_bad_arguments_are_named(tf, make, error, message):
    with pytest.raises(error, match=message):
        make(tf.feature_column, tf)


def test_a_feature_of_another_kind_is_refused(tf):
    with pytest.raises(ValueError, match="'x' must be int64, as its column, got float32"):
        tf.feature_column.input_layer(
            {"x": bag(tf, ROWS, dtype=tf.float32)}, [tf.feature_column.sparse_numeric_column("x", 3)]
        )
