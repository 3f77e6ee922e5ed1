"""python -m hybridbackend.tensorflow.data.validate"""

import subprocess
import sys

import pyarrow as pa
import pytest
from hybridbackend.tensorflow.data import validate


@pytest.fixture
def good(write):
    return write(pa.table({"x": [1, 2], "l": [[1.5], []]}), name="good.parquet")


def test_files_of_one_schema_pass(good, write, capsys):
    other = write(pa.table({"l": [[0.0]], "x": [3]}), name="other.parquet")
    assert validate.main([good, other]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "x\tint64\tragged_rank 0\tshape []",
        "l\tfloat64\tragged_rank 1\tshape []",
    ]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"x": [1.5], "l": [[1.0]]}, "column 'x' is ('float64', 0, [])"),
        ({"x": [1]}, "column 'l' is missing"),
        ({"x": [1, None], "l": [[1.0], [2.0]]}, "column 'x': row 1 of a batch of the file is null"),
    ],
)
def test_another_schema_or_a_null_fails_with_file_and_column(good, write, capsys, table, message):
    bad = write(pa.table(table), name="bad.parquet")
    assert validate.main([good, bad]) == 1
    error = capsys.readouterr().err
    assert "bad.parquet" in error and message in error


def test_what_is_not_parquet_fails(good, tmp_path, capsys):
    (tmp_path / "junk").write_bytes(b"nothing" * 50)
    assert validate.main([good, str(tmp_path / "junk")]) == 1
    assert "not a whole Parquet file" in capsys.readouterr().err


def test_the_command_checks_some_fields(good, write, tmp_path):
    other = write(pa.table({"X": [5]}), name="other.parquet")
    command = [sys.executable, "-m", "hybridbackend.tensorflow.data.validate", "--fields", "X", "--lower", good]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=True)
    assert done.stdout.splitlines()[-1].startswith("x\tint64")
    assert validate.main(["--fields", "X", other]) == 0
