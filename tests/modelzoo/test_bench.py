"""bench/run.py: trainings in several ways, side by side."""

import json
import os
import subprocess
import sys

import pytest

from bench import comparison
from bench.comparison import Training
from modelzoo_helpers import MODELZOO

_TINY = ["--steps", "3", "--batch_size", "64", "--synthetic_rows", "300", "--synthetic_eval_rows", "100"]
_TINY += ["--hash_buckets", "50", "--embedding_dim", "4", "--tower_units", "8", "--optimizer", "adam"]


def run(folder, *arguments):
    command = [sys.executable, str(MODELZOO / "bench" / "run.py"), "--output_dir", "out", *arguments]
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=300)


def training(model, way, rate, auc=None):
    return Training(model, way, examples=1000, rate=rate, cpu_seconds=1, process_seconds=9, peak_mib=100, auc=auc)


def test_ratios_are_those_of_median_seconds_and_the_total_of_summed_seconds():
    trainings = [training("a", "ours", rate, auc) for rate, auc in ((100, 0.5), (200, 0.7), (500, 0.8))]
    trainings += [training("a", "stock", 100), training("b", "ours", 500), training("b", "stock", 250)]
    a, b, total = comparison.rows(trainings)
    assert (a.ratio("ours"), b.ratio("ours")) == (2, 2) and a.medians["ours"].auc == 0.7
    assert total.medians["ours"].seconds == pytest.approx(5 + 2) and total.ratio("ours") == pytest.approx(14 / 7)
    assert a.ratio("plain") is None
    assert "| a | ours | 5.0 | 200 | 2.00 | 1.0 | 9.0 | 100 | 0.7000 |" in comparison.table([a])


def test_models_are_trained_in_each_way_on_one_set(tmp_path):
    models = ["--models", "simple_multitask", "--rounds", "1", "--stock", sys.executable]
    finished = run(tmp_path, *models, "--ways", "ours", "plain", "--ours_flags", "group_embedding", "--", *_TINY)
    assert finished.returncode == 0, finished.stderr[-2000:]
    content = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert [one["way"] for one in content["trainings"]] == ["ours", "plain"]
    assert all(one["rate"] > 0 and one["examples"] == 192 for one in content["trainings"])
    folder = tmp_path / "out" / "simple_multitask"
    settings = [json.loads((folder / way / "result.json").read_text())["flags"] for way in ("ours", "plain")]
    assert [one["group_embedding"] for one in settings] == [True, False] and [one["tf"] for one in settings] == [
        False,
        True,
    ]
    assert all(os.path.samefile(folder / way / "data", folder / "data") for way in ("ours", "plain"))
    assert "| simple_multitask | plain |" in (tmp_path / "out" / "bench.md").read_text()


def test_a_model_trains_on_the_root_of_the_released_tensorflow(tmp_path):
    command = [sys.executable, str(MODELZOO / "bench" / "start.py"), "stock"]
    command += [str(MODELZOO / "simple_multitask" / "train.py")]
    command += ["--tf", "--output_dir", "out", *_TINY]
    environment = {**os.environ, "TF_DEEPREC_ROOT": "2"}
    finished = subprocess.run(command, cwd=tmp_path, env=environment, text=True, capture_output=True, timeout=300)
    assert finished.returncode == 0, finished.stderr[-2000:]
    assert json.loads((tmp_path / "out" / "result.json").read_text())["train"]["examples"] == 192


def test_a_training_that_fails_ends_the_comparison_with_its_log(tmp_path):
    models = ["--models", "dlrm", "--rounds", "1", "--stock", sys.executable]
    finished = run(tmp_path, *models, "--ways", "ours", "--", "--no_such_flag")
    assert finished.returncode == 2
    assert "dlrm, ours: exit code 2: " in finished.stderr and "--no_such_flag (" in finished.stderr
    assert (tmp_path / "out" / "dlrm" / "ours" / "0.log").exists()


@pytest.mark.parametrize(
    "arguments, message",
    [(["--models", "none"], "expected a folder of modelzoo"), (["--rounds", "0"], "a positive integer")],
)
def test_wrong_flags_are_named(tmp_path, arguments, message):
    finished = run(tmp_path, "--stock", sys.executable, *arguments)
    assert finished.returncode == 2 and message in finished.stderr
