"""cutoff_categorical_column: over every kind of column, in every kind of layer."""

import numpy as np
import pytest

from .conftest import bag

ROWS = [["a", "b", "c", "d"], ["b"], [], ["d", "a", "c"]]
WEIGHTS = [[1.0, 2, 3, 4], [5.0], [], [6.0, 7, 8]]


def cut(row, length, side, reverse):
    row = row[:length] if side == "right" else row[-length:]
    return row[::-1] if reverse else row


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("layer", ["input_layer", "dense_features"])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_column_of_fewer_ids(tf, trained, dense_layers, side, reverse, layer, weighted):
    fc = tf.feature_column
    short = lambda rows: bag(tf, [cut(row, 2, side, reverse) for row in rows], 2)  # noqa: E731
    results = []
    for features, cutting in (
        ({"a": bag(tf, ROWS), "w": bag(tf, WEIGHTS)}, True),
        ({"a": short(ROWS), "w": short(WEIGHTS)}, False),
    ):
        column = fc.categorical_column_with_vocabulary_list("a", list("abcd"))
        if weighted:
            column = fc.weighted_categorical_column(column, "w")
        if cutting:
            column = fc.cutoff_categorical_column(column, 2, side, reverse=reverse)
        table = np.arange(8.0).reshape(4, 2)
        column = fc.embedding_column(column, 2, initializer=tf.constant_initializer(table))
        results.append(dense_layers[layer](features, [column]))
    before, after = trained(tf.concat(results, 1))
    np.testing.assert_allclose(before[:, :2], before[:, 2:], rtol=1e-6)
    np.testing.assert_allclose(after[:, :2], after[:, 2:], rtol=1e-6)
    assert np.abs(after - before).max() > 0.05


def test_reverse_shows_in_a_sequence(tf, run):
    from tensorflow.contrib.feature_column import sequence_input_layer

    fc = tf.feature_column
    column = fc.sequence_categorical_column_with_vocabulary_list("a", list("abcd"))
    column = fc.cutoff_categorical_column(column, 2, "left", reverse=True)
    layer, lengths = sequence_input_layer({"a": bag(tf, ROWS)}, [fc.indicator_column(column)])
    got, lengths = run([layer, lengths])
    assert lengths.tolist() == [2, 1, 0, 2] and got.shape == (4, 2, 4)
    assert [[int(np.argmax(step)) for step in row[:n]] for row, n in zip(got, lengths)] == [[3, 2], [1], [], [2, 0]]


@pytest.mark.parametrize("kind", ["table", "bucket"])
def test_embeddings_of_a_sequence(tf, trained, kind):
    from tensorflow.contrib.feature_column import sequence_input_layer

    fc = tf.feature_column
    column = {
        "table": lambda: fc.sequence_categorical_column_with_embedding("a"),
        "bucket": lambda: fc.sequence_categorical_column_with_hash_bucket("a", 10),
    }[kind]()
    column = fc.embedding_column(fc.cutoff_categorical_column(column, 3), 2)
    layer, _ = sequence_input_layer({"a": bag(tf, ROWS)}, [column])
    before, after = trained(layer)
    assert before.shape == (4, 3, 2) and (before[1, 1:] == 0).all() and np.abs(after - before).max() > 0.05


def test_over_an_embedding_variable_only_what_is_left_is_a_key(tf, trained):
    fc = tf.feature_column
    column = fc.cutoff_categorical_column(fc.categorical_column_with_embedding("a", dtype=tf.int64), 1)
    layer = fc.input_layer({"a": bag(tf, [[5, 6], [7, 8, 9]], dtype=tf.int64)}, [fc.embedding_column(column, 2)])
    (variable,) = tf.trainable_variables()
    assert variable.op.name == "input_layer/a_cutoff_embedding/embedding_weights"
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(layer))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert sorted(session.run(variable.export()[0])) == [5, 7]


def test_in_a_linear_model_and_a_cross(tf, trained):
    fc = tf.feature_column
    cutoff = fc.cutoff_categorical_column(fc.categorical_column_with_vocabulary_list("a", list("abcd")), 1)
    model = fc.linear_model({"a": bag(tf, ROWS)}, [cutoff, fc.crossed_column([cutoff, "a"], 10)])
    before, after = trained(model)
    assert (before == 0).all() and after[0] < 2 * after[2]
    assert {v.op.name: v.shape.as_list() for v in tf.trainable_variables()}["linear_model/a_cutoff/weights"] == [4, 1]


def test_shared_embeddings(tf, run):
    fc = tf.feature_column
    columns = [
        fc.cutoff_categorical_column(fc.categorical_column_with_identity(k, 4), n) for k, n in (("a", 1), ("b", 2))
    ]
    table = np.arange(8.0).reshape(4, 2)
    columns = fc.shared_embedding_columns(columns, 2, "sum", tf.constant_initializer(table))
    ids = bag(tf, [[0, 1, 2], [3, 3]], dtype=tf.int64)
    assert run(fc.input_layer({"a": ids, "b": ids}, columns)).tolist() == [[0, 1, 2, 4], [6, 7, 12, 14]]


def test_parse_spec_and_configuration(tf, again):
    fc = tf.feature_column
    below = fc.weighted_categorical_column(fc.categorical_column_with_embedding("a", dtype=tf.int64), "w")
    column = fc.cutoff_categorical_column(below, 3, "left", 1, True)
    assert fc.make_parse_example_spec([fc.embedding_column(column, 2)]) == {
        "a": tf.io.VarLenFeature(tf.int64),
        "w": tf.io.VarLenFeature(tf.float32),
    }
    assert again(column) == column and column.name == "a_weighted_by_w_cutoff" and column.num_buckets == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"cutoff_length": 0}, "cutoff_length must be a positive integer, got 0"),
        ({"cutoff_length": None}, "cutoff_length must be a positive integer, got None"),
        ({"cutoff_axis": 0}, "cutoff_axis must be a positive integer, got 0"),
        ({"cutoff_side": "top"}, "cutoff_side must be one of .*got 'top'"),
        ({"categorical_column": "a"}, "categorical_column must be a categorical column, got 'a'"),
    ],
)
def test_bad_arguments_are_named(tf, arguments, message):
    fc = tf.feature_column
    good = {"categorical_column": fc.categorical_column_with_identity("a", 3), "cutoff_length": 2}
    with pytest.raises(ValueError, match=message):
        fc.cutoff_categorical_column(**{**good, **arguments})


def test_an_axis_beyond_the_feature_is_refused(tf, run):
    fc = tf.feature_column
    column = fc.cutoff_categorical_column(fc.categorical_column_with_hash_bucket("a", 3), 2, cutoff_axis=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"axis must be in \[1, 2\)"):
        run(fc.input_layer({"a": bag(tf, ROWS)}, [fc.embedding_column(column, 2)]))


def test_weights_belong_below(tf):
    fc = tf.feature_column
    column = fc.cutoff_categorical_column(fc.categorical_column_with_identity("a", 3), 2)
    with pytest.raises(ValueError, match="cutoff_categorical_column of the weighted column"):
        fc.weighted_categorical_column(column, "w")
