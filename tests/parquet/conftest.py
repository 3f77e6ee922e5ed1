"""Fixtures of the tests of columnar datasets."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture
def write(tmp_path):
    """Writes Parquet files; see columnar_helpers.writer."""
    from columnar_helpers import writer

    return writer(tmp_path)
