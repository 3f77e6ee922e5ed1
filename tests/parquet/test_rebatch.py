"""Batches of another size."""

import random

import columnar_helpers as helpers
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from tensorflow.deeprec.data.dataframe import DataFrame, Value
from tensorflow.deeprec.data.parquet_dataset import ParquetDataset
from tensorflow.deeprec.data.rebatch import RebatchDataset, rebatch, rectify


@pytest.mark.parametrize("seed", range(10))
def test_rows_of_files_and_row_groups_come_in_batches_of_one_size(write, seed):
    rng = random.Random(seed)
    table = helpers.random_table(200 + seed, rng.randint(1, 300), columns=4)
    cut = rng.randint(0, table.num_rows)
    paths = [
        write(part, name=f"{i}.parquet", row_group_size=rng.randint(1, 90))
        for i, part in enumerate([table.slice(0, cut), table.slice(cut)])
    ]
    read, size = rng.randint(1, 60), rng.choice([1, 13, 50, 400])
    batches = helpers.read(lambda: ParquetDataset(paths, batch_size=read).apply(rebatch(size)))
    assert helpers.joined(batches) == helpers.expected(table)
    assert all(len(batch["c0"]) == size for batch in batches[:-1])


def test_drop_remainder_leaves_out_the_last_batch_and_sets_the_shape(write):
    path = write(pa.table({"x": range(100)}), row_group_size=33)

    def make():
        dataset = ParquetDataset(path, batch_size=10).apply(rebatch(30, drop_remainder=True))
        assert tf.data.get_output_shapes(dataset)["x"].as_list() == [30]
        return dataset

    assert [len(batch["x"]) for batch in helpers.read(make)] == [30, 30, 30]


def test_min_batch_size_joins_no_more_than_it_must(write):
    path = write(pa.table({"x": range(100)}), row_group_size=33)
    batches = helpers.read(lambda: ParquetDataset(path, batch_size=20).apply(rebatch(20, min_batch_size=10)))
    assert [len(batch["x"]) for batch in batches] == [20, 13, 20, 13, 20, 13, 1]
    assert helpers.joined(batches)["x"] == list(range(100))


def shuffled(write, **kwargs):
    path = write(pa.table({"x": range(500), "l": [[i] * (i % 4) for i in range(500)]}), row_group_size=120)
    return lambda: RebatchDataset(ParquetDataset(path, batch_size=50), None, 40, **kwargs)


def test_shuffled_rows_stay_whole_and_come_once(write):
    make = shuffled(write, shuffle_buffer_size=200, shuffle_seed=3)
    batches = helpers.read(make)
    rows = helpers.joined(batches)
    assert [len(batch["x"]) for batch in batches] == [40] * 12 + [20]
    assert rows["x"] != list(range(500))
    assert sorted(rows["x"]) == list(range(500))
    assert rows["l"] == [[i] * (i % 4) for i in rows["x"]]
    # Every batch is drawn from what was read by then.
    assert max(batches[0]["x"]) < 250


def test_a_shuffle_seed_repeats_the_order(write):
    make = shuffled(write, shuffle_buffer_size=200, shuffle_seed=3)
    other = shuffled(write, shuffle_buffer_size=200, shuffle_seed=4)
    assert helpers.read(make) == helpers.read(make)
    assert helpers.read(make) != helpers.read(other)


def test_a_shuffle_seed_that_is_no_integer_is_named(write):
    with pytest.raises(TypeError, match="shuffle_seed must be an integer .*, got 'x'"):
        shuffled(write, shuffle_buffer_size=200, shuffle_seed="x")()


@pytest.mark.parametrize("reshuffle", [None, True, False])
def test_each_iteration_has_another_order_if_asked_for(write, reshuffle):
    make = shuffled(write, shuffle_buffer_size=500, shuffle_seed=3, reshuffle_each_iteration=reshuffle)
    batches = helpers.read(lambda: make().repeat(2))
    first, second = (helpers.joined(half)["x"] for half in (batches[:13], batches[13:]))
    assert (first == second) is (reshuffle is False)
    assert sorted(first) == sorted(second)


def test_all_first_places_are_equally_likely(write):
    path = write(pa.table({"x": range(4)}))

    def make():
        batches = RebatchDataset(ParquetDataset(path, batch_size=4), None, 4, shuffle_buffer_size=4, shuffle_seed=1)
        return batches.repeat(4000)

    rows = np.array([batch["x"] for batch in helpers.read(make)])
    counts = np.stack([np.bincount(column, minlength=4) for column in rows.T])
    # Binomial, n = 4000, p = 1/4: a standard deviation of 27.
    assert np.abs(counts - 1000).max() < 27 * 5


@pytest.mark.parametrize("buffer", [0, 150])
def test_a_saved_iterator_goes_on_where_it_was(write, tmp_path, buffer):
    make = shuffled(write, shuffle_buffer_size=buffer)
    with tf.Graph().as_default():
        iterator = tf.data.make_initializable_iterator(make())
        element = iterator.get_next()
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
        saver = tf.train.Saver()

        def drain(session):
            rows = []
            while True:
                try:
                    batch = session.run(element)
                except tf.errors.OutOfRangeError:
                    return rows
                rows += zip(batch["x"].tolist(), batch["l"].to_list())

        with helpers.session() as session:
            session.run(iterator.initializer)
            for _ in range(3):
                session.run(element)
            checkpoint = saver.save(session, str(tmp_path / "ckpt"))
            rest = drain(session)
        with helpers.session() as session:
            session.run(iterator.initializer)
            saver.restore(session, checkpoint)
            assert drain(session) == rest
    assert len(rest) == 500 - 3 * 40


