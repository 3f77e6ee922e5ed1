"""Columns that are stored once for a block of rows."""

import random

import columnar_helpers as helpers
import hybridbackend.tensorflow as hb
import pyarrow as pa
import pytest
import tensorflow as tf

KEYS, VALUES = ["user_index", "item_index"], [["user", "history"], ["item"]]


def blocks(seed, num_blocks=7, rows=5):
    """A table of blocks and its rows: a user and a history for each user, items of their own, and a weight for each block."""
    rng = random.Random(seed)
    table = {name: [] for name in ("user", "history", "user_index", "item", "item_index", "weight")}
    original = {"user": [], "history": [], "item": []}
    for block in range(num_blocks):
        users = [
            (rng.randint(0, 1000), [rng.randint(0, 99) for _ in range(rng.randint(0, 4))])
            for _ in range(rng.randint(1, rows))
        ]
        index = [rng.randrange(len(users)) for _ in range(rows)]
        items = [f"item{rng.randint(0, 9)}" for _ in range(rows)]
        table["user"].append([user for user, _ in users])
        table["history"].append([history for _, history in users])
        table["user_index"].append(index)
        table["item"].append(items)
        table["item_index"].append(list(range(rows)))
        table["weight"].append(float(block))
        original["user"] += [users[i][0] for i in index]
        original["history"] += [users[i][1] for i in index]
        original["item"] += [item.encode() for item in items]
    return pa.table(table), original


def to_lists(sparse):
    rows = [[] for _ in range(sparse.dense_shape[0])]
    for index, value in zip(sparse.indices, sparse.values):
        rows[index[0]].append(value.tolist())
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_batches_of_blocks_become_their_rows(write, seed):
    table, original = blocks(seed)
    path = write(table, row_group_size=4)
    batches = helpers.read_raw(
        lambda: hb.data.Dataset.from_parquet(path, key_idx_field_names=KEYS, value_field_names=VALUES).batch(3)
    )
    assert [len(batch["user"]) for batch in batches] == [15, 15, 5]
    assert all(set(batch) == {"user", "history", "item", "weight"} for batch in batches)
    assert [row for batch in batches for row in batch["user"].tolist()] == original["user"]
    assert [row for batch in batches for row in batch["item"].tolist()] == original["item"]
    assert [row for batch in batches for row in to_lists(batch["history"])] == original["history"]


def test_it_is_a_transformation(write):
    table, original = blocks(9)
    path = write(table)

    def make(pad):
        dataset = hb.data.ParquetDataset(path, batch_size=7)
        return dataset.apply(hb.data.deduplicate(KEYS, VALUES, pad=pad))

    (batch,) = helpers.read_raw(lambda: make(True))
    width = max(map(len, original["history"]))
    assert batch["history"].tolist() == [row + [0] * (width - len(row)) for row in original["history"]]
    assert batch["weight"].tolist() == [float(i) for i in range(7)]


