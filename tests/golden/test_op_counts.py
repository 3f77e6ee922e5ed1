"""After one call a random op gets the default seed that it got in TensorFlow 1.15.5, and so do the random ops inside the call.

The expectations were measured with 1.15.5 by op_counts.py; see docs/notes/op-seeds.md.
"""

import csv
import pathlib
import sys

import pytest
import tensorflow as tf

_HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(_HERE))
import op_counts


def _rows(path):
    with open(path, newline="") as source:
        return list(csv.DictReader(source, delimiter="\t", quoting=csv.QUOTE_NONE))


_EXPECTED = _rows(_HERE / "data" / "op_counts.tsv")
# Lines that do not agree yet, and why.
_KNOWN = {row["code"]: row["reason"] for row in _rows(_HERE / "known_op_counts.tsv")}


@pytest.mark.parametrize("row", _EXPECTED, ids=[str(i + 2) for i in range(len(_EXPECTED))])
def test_default_seeds_are_those_of_1_15_5(row):
    count, seeds = op_counts.measure(tf, row["code"])
    agrees = (count, seeds) == (int(row["count"]), [int(seed) for seed in row["seeds"].split()])
    if row["code"] in _KNOWN:
        assert not agrees, f"{row['code']} agrees now: remove it from known_op_counts.tsv"
        pytest.xfail(_KNOWN[row["code"]])
    assert agrees, f"{row['code']}: {count} {seeds}, in 1.15.5 {row['count']} [{row['seeds']}]"


def test_known_differences_are_lines_of_the_table():
    assert set(_KNOWN) <= {row["code"] for row in _EXPECTED}
