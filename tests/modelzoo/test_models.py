"""Every model of the zoo: trains, evaluates, checkpoints, resumes, exports a SavedModel and predicts from it."""

import json
import shutil
import sys

import pytest
import tensorflow as tf

from modelzoo_helpers import MODELZOO, SCRIPTS

_SMALL = ["--batch_size", "64", "--synthetic_rows", "600", "--synthetic_eval_rows", "200", "--embedding_dim", "4"]
# Model -> flags that make it small.
CRITEO_MODELS = {
    "dlrm": ["--bottom_units", "16,8", "--top_units", "16"],
    "deepfm": ["--hidden_units", "16,8", "--final_units", "8"],
    "dcn": ["--hidden_units", "16,8", "--cross_rank", "3"],
    "masknet": ["--mask_blocks", "2", "--block_units", "8", "--hidden_units", "8"],
}
TAOBAO_MODELS = {
    "simple_multitask": ["--tower_units", "16,8"],
    "mmoe": ["--experts", "3", "--expert_units", "16,8", "--tower_units", "8"],
    "ple": ["--levels", "2", "--expert_units", "8", "--tower_units", "8"],
    "esmm": [flag for part in ("user", "item", "combo", "ctr", "cvr") for flag in (f"--{part}_units", "8")],
    "dbmtl": ["--bottom_units", "16,8", "--tower_units", "8", "--relation_units", "4"],
    "dssm": ["--user_units", "16,8", "--item_units", "16,8"],
    "bst": ["--sequence_length", "5", "--heads", "2", "--hidden_units", "8"],
}
AMAZON_MODELS = {
    "din": ["--sequence_length", "7", "--attention_units", "8", "--hidden_units", "8,4"],
    "dien": ["--sequence_length", "7", "--gru_units", "5", "--auxiliary_units", "4", "--hidden_units", "8,4"],
}
CONTEST_MODELS = {
    "contest_wdl": ["--hidden_units", "16,8"],
    "contest_dlrm": ["--bottom_units", "16,8", "--top_units", "16"],
    "contest_deepfm": ["--hidden_units", "16,8", "--final_units", "8"],
}
MODELS = {**CRITEO_MODELS, **TAOBAO_MODELS, **AMAZON_MODELS, **CONTEST_MODELS}
ONE_TASK = {*CRITEO_MODELS, *AMAZON_MODELS, *CONTEST_MODELS, "dssm", "bst"}


def run(folder, name, *flags):
    command = [sys.executable, str(MODELZOO / name / "train.py"), "--output_dir", "out", *_SMALL, *MODELS[name], *flags]
    if name not in AMAZON_MODELS:  # these have vocabularies
        command += ["--hash_buckets", "100"]
    return SCRIPTS.run(command, folder, timeout=240)


def result(folder):
    return json.loads((folder / "out" / "result.json").read_text())


@pytest.mark.parametrize("name", MODELS)
def test_it_trains_and_exports(tmp_path, name):
    finished = run(tmp_path, name, "--steps", "5", "--group_embedding", "--export")
    assert finished.returncode == 0, finished.stderr[-2000:]
    evaluation = result(tmp_path)["eval"]
    assert 0 < evaluation["loss"] < 20 and 0 <= evaluation["auc"] <= 1
    if name in ONE_TASK:
        assert "aucs" not in evaluation
    else:
        assert list(evaluation["aucs"]) == ["clk", "buy"] and evaluation["aucs"]["clk"] == evaluation["auc"]
    assert (tmp_path / "out" / "saved_model" / "saved_model.pb").exists()

    if name == "dien":
        signature = tf.saved_model.loader.load(
            tf.Session(graph=tf.Graph()), ["serve"], str(tmp_path / "out" / "saved_model")
        ).signature_def["serving_default"]
        # Not the negatives, which nobody has at serving time.
        assert set(signature.inputs) == {"UID", "ITEM", "CATEGORY", "HISTORY_ITEM", "HISTORY_CATEGORY"}