def test_an_index_outside_of_its_block_is_an_error(write):
    path = write(pa.table({"user": [[1, 2], [3]], "user_index": [[0, 1], [0, 1]]}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside of its block"):
        helpers.read_raw(
            lambda: hb.data.ParquetDataset(path, batch_size=2).apply(hb.data.deduplicate(["user_index"], [["user"]]))
        )


def test_blocks_of_different_sizes_are_an_error(write):
    path = write(pa.table({"user": [[1, 2], [3]], "user_index": [[0, 1, 1], [0]]}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="different numbers of rows"):
        helpers.read_raw(
            lambda: hb.data.ParquetDataset(path, batch_size=2).apply(hb.data.deduplicate(["user_index"], [["user"]]))
        )


def test_unknown_names_are_refused(write):
    path = write(blocks(0)[0])
    with pytest.raises(ValueError, match="value_field_names has 'nobody'"):
        hb.data.ParquetDataset(path).apply(hb.data.deduplicate(["user_index"], [["nobody"]]))
    with pytest.raises(ValueError, match="one length, got 2 and 1"):
        hb.data.deduplicate(["a", "b"], [["c"]])
    with pytest.raises(ValueError, match="has 'user' twice"):
        hb.data.deduplicate(["a", "b"], [["user"], ["user"]])
    with pytest.raises(ValueError, match="value_field_names has 'b', an index column of key_idx_field_names"):
        hb.data.deduplicate(["a", "b"], [["user"], ["b"]])


@pytest.mark.parametrize(("values", "dtype"), [([[0.0, 1.0]], "float64"), ([["0", "1"]], "string")])
def test_an_index_column_that_holds_no_integers_is_refused(write, values, dtype):
    path = write(pa.table({"user": [[1, 2]], "user_index": values}))
    with pytest.raises(ValueError, match=f"index column 'user_index' must hold lists of integers, got {dtype}"):
        hb.data.Dataset.from_parquet(path, key_idx_field_names=["user_index"], value_field_names=[["user"]])


def test_an_index_of_more_than_32_bits_is_outside_of_its_block(write):
    path = write(pa.table({"user": [[1, 2]], "user_index": [[0, 2**32 + 1]]}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside of its block"):
        helpers.read_raw(
            lambda: hb.data.ParquetDataset(path, batch_size=1).apply(hb.data.deduplicate(["user_index"], [["user"]]))
        )


def test_names_of_another_case_restore_columns(write):
    table, original = blocks(4)
    path = write(table)

    def make(keys, values):
        dataset = hb.data.Dataset.from_parquet(
            path, field_ignore_case=True, key_idx_field_names=keys, value_field_names=values
        )
        return dataset.batch(100)

    (batch,) = helpers.read_raw(lambda: make(["User_Index", "ITEM_INDEX"], [["USER", "history"], ["Item"]]))
    assert set(batch) == {"user", "history", "item", "weight"}
    assert batch["user"].tolist() == original["user"]
    with pytest.raises(ValueError, match="value_field_names has 'user' twice"):
        make(["user_index", "item_index"], [["USER"], ["user"]])
    with pytest.raises(ValueError, match="value_field_names has 'user_index', an index column"):
        make(["user_index"], [["USER_INDEX"]])
    with pytest.raises(ValueError, match="value_field_names has 'nobody'"):
        make("user_index", [["NOBODY"]])


def records(path, fields):
    kwargs = {"fields": fields, "key_idx_field_names": KEYS, "value_field_names": VALUES}
    return helpers.read_raw(lambda: hb.data.Dataset.from_parquet(path, **kwargs))


def test_single_records_are_those_of_deduplicated_columns(write):
    table, original = blocks(5)
    price = hb.data.DataFrame.Field("price", default_value=1.5)
    fields = ["user", "history", "user_index", "item", "item_index", price]
    found = records(write(table), fields)
    assert [record["user"] for record in found] == original["user"]
    assert [record["item"] for record in found] == original["item"]
    assert [record["history"].values.tolist() for record in found] == original["history"]
    assert [record["price"] for record in found] == [1.5] * len(original["user"])


def test_single_records_with_a_column_that_is_not_deduplicated_are_an_error(write):
    path = write(blocks(6)[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="column .*weight.* is not in value_field_names"):
        records(path, None)


def test_a_default_stands_in_every_row_of_the_blocks(write):
    table, original = blocks(7)
    path = write(table)
    fields = [*table.column_names, hb.data.DataFrame.Field("price", tf.float32, default_value=2.0)]
    # Before all others by its name, and a row for each block.
    renamed = write(table.rename_columns(["a_" + n if n == "weight" else n for n in table.column_names]), "b.parquet")
    for name, column in ((path, "weight"), (renamed, "a_weight")):
        wanted = [column if f == "weight" else f for f in fields]
        (batch,) = helpers.read_raw(
            lambda: hb.data.Dataset.from_parquet(
                name, fields=wanted, key_idx_field_names=KEYS, value_field_names=VALUES
            ).batch(100)
        )
        assert batch["price"].tolist() == [2.0] * len(original["user"])
