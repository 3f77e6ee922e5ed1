"""Ele.me-like rows: what is read, which rows are malformed, and which files are refused."""

import csv

import numpy as np
import pytest
import tensorflow as tf

from common import eleme, eleme_columns, lists, synthetic, text_file
from common.eleme_synthetic import GENERATOR
from common.errors import InputError
from common.text_format import NUMBER, NUMBERS
from modelzoo_helpers import changed, check_malformed_row, read_batches, write_rows

NAMES = list(eleme.FORMAT.names)
ROW = ["1", "7", "0", "12", "25.5", "1", "0.125", "3", "76"]
ROW += ["31", "415", "12", "5", "92", "wx4g0b", "wx4g0bm7p3qz", "26", "5", "35", "1", "12", "40"]
ROW += [
    "31;35",
    "89;7",
    "9;3",
    "2;3",
    "8;4",
    "22;17.5",
    "6;2",
    "wx4g0b;wx4g0c",
    "90000;3600",
    "11;17",
    "lunch;dinner",
    "0;6",
]
ROW += ["777600", "12", "lunch", "2", "wx4g0cqqqqqq"]


def test_columns_are_those_of_the_contest():
    sizes = [len(part) for part in (eleme.USER, eleme.ITEM, eleme.HISTORY, eleme.CONTEXT)]
    assert sizes == [8, 13, 12, 5] and len(NAMES) == len(set(NAMES)) == 39 and NAMES[0] == "label"
    assert len(eleme.LIST_OF) == 9
    assert {*eleme.LIST_OF.values(), *eleme.NUMBER_LISTS} == set(eleme.HISTORY)
    kinds = {column.name: column.kind for column in eleme.FORMAT.columns}
    assert {name for name in NAMES if kinds[name] == NUMBER} == set(eleme.NUMBERS)
    assert {name for name in NAMES if kinds[name] == NUMBERS} == set(eleme.NUMBER_LISTS)
    read = {*eleme_columns.CATEGORIES, *eleme.NUMBERS, *eleme.HISTORY}
    assert set(NAMES) - read == {"label", "times"} and len(eleme_columns.CATEGORIES) == 18


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_reads_generated_rows_as_csv_does(tmp_path, delimiter):
    path = synthetic.generate(GENERATOR, str(tmp_path), 300, 1, seed=3).train
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    batches, failure = read_batches(eleme.FORMAT, write_rows(tmp_path / "f", rows, delimiter))
    assert failure is None
    expected = dict(zip(NAMES, zip(*rows[1:])))
    assert np.concatenate([labels for _, labels, _ in batches]).tolist() == [
        float(value) for value in expected["label"]
    ]
    for name in NAMES[1:]:
        found = np.concatenate([features[name] for features, _, _ in batches])
        if name in eleme.NUMBERS:
            np.testing.assert_allclose(found, [float(value) for value in expected[name]], rtol=1e-6)
        else:
            missing = "" if name in eleme.HISTORY else " "
            assert found.tolist() == [(value or missing).encode() for value in expected[name]]


def test_every_field_but_the_label_may_be_missing(tmp_path):
    batches, failure = read_batches(eleme.FORMAT, write_rows(tmp_path / "f", [["0"] + [""] * 38]))
    ((features, labels, _),) = batches
    assert failure is None and labels.tolist() == [0]
    assert features["ctr_30"][0] == 0 and features["brand_id"][0] == b" " and features["price_list"][0] == b""


@pytest.mark.parametrize(
    "row, reason",
    [
        (changed(ROW, NAMES, label="2"), "label is '2', expected 0 or 1"),
        (changed(ROW, NAMES, rank_90="first"), "rank_90 is 'first', expected a number or nothing"),
        (changed(ROW, NAMES, price_list="3;cheap;4"), "price_list has the item 'cheap', expected a number or nothing"),
        (changed(ROW, NAMES, hours_list="12;1.2.3"), "hours_list has the item '1.2.3', expected a number or nothing"),
        (changed(ROW, NAMES, timediff_list="5;1e39"), "timediff_list has the item '1e39', too large for float32"),
        (changed(ROW, NAMES, timediff_list="5|7"), "timediff_list has the item '5|7', expected a number or nothing"),
        (ROW[:-1], "38 columns, expected 39"),
        (ROW + ["1"], "40 columns, expected 39"),
        ([], "blank line"),
    ],
)
def test_malformed_row_is_named_and_skipped_or_ends_the_data(tmp_path, row, reason):
    path = write_rows(tmp_path / "f", [ROW] * 5 + [row] + [ROW])
    check_malformed_row(eleme.FORMAT, path, reason)


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is empty"),
        (",".join(NAMES).encode() + b"\n", "has a header line but no rows"),
        (b"1,0,3\n", "has 39 comma or tab separated columns .line 1 has 3.; expected label,user_id,gender"),
        (",".join(NAMES[::-1]).encode() + b"\n", "columns are not in the order label,user_id,gender"),
    ],
)
def test_refuses_file(tmp_path, content, message):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(InputError, match=message):
        text_file.inspect(eleme.FORMAT, str(tmp_path / "f"))


def test_means_are_of_the_items_that_are_there():
    values = ["1;2;6", "", "-1.5", ";4;", "3e38;3e38"]
    with tf.Graph().as_default(), tf.Session() as session:
        means = session.run(lists.means(tf.constant(values), ";"))
    assert means.dtype == np.float32
    np.testing.assert_allclose(means, [3, 0, -1.5, 4, 3e38], rtol=1e-6)
