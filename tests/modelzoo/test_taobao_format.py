"""Taobao rows: what is read, which rows are malformed, and which files are refused."""

import argparse
import contextlib
import csv

import numpy as np
import pytest
import tensorflow as tf

from common import lists, synthetic, taobao, taobao_columns, text_file
from common.errors import InputError
from common.taobao_synthetic import GENERATOR
from modelzoo_helpers import changed, check_malformed_row, read_batches, write_rows

NAMES = list(taobao.FORMAT.names)
ROW = ["1", "0", "430548_1007", "83", "7", "21", "12", "95", "11", "5", "2", "1", "3", "2", "3", "0", "2"]
ROW += ["7|9|7", "95|3|1", "4"]


def read(path, skip=False):
    return read_batches(taobao.FORMAT, path, skip)


def test_columns_are_the_twenty_of_the_format():
    assert len(NAMES) == 20 and NAMES[:3] == ["clk", "buy", "pid"] and NAMES[-1] == "price"
    assert set(taobao.BUCKETS) == set(NAMES) - {"clk", "buy", "price"}
    assert set(taobao_columns.ALL) == set(NAMES) - {"clk", "buy"}
    assert set(taobao_columns.USER + taobao_columns.ITEM) == set(taobao_columns.ALL)


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_reads_generated_rows_as_csv_does(tmp_path, delimiter):
    path = synthetic.generate(GENERATOR, str(tmp_path), 300, 1, seed=3).train
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    batches, _ = read(write_rows(tmp_path / "f", rows, delimiter))
    columns = {
        name: np.concatenate([values[name] for values in part])
        for part in ([batch[0] for batch in batches], [batch[1] for batch in batches])
        for name in part[0]
    }
    expected = dict(zip(NAMES, zip(*rows[1:])))
    for name in NAMES:
        if name in (*taobao.LABELS, taobao.PRICE):
            assert columns[name].tolist() == [float(value) for value in expected[name]]
        else:
            missing = "" if name in taobao.TAGS else " "
            assert columns[name].tolist() == [(value or missing).encode() for value in expected[name]]


def test_every_field_but_the_labels_may_be_missing(tmp_path):
    batches, failure = read(write_rows(tmp_path / "f", [["0", "1"] + [""] * 18]))
    ((features, labels, _),) = batches
    assert failure is None and (labels["clk"][0], labels["buy"][0]) == (0, 1)
    assert features["price"][0] == 0 and features["brand"][0] == b" " and features["tag_brand_list"][0] == b""


@pytest.mark.parametrize(
    "row, reason",
    [
        (changed(ROW, NAMES, clk="2"), "clk is '2', expected 0 or 1"),
        (changed(ROW, NAMES, buy=""), "buy is '', expected 0 or 1"),
        (changed(ROW, NAMES, price="cheap"), "price is 'cheap', expected a number or nothing"),
        (ROW[:-1], "19 columns, expected 20"),
        (ROW + ["1"], "21 columns, expected 20"),
        ([], "blank line"),
    ],
)
def test_malformed_row_is_named_and_skipped_or_ends_the_data(tmp_path, row, reason):
    path = write_rows(tmp_path / "f", [ROW] * 5 + [row] + [ROW])
    check_malformed_row(taobao.FORMAT, path, reason)


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is empty"),
        (",".join(NAMES).encode() + b"\n", "has a header line but no rows"),
        (b"\n \n\r\n", "has no rows, only blank lines"),
        (b"\xef\xbb\xbf" + ",".join(ROW).encode() + b"\n", "starts with a byte order mark in its first row"),
        (b"1,0,3\n", "has 20 comma or tab separated columns .line 1 has 3.; expected clk,buy,pid"),
        (",".join(NAMES[::-1]).encode() + b"\n", "columns are not in the order clk,buy,pid"),
    ],
)
def test_refuses_file(tmp_path, content, message):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(InputError, match=message):
        text_file.inspect(taobao.FORMAT, str(tmp_path / "f"))


def test_a_header_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "f").write_text("\ufeff" + ",".join(NAMES) + "\n" + ",".join(ROW) + "\n", encoding="utf-8")
    ((features, labels, _),), failure = read(str(tmp_path / "f"))
    assert failure is None and labels["clk"].tolist() == [1] and features["pid"].tolist() == [b"430548_1007"]


def test_price_counts_as_the_nearest_level_however_far_it_is():
    prices = [-1e38, -1.0, 0.0, 3.7, 49.0, 50.0, 1e19, 3e38]
    args = argparse.Namespace(hash_buckets=10)

    def look_up(features, columns):
        outputs = {}
        tf.feature_column.input_layer(features, columns, cols_to_output_tensors=outputs)
        return outputs

    embeddings = argparse.Namespace(
        look_up=look_up,
        scope=contextlib.nullcontext,
        variable_scope=lambda name: contextlib.nullcontext(),
        levels=lambda name, count: tf.feature_column.indicator_column(
            tf.feature_column.categorical_column_with_identity(name, count)
        ),
    )
    with tf.Graph().as_default(), tf.Session() as session:
        features = {taobao.PRICE: tf.constant(prices, tf.float32)}
        levels = session.run(tf.argmax(taobao_columns.vectors(features, args, embeddings, [taobao.PRICE]), 1))
    assert levels.tolist() == [0, 0, 0, 3, 49, 49, 49, 49]


def test_sparse_list_leaves_empty_items_out():
    with tf.Graph().as_default(), tf.Session() as session:
        items = session.run(lists.sparse(tf.constant(["a|b", "", "c||d|"]), "|"))
    assert items.values.tolist() == [b"a", b"b", b"c", b"d"]
    assert items.indices.tolist() == [[0, 0], [0, 1], [2, 0], [2, 1]] and items.dense_shape.tolist() == [3, 2]


def test_padded_list_has_the_first_items_and_tells_which_they_are():
    with tf.Graph().as_default(), tf.Session() as session:
        items, mask = lists.padded(tf.constant(["a|b", "", "c|d|e|f"]), "|", 3)
        items, mask = session.run([items, mask])
    assert items.tolist() == [[b"a", b"b", b""], [b"", b"", b""], [b"c", b"d", b"e"]]
    assert mask.tolist() == [[True, True, False], [False] * 3, [True] * 3]
