"""--workqueue: rows handed out in works, to one process and to the workers of a cluster."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess

import numpy as np
import pytest
import tensorflow as tf

from modelzoo_helpers import SMALL, run_train, train_command, write_rows

FLAGS = [*SMALL, "--batch_size", "16", "--workqueue", "--output_dir", "out"]


@pytest.fixture
def files(tmp_path, sample_rows):
    """Five files of 300 rows."""
    rows = (sample_rows * 8)[:1500]
    return [write_rows(tmp_path / f"part{i}.csv", rows[300 * i : 300 * (i + 1)]) for i in range(5)]


def counters(folder):
    reader = tf.train.load_checkpoint(str(folder / "out" / "checkpoint"))
    return int(reader.get_tensor("input/lines_read")), reader.get_tensor("files_works").tolist()


def taken(log):
    return re.findall(r'Take work: "(\S+)"', log)


def test_every_work_is_trained_in_every_epoch_and_then_there_is_nothing_left(tmp_path, files):
    flags = [*FLAGS, "--data", *files, "--holdout", "0.1", "--epochs", "2"]
    first = run_train(tmp_path, *flags)
    assert first.returncode == 0, first.stderr
    works = [f"{file}?start=0&end={300 if file != files[-1] else 150}" for file in files]
    assert sorted(taken(first.stderr)) == sorted(works * 2)
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["train"]["examples"] == 2 * 1350 and result["eval"]["examples"] == 150
    assert counters(tmp_path) == (2 * 1350, [])
    again = run_train(tmp_path, *flags)
    assert again.returncode == 0 and "has no work left, nothing to train" in again.stderr
    assert json.loads((tmp_path / "out" / "result.json").read_text())["eval"]["auc"] == result["eval"]["auc"]


def test_a_training_that_was_stopped_trains_the_rest_and_what_was_open(tmp_path, files):
    flags = [*FLAGS, "--data", *files, "--no_eval", "--log_steps", "1", "--save_steps", "10"]
    with subprocess.Popen(train_command(*flags), cwd=tmp_path, text=True, stderr=subprocess.PIPE) as process:
        log = []
        for line in process.stderr:
            log.append(line)
            if "step 60," in line:
                process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL, "".join(log)
    lines, left = counters(tmp_path)
    # Of 60 batches of 16 rows three works are trained, but rows of the third, which was finished just now, might be in a buffer.
    assert 50 * 16 <= lines <= 70 * 16 and 2 <= len(left) <= 4
    finished = run_train(tmp_path, *flags)
    assert finished.returncode == 0, finished.stderr
    assert sorted(taken(finished.stderr)) == sorted(work.decode() for work in left)
    assert counters(tmp_path) == (lines + 300 * len(left), [])
    assert lines + 300 * len(left) >= 1500


def test_malformed_rows_end_it_with_their_place(tmp_path, files):
    with open(files[3], "a", encoding="utf-8") as file:
        file.write("1,2,3\n")
    finished = run_train(tmp_path, *FLAGS, "--data", *files, "--no_eval")
    assert finished.returncode == 2 and f"{files[3]}:301: 3 columns, expected 40" in finished.stderr


def test_checkpoints_of_training_without_a_queue_are_refused(tmp_path, files):
    assert run_train(tmp_path, *FLAGS, "--data", *files, "--no_eval", "--steps", "3").returncode == 0
    flags = [flag for flag in FLAGS if flag != "--workqueue"]
    finished = run_train(tmp_path, *flags, "--data", *files, "--no_eval")
    assert finished.returncode == 2 and "workqueue True there and None now" in finished.stderr


def test_two_workers_of_a_cluster_share_the_rows(tmp_path, files):
    with contextlib.ExitStack() as stack:
        ports = [stack.enter_context(socket.socket()) for _ in range(3)]
        for port in ports:
            port.bind(("localhost", 0))
        ps, *workers = [f"localhost:{port.getsockname()[1]}" for port in ports]

    def start(job, index):
        config = {"cluster": {"ps": [ps], "worker": workers}, "task": {"type": job, "index": index}}
        command = train_command(
            *FLAGS, "--ev", "--data", *files, "--holdout", "0.1", "--epochs", "4", "--protocol", "star_server"
        )
        environment = {**os.environ, "TF_CONFIG": json.dumps(config)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, **pipes)

    processes = [start("ps", 0), start("worker", 0), start("worker", 1)]
    try:
        ends = [process.communicate(timeout=200) for process in processes[1:]]
        processes[0].terminate()
        ps_end = processes[0].communicate(timeout=60)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert [process.returncode for process in processes] == [143, 0, 0], (ends, ps_end)
    assert "DeepRec's own transport is not there; processes talk by grpc" in ends[0][1]
    logs = [taken(error) for _, error in ends]
    assert len(logs[0]) + len(logs[1]) == 4 * 5
    assert counters(tmp_path) == (4 * 1350, [])
    results = [json.loads((tmp_path / "out" / part / "result.json").read_text()) for part in (".", "worker_1")]
    assert results[0]["eval"]["examples"] == 150 and results[1]["eval"] is None
    examples = [result["train"]["examples"] if result["train"] else 0 for result in results]
    np.testing.assert_equal(sum(examples), 4 * 1350)


@pytest.mark.parametrize(
    "config, message",
    [
        ("{", "TF_CONFIG: can not be understood"),
        (
            {"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}},
            "the cluster has no parameter server",
        ),
        (
            {"cluster": {"ps": ["a:1"], "worker": ["a:2"]}, "task": {"type": "worker", "index": 3}},
            "there is no worker 3",
        ),
        (
            {"cluster": {"ps": ["a:1"], "evaluator": ["a:2"]}, "task": {"type": "ps", "index": 0}},
            "'evaluator' is no job",
        ),
        (
            {"cluster": {"ps": ["a:1"], "worker": ["a:2", "a:3"]}, "task": {"type": "worker", "index": 0}},
            "2 workers would each read all rows: give all of them --workqueue",
        ),
    ],
)
def test_clusters_that_can_not_be_are_named(monkeypatch, config, message):
    from common import cli, clusters, errors, flags

    monkeypatch.setenv("TF_CONFIG", config if isinstance(config, str) else json.dumps(config))
    parser = flags.Parser("")
    flags.add_data_flags(parser)
    flags.add_run_flags(parser, "out")
    with pytest.raises(errors.InputError, match=re.escape(message)):
        clusters.join(parser.parse_args([]), cli.StopRequest())


def test_more_steps_than_the_queue_was_filled_for_are_trained_after_a_resume(tmp_path, files):
    flags = [*FLAGS, "--data", *files, "--no_eval", "--steps"]
    # Of 94 batches that the only pass had been cut into, some rows of the fifth work are left.
    first = run_train(tmp_path, *flags, "90")
    assert first.returncode == 0, first.stderr
    again = run_train(tmp_path, *flags, "200")
    assert again.returncode == 0, again.stderr
    lines, _ = counters(tmp_path)
    assert lines == 200 * 16
    # Two passes in all were asked for: 1500 rows each, and the rest of the first.
    assert {f"{file}?start=0&end=300" for file in files} <= set(taken(again.stderr))