def test_rectify_batches_sparse_tensors_of_any_rank(write):
    data = [[[i] * (j + 1) for j in range(i % 3)] for i in range(50)]
    path = write(pa.table({"x": range(50), "l": data}), row_group_size=21)

    def make():
        dataset = ParquetDataset(path, batch_size=8).map(DataFrame.to_sparse)
        return dataset.apply(rectify(20))

    batches = helpers.read_raw(make)
    assert [batch["x"].tolist() for batch in batches] == [list(range(20)), list(range(20, 40)), list(range(40, 50))]
    for batch in batches:
        expected = [
            ([row, j, k], i)
            for row, i in enumerate(batch["x"])
            for j, part in enumerate(data[i])
            for k in range(len(part))
        ]
        assert batch["l"].indices.tolist() == [index for index, _ in expected]
        assert batch["l"].values.tolist() == [value for _, value in expected]
        assert batch["l"].dense_shape[0] == len(batch["x"])


def test_rectify_shuffles(write):
    path = write(pa.table({"x": range(100), "l": [[i] * (i % 3) for i in range(100)]}))

    def make():
        dataset = ParquetDataset(path, batch_size=100).map(DataFrame.to_sparse)
        return dataset.apply(rectify(10, shuffle_buffer_size=100, shuffle_seed=1))

    batches = helpers.read_raw(make)
    assert sorted(row for batch in batches for row in batch["x"]) == list(range(100))
    for batch in batches:
        assert batch["l"].values.tolist() == [i for i in batch["x"] for _ in range(i % 3)]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"batch_size": 5, "shuffle_buffer_size": -1}, "shuffle_buffer_size must be at least 0, got -1"),
        ({"batch_size": 5, "min_batch_size": 0}, "min_batch_size must be at least 1, got 0"),
        ({"batch_size": 5, "fields": ["y"]}, "fields has 'y', but elements have"),
        ({"batch_size": 5, "fields": [DataFrame.Field("x", ragged_rank=1)]}, "field 'x' has a ragged_rank of 1"),
    ],
)
def test_arguments_that_do_not_fit_are_named(write, kwargs, message):
    path = write(pa.table({"x": [1]}))
    with pytest.raises(ValueError, match=message):
        RebatchDataset(ParquetDataset(path), **{"fields": None, **kwargs})


def test_a_min_batch_size_above_the_batch_size_is_refused(write):
    path = write(pa.table({"x": [1]}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="min_batch_size must be .* at most batch_size .5., got 6"):
        helpers.read(lambda: RebatchDataset(ParquetDataset(path), None, 5, min_batch_size=6))


def test_scalars_have_no_rows():
    with pytest.raises(TypeError, match="a scalar has no rows"):
        RebatchDataset(tf.data.Dataset.range(5), None, 2)


def ragged(values, *splits):
    parts = tuple(tf.constant(s, tf.int32) for s in splits)
    return tf.data.Dataset.from_tensors({"v": Value(tf.constant(values), parts), "x": tf.constant([1, 2])})


@pytest.mark.parametrize(
    ("values", "splits", "message"),
    [
        ([1, 2], [[0, 1, 3]], "end at 3"),
        ([1, 2], [[0, 2, 1]], "decrease"),
        ([1, 2], [[-1, 1, 2]], "negative"),
        ([1, 2], [[0, 2]], "it has 2 rows, others have 1"),
        ([1, 2], [[0, 1, 2], [0, 2]], "end at 2, but there are 1"),
    ],
)
def test_row_splits_that_do_not_fit_are_refused(values, splits, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        helpers.read_raw(lambda: ragged(values, *splits).apply(rebatch(1)))


def test_values_of_different_shapes_are_refused():
    def make():
        widths = tf.data.Dataset.from_tensor_slices([1, 2])
        return widths.map(lambda width: {"x": tf.zeros([2, width])}).apply(rebatch(3))

    with pytest.raises(tf.errors.InvalidArgumentError, match="different shapes"):
        helpers.read_raw(make)


def test_rebatch_takes_the_number_of_scans_of_older_versions(write):
    path = write(pa.table({"x": range(10)}), row_group_size=3)
    batches = helpers.read(
        lambda: ParquetDataset(path, batch_size=3).apply(rebatch(5, min_batch_size=4, num_parallel_scans=2))
    )
    assert np.concatenate([batch["x"] for batch in batches]).tolist() == list(range(10))


@pytest.mark.parametrize("value", ["x", None, 1.5])
def test_a_batch_size_that_is_no_integer_is_named(write, value):
    path = write(pa.table({"x": range(10)}))
    with pytest.raises(TypeError, match="^batch_size must be an integer or a scalar Tensor, got"):
        ParquetDataset(path, batch_size=value)
    with pytest.raises(TypeError, match="^batch_size must be an integer or a scalar Tensor, got"):
        ParquetDataset(path, batch_size=5).apply(rebatch(value))


def test_a_batch_size_beyond_int64_is_refused_where_it_is_given(write):
    path = write(pa.table({"x": range(10)}))
    with pytest.raises(ValueError, match="batch_size must be less than"):
        ParquetDataset(path, batch_size=2**63)
