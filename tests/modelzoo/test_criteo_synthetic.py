"""The generated set: reproducible, cached, of the format, and carrying the planted signal."""

import csv
import pathlib

import numpy as np
import pytest

from common import criteo, criteo_synthetic, synthetic, text_file
from common.criteo_synthetic import GENERATOR
from common.metrics import roc_auc


def contents(paths):
    return [pathlib.Path(path).read_bytes() for path in paths]


def test_same_seed_same_bytes(tmp_path):
    first = synthetic.generate(GENERATOR, str(tmp_path / "a"), 300, 200, seed=7)
    second = synthetic.generate(GENERATOR, str(tmp_path / "b"), 300, 200, seed=7)
    assert contents(first) == contents(second)
    assert contents(first)[0] != contents(first)[1]


def test_other_seed_other_rows(tmp_path):
    first = synthetic.generate(GENERATOR, str(tmp_path / "a"), 300, 200, seed=7)
    second = synthetic.generate(GENERATOR, str(tmp_path / "b"), 300, 200, seed=8)
    assert contents(first)[0] != contents(second)[0]


def test_more_rows_begin_with_the_rows_of_fewer(tmp_path):
    few = contents(synthetic.generate(GENERATOR, str(tmp_path / "a"), 20_000, 1, seed=7))[0]
    many = contents(synthetic.generate(GENERATOR, str(tmp_path / "b"), 20_500, 1, seed=7))[0]
    assert many.startswith(few) and len(many) > len(few)


def test_rows_are_of_the_criteo_format(tmp_path):
    path = synthetic.generate(GENERATOR, str(tmp_path), 2000, 1, seed=7).train
    assert text_file.inspect(criteo.FORMAT, path) == text_file.TextFile(path, ",", True, 2000)
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["label"] for row in rows} == {"0", "1"}
    for name, minimum, span in zip(criteo.NUMERIC, criteo.NUMERIC_MINIMUM, criteo.NUMERIC_RANGE):
        numbers = [int(row[name]) for row in rows if row[name]]
        assert minimum <= min(numbers) and max(numbers) <= minimum + span
    for name in criteo.CATEGORICAL:
        assert all(len(row[name]) == 8 and int(row[name], 16) >= 0 for row in rows if row[name])
    assert any(row["I12"] == "" for row in rows) and any(row["C22"] == "" for row in rows)


def test_ids_follow_zipf(tmp_path):
    path = synthetic.generate(GENERATOR, str(tmp_path), 20_000, 1, seed=7).train
    with open(path, newline="") as file:
        tokens = [row["C1"] for row in csv.DictReader(file)]
    counts = np.sort(np.unique(tokens, return_counts=True)[1])[::-1]
    mass = np.arange(1, 1461) ** -1.05  # C1 has 1460 ids
    np.testing.assert_allclose(counts[:5] / 20_000, mass[:5] / mass.sum(), rtol=0.1)


def test_tokens_of_a_column_are_distinct():
    tokens = criteo_synthetic._hex_tokens(3, 50_000)
    assert len(np.unique(tokens, axis=0)) == 50_000


def test_labels_follow_the_planted_model():
    planted = synthetic.truth(GENERATOR, 11)
    rng = np.random.default_rng(5)
    _, _, logits = planted.draw(rng, 50_000)
    labels = planted.labels(rng, logits)
    assert 0.2 < labels.mean() < 0.35
    assert 0.84 < roc_auc(labels, logits) < 0.89  # what a perfect model reaches


def test_finished_set_is_found_again(tmp_path):
    paths = synthetic.generate(GENERATOR, str(tmp_path), 300, 200, seed=7)
    before = [pathlib.Path(path).stat().st_mtime_ns for path in paths]
    assert synthetic.is_cached(GENERATOR, str(tmp_path), 300, 200, 7)
    synthetic.generate(GENERATOR, str(tmp_path), 300, 200, seed=7, progress=lambda rows: pytest.fail("generated again"))
    assert [pathlib.Path(path).stat().st_mtime_ns for path in paths] == before


def test_set_of_other_parameters_is_replaced(tmp_path):
    synthetic.generate(GENERATOR, str(tmp_path), 300, 200, seed=7)
    path = synthetic.generate(GENERATOR, str(tmp_path), 100, 200, seed=7).train
    assert text_file.inspect(criteo.FORMAT, path).rows == 100


def test_interrupted_or_altered_set_is_made_again(tmp_path):
    def interrupt(rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        synthetic.generate(GENERATOR, str(tmp_path), 300, 200, seed=7, progress=interrupt)
    assert not synthetic.is_cached(GENERATOR, str(tmp_path), 300, 200, 7)
    whole = contents(synthetic.generate(GENERATOR, str(tmp_path), 300, 200, seed=7))
    with open(tmp_path / "eval.csv", "ab") as file:
        file.write(b"x")
    assert contents(synthetic.generate(GENERATOR, str(tmp_path), 300, 200, seed=7)) == whole
