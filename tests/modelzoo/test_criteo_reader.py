"""The tf.data reader against an independent parse by Python's csv module, on good and malformed rows."""

import collections
import random

import numpy as np
import pytest
import tensorflow as tf

from common import criteo, text_file, text_reader
from common.row_check import RowCheck
from modelzoo_helpers import HEADER, SAMPLE, changed, write_rows


def read(paths, batch_size=7, skip=False, limit=-1, **training):
    """All batches as (features, labels, lines), and the warnings (with skip) or the row that ended the data."""
    warnings = []
    bad_rows = text_reader.BadRows(skip, warnings.append)
    files = text_file.inspect_all(criteo.FORMAT, paths)
    with tf.Graph().as_default(), tf.Session() as session:
        if training:
            dataset = text_reader.training_batches(criteo.FORMAT, files, batch_size, bad_rows, **training)
        else:
            dataset = text_reader.batches(
                criteo.FORMAT, text_reader.lines_dataset(files).take(limit), files, batch_size, bad_rows
            )
        iterator = tf.data.make_initializable_iterator(dataset)
        batch, result = iterator.get_next(), []
        session.run(iterator.initializer)
        try:
            while True:
                result.append(session.run(batch))
        except tf.errors.OutOfRangeError:
            return result, (warnings if skip else bad_rows.failure)


def table(batches):
    """Batches -> list of rows (label, 13 numbers, 26 byte strings)."""
    return [
        (label, *(features[name][row] for name in HEADER[1:]))
        for features, labels, _ in batches
        for row, label in enumerate(labels)
    ]


