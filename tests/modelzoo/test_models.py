"""Every model of the zoo: trains, evaluates, checkpoints, resumes, exports a SavedModel and predicts from it."""

import json
import subprocess
import sys

import pytest

from modelzoo_helpers import MODELZOO

_SMALL = ["--batch_size", "64", "--synthetic_rows", "600", "--synthetic_eval_rows", "200", "--hash_buckets", "100"]
# Model -> flags that make it small.
MODELS = {
    "dlrm": ["--bottom_units", "16,8", "--top_units", "16", "--embedding_dim", "4"],
    "deepfm": ["--hidden_units", "16,8", "--final_units", "8", "--embedding_dim", "4"],
    "dcn": ["--hidden_units", "16,8", "--embedding_dim", "4", "--cross_rank", "3"],
    "masknet": ["--mask_blocks", "2", "--block_units", "8", "--hidden_units", "8", "--embedding_dim", "4"],
}


def run(folder, name, *flags):
    command = [sys.executable, str(MODELZOO / name / "train.py"), "--output_dir", "out", *_SMALL, *MODELS[name], *flags]
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=240)


def result(folder):
    return json.loads((folder / "out" / "result.json").read_text())


@pytest.mark.parametrize("name", MODELS)
def test_it_trains_resumes_and_exports(tmp_path, name):
    first = run(tmp_path, name, "--steps", "5")
    assert first.returncode == 0, first.stderr[-2000:]
    assert 0 < result(tmp_path)["eval"]["loss"] < 20
    second = run(tmp_path, name, "--steps", "12", "--group_embedding", "--export")
    assert second.returncode == 0, second.stderr[-2000:]
    assert result(tmp_path)["resumed_from_step"] == 5
    assert 0 <= result(tmp_path)["eval"]["auc"] <= 1
    assert (tmp_path / "out" / "saved_model" / "saved_model.pb").exists()


@pytest.mark.parametrize("name", MODELS)
def test_it_trains_with_embedding_variables(tmp_path, name):
    finished = run(tmp_path, name, "--steps", "3", "--ev", "--ev_filter", "counter", "--optimizer", "adagrad")
    assert finished.returncode == 0, finished.stderr[-2000:]
    assert result(tmp_path)["eval"]["examples"] == 200
