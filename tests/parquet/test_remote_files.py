"""Files of an object storage, by URI."""

import io

import columnar_helpers as helpers
import pyarrow as pa
import pytest
import tensorflow as tf
from object_storage import Storage
from pyarrow import parquet
from tensorflow.python.data.experimental.ops.parquet_dataset_ops import DataFrame, ParquetDataset

TABLE = pa.table({"x": range(1000), "wide": [b"w" * 2000 + b"%d" % i for i in range(1000)]})


@pytest.fixture
def storage(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "user")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    made = Storage()
    data = io.BytesIO()
    parquet.write_table(TABLE, data, row_group_size=100, use_dictionary=False, compression="none")
    made.objects["bucket/folder/a.parquet"] = data.getvalue()
    yield made
    made.close()


def uri(storage, key="folder/a.parquet", more=""):
    return f"s3://bucket/{key}?endpoint_override={storage.address}&scheme=http&region=us-east-1{more}"


def test_a_uri_with_its_endpoint_is_read(storage):
    batches = helpers.read(lambda: ParquetDataset(uri(storage), batch_size=64))
    assert helpers.joined(batches) == helpers.expected(TABLE)


def test_the_endpoint_may_come_from_the_environment(storage, monkeypatch):
    monkeypatch.setenv("S3_ENDPOINT", storage.address)
    monkeypatch.setenv("S3_USE_HTTPS", "0")
    batches = helpers.read(lambda: ParquetDataset("s3://bucket/folder/a.parquet", fields=["x"], batch_size=64))
    assert helpers.joined(batches) == {"x": list(range(1000))}


def test_only_the_wanted_row_groups_and_columns_are_fetched(storage):
    size = len(storage.objects["bucket/folder/a.parquet"])
    batches = helpers.read(
        lambda: ParquetDataset(
            uri(storage, more="&start=2&end=8"), fields=["x"], batch_size=64, partition_count=3, partition_index=1
        )
    )
    assert helpers.joined(batches) == {"x": list(range(400, 600))}
    fetched = 0
    for method, _, wanted in storage.requests:
        if method == "GET":
            first, last = wanted.removeprefix("bytes=").split("-")
            fetched += int(last) - int(first) + 1
    # The end of the file, twice (for its schema, and for reading), and two of ten row groups of the smaller column.
    assert 0 < fetched < size / 5


def test_what_is_not_there_is_not_found(storage):
    with pytest.raises(FileNotFoundError, match="none.parquet"):
        ParquetDataset(uri(storage, "none.parquet"))
    names = tf.data.Dataset.from_tensor_slices
    with pytest.raises(tf.errors.NotFoundError, match="none.parquet"):
        helpers.read(
            lambda: ParquetDataset(names([uri(storage, "none.parquet")]), fields=[DataFrame.Field("x", tf.int64, 0)])
        )


def test_an_object_cut_short_is_data_loss(storage):
    whole = storage.objects["bucket/folder/a.parquet"]
    storage.objects["bucket/cut.parquet"] = whole[: len(whole) // 2]
    names = tf.data.Dataset.from_tensor_slices
    with pytest.raises(tf.errors.DataLossError, match="cut.parquet"):
        helpers.read(
            lambda: ParquetDataset(names([uri(storage, "cut.parquet")]), fields=[DataFrame.Field("x", tf.int64, 0)])
        )
