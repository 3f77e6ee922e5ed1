"""run_all.py: several models one after another, with two tiny ones, and its table and chart alone."""

import json
import os
import signal
import struct
import subprocess
import sys
import time

import pytest

from common import comparison
from common.comparison import Run
from modelzoo_helpers import MODELZOO

_TINY = ["--steps", "3", "--batch_size", "64", "--synthetic_rows", "300", "--synthetic_eval_rows", "100"]
_TINY += ["--hash_buckets", "50", "--embedding_dim", "4"]


def command(*arguments):
    return [sys.executable, str(MODELZOO / "run_all.py"), *arguments]


def run(folder, *arguments):
    return subprocess.run(command(*arguments), cwd=folder, text=True, capture_output=True, timeout=300)


@pytest.fixture(scope="module")
def two_models(tmp_path_factory):
    """One that trains and one that does not know a flag."""
    folder = tmp_path_factory.mktemp("run_all")
    models = ["--models", "mmoe", "simple_multitask", "--output_dir", "out", "--no_floors"]
    return folder, run(folder, *models, "--", *_TINY, "--experts", "2")


def test_a_model_that_fails_is_reported_and_the_rest_still_run(two_models):
    folder, finished = two_models
    assert finished.returncode == 2, finished.stderr
    assert finished.stderr.splitlines()[-1] == ("run_all.py: error: failed, or below the AUC floor: simple_multitask")
    mmoe, failed = json.loads((folder / "out" / "results.json").read_text())["runs"]
    assert mmoe["model"] == "mmoe" and mmoe["error"] is None and list(mmoe["aucs"]) == ["clk", "buy"]
    assert mmoe["rate"] > 0 and mmoe["seconds"] > 1 and mmoe["cpu_seconds"] > 1 and mmoe["peak_mib"] > 100
    assert failed["model"] == "simple_multitask" and "unrecognized arguments: --experts 2" in failed["error"]
    lines = finished.stdout.splitlines()
    assert lines[0].split() == ["model", "AUC", "floor", "examples/s", "seconds", "CPU", "s", "peak", "MiB"]
    assert lines[2].startswith("mmoe ") and f"clk {mmoe['aucs']['clk']:.4f}" in lines[2]
    assert lines[3].startswith("simple_multitask  failed, exit code 2: ")


def test_outputs_and_logs_of_each_model_are_kept(two_models):
    folder = two_models[0] / "out"
    assert (folder / "mmoe" / "checkpoint" / "model.ckpt-3.index").exists()
    assert "AUC clk" in (folder / "mmoe.log").read_text() and (folder / "simple_multitask.log").exists()
    assert (folder / "results.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_resume_goes_on_and_a_floor_that_is_not_reached_is_an_error(two_models):
    folder, _ = two_models
    flags = [flag if flag != "3" else "4" for flag in _TINY]
    finished = run(folder, "--models", "mmoe", "--output_dir", "out", "--resume", "--", *flags, "--experts", "2")
    assert json.loads((folder / "out" / "mmoe" / "result.json").read_text())["resumed_from_step"] == 3
    assert finished.returncode == 2 and "below the AUC floor: mmoe" in finished.stderr
    assert "below (" in finished.stdout


def test_a_signal_to_all_processes_of_the_terminal_saves_the_step_and_nothing_more_is_started(tmp_path):
    """What Ctrl-C sends; a model that got it twice would end without saving."""
    models = ["--models", "mmoe", "ple", "--output_dir", "out", "--", "--steps", "1000000", "--batch_size", "64"]
    sizes = ["--synthetic_rows", "300", "--synthetic_eval_rows", "100", "--hash_buckets", "50", "--log_steps", "1"]
    with subprocess.Popen(
        command(*models, *sizes),
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        log = tmp_path / "out" / "mmoe.log"
        deadline = time.monotonic() + 120
        while not (log.exists() and "step 3," in log.read_text()) and time.monotonic() < deadline:
            time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "is saved in out/mmoe/checkpoint" in log.read_text()
    assert "1 of 2 models were started" in errors and not (tmp_path / "out" / "ple.log").exists()


def test_a_model_does_not_outlive_the_command(tmp_path):
    log = tmp_path / "log"
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from common import cli, processes\n"
        "processes.run(['sh', '-c', 'echo $$; exec sleep 100'], sys.argv[2], None, cli.StopRequest())"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(MODELZOO), str(log)]) as command_process:
        deadline = time.monotonic() + 60
        while not (log.exists() and log.read_text().endswith("\n")) and time.monotonic() < deadline:
            time.sleep(0.05)
        command_process.kill()
    pid, deadline = int(log.read_text()), time.monotonic() + 20
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--models", "nothing"], "argument --models: got 'nothing', expected some of bst, "),
        (["--timeout", "0"], "argument --timeout: got '0', expected a positive number"),
        (["--", "--output_dir", "x"], "--output_dir behind -- contradicts"),
        (["--", "--checkpoint=x"], "--checkpoint behind -- contradicts"),
        (["--steps", "5"], "unrecognized arguments: --steps 5"),
    ],
)
def test_wrong_flag_ends_with_one_line(tmp_path, arguments, message):
    finished = run(tmp_path, *arguments)
    assert finished.returncode == 2 and finished.stdout == "" and finished.stderr.count("\n") == 1
    assert message in finished.stderr


