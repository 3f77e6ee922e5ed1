"""hb.data.Dataset and the transformations."""

import columnar_helpers as helpers
import hybridbackend.tensorflow as hb
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf

FIELD = hb.data.DataFrame.Field


@pytest.fixture
def paths(write):
    """Two files with a row group of 30 and less: x counts, l holds x rows x % 3 times."""
    rows = list(range(100))
    return [
        write(
            pa.table({"x": part, "l": [[i] * (i % 3) for i in part], "s": [f"t{i}" for i in part]}),
            name=f"{i}.parquet",
            row_group_size=30,
        )
        for i, part in enumerate([rows[:45], rows[45:]])
    ]


def to_lists(sparse):
    rows = [[] for _ in range(sparse.dense_shape[0])]
    for index, value in zip(sparse.indices, sparse.values):
        rows[index[0]].append(value.tolist())
    return rows


def test_batches_have_the_size_asked_for_across_files(paths):
    batches = helpers.read_raw(lambda: hb.data.Dataset.from_parquet(paths).batch(32))
    assert [batch["x"].tolist() for batch in batches] == [list(range(i, min(i + 32, 100))) for i in range(0, 100, 32)]
    for batch in batches:
        assert to_lists(batch["l"]) == [[i] * (i % 3) for i in batch["x"]]
        assert batch["s"].tolist() == [b"t%d" % i for i in batch["x"]]


def test_drop_remainder_leaves_out_the_last_batch(paths):
    batches = helpers.read_raw(lambda: hb.data.Dataset.from_parquet(paths).batch(32, drop_remainder=True))
    assert [len(batch["x"]) for batch in batches] == [32, 32, 32]


def test_records_come_one_by_one(paths):
    records = helpers.read_raw(lambda: hb.data.Dataset.from_parquet(paths, fields=["x", "l"]))
    assert [record["x"] for record in records] == list(range(100))
    assert [record["l"].values.tolist() for record in records] == [[i] * (i % 3) for i in range(100)]


def test_shuffle_batch_has_every_row_once(paths):
    batches = helpers.read_raw(lambda: hb.data.Dataset.from_parquet(paths).shuffle_batch(25, buffer_size=60, seed=1))
    rows = [row for batch in batches for row in batch["x"].tolist()]
    assert rows != list(range(100))
    assert sorted(rows) == list(range(100))
    for batch in batches:
        assert to_lists(batch["l"]) == [[i] * (i % 3) for i in batch["x"]]


def test_orc_files_are_read(tmp_path):
    from pyarrow import orc

    table = pa.table({"x": list(range(50)), "l": [[float(i)] * (i % 2) for i in range(50)]})
    orc.write_table(table, str(tmp_path / "a.orc"))
    batches = helpers.read_raw(lambda: hb.data.Dataset.from_orc(str(tmp_path / "a.orc"), to_dense=True).batch(20))
    assert [batch["x"].tolist() for batch in batches] == [list(range(20)), list(range(20, 40)), list(range(40, 50))]
    assert batches[0]["l"].tolist() == [[i * (i % 2)] for i in range(20)]


@pytest.mark.parametrize(("pad", "width"), [(True, 2), ({"l": [50, 4]}, 4), ([50, 5], 5)])
def test_to_dense_fills_up_with_zeros(paths, pad, width):
    def make():
        return hb.data.Dataset.from_parquet(paths, fields=["x", "l"], to_dense=pad).batch(50)

    for batch in helpers.read_raw(make):
        assert batch["l"].tolist() == [[i] * (i % 3) + [0] * (width - i % 3) for i in batch["x"]]


def test_parse_and_to_sparse_are_transformations(paths):
    def make(transformation):
        return lambda: hb.data.ParquetDataset(paths, batch_size=10).apply(transformation)

    for transformation in (hb.data.parse(), hb.data.to_sparse(num_parallel_calls=2)):
        batch = helpers.read_raw(make(transformation))[0]
        assert to_lists(batch["l"]) == [[i] * (i % 3) for i in range(10)]
    batch = helpers.read_raw(make(hb.data.parse(pad={"l": True})))[0]
    assert batch["l"].tolist() == [[i] * (i % 3) + [0] * (2 - i % 3) for i in range(10)]


