"""train.py --incremental_ckpt: who is killed goes on from the last increment."""

import json
import re
import signal
import subprocess
import time

import tensorflow as tf

from modelzoo_helpers import SMALL, run_train, train_command

FLAGS = [*SMALL, "--synthetic_rows", 6000, "--batch_size", 32, "--save_steps", 100000, "--output_dir", "out", "--ev"]
FLAGS += ["--no_eval", "--incremental_ckpt", 1]


def test_a_killed_run_goes_on_from_its_newest_increment(tmp_path):
    folder = tmp_path / "out" / "checkpoint" / ".incremental_checkpoint"
    with subprocess.Popen(
        train_command(*FLAGS, "--steps", 5000), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 120
        while tf.train.latest_checkpoint(str(folder)) is None and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    increment = tf.train.latest_checkpoint(str(folder))
    step = int(re.search(r"incremental_model.ckpt-(\d+)$", increment)[1])
    assert 0 < step < 5000
    reader = tf.train.load_checkpoint(increment)
    assert reader.get_tensor("input/lines_read") == 32 * step
    assert any(name.endswith("embedding_weights-sparse_incr_keys") for name in reader.get_variable_to_shape_map())
    run = run_train(tmp_path, *FLAGS, "--steps", step + 10)
    assert run.returncode == 0, run.stderr
    assert f"resuming at step {step} of {step + 10} from out/checkpoint" in run.stderr
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["resumed_from_step"] == step and result["train"]["examples"] == (step + 10) * 32