def test_a_model_that_ends_well_without_a_result_has_failed(tmp_path):
    finished = run(tmp_path, "--models", "mmoe", "--output_dir", "out", "--", "--help")
    assert finished.returncode == 2 and "mmoe" in finished.stderr.splitlines()[-1]
    assert "failed, no result.json: " in finished.stdout


def test_a_model_that_takes_too_long_is_ended(tmp_path):
    finished = run(tmp_path, "--models", "mmoe", "--output_dir", "out", "--timeout", "0.5")
    assert finished.returncode == 2 and "failed, not done after 0.5 s" in finished.stdout


RUNS = [
    Run("one", aucs={"auc": 0.71}, floors={"auc": 0.7}, rate=1234.5, seconds=61.26, cpu_seconds=99.9, peak_mib=1234.5),
    Run("two_tasks", aucs={"clk": 0.6, "buy": 0.8}, floors={"clk": 0.6, "buy": 0.81}, seconds=1, cpu_seconds=1),
    Run("broken", error="exit code 1: no output"),
    Run("quick", aucs={"auc": None}, rate=5.0, seconds=1.0, cpu_seconds=1.0, peak_mib=1.0),
]


def test_a_floor_is_reached_by_every_task_or_not_at_all():
    assert [run.reached for run in RUNS] == [True, False, None, None]
    assert RUNS[3]._replace(floors={"auc": 0.5}).reached is False


def test_table_has_a_line_for_each_model():
    lines = comparison.table(RUNS).splitlines()
    assert len(lines) == 6 and set(lines[1]) == {"-"}
    assert lines[2].split() == ["one", "0.7100", "reached", "(0.7)", "1,234", "61.3", "99.9", "1,234"]
    assert lines[3].split() == "two_tasks clk 0.6000 buy 0.8000 below (0.6 0.81) - 1.0 1.0 -".split()
    assert lines[4] == "broken     failed, exit code 1: no output"
    assert lines[5].split() == ["quick", "-", "-", "5", "1.0", "1.0", "1"]
    # Columns are aligned on the right end of the title.
    assert lines[0].index("seconds") + len("seconds") == lines[2].index("61.3") + 4 == lines[3].index(" 1.0") + 4


def test_chart_has_bars_of_both_tasks_and_no_chart_is_drawn_of_nothing(tmp_path):
    assert comparison.plot(str(tmp_path / "p.png"), RUNS)
    data = (tmp_path / "p.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24])[0] == 1440
    import matplotlib.image

    pixels = matplotlib.image.imread(str(tmp_path / "p.png"))[..., :3]
    blue = (pixels[..., 2] > 0.6) & (pixels[..., 0] < 0.3)
    orange = (pixels[..., 0] > 0.65) & (pixels[..., 2] < 0.3)
    assert blue.sum() > 500 and orange.sum() > 500
    assert not comparison.plot(str(tmp_path / "q.png"), [RUNS[2]])
    assert not (tmp_path / "q.png").exists()
