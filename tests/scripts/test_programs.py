"""Programs in the manner of scripts that were written for DeepRec: they run as they are, in each of their modes."""

import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

PROGRAMS = pathlib.Path(__file__).parent / "programs"


@pytest.fixture(scope="module")
def clicks(tmp_path_factory):
    """Files for click_train.py: a click comes from the item, and from whether its shop is in the history."""
    folder = tmp_path_factory.mktemp("clicks")
    rng = np.random.default_rng(1)
    item_effect, shop_effect = rng.normal(size=50), rng.normal(size=20)
    for name, count in (("train", 20_000), ("eval", 4_000)):
        with open(folder / f"{name}.csv", "w", encoding="utf-8") as file:
            for _ in range(count):
                user, item, shop = rng.integers(200), rng.integers(50), rng.integers(20)
                history = rng.integers(20, size=rng.integers(5))
                logit = 2 * item_effect[item] + 2 * shop_effect[shop] * (shop in history)
                click = int(rng.random() < 1 / (1 + np.exp(-logit)))
                shops = ";".join(f"s{past}" for past in history)
                file.write(
                    f"{click},u{user},c{user % 7},{'abc'[user % 3]},i{item},s{shop},{shops},"
                    f"{100 * rng.random():.2f},{rng.integers(100)}\n"
                )
    return folder


@pytest.fixture(scope="module")
def sequences(tmp_path_factory):
    """Files for sequence_train.py: a click is likely if the item is of the kind of those in the history."""
    folder = tmp_path_factory.mktemp("sequences")
    rng = np.random.default_rng(1)
    kind = rng.integers(4, size=40)
    (folder / "item_voc.txt").write_text("".join(f"i{i}\n" for i in range(40)))
    (folder / "user_voc.txt").write_text("".join(f"u{i}\n" for i in range(30)))
    for name, count in (("train", 12_000), ("test", 2_000)):
        with open(folder / f"{name}.txt", "w", encoding="utf-8") as file:
            for _ in range(count):
                liked = rng.integers(4)
                history = rng.choice(np.flatnonzero(kind == liked), size=rng.integers(1, 8))
                item = rng.integers(40)
                click = int(rng.random() < (0.8 if kind[item] == liked else 0.2))
                items = "\x02".join(f"i{past}" for past in history)
                file.write(f"{click}\tu{rng.integers(30)}\ti{item}\t{items}\n")
    return folder


def auc_of(program, data, folder, *flags):
    command = [
        sys.executable,
        str(PROGRAMS / program),
        "--data_location",
        str(data),
        "--output_dir",
        str(folder),
        *flags,
    ]
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return float(re.search(r"Evaluation complete: .*AUC = ([\d.]+)", done.stdout).group(1))


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--tf"],
        ["--group_embedding"],
        ["--ev", "true", "--ev_filter", "counter", "--ev_elimination", "gstep"],
        ["--ev", "true", "--ev_filter", "cbf", "--optimizer", "adagraddecay", "--learning_rate", "0.2"],
        ["--bf16", "--smartstaged", "false"],
        ["--input_layer_partitioner", "8", "--dense_layer_partitioner", "1", "--timeline", "20"],
        ["--micro_batch", "2"],
    ],
    ids=" ".join,
)
def test_a_click_model_learns(clicks, tmp_path, flags):
    # Rows come in another order each time: four threads read ahead.
    assert auc_of("click_train.py", clicks, tmp_path, *flags) > 0.68
    assert (tmp_path / "model_CLICK" / "one_step.json").stat().st_size > 1000
    if "--timeline" in flags:
        assert (tmp_path / "model_CLICK" / "timeline-20.json").exists()


def test_a_click_model_learns_while_short_rows_are_evicted(clicks, tmp_path):
    # The threshold of such scripts, 1.0, evicts most rows of this small set at every save.
    assert auc_of("click_train.py", clicks, tmp_path, "--ev", "true", "--ev_elimination", "l2") > 0.54


@pytest.mark.parametrize("flags", [[], ["--tf"], ["--ev", "true"]], ids=" ".join)
def test_a_sequence_model_learns(sequences, tmp_path, flags):
    assert auc_of("sequence_train.py", sequences, tmp_path, *flags) > 0.65
