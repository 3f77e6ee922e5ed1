"""Programs run by the real TensorFlow 1.15.5 give the same here: values, names, collections, seeds and files (README.md)."""

import csv
import fnmatch
import pathlib
import sys

import pytest
import tensorflow as tf

_HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(_HERE))
import golden_runner

with open(_HERE / "intended_differences.tsv", newline="") as _source:
    _INTENDED = list(csv.DictReader(_source, delimiter="\t"))


@pytest.mark.parametrize("case", golden_runner.case_names())
def test_case_agrees_with_1_15_5(case):
    tf.keras.backend.clear_session()
    report = golden_runner.check(tf, case)
    found = [(key, str(what)) for key, what in report["differences"] + report["graph"]]
    rows = [row for row in _INTENDED if row["case"] == case]
    patterns = [row["key"] for row in rows]
    unexpected = [(key, what) for key, what in found if not any(fnmatch.fnmatchcase(key, p) for p in patterns)]
    assert not unexpected
    always = [row["key"] for row in rows if row["always"] == "yes"]
    gone = [p for p in always if not any(fnmatch.fnmatchcase(key, p) for key, _ in found)]
    assert not gone, f"{case} agrees in {gone} now: remove that from intended_differences.tsv"
