"""python -m hybridbackend.tools.dataset_mock and dataset_benchmark"""

import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tensorflow as tf
from hybridbackend.tools import dataset_benchmark, dataset_mock

_SMALL = ["--samples", "50", "--cols", "3", "--min", "5", "--max", "9"]


@pytest.fixture
def expected():
    return np.random.default_rng(0).integers(5, 9, (3, 50))


def test_a_parquet_file_has_the_columns(tmp_path, expected):
    path = tmp_path / "x.parquet"
    assert dataset_mock.main([str(path), *_SMALL]) == 0
    table = pq.read_table(path)
    assert table.column_names == ["col0", "col1", "col2"] and {str(t) for t in table.schema.types} == {"int64"}
    np.testing.assert_array_equal([table[name].to_numpy() for name in table.column_names], expected)


def test_a_csv_file_has_the_same_rows(tmp_path, expected):
    path = tmp_path / "x.csv"
    assert dataset_mock.main(["-f", "csv", *_SMALL, str(path)]) == 0
    np.testing.assert_array_equal(np.loadtxt(path, delimiter=",", dtype=np.int64), expected.T)


def test_records_have_the_same_rows(tmp_path, expected):
    path = str(tmp_path / "x.tfrecord")
    assert dataset_mock.main(["-f", "tfrecord", *_SMALL, path]) == 0
    rows = [tf.train.Example.FromString(record).features.feature for record in tf.io.tf_record_iterator(path)]
    found = [[row[f"col{i}"].int64_list.value[0] for row in rows] for i in range(3)]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--samples", "0"], "samples must be at least 1, got 0"),
        (["--cols", "-1"], "cols must be at least 1, got -1"),
        (["--max", "0"], "max must be above min, 0, got 0"),
    ],
)
def test_mock_arguments_that_do_not_fit_are_named(tmp_path, capsys, flags, message):
    assert dataset_mock.main([str(tmp_path / "x"), *flags]) == 1
    assert message in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_named(tmp_path, capsys):
    assert dataset_mock.main([str(tmp_path / "nowhere" / "x"), *_SMALL]) == 1
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "batches", "rows"),
    [
        (["--batch-size", "20"], 2, 30),
        (["--batch-size", "20", "--epochs", "2"], 5, 80),
        (["--batch-size", "20", "--rebatch-size", "10"], 4, 40),
        (["--batch-size", "10", "--num-steps", "3"], 3, 30),
        (["--batch-size", "1", "--num-steps", "0"], 49, 49),
    ],
)
def test_what_is_measured_is_behind_the_first_batch(tmp_path, capsys, flags, batches, rows):
    path = str(tmp_path / "x.parquet")
    dataset_mock.mock(path, samples=50, cols=3)
    assert dataset_benchmark.main([path, *flags]) == 0
    printed = capsys.readouterr().out
    assert re.fullmatch(rf"[\d.]+ ms a batch, [\d,]+ rows/s \({batches} batches, {rows} rows\)\n", printed)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--batch-size", "0"], "batch_size must be at least 1, got 0"),
        (["--rebatch-size", "0"], "rebatch_size must be at least 1, got 0"),
        (["--epochs", "0"], "epochs must be at least 1, got 0"),
        (["--num-steps", "-1"], "num_steps must be at least 0, got -1"),
        (["--batch-size", "60"], "one batch at most, of 60 rows"),
    ],
)
def test_benchmark_arguments_that_do_not_fit_are_named(tmp_path, capsys, flags, message):
    path = str(tmp_path / "x.parquet")
    dataset_mock.mock(path, samples=50, cols=3)
    assert dataset_benchmark.main([path, *flags]) == 1
    assert message in capsys.readouterr().err


def test_files_of_lists_are_measured(write):
    path = write(pa.table({"l": [[1], [2, 3], [], [4]], "x": [1, 2, 3, 4]}))
    assert dataset_benchmark.benchmark([path], batch_size=1)[:2] == (3, 3)


def test_a_file_of_another_kind_is_named(tmp_path, capsys):
    (tmp_path / "x.csv").write_text("1,2\n")
    assert dataset_benchmark.main([str(tmp_path / "x.csv")]) == 1
    assert "x.csv" in capsys.readouterr().err


def test_the_command_writes_a_file(tmp_path):
    command = [sys.executable, "-m", "hybridbackend.tools.dataset_mock", *_SMALL, "x.parquet"]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert pq.read_table(tmp_path / "x.parquet").num_rows == 50
