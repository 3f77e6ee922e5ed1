"""train_and_evaluate over TF_CONFIG, with a process for each task."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time

import pytest
import tensorflow as tf
from cluster_program import features, make

_PROGRAM = pathlib.Path(__file__).parent / "cluster_program.py"


def _free_ports(number):
    sockets = [socket.socket() for _ in range(number)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


@pytest.fixture
def cluster(tmp_path):
    """Starts the tasks of a cluster and waits for those that end; returns the output of each."""
    started = {}

    def run(kind, model_dir, steps, tasks, ending):
        ports = iter(_free_ports(len(tasks)))
        addresses = {}
        for job, _ in tasks:
            if job != "evaluator":
                addresses.setdefault(job, []).append(f"127.0.0.1:{next(ports)}")
        for job, index in tasks:
            environment = {k: v for k, v in os.environ.items() if not k.startswith("TF_")}
            environment["TF_CONFIG"] = json.dumps({"cluster": addresses, "task": {"type": job, "index": index}})
            out = open(tmp_path / f"{job}{index}.log", "w")  # noqa: SIM115 (belongs to the process)
            started[job, index] = subprocess.Popen(
                [sys.executable, str(_PROGRAM), kind, str(model_dir), str(steps)],
                env=environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=tmp_path,
            )
            out.close()
        deadline = time.time() + 150
        while any(started[task].poll() is None for task in ending) and time.time() < deadline:
            time.sleep(0.2)
        texts = {task: (tmp_path / f"{task[0]}{task[1]}.log").read_text() for task in tasks}
        codes = {task: started[task].poll() for task in ending}
        assert set(codes.values()) == {0}, f"{codes}\n" + "\n".join(f"-- {t}\n{o[-3000:]}" for t, o in texts.items())
        return texts

    yield run
    # A parameter server serves until it is ended.
    for process in started.values():
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.mark.parametrize("kind", ["dnn", "trees"])
def test_chief_worker_ps_and_evaluator(kind, cluster, tmp_path):
    tasks = [("ps", 0), ("chief", 0), ("worker", 0), ("evaluator", 0)]
    steps = 120 if kind == "dnn" else 1000
    texts = cluster(kind, tmp_path / "model", steps, tasks, [("chief", 0)])
    assert "is chief" in texts["chief", 0] and "is chief" not in texts["worker", 0]
    estimator = make(kind, tf.estimator.RunConfig(model_dir=str(tmp_path / "model")))
    arrays, labels = features()
    metrics = estimator.evaluate(lambda: tf.data.Dataset.from_tensors((arrays, labels)))
    if kind == "dnn":
        assert metrics["global_step"] >= 120
    else:
        # Trees end the training themselves; the layers are those of all workers' batches.
        assert estimator.get_variable_value("boosted_trees:0_stamp") >= 10
        assert metrics["accuracy"] > 0.8
