"""Interrupted runs: SIGINT saves, kill -9 goes back to the last checkpoint, and both end where an uninterrupted run ends."""

import json
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from modelzoo_helpers import SMALL, run_train, train_command

STEPS = 600
FLAGS = [*SMALL, "--synthetic_rows", 6000, "--batch_size", 32, "--steps", STEPS, "--save_steps", 50, "--log_steps", 10]
# Weights are compared bit by bit; with more threads the released kernels add in an order that depends on the moment.
FLAGS += ["--inter", 1, "--intra", 1]


def run_until(folder, step, signum):
    """Starts training, sends the signal when the log names the step, and returns exit code and log."""
    with subprocess.Popen(
        train_command(*FLAGS, "--no_eval", "--output_dir", folder.name),
        cwd=folder.parent,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        log = []
        for line in process.stderr:
            log.append(line)
            if f"step {step}," in line:
                process.send_signal(signum)
        return process.wait(), log


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One run in three pieces (SIGINT, SIGKILL, to the end) and one in one piece, which also evaluates on the way."""
    folder = tmp_path_factory.mktemp("resume")
    pieces = {
        "interrupted": run_until(folder / "cut", 70, signal.SIGINT),
        "killed": run_until(folder / "cut", 300, signal.SIGKILL),
        "finished": run_train(folder, *FLAGS, "--no_eval", "--output_dir", "cut"),
        "whole": run_train(folder, *FLAGS, "--curve_rows", 500, "--output_dir", "whole"),
    }
    assert pieces["finished"].returncode == 0, pieces["finished"].stderr
    assert pieces["whole"].returncode == 0, pieces["whole"].stderr
    return folder, pieces


def resumed_at(log):
    return int(re.search(r"resuming at step (\d+) of 600 from cut/checkpoint", "".join(log)).group(1))


def test_sigint_saves_the_step_it_finished_and_says_how_to_go_on(runs):
    code, log = runs[1]["interrupted"]
    assert code == 130 and "Traceback" not in "".join(log)
    said = re.fullmatch(
        r"train.py: stopped by SIGINT: step (\d+) of 600 is saved in cut/checkpoint; go on with: "
        + re.escape(sys.executable)
        + r" \S+/train.py .*--output_dir cut\n",
        log[-1],
    )
    step = int(said.group(1))
    assert 70 <= step < STEPS
    assert resumed_at(runs[1]["killed"][1]) == step


def test_kill_goes_back_to_the_last_checkpoint(runs):
    code, log = runs[1]["killed"]
    assert code == -signal.SIGKILL
    first, second = resumed_at(log), resumed_at([runs[1]["finished"].stderr])
    assert second > first and (second - first) % 50 == 0
    assert second >= 250  # step 300 was reached, so the checkpoint before it was written


def test_counters_are_those_of_an_uninterrupted_run(runs):
    results = [json.loads((runs[0] / name / "result.json").read_text()) for name in ("cut", "whole")]
    for result in results:
        assert result["checkpoint"].endswith("model.ckpt-600")
        assert result["train"]["examples"] == STEPS * 32 and result["train"]["bad_rows"] == 0
    assert results[0]["resumed_from_step"] > 0 == results[1]["resumed_from_step"]


def test_resumed_run_ends_with_the_weights_of_an_uninterrupted_one(runs):
    cut, whole = (
        tf.train.load_checkpoint(str(runs[0] / name / "checkpoint" / "model.ckpt-600")) for name in ("cut", "whole")
    )
    names = whole.get_variable_to_shape_map()
    assert len(names) > 60 and set(names) == set(cut.get_variable_to_shape_map())
    for name in names:
        np.testing.assert_array_equal(cut.get_tensor(name), whole.get_tensor(name), err_msg=name)


def test_curve_of_a_resumed_run_goes_back_to_its_start(runs):
    curve = json.loads((runs[0] / "cut" / "result.json").read_text())["curve"]
    steps = [point["step"] for point in curve]
    assert steps[0] == 60 and steps[-1] == STEPS and steps == sorted(set(steps))
