"""python -m tensorflow.deeprec.data.to_parquet"""

import csv
import os
import random
import subprocess
import sys

import pytest
from pyarrow import parquet
from tensorflow.deeprec.data import to_parquet


@pytest.fixture
def text(tmp_path):
    def write(content, name="a.csv"):
        (tmp_path / name).write_text(content, encoding="utf-8")
        return str(tmp_path / name)

    return write


@pytest.fixture
def out(tmp_path):
    return str(tmp_path / "out.parquet")


def read(path):
    return parquet.read_table(path).to_pydict()


def test_random_rows_come_as_they_are(tmp_path, out):
    rng = random.Random(5)
    rows = [
        (i, rng.randint(-5, 5) / 4, "".join(rng.choice('ab,"é \t') for _ in range(rng.randint(0, 6))))
        for i in range(3000)
    ]
    path = str(tmp_path / "a.csv")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "number", "text"])
        writer.writerows(rows)
    assert to_parquet.main([path, "--output", out, "--row_group_size", "700"]) == 0
    found = read(out)
    assert list(zip(found["id"], found["number"], found["text"])) == rows
    metadata = parquet.ParquetFile(out).metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [700] * 4 + [200]


def test_blocks_are_joined_to_row_groups(text, out, monkeypatch):
    monkeypatch.setattr(to_parquet, "_BLOCK_BYTES", 500)
    path = text("x\n" + "".join(f"{i}\n" for i in range(1000)))
    assert to_parquet.convert(path, out, row_group_size=300) == 1000
    metadata = parquet.ParquetFile(out).metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [300, 300, 300, 100]
    assert read(out)["x"] == list(range(1000))


def test_progress_is_that_of_the_rows(text, out, monkeypatch):
    monkeypatch.setattr(to_parquet, "_BLOCK_BYTES", 1000)
    source = text("a,b\n" + "1234567,890\n" * 10000)
    told = []
    to_parquet.convert(str(source), out, progress=lambda done, rows: told.append((done, rows)))
    assert told[-1] == (os.path.getsize(source), 10000)
    # A block is read to its end before its rows come.
    assert all(0 <= done - 12 * rows <= 2000 for done, rows in told)


def test_columns_types_and_missing_values_are_given(text, out):
    path = text('1\t\tx"y\n0\t2.5\t\n', "a.txt")
    arguments = [
        "--columns",
        "label:int8,n:float32,t:string",
        "--delimiter",
        "tab",
        "--no_quotes",
        "--missing_number",
        "0",
    ]
    assert to_parquet.main([path, "--output", out, *arguments]) == 0
    assert read(out) == {"label": [1, 0], "n": [0.0, 2.5], "t": ['x"y', ""]}
    assert [str(type_) for type_ in parquet.read_schema(out).types] == ["int8", "float", "string"]


def test_a_header_beside_columns_is_left_out(text, out):
    path = text("a,b\n1,2\n")
    assert to_parquet.main([path, "--output", out, "--columns", "x,y", "--header"]) == 0
    assert read(out) == {"x": [1], "y": [2]}


def test_missing_values_by_name(text, out):
    path = text("x,t\n,\n4,b\n")
    assert to_parquet.convert(path, out, missing={"x": 7, "t": "none"}) == 2
    assert read(out) == {"x": [7, 4], "t": ["none", "b"]}


def test_dates_and_times_stay_texts(text, out):
    path = text("d,t,s\n2020-01-31,10:20:30,2020-01-31 10:20:30\n")
    assert to_parquet.convert(path, out) == 1
    assert read(out) == {"d": ["2020-01-31"], "t": ["10:20:30"], "s": ["2020-01-31 10:20:30"]}


def test_integers_that_an_int64_does_not_hold_keep_their_digits(text, out):
    path = text(f"hash,n,mixed\n{2**64 - 1},1,{2**64 - 1}\n{2**63 + 1},2,0.5\n")
    assert to_parquet.convert(path, out) == 2
    assert read(out) == {"hash": [2**64 - 1, 2**63 + 1], "n": [1, 2], "mixed": [float(2**64), 0.5]}


def test_several_files_go_to_a_folder(text, tmp_path):
    paths = [text("x\n1\n", "a.csv"), text("x\n2\n", "b.csv")]
    assert to_parquet.main([*paths, "--output", str(tmp_path / "made")]) == 0
    assert read(tmp_path / "made" / "a.parquet") == {"x": [1]}
    assert read(tmp_path / "made" / "b.parquet") == {"x": [2]}


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("x,y\n1,2\n3\n", [], "Expected 2 columns, got 1"),
        ("x\n1\n\n2\n,\n", ["--columns", "x:int64"], "a.csv"),
        ("x,y\n1,2\n,3\n", [], "column 'x' is empty in row 2, and no value for missing numbers"),
        ("x,y,x\n1,2,3\n", [], "a.csv: 2 columns are named 'x'"),
        ("x,y\n1,2\n,3\n", ["--missing_number", "0.5"], "a.csv: missing of column 'x' must be of int64, got 0.5"),
        ("1,a\n", ["--columns", "x:int64,y:int64"], "a.csv"),
        ("1\n", ["--columns", "x:date"], "the type of column 'x' must be one of"),
        ("x\n1\n", ["--delimiter", "::"], "delimiter must be one character"),
        ("x\n1\n", ["--row_group_size", "0"], "row_group_size must be at least 1, got 0"),
    ],
)
def test_text_that_does_not_fit_is_an_error_and_leaves_nothing(text, out, capsys, content, arguments, message):
    path = text(content)
    assert to_parquet.main([path, "--output", out, *arguments]) == 1
    assert message in capsys.readouterr().err
    assert not os.path.exists(out) and not os.path.exists(out + ".partial")


def test_an_interrupted_command_says_so_and_leaves_nothing(text, out, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(to_parquet._Filling, "fill", interrupt)
    assert to_parquet.main([text("x\n1\n"), "--output", out]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert not os.path.exists(out) and not os.path.exists(out + ".partial")


def test_a_text_is_not_written_over(text, capsys):
    path = text("x\n1\n")
    assert to_parquet.main([path, "--output", path]) == 1
    assert f"output must be another file than the text, got {path!r}" in capsys.readouterr().err
    with open(path) as file:
        assert file.read() == "x\n1\n"


def test_a_header_that_is_no_text_names_the_file(tmp_path, out, capsys):
    (tmp_path / "a.csv").write_bytes(b"\xe9,y\n1,2\n")
    assert to_parquet.main([str(tmp_path / "a.csv"), "--output", out]) == 1
    assert "a.csv: 'utf-8' codec can't decode" in capsys.readouterr().err


def test_an_error_leaves_the_file_that_is_there(text, out):
    assert to_parquet.main([text("x\n1\n"), "--output", out]) == 0
    assert to_parquet.main([text("x,y\n1\n", "b.csv"), "--output", out]) == 1
    assert read(out) == {"x": [1]}


def test_a_missing_file_is_an_error(out, capsys):
    assert to_parquet.main(["/nowhere/a.csv", "--output", out]) == 1
    assert "/nowhere/a.csv" in capsys.readouterr().err


def test_the_command_runs(text, out, tmp_path):
    command = [sys.executable, "-m", "tensorflow.deeprec.data.to_parquet", text("x\n1\n2\n"), "--output", out]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=True)
    assert "2 rows" in done.stderr
    assert read(out) == {"x": [1, 2]}
