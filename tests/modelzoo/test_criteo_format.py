"""What `text_file.inspect` finds out about a file, and which files it refuses."""

import pytest

from common import criteo, text_file
from common.errors import InputError
from modelzoo_helpers import HEADER, changed, write_rows


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("header", [None, HEADER, [f"x_{i}" for i in range(40)]], ids=["bare", "header", "own_names"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("final_newline", [True, False], ids=["ended", "unended"])
def test_finds_delimiter_header_and_rows(tmp_path, sample_rows, delimiter, header, newline, final_newline):
    path = write_rows(tmp_path / "f", sample_rows[:7], delimiter, header, newline, final_newline)
    assert text_file.inspect(criteo.FORMAT, path) == text_file.TextFile(path, delimiter, header is not None, 7)


def test_header_with_byte_order_mark_and_quotes(tmp_path, sample_rows):
    path = write_rows(tmp_path / "f", sample_rows[:2], header=['\ufeff"label"'] + HEADER[1:])
    assert text_file.inspect(criteo.FORMAT, path).has_header


def test_first_row_with_bad_label_is_not_taken_for_a_header(tmp_path, sample_rows):
    path = write_rows(tmp_path / "f", [changed(sample_rows[0], label="yes")] + sample_rows[1:3])
    assert text_file.inspect(criteo.FORMAT, path) == text_file.TextFile(path, ",", False, 3)


def test_malformed_first_row_does_not_hide_the_delimiter(tmp_path, sample_rows):
    path = write_rows(tmp_path / "f", [["1", "2"]] + sample_rows[:2], "\t")
    assert text_file.inspect(criteo.FORMAT, path) == text_file.TextFile(path, "\t", False, 3)


def test_counts_lines_beyond_the_first_block(tmp_path, sample_rows):
    path = write_rows(tmp_path / "f", sample_rows * 100, final_newline=False)  # 5 MB
    assert text_file.inspect(criteo.FORMAT, path).rows == 20_000


def test_files_of_one_list_must_share_the_delimiter(tmp_path, sample_rows):
    comma = write_rows(tmp_path / "comma", sample_rows[:2])
    tab = write_rows(tmp_path / "tab", sample_rows[:2], "\t")
    with pytest.raises(InputError, match=r"tab: is separated by '\\t' but .*comma by ','"):
        text_file.inspect_all(criteo.FORMAT, [comma, tab])


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is empty"),
        (",".join(HEADER).encode() + b"\n", "has a header line but no rows"),
        (b"1,2,3\n", "has 40 comma or tab separated columns .line 1 has 3.; expected label,I1"),
        (b"0" + b"," * 38 + b"\n", "line 1 has 39"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "looks gzip-compressed; unpack it first"),
        (",".join(["label"] + HEADER[:0:-1]).encode() + b"\n" + b"0" + b"," * 39, "columns are not in the order"),
    ],
)
def test_refuses(tmp_path, content, message):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(InputError, match=f"^{tmp_path}/f: .*{message}"):
        text_file.inspect(criteo.FORMAT, str(tmp_path / "f"))


def test_refuses_missing_file(tmp_path):
    with pytest.raises(InputError, match="nowhere: cannot be read: No such file"):
        text_file.inspect(criteo.FORMAT, str(tmp_path / "nowhere"))


def test_refuses_directory(tmp_path):
    with pytest.raises(InputError, match="is a directory, expected a Criteo text file"):
        text_file.inspect(criteo.FORMAT, str(tmp_path))
