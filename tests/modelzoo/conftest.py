"""Makes the modelzoo and the helpers beside this file importable, and reads the sample."""

import csv
import pathlib
import sys
from typing import List

import pytest

_HERE = pathlib.Path(__file__).resolve().parent
_MODELZOO = _HERE.parents[1] / "modelzoo"
sys.path[:0] = [str(_HERE), str(_MODELZOO), str(_MODELZOO / "wide_and_deep")]


@pytest.fixture(scope="session")
def sample_rows() -> List[List[str]]:
    """The 200 real rows, 40 fields each, as Python's csv module reads them; without header."""
    from modelzoo_helpers import SAMPLE

    with open(SAMPLE, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]
