"""Random files against pyarrow's own reading of them."""

import random

import columnar_helpers as helpers
import pytest
from pyarrow import orc, parquet
from tensorflow.deeprec.data.parquet_dataset import FileDataset, ParquetDataset

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_batches_are_the_rows_of_the_row_groups_in_order(write, seed):
    rng = random.Random(seed)
    rows, group, batch = rng.randint(0, 300), rng.randint(1, 120), rng.choice([1, 7, 32, 64, 1000])
    table = helpers.random_table(seed, rows, columns=4)
    path = write(
        table,
        row_group_size=group,
        use_dictionary=rng.random() < 0.5,
        compression=rng.choice(["NONE", "snappy", "zstd"]),
    )
    expected = []
    file = parquet.ParquetFile(path)
    for i in range(file.num_row_groups):
        part = file.read_row_group(i)
        expected += [helpers.expected(part.slice(at, batch)) for at in range(0, part.num_rows, batch)]
    assert helpers.read(lambda: ParquetDataset(path, batch_size=batch)) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_partitions_together_have_every_row_once(write, seed):
    rng = random.Random(100 + seed)
    table = helpers.random_table(seed, rng.randint(1, 200), columns=2)
    path = write(table, row_group_size=rng.randint(1, 60))
    count = rng.randint(1, 7)
    parts = [
        helpers.read(lambda i=i: ParquetDataset(path, batch_size=17, partition_count=count, partition_index=i))
        for i in range(count)
    ]
    assert helpers.joined([batch for part in parts for batch in part]) == helpers.expected(table)


@pytest.mark.parametrize("seed", range(4))
def test_orc_files_have_the_same_rows(tmp_path, seed):
    rng = random.Random(seed)
    import pyarrow as pa

    rows = rng.randint(1, 4000)
    table = pa.table(
        {
            "i": list(range(rows)),
            "s": helpers.scalar_values("string", rows, rng),
            "l": pa.array([[rng.random()] * rng.randint(0, 3) for _ in range(rows)], pa.list_(pa.float32())),
            "b": helpers.scalar_values("bool", rows, rng),
        }
    )
    path = str(tmp_path / "a.orc")
    orc.write_table(table, path, stripe_size=4096)
    expected = helpers.expected(table)
    count = rng.choice([1, 3])

    def make(index):
        from tensorflow.deeprec.data import schema

        fields = list(schema.read(path, "orc")[0].values())
        return FileDataset(path, 100, fields, format_="orc", partition_count=count, partition_index=index)

    batches = [batch for index in range(count) for batch in helpers.read(lambda: make(index))]
    assert helpers.joined(batches) == expected


def test_chunks_larger_than_memory_allows_are_cut_between_batches(write, monkeypatch):
    from tensorflow.deeprec.data import reader

    monkeypatch.setattr(reader, "_CHUNK_BYTES", 1000)
    table = helpers.random_table(3, 500, columns=3)
    path = write(table, row_group_size=400)
    batches = helpers.read(lambda: ParquetDataset(path, batch_size=30))
    assert helpers.joined(batches) == helpers.expected(table)
    assert [len(batch["c0"]) for batch in batches] == [30] * 13 + [10] + [30] * 3 + [10]


def test_drop_remainder_leaves_out_what_ends_a_row_group(write):
    table = helpers.random_table(4, 100, columns=2)
    path = write(table, row_group_size=45)
    batches = helpers.read(lambda: ParquetDataset(path, batch_size=20, drop_remainder=True))
    assert [len(batch["c0"]) for batch in batches] == [20, 20, 20, 20]
    assert batches[2] == helpers.expected(table.slice(45, 20))


def test_memory_does_not_grow_with_the_row_group(write, check_python):
    import numpy as np
    import pyarrow as pa

    # 192 MB in one row group.
    data = np.random.default_rng(0).integers(0, 1000, (24, 1000000))
    path = write(pa.table({f"c{i}": column for i, column in enumerate(data)}), row_group_size=1000000)
    peak = check_python(
        "import pyarrow, tensorflow as tf\n"
        "from tensorflow.python.data.experimental.ops.parquet_dataset_ops import ParquetDataset\n"
        f"element = tf.data.make_one_shot_iterator(ParquetDataset({path!r}, batch_size=10000)).get_next()\n"
        "rows = tf.size(element['c0'])\n"
        "with tf.Session() as session:\n"
        "    assert sum(session.run(rows) for _ in range(100)) == 1000000\n"
        "print(pyarrow.default_memory_pool().max_memory())\n"
    )
    assert int(peak.splitlines()[-1]) < 120e6