def reference(rows):
    return [
        (
            np.float32(row[0]),
            *(np.float32(field or 0) for field in row[1:14]),
            *((field or " ").encode() for field in row[14:]),
        )
        for row in rows
    ]


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("header", [None, HEADER], ids=["bare", "header"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_reads_every_variant_as_csv_does(tmp_path, sample_rows, delimiter, header, newline):
    path = write_rows(tmp_path / "f", sample_rows, delimiter, header, newline, final_newline=bool(header))
    assert table(read([path], batch_size=64)[0]) == reference(sample_rows)


def test_missing_number_is_0_and_missing_category_a_blank(tmp_path):
    path = write_rows(tmp_path / "f", [["1"] + [""] * 39])
    assert table(read([path])[0]) == [(1.0, *[0.0] * 13, *[b" "] * 26)]


def test_reads_files_in_order_with_and_without_header(tmp_path, sample_rows):
    paths = [write_rows(tmp_path / "a", sample_rows[:5], header=HEADER), write_rows(tmp_path / "b", sample_rows[5:9])]
    assert table(read(paths)[0]) == reference(sample_rows[:9])


def test_keeps_quotes_and_non_ascii_text_in_categories(tmp_path, sample_rows):
    row = changed(sample_rows[0], C1='"a', C2="café", C26="x y")
    path = write_rows(tmp_path / "f", [row])
    assert table(read([path])[0]) == reference([row])


MALFORMED = {
    "39_columns": (lambda row: row[:-1], "39 columns, expected 40"),
    "41_columns": (lambda row: row + [""], "41 columns, expected 40"),
    "blank": (lambda row: [], "blank line"),
    "text_number": (lambda row: changed(row, I3="many"), "I3 is 'many', expected a number or nothing"),
    "hex_number": (lambda row: changed(row, I13="0x1F"), "I13 is '0x1F', expected a number or nothing"),
    "two_dots": (lambda row: changed(row, I1="1.2.3"), "I1 is '1.2.3', expected a number or nothing"),
    "nan": (lambda row: changed(row, I5="nan"), "I5 is 'nan', expected a number or nothing"),
    "minus": (lambda row: changed(row, I2="-"), "I2 is '-', expected a number or nothing"),
    "inner_minus": (lambda row: changed(row, I2="1-2"), "I2 is '1-2', expected a number or nothing"),
    "huge": (lambda row: changed(row, I4="1e39"), "I4 is '1e39', too large for float32"),
    "label_2": (lambda row: changed(row, label="2"), "label is '2', expected 0 or 1"),
    "no_label": (lambda row: changed(row, label=""), "label is '', expected 0 or 1"),
    "long_field": (lambda row: changed(row, I1="x" * 99), f"I1 is '{'x' * 37}...', expected a number or nothing"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_skips_malformed_row_and_names_it(tmp_path, sample_rows, case):
    damage, reason = MALFORMED[case]
    rows = [list(row) for row in sample_rows[:20]]
    rows[11] = damage(rows[11])
    path = write_rows(tmp_path / "f", rows, header=HEADER)
    batches, warnings = read([path], skip=True)
    assert table(batches) == reference(rows[:11] + rows[12:])
    assert warnings == [f"{path}:13: {reason}; row skipped"]
    assert [lines.tolist() for *_, lines in batches] == [[7], [7], [6]]


def test_not_utf8_is_malformed(tmp_path, sample_rows):
    path = write_rows(tmp_path / "f", sample_rows[:5])
    text = (tmp_path / "f").read_bytes().split(b"\n")
    text[3] = text[3][:20] + b"\xff" + text[3][20:]
    (tmp_path / "f").write_bytes(b"\n".join(text))
    batches, warnings = read([path], skip=True)
    assert warnings == [f"{path}:4: not valid UTF-8 (byte 0xff at column 21); row skipped"]
    assert table(batches) == reference(sample_rows[:3] + sample_rows[4:5])


def test_without_skip_the_data_end_before_the_batch_with_a_malformed_row(tmp_path, sample_rows):
    rows = [list(row) for row in sample_rows[:40]]
    rows[24], rows[30] = changed(rows[24], I7="?"), rows[30][:-1]
    path = write_rows(tmp_path / "f", rows, "\t", newline="\r\n")
    batches, failure = read([path])
    assert failure == f"{path}:25: I7 is '?', expected a number or nothing"
    assert table(batches) == reference(sample_rows[:21])  # three whole batches of 7


def test_without_skip_good_rows_are_all_read(tmp_path, sample_rows):
    batches, failure = read([write_rows(tmp_path / "f", sample_rows)])
    assert failure is None and len(table(batches)) == 200


def test_names_the_row_through_shuffle_and_several_files(tmp_path, sample_rows):
    paths = []
    for name, header, newline, bad in (("a", HEADER, "\n", 4), ("b", None, "\r\n", 50), ("c", HEADER, "\r\n", 0)):
        rows = [list(row) for row in sample_rows[:60]]
        rows[bad] = rows[bad][:-2]
        paths.append(write_rows(tmp_path / name, rows, header=header, newline=newline))
    batches, warnings = read(paths, skip=True, rows=180, shuffle_buffer=1000, seed=5, start_line=0, end_line=180)
    assert sorted(warnings) == [
        f"{path}:{line}: 38 columns, expected 40; row skipped" for path, line in zip(paths, (6, 51, 2))
    ]
    assert len(table(batches)) == 177


def test_a_row_is_reported_once_over_the_passes_and_many_are_only_counted(tmp_path, sample_rows):
    path = write_rows(tmp_path / "f", [sample_rows[0]] + [["1", "2"]] * 30)
    batches, warnings = read([path], skip=True, rows=31, shuffle_buffer=0, seed=1, start_line=0, end_line=93)
    assert len(table(batches)) == 3 and sum(int(lines.sum()) for *_, lines in batches) == 93
    assert len(warnings) == len(set(warnings)) == 11
    assert warnings[-1] == "further malformed rows are only counted"


def test_batch_of_malformed_rows_only_is_empty(tmp_path, sample_rows):
    path = write_rows(tmp_path / "f", [["x"]] * 7 + [sample_rows[0]])
    batches, _ = read([path], skip=True)
    assert [(len(labels), lines.tolist()) for _, labels, lines in batches] == [(0, [7]), (1, [1])]


def random_field(rng: random.Random) -> str:
    return rng.choice(
        [
            "",
            "0",
            "1",
            "-1",
            "12.5",
            "260.0",
            ".5",
            "5.",
            "+7",
            "1e3",
            "1E-2",
            "-",
            ".",
            "1-",
            "--1",
            "1.2.3",
            "0x1",
            "inf",
            "NaN",
            " 1",
            "1 ",
            "1_000",
            "١",
            "9" * 15,
            "9" * 16,
            "9" * 40,
            "1e38",
            "1e39",
            "a",
            "-.5",
            "-5.",
            "00",
        ]
    )


def test_good_and_bad_rows_are_told_apart_as_defined(tmp_path):
    """Random rows: the fast check misses no malformed row, and decode_csv agrees with Python on all others."""
    rng = random.Random(3)
    rows = []
    for _ in range(3000):
        row = [rng.choice("01")] + [str(rng.randrange(99)) for _ in range(13)] + ["ab"] * 26
        for _ in range(rng.randrange(3)):
            row[rng.randrange(14)] = random_field(rng)
        if rng.random() < 0.05:
            row = row[: rng.randrange(41)] + ["q"] * rng.randrange(3)
        rows.append(row)
    texts = np.array([",".join(row).encode() for row in rows], object)
    reasons = [criteo.FORMAT.explain(text, ",") for text in texts]
    row_check = RowCheck(criteo.FORMAT, ",")
    for start in range(0, len(rows), 50):
        suspects = set(row_check.suspicious(texts[start : start + 50]))
        malformed = {i for i, reason in enumerate(reasons[start : start + 50]) if reason}
        assert malformed <= suspects
    good = [row for row, reason in zip(rows, reasons) if not reason]
    assert 500 < len(good) < 2900
    path = write_rows(tmp_path / "f", rows)
    np.testing.assert_array_equal(
        np.array([row[:14] for row in table(read([path], 50, skip=True)[0])]),
        np.array([[np.float32(field or 0) for field in row[:14]] for row in good]),
    )


def test_fast_check_vouches_for_plain_rows(sample_rows):
    """Else every batch would pay for the check row by row, unnoticed."""
    texts = np.array([",".join(row).encode() for row in sample_rows], object)
    assert len(RowCheck(criteo.FORMAT, ",").suspicious(texts)) == 0


def passes(**options):
    return table(read([str(SAMPLE)], rows=200, **{"seed": 4, "shuffle_buffer": 64, **options})[0])


def test_each_pass_has_every_row_once_in_another_order(sample_rows):
    rows = passes(start_line=0, end_line=400)
    first, second = rows[:200], rows[200:]
    expected = collections.Counter(reference(sample_rows))
    assert collections.Counter(first) == collections.Counter(second) == expected
    assert first != second and first != reference(sample_rows)


def test_same_seed_same_order_other_seed_other_order():
    assert passes(start_line=0, end_line=200) == passes(start_line=0, end_line=200)
    assert passes(start_line=0, end_line=200) != passes(start_line=0, end_line=200, seed=5)


@pytest.mark.parametrize("start", [1, 130, 200, 333])
def test_starting_later_continues_the_same_sequence(start):
    assert passes(start_line=start, end_line=450) == passes(start_line=0, end_line=450)[start:]


def test_without_shuffle_the_order_is_that_of_the_file(sample_rows):
    assert passes(start_line=0, end_line=200, shuffle_buffer=0) == reference(sample_rows)
