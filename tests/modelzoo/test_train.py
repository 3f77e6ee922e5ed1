"""train.py as a user runs it: what it prints, leaves behind and refuses."""

import json
import os
import re
import struct
import subprocess

import pytest

from modelzoo_helpers import HEADER, SAMPLE, SMALL, changed, run_train, train_command, write_rows


def load(folder):
    return json.loads((folder / "result.json").read_text())


@pytest.fixture(scope="module")
def sample_run(tmp_path_factory):
    """Three passes over the 200 real rows, the last fifth held out."""
    folder = tmp_path_factory.mktemp("sample")
    flags = [
        *SMALL,
        "--data",
        SAMPLE,
        "--output_dir",
        "out",
        "--holdout",
        "0.2",
        "--epochs",
        "3",
        "--batch_size",
        "32",
        "--log_steps",
        "5",
        "--eval_steps",
        "4",
        "--timeline",
        "6",
        "--curve_rows",
        "20",
    ]
    # As a user starts it.
    run = subprocess.run(train_command(*flags), cwd=folder, text=True, capture_output=True, timeout=150)
    assert run.returncode == 0, run.stderr
    return run, folder / "out", flags


def test_real_rows_train_and_evaluate(sample_run):
    result = load(sample_run[1])
    train, held_out = result["train"], result["eval"]
    assert (train["examples"], held_out["examples"]) == (480, 40)
    assert train["bad_rows"] == held_out["bad_rows"] == 0
    assert 0 < held_out["loss"] < 2 and 0 <= held_out["auc"] <= 1 and 0 <= train["auc"] <= 1
    losses = [point["train_loss"] for point in result["curve"]]
    assert losses[-1] < losses[0]


def test_result_file_names_everything(sample_run):
    result = load(sample_run[1])
    assert result["model"] == "wide_and_deep" and result["resumed_from_step"] == 0
    assert result["flags"]["batch_size"] == 32 and result["flags"]["deep_learning_rate"] == 0.003
    assert result["data"] == {
        "generated": False,
        "train_rows": 160,
        "eval_rows": 40,
        "train_files": [str(SAMPLE)],
        "eval_files": [str(SAMPLE)],
    }
    assert result["checkpoint"] == "out/checkpoint/model.ckpt-15"
    assert result["train"]["rate"] > 0 and result["eval"]["rate"] > 0
    resources = result["resources"]
    assert resources["cpu_seconds"] > result["train"]["cpu_seconds"] > 0
    assert resources["wall_seconds"] > 1 and resources["peak_memory_mib"] > 100


def test_curve_has_a_point_every_eval_steps(sample_run):
    curve = load(sample_run[1])["curve"]
    assert [(point["step"], point["examples"]) for point in curve] == [(4, 128), (8, 256), (12, 384), (15, 480)]
    assert all(0 <= point["eval_auc"] <= 1 for point in curve)


def test_stdout_is_the_table(sample_run):
    run, folder, _ = sample_run
    lines = run.stdout.splitlines()
    result = load(folder)
    assert lines[0].split() == ["loss", "AUC", "examples", "examples/s", "bad", "rows"]
    for line, part in ((lines[2], "train"), (lines[3], "eval")):
        values = line.split()
        assert values[0] == part
        assert values[1:4] == [
            f"{result[part]['loss']:.4f}",
            f"{result[part]['auc']:.4f}",
            f"{result[part]['examples']:,}",
        ]
    assert re.fullmatch(r"wall [\d.]+ s   CPU [\d.]+ s   peak memory [\d,]+ MiB", lines[5])
    assert lines[6] == "details: out/result.json   plot: out/curves.png"


def test_log_has_plain_lines_and_no_bar(sample_run):
    error = sample_run[0].stderr
    assert "\r" not in error and "%|" not in error
    said = re.findall(
        r"^\d\d:\d\d:\d\d trained (\d+) of 480 examples, [\d,]+ examples/s, step (\d+), loss \d\.\d{4}",
        error,
        re.MULTILINE,
    )
    assert said == [("160", "5"), ("320", "10"), ("480", "15")]
    assert "Warning" not in error and "deprecated" not in error


