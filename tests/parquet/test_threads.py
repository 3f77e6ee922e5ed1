"""The threads that decode the columns of a file."""

import columnar_helpers as helpers
import numpy as np
import pyarrow as pa
import pytest
from tensorflow.deeprec.data import arrow
from tensorflow.python.data.experimental.ops.parquet_dataset_ops import ParquetDataset


@pytest.fixture(autouse=True)
def pool(monkeypatch):
    threads = pa.cpu_count()
    monkeypatch.delenv("ARROW_NUM_THREADS", raising=False)
    yield threads
    pa.set_cpu_count(threads)


def test_without_the_variable_it_is_the_pool_of_pyarrow():
    pa.set_cpu_count(5)
    assert arrow.num_threads() == 5


def test_the_variable_sets_the_pool(monkeypatch):
    monkeypatch.setenv("ARROW_NUM_THREADS", "3")
    assert (arrow.num_threads(), pa.cpu_count()) == (3, 3)


@pytest.mark.parametrize("text", ["two", "-1", "1.5"])
def test_what_is_no_number_is_named(monkeypatch, text):
    monkeypatch.setenv("ARROW_NUM_THREADS", text)
    with pytest.raises(ValueError, match=f"ARROW_NUM_THREADS must be a number of at least 0, got '{text}'"):
        arrow.num_threads()


@pytest.mark.parametrize("threads", [None, "0", "1", "4"])
def test_rows_do_not_depend_on_the_threads(monkeypatch, write, threads):
    if threads is not None:
        monkeypatch.setenv("ARROW_NUM_THREADS", threads)
    table = pa.table({f"c{i}": np.random.RandomState(i).randint(0, 1000, 5000) for i in range(20)})
    path = write(table, row_group_size=1700)
    batches = helpers.read(lambda: ParquetDataset(path, batch_size=512))
    for name in table.column_names:
        np.testing.assert_array_equal(np.concatenate([batch[name] for batch in batches]), table[name])