@pytest.mark.parametrize("name", MODELS)
def test_it_resumes_with_grouped_lookups(tmp_path, name):
    for steps, flags in (("5", []), ("12", ["--group_embedding"])):
        finished = run(tmp_path, name, "--steps", steps, *flags)
        assert finished.returncode == 0, finished.stderr[-2000:]
    assert result(tmp_path)["resumed_from_step"] == 5


@pytest.mark.parametrize("name", ["dlrm", "mmoe", "bst", "din", "contest_wdl"])
def test_it_trains_with_embedding_variables(tmp_path, name):
    finished = run(tmp_path, name, "--steps", "3", "--ev", "--ev_filter", "counter", "--optimizer", "adagrad")
    assert finished.returncode == 0, finished.stderr[-2000:]
    assert result(tmp_path)["eval"]["examples"] == 200


@pytest.mark.parametrize(
    "name, flags",
    [
        ("dlrm", ["--bf16"]),
        ("mmoe", ["--emb_fusion", "--op_fusion", "false"]),
        ("bst", ["--tf"]),
        ("dlrm", ["--multihash", "--group_embedding"]),
        ("contest_wdl", ["--adaptive_emb", "--ev_filter", "counter"]),
        ("mmoe", ["--dynamic_ev", "--export"]),
        *((name, ["--smartstaged", "--export"]) for name in CONTEST_MODELS),
    ],
)
def test_it_trains_with_switches(tmp_path, name, flags):
    finished = run(tmp_path, name, "--steps", "3", *flags)
    assert finished.returncode == 0, finished.stderr[-2000:]
    assert 0 < result(tmp_path)["eval"]["loss"] < 20


def test_staged_training_and_training_on_micro_batches_are_training_on_their_rows(tmp_path):
    # From one checkpoint: initial values depend on the number of ops in the graph.
    assert run(tmp_path, "simple_multitask", "--batch_size", "96", "--steps", "1").returncode == 0
    losses = []
    for flags in (
        ["--batch_size", "96"],
        ["--batch_size", "96", "--smartstaged"],
        ["--batch_size", "32", "--micro_batch", "3"],
    ):
        folder = tmp_path / str(len(losses))
        shutil.copytree(tmp_path / "out", folder / "out")
        finished = run(folder, "simple_multitask", "--steps", "6", *flags)
        assert finished.returncode == 0, finished.stderr[-2000:]
        losses.append([result(folder)[part]["loss"] for part in ("train", "eval")])
    assert losses[1] == pytest.approx(losses[0], rel=1e-5) and losses[2] == pytest.approx(losses[0], rel=1e-5)


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--emb_fusion", "--group_embedding"], "--emb_fusion and --group_embedding contradict"),
        (["--tf", "--smartstaged"], "--tf and --smartstaged contradict"),
        (["--tf", "--optimizer", "adagraddecay"], "--tf and --optimizer adagraddecay contradict"),
        (["--ev", "--multihash"], "--ev and --multihash contradict each other"),
        (["--dynamic_ev", "--emb_fusion"], "--dynamic_ev and --emb_fusion contradict each other"),
        (["--dynamic_ev", "--embedding_dim", "3"], "--dynamic_ev needs an even --embedding_dim, got 3"),
        (["--multihash", "--ev_filter", "cbf"], "--ev_filter needs --ev or --adaptive_emb"),
        (["--op_fusion", "maybe"], "expected true or false"),
        (["--micro_batch", "-1"], "an integer from 0 to 1024"),
    ],
)
def test_switches_that_contradict_are_refused(tmp_path, flags, message):
    finished = run(tmp_path, "dlrm", *flags)
    assert finished.returncode == 2 and message in finished.stderr


@pytest.mark.parametrize("name", [*MODELS, "wide_and_deep"])
def test_its_auc_floors_are_those_of_its_readme(name):
    floors = json.loads((MODELZOO / name / "floors.json").read_text())
    assert list(floors) == (["clk", "buy"] if name not in {*ONE_TASK, "wide_and_deep"} else ["auc"])
    lines = (MODELZOO / name / "README.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if "AUC on the generated set" in line]
    assert [float(row[3]) for row in rows] == list(floors.values())
    # Reached with the default flags, and above chance by what a planted model is for.
    assert all(0.65 < float(row[3]) < float(row[2]) < float(row[4]) for row in rows)