def test_plot_is_a_png(sample_run):
    data = (sample_run[1] / "curves.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (1200, 480)
    assert data.endswith(b"IEND\xaeB`\x82")


def test_timeline_summaries_and_checkpoints_are_written(sample_run):
    folder = sample_run[1]
    traces = [name for name in os.listdir(folder) if name.startswith("timeline-")]
    assert traces and "traceEvents" in json.loads((folder / traces[0]).read_text())
    assert any("tfevents" in name for name in os.listdir(folder))
    assert any("tfevents" in name for name in os.listdir(folder / "eval"))
    assert (folder / "checkpoint" / "model.ckpt-15.index").exists()


def test_finished_run_only_evaluates_again(sample_run):
    first, folder, flags = sample_run
    before = load(folder)
    run = run_train(folder.parent, *flags)
    assert run.returncode == 0, run.stderr
    assert "is at step 15 already, nothing to train" in run.stderr
    after = load(folder)
    assert after["train"] is None and "train" not in run.stdout
    assert after["eval"]["auc"] == before["eval"]["auc"] and after["eval"]["loss"] == before["eval"]["loss"]
    assert after["curve"] == before["curve"]


def test_a_finished_run_is_evaluated_again_into_another_folder(sample_run, tmp_path):
    _, folder, flags = sample_run
    # The last --output_dir counts.
    run = run_train(folder.parent, *flags, "--output_dir", tmp_path / "new", "--checkpoint", folder / "checkpoint")
    assert run.returncode == 0, run.stderr
    assert load(tmp_path / "new")["eval"]["auc"] == load(folder)["eval"]["auc"]


def test_checkpoint_of_another_size_is_refused(sample_run):
    _, folder, flags = sample_run
    run = run_train(folder.parent, *flags, "--hidden_units", "16")
    assert run.returncode == 2 and "Traceback" not in run.stderr
    assert "another model (hidden_units [16, 8] there and (16,) now); use --restart" in run.stderr.splitlines()[-1]


def test_planted_model_is_learned(tmp_path):
    """The default network on a sixteenth of the default rows; the full run is far above the floor of this one."""
    run = run_train(
        tmp_path, "--synthetic_rows", 25000, "--synthetic_eval_rows", 8000, "--batch_size", 256, "--output_dir", "out"
    )
    assert run.returncode == 0, run.stderr
    result = load(tmp_path / "out")
    assert result["eval"]["auc"] > 0.7 and result["eval"]["examples"] == 8000
    assert result["train"]["examples"] == 25000


@pytest.fixture
def damaged(tmp_path, sample_rows):
    """A training and an evaluation file with malformed rows, and where they are."""
    rows = [list(row) for row in sample_rows]
    rows[3] = rows[3][:-1]
    rows[90] = changed(rows[90], I2="abc")
    train = write_rows(tmp_path / "t.tsv", rows, "\t", HEADER, "\r\n")
    held_out = write_rows(tmp_path / "e.csv", rows[:4])
    return train, held_out


def test_malformed_rows_are_skipped_named_and_counted(tmp_path, damaged):
    train, held_out = damaged
    run = run_train(
        tmp_path,
        *SMALL,
        "--data",
        train,
        "--eval_data",
        held_out,
        "--bad_rows",
        "skip",
        "--epochs",
        2,
        "--batch_size",
        64,
        "--output_dir",
        "out",
    )
    assert run.returncode == 0, run.stderr
    for row in (
        f"{train}:5: 39 columns, expected 40; row skipped",
        f"{held_out}:4: 39 columns, expected 40; row skipped",
        f"{train}:92: I2 is 'abc', expected a number or nothing; row skipped",
    ):
        assert run.stderr.count(row) == 1
    result = load(tmp_path / "out")
    assert (result["train"]["examples"], result["train"]["bad_rows"]) == (396, 4)
    assert (result["eval"]["examples"], result["eval"]["bad_rows"]) == (3, 1)


def test_malformed_row_is_fatal_by_default_and_the_steps_before_it_are_saved(tmp_path, sample_rows):
    rows = sample_rows[:90] + [changed(sample_rows[90], I2="abc")] + sample_rows[91:]
    path = write_rows(tmp_path / "t.csv", rows)
    run = run_train(tmp_path, *SMALL, "--data", path, "--no_eval", "--shuffle_buffer", 0, "--batch_size", 64)
    assert run.returncode == 2 and run.stdout == "" and "Traceback" not in run.stderr
    assert run.stderr.splitlines()[-1] == (
        f"train.py: error: {path}:91: I2 is 'abc', expected a number or nothing; --bad_rows=skip leaves such rows out "
        "(step 1 of 4 is saved in wide_and_deep_output/checkpoint)"
    )


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--data", "nowhere.csv"], "train.py: error: nowhere.csv: cannot be read: No such file or directory"),
        (
            ["--batch_size", "many"],
            "train.py: error: argument --batch_size: got 'many', expected a positive integer (--help lists the flags)",
        ),
    ],
    ids=["missing_file", "bad_flag"],
)
def test_wrong_input_ends_with_one_line_and_code_2(tmp_path, flags, message):
    run = run_train(tmp_path, *flags)
    assert run.returncode == 2 and run.stdout == "" and "Traceback" not in run.stderr
    assert run.stderr.splitlines()[-1] == message


def test_output_directory_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "out").write_text("x")
    run = run_train(tmp_path, "--output_dir", "out", "--data", SAMPLE)
    assert run.returncode == 2 and "Traceback" not in run.stderr
    assert run.stderr.splitlines()[-1].startswith("train.py: error: out")