def test_a_missing_column_holds_its_default(paths):
    fields = ["x", FIELD("y", tf.float32, 0, default_value=7.5), FIELD("z", tf.int64, 1, default_value=sparse([4, 5]))]
    batches = helpers.read_raw(lambda: hb.data.Dataset.from_parquet(paths, fields=fields).batch(40))
    assert [len(batch["y"]) for batch in batches] == [40, 40, 20]
    for batch in batches:
        assert set(batch["y"].tolist()) == {7.5}
        assert to_lists(batch["z"]) == [[4, 5]] * len(batch["x"])


def sparse(values):
    return tf.SparseTensorValue([[i] for i in range(len(values))], np.array(values, np.int64), [len(values)])


def test_populate_defaults_is_a_transformation(paths):
    fields = [FIELD("x", tf.int64, 0), FIELD("y", tf.int32, 0, default_value=3)]

    def make():
        dataset = hb.data.ParquetDataset(paths, batch_size=60, fields=["x"])
        return dataset.apply(hb.data.populate_defaults(fields, 60))

    assert [batch["y"].tolist() for batch in helpers.read_raw(make)] == [[3] * n for n in (30, 15, 30, 25)]


def test_names_are_tried_in_lower_case_if_asked_for(paths):
    with pytest.raises(ValueError, match="no column 'X'"):
        hb.data.Dataset.from_parquet(paths, fields=["X"])
    batch = helpers.read_raw(
        lambda: hb.data.Dataset.from_parquet(paths, fields=["X"], field_ignore_case=True).batch(100)
    )[0]
    assert batch["x"].tolist() == list(range(100))


def test_field_map_fn_chooses_fields(paths):
    dataset = hb.data.Dataset.from_parquet(paths, field_map_fn=lambda fields: [f for f in fields if f.name != "s"])
    assert [field.name for field in dataset.fields] == ["x", "l"]
    assert sorted(tf.data.get_output_types(dataset)) == ["l", "x"]


def test_partitions_and_parallel_reads_have_every_row_once(paths):
    rows = []
    for index in range(3):
        batches = helpers.read_raw(
            lambda index=index: hb.data.Dataset.from_parquet(
                paths, fields=["x"], partition_count=3, partition_index=index, num_parallel_reads=2
            ).batch(7)
        )
        rows += [row for batch in batches for row in batch["x"].tolist()]
    assert sorted(rows) == list(range(100))


def test_file_names_may_be_a_dataset(paths):
    def make():
        names = tf.data.Dataset.from_tensor_slices(paths)
        return hb.data.Dataset.from_parquet(names, fields=[FIELD("x", tf.int64, 0)]).batch(100)

    assert helpers.read_raw(make)[0]["x"].tolist() == list(range(100))


def test_corrupted_data_is_skipped(paths, tmp_path):
    (tmp_path / "junk.parquet").write_bytes(b"nothing" * 100)

    def make():
        names = [paths[0], str(tmp_path / "junk.parquet"), paths[1]]
        return hb.data.Dataset.from_parquet(names, fields=["x"], skip_corrupted_data=True).batch(100)

    assert helpers.read_raw(make)[0]["x"].tolist() == list(range(100))
    assert hb.data.skipped()[str(tmp_path / "junk.parquet")] == 1


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"partition_count": 2, "partition_index": 2}, "partition_index"),
        ({"num_parallel_parser_calls": 0}, "num_parallel_parser_calls must be at least 1, got 0"),
        ({"field_map_fn": lambda fields: None}, "field_map_fn must return at least one field"),
        ({"key_idx_field_names": ["i"]}, "must have one length, got 1 and 0"),
        ({"key_idx_field_names": ["i"], "value_field_names": [["x"]]}, "key_idx_field_names has 'i'"),
        ({"fields": [FIELD("x", tf.float64)]}, "column 'x' holds int64"),
    ],
)
def test_arguments_that_do_not_fit_are_named(paths, kwargs, message):
    with pytest.raises(ValueError, match=message):
        hb.data.Dataset.from_parquet(paths, **kwargs)


def test_rebatch_of_0_5_takes_a_min_batch_size(paths):
    def make():
        dataset = hb.data.ParquetDataset(paths, batch_size=30, fields=["x"])
        return dataset.apply(hb.data.rebatch(40, min_batch_size=20))

    assert [len(batch["x"]) for batch in helpers.read(make)] == [30, 40, 30]
