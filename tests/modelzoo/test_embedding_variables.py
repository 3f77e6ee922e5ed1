"""train.py with EmbeddingVariables in the deep part."""

import json

import pytest
import tensorflow as tf

from modelzoo_helpers import SAMPLE, SMALL, run_train

FLAGS = [*SMALL, "--data", SAMPLE, "--output_dir", "out", "--batch_size", "32", "--ev"]


def keys_of(folder):
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(folder / "out" / "checkpoint")))
    shapes = reader.get_variable_to_shape_map()
    return {name: shape[0] for name, shape in shapes.items() if name.endswith("embedding_weights-keys")}


def test_every_category_gets_a_table_that_trains_on_where_it_stopped(tmp_path):
    assert run_train(tmp_path, *FLAGS, "--epochs", "1").returncode == 0
    first = keys_of(tmp_path)
    assert len(first) == 26 and all(first.values())
    run = run_train(tmp_path, *FLAGS, "--epochs", "3")
    assert run.returncode == 0, run.stderr
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["resumed_from_step"] > 0
    losses = [point["train_loss"] for point in result["curve"]]
    assert losses[-1] < losses[0]
    assert keys_of(tmp_path) == first


@pytest.mark.parametrize("flags", [["--ev_filter", "counter"], ["--ev_filter", "cbf"], ["--ev_elimination", "l2"]])
def test_filter_and_elimination_leave_fewer_keys(tmp_path, flags):
    assert run_train(tmp_path, *FLAGS, "--epochs", "1", *flags, "--no_eval").returncode == 0
    # Of 200 rows most values of a column occur less than three times.
    assert 0 <= sum(keys_of(tmp_path).values()) < 1500


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--ev_filter", "counter"], "--ev_filter needs --ev"),
        (["--ev_elimination", "gstep"], "--ev_elimination needs --ev"),
        (["--ev", "--input_layer_partitioner", "1"], "--input_layer_partitioner and --ev contradict each other"),
    ],
)
def test_flags_that_contradict_are_refused(tmp_path, flags, message):
    run = run_train(tmp_path, *flags)
    assert run.returncode == 2 and message in run.stderr
