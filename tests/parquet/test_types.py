"""Every type comes as it is in the file."""

import random

import columnar_helpers as helpers
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from tensorflow.deeprec.data.rebatch import rebatch
from tensorflow.python.data.experimental.ops.parquet_dataset_ops import DataFrame, ParquetDataset


@pytest.mark.parametrize("name", helpers.SCALARS)
def test_a_scalar_column_has_its_dtype_and_values(write, name):
    values = helpers.scalar_values(name, 50, random.Random(name))
    table = pa.table(
        {"x": pa.array(np.array(values, np.float16) if name == "float16" else values, helpers.arrow_type(name))}
    )
    path = write(table)
    (field,) = ParquetDataset.read_schema(path)
    text = "string" in name or "binary" in name
    assert (field.dtype, field.ragged_rank) == (tf.string if text else tf.as_dtype(name), 0)
    batches = helpers.read(lambda: ParquetDataset(path, batch_size=16))
    assert helpers.joined(batches) == helpers.expected(table)


def test_lists_of_fixed_sizes_alone_are_a_shape(write):
    data = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    table = pa.table({"x": pa.array(data.tolist(), pa.list_(pa.list_(pa.float32(), 3), 2))})
    path = write(table)
    (field,) = ParquetDataset.read_schema(path)
    assert (field.ragged_rank, field.shape.as_list()) == (0, [2, 3])
    (batch,) = helpers.read_raw(lambda: ParquetDataset(path, batch_size=8))
    np.testing.assert_array_equal(batch["x"], data)


def test_lists_of_one_length_may_be_read_with_a_shape(write):
    path = write(pa.table({"x": [[1, 2], [3, 4], [5, 6]]}))
    fields = [DataFrame.Field("x", tf.int64, 0, shape=[2])]
    (batch,) = helpers.read_raw(lambda: ParquetDataset(path, batch_size=8, fields=fields))
    np.testing.assert_array_equal(batch["x"], [[1, 2], [3, 4], [5, 6]])


def test_a_shape_beside_a_ragged_rank_groups_the_values(write):
    path = write(pa.table({"x": [[1, 2, 3, 4], [5, 6]]}))
    fields = [DataFrame.Field("x", ragged_rank=1, shape=[2])]
    (batch,) = helpers.read_raw(lambda: ParquetDataset(path, batch_size=8, fields=fields))
    np.testing.assert_array_equal(batch["x"].values, [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(batch["x"].nested_row_splits[0], [0, 4, 6])


def test_large_batches_share_the_memory_of_what_was_decoded_and_stay_whole(write):
    # Of a size at which values are not copied; later batches must not change earlier ones.
    table = pa.table({"x": np.arange(40000), "y": np.random.default_rng(0).random(40000)})
    path = write(table, row_group_size=20000)
    batches = helpers.read_raw(lambda: ParquetDataset(path, batch_size=10000))
    np.testing.assert_array_equal(np.concatenate([batch["x"] for batch in batches]), np.arange(40000))
    np.testing.assert_array_equal(np.concatenate([batch["y"] for batch in batches]), table["y"].to_numpy())


def test_a_kernel_does_not_write_over_shared_memory(write):
    path = write(pa.table({"x": np.arange(20000.0)}), row_group_size=20000)

    def make():
        return ParquetDataset(path, batch_size=20000).map(lambda batch: {**batch, "y": tf.sqrt(batch["x"])})

    (batch,) = helpers.read_raw(make)
    np.testing.assert_array_equal(batch["x"], np.arange(20000.0))
    np.testing.assert_allclose(batch["y"], np.sqrt(np.arange(20000.0)))


@pytest.mark.parametrize("rebatched", [False, True])
def test_texts_of_every_length_come_whole(write, rebatched):
    # Texts of up to 22 bytes lie in their tensor, longer ones outside of it.
    texts = [bytes(random.Random(size).randbytes(size)) for size in range(70)] * 3
    path = write(pa.table({"x": pa.array(texts, pa.binary())}))

    def dataset():
        batches = ParquetDataset(path, batch_size=16)
        return batches.apply(rebatch(50)) if rebatched else batches

    assert helpers.joined(helpers.read(dataset))["x"] == texts


def test_texts_outlive_the_batches_they_were_read_in(write):
    texts = ["%d" % i * (i % 9) for i in range(1000)]
    path = write(pa.table({"x": texts}), row_group_size=100)

    def dataset():
        rows = ParquetDataset(path, batch_size=20).map(lambda batch: tf.reverse(batch["x"], [0]))
        return rows.unbatch().shuffle(300, seed=1).batch(7).map(lambda x: {"x": tf.strings.join([x, x[:]])})

    found = helpers.joined(helpers.read(dataset))["x"]
    assert sorted(found) == sorted((text * 2).encode() for text in texts)
