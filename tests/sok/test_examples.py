"""The examples, each in each of its modes: one process, replicas, workers, Horovod."""

import math
import os
import pathlib
import re
import subprocess
import sys

import horovod_runs
import numpy as np
import pytest
import tensorflow as tf

from sparse_operation_kit import versions as sok_versions

_RUNNER = str(pathlib.Path(__file__).with_name("run_examples.py"))
_EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "sok"
# Small enough to be learnt in some steps.
_TRAIN = ",--steps=20,--vocabulary=16,--slots=2,--nnz=1,--learning_rate=0.03"
_SOK_ADAM = f"{_TRAIN},--no-use_tf_opt,--functional"

_ONE = [f"s{i:02}" for i in range(1, 8)] + ["s10", "s11", "s12", "s13", "s20", "s21", "s22", "s23", "s24"]
_TF1 = ["s15", "s16", "s17", "s18" + _TRAIN, "s18" + _TRAIN + ",--no-use_tf_opt"]
_HOROVOD = ["s10", "s11", "s12", "s13" + _TRAIN, "s13" + _SOK_ADAM, "s20", "s21", "s23", "s24"]
_LOCALIZED = [f"{name},--localized" for name in ("s21", "s23", "s24")]


def _trained(names):
    return [name + _TRAIN if name in ("s07", "s13") else name for name in names]


# mode -> (launcher, root, examples).
_MODES = {
    "one process, root 1": (None, "1", _trained(_ONE)),
    "one process, root 2": (None, "2", [*_trained(_ONE), *_LOCALIZED]),
    "one process, TF1": (None, "2", _TF1),
    "two replicas": (
        None,
        "2",
        [f"{s},--replicas=2" for s in ("s04", "s05", "s06", "s07" + _TRAIN, "s07" + _SOK_ADAM)],
    ),
    "two workers": ("s09_mpiexec.py", "2", ["s08" + _TRAIN]),
    "Horovod": ("s14_horovodrun.sh", "2", [*_HOROVOD, *_LOCALIZED]),
    "Horovod, TF1": ("s19_horovodrun_tf1.sh", "1", _TF1),
}
_RANKS = {"two workers": 2, "Horovod": 2, "Horovod, TF1": 2}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """A function (mode, example) -> what each rank prints; all examples of a mode run in the same processes."""
    done = {}

    def of(mode, example):
        if mode not in done:
            done[mode] = _run(mode, tmp_path_factory.mktemp("examples"))
        names = [name if "," in example else name.split(",")[0] for name in _MODES[mode][2]]
        number = names.index(example)
        return [(done[mode] / str(rank) / f"{number}.txt").read_text() for rank in range(_RANKS.get(mode, 1))]

    return of


def _run(mode, folder):
    launcher, root, examples = _MODES[mode]
    command = [_RUNNER, str(folder), *examples]
    if launcher is None:
        command = [sys.executable, *command]
    elif launcher.endswith(".sh"):
        command = ["bash", str(_EXAMPLES / launcher), *command]
    else:
        command = [sys.executable, str(_EXAMPLES / launcher), *command]
    env = {k: v for k, v in os.environ.items() if not k.startswith("TF_") and k != "PYTHONPATH"}
    # The scripts call horovodrun and python3 by name.
    path = f"{pathlib.Path(sys.executable).parent}:{env.get('PATH', '')}"
    env.update(TF_CPP_MIN_LOG_LEVEL="2", TF_DEEPREC_ROOT=root, PATH=path)
    done = subprocess.run(
        command, env=env, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240
    )
    assert done.returncode == 0, done.stdout[-8000:]
    return folder


def _modes(*modes):
    marks = {mode: [horovod_runs.needs_horovod] for mode in _MODES if "TF1" in mode or "Horovod" in mode}
    marks.update({mode: [horovod_runs.needs_horovod] for mode in ("one process, root 1", "one process, root 2")})
    return pytest.mark.parametrize("mode", [pytest.param(mode, marks=marks.get(mode, [])) for mode in modes])


_ONE_PROCESS = ("one process, root 1", "one process, root 2")


def _numbers(text):
    return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", text)]


def _array(text, label):
    """The array after `label`: of a printed tensor, variable, or part of IndexedSlices."""
    rest = text[text.index(label) + len(label) :]
    variable = re.match(r"\s*<tf.Variable .*? shape=\((.*?)\).*?array\((.*?), (?:shape=.*?, )?dtype=", rest, re.DOTALL)
    if variable:
        shape, values = variable.groups()
    else:
        values, shape = re.match(r"\s*tf.Tensor\((.*?), shape=\((.*?)\)", rest, re.DOTALL).groups()
    shape = [int(x) for x in re.findall(r"\d+", shape)]
    return np.array(_numbers(values) if np.prod(shape) else []).reshape(shape)


def _losses(text):
    found = re.findall(r"^\[SOK INFO\]: Iteration: (\d+), loss: (?:tf\.Tensor\()?([\d.e-]+)", text, re.MULTILINE)
    assert [int(i) for i, _ in found] == list(range(20))
    return [float(loss) for _, loss in found]


@_modes(*_ONE_PROCESS)
def test_s01_says_the_versions(printed, mode):
    (text,) = printed(mode, "s01")
    tensorflow = {"1": "1.15.5", "2": "2.21.0"}[mode[-1]]
    assert text == f"sparse_operation_kit {sok_versions.__version__} on TensorFlow {tensorflow}\n"


@_modes(*_ONE_PROCESS)
@pytest.mark.parametrize("example", ["s02", "s03"])
def test_s02_and_s03_give_one_logit_for_each_sample(printed, mode, example):
    (text,) = printed(mode, example)
    assert "logits: (64, 1)" in text
    # The table, two hidden layers and the last one.
    rows = ["(1024, 16)", "(800, 32)", "(32,)", "(32, 32)", "(32,)", "(32, 1)", "(1,)"]
    if example == "s02":
        assert [line.split(" ", 1)[1] for line in text.splitlines()[1:]] == rows
    else:
        assert "(None, 10, 5, 16)" in text and "Total params: 43105" in text


def test_s03_as_the_guide_has_it_fails_in_plain_tensorflow_too():
    inputs = tf.keras.Input([4])
    with pytest.raises((ValueError, TypeError, AttributeError)):
        tf.keras.Model(inputs=inputs, outputs=tf.keras.layers.Dense(1))


@_modes(*_ONE_PROCESS, "two replicas")
def test_s04_to_s06_work_on_each_replica(printed, mode):
    replicas = 2 if mode == "two replicas" else 1
    assert printed(mode, "s04") == [f"replicas: {replicas}\n"]
    assert printed(mode, "s05") == ["DemoModel Adam Adam\n"]
    (text,) = printed(mode, "s06")
    losses = [float(x) for x in re.findall(r"(?:numpy=|tf\.Tensor\()([\d.]+)", text)]
    # A new model knows nothing: ln 2 for each sample.
    assert len(losses) == replicas and abs(sum(losses) - math.log(2)) < 0.05


_LOOPS = [
    *[(mode, "s07" + _TRAIN) for mode in (*_ONE_PROCESS, "two replicas")],
    ("two replicas", "s07" + _SOK_ADAM + ",--replicas=2"),
    ("two workers", "s08" + _TRAIN),
    *[(mode, "s13" + _TRAIN) for mode in (*_ONE_PROCESS, "Horovod")],
    ("Horovod", "s13" + _SOK_ADAM),
    *[(mode, _TF1[-2]) for mode in ("one process, TF1", "Horovod, TF1")],
    *[(mode, _TF1[-1]) for mode in ("one process, TF1", "Horovod, TF1")],
]
_MARKS = {mode: horovod_runs.needs_horovod for mode in _MODES if mode not in ("two replicas", "two workers")}


@pytest.mark.parametrize(
    "mode, example", [pytest.param(*loop, marks=_MARKS[loop[0]] if loop[0] in _MARKS else []) for loop in _LOOPS]
)
def test_loops_print_the_same_falling_loss_on_all_ranks(printed, mode, example):
    if mode == "two replicas" and "replicas" not in example:
        example += ",--replicas=2"
    texts = printed(mode, example)
    losses = _losses(texts[0])
    assert all(_losses(text) == losses for text in texts)
    # Under Horovod the mean over the ranks of what was divided by the global batch.
    start = math.log(2) / (len(texts) if mode.startswith("Horovod") else 1)
    assert abs(losses[0] - start) < 0.05
    assert np.mean(losses[-5:]) < 0.8 * start
    if "TF1" not in mode:
        assert "loss: tf.Tensor(" in texts[0]


def test_s08_knows_its_cluster_by_mpiexec(monkeypatch):
    monkeypatch.syspath_prepend(str(_EXAMPLES))
    import s08_multi_worker

    expected = {
        "cluster": {"worker": ["localhost:9000", "localhost:9001"]},
        "task": {"type": "worker", "index": 1},
    }
    assert s08_multi_worker.tf_config({"PMI_RANK": "1", "PMI_SIZE": "2"}, 9000) == expected
    openmpi = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
    assert s08_multi_worker.tf_config(openmpi, 9000) == expected
    with pytest.raises(RuntimeError, match="set TF_CONFIG, or start this by mpiexec"):
        s08_multi_worker.tf_config({}, 9000)


def test_s09_stops_the_others_when_one_fails(tmp_path):
    program = tmp_path / "fails.py"
    program.write_text(
        "import json, os, sys, time\n"
        "if json.loads(os.environ['TF_CONFIG'])['task']['index']: sys.exit(3)\n"
        "time.sleep(60)\n"
    )
    command = [sys.executable, str(_EXAMPLES / "s09_mpiexec.py"), "--np", "2", str(program)]
    done = subprocess.run(command, timeout=50)
    assert done.returncode == 3


@_modes(*_ONE_PROCESS, "Horovod")
def test_s10_to_s12_and_s20_know_their_rank(printed, mode):
    n = 2 if mode == "Horovod" else 1
    assert printed(mode, "s10") == [f"rank {r} of {n}, {r} on its machine\n" for r in range(n)]
    assert printed(mode, "s11") == ["DemoModel Adam Adam\n"] * n
    for rank, text in enumerate(printed(mode, "s12")):
        assert text.startswith(f"loss of rank {rank}: tf.Tensor(")
        assert abs(_array(text, ":") - math.log(2) / n) < 0.05
    assert printed(mode, "s20") == [f"rank {r} of {n}\n" for r in range(n)]


@_modes("one process, TF1", "Horovod, TF1")
def test_s15_to_s17_make_a_graph(printed, mode):
    n = 2 if mode.startswith("Horovod") else 1
    assert printed(mode, "s15") == [f"rank {r} of {n}, eager: False\n" for r in range(n)]
    assert printed(mode, "s16") == ["sok.Init: OK\nDemoModel Adam Adam\n"] * n
    assert all(re.match(r'loss: Tensor\("\S+", shape=\(\), dtype=float32\)', text) for text in printed(mode, "s17"))


@pytest.mark.parametrize(
    "script, program, arguments",
    [
        ("s14_horovodrun.sh", "s13_horovod_loop.py", ["--steps", "3"]),
        ("s19_horovodrun_tf1.sh", "s18_horovod_loop_tf1.py", []),
    ],
)
def test_s14_and_s19_launch_the_loops(tmp_path, script, program, arguments):
    # A horovodrun that only says how it was called.
    launcher = tmp_path / "horovodrun"
    launcher.write_text('#!/bin/sh\necho "$HOROVOD_CYCLE_TIME $@"\n')
    launcher.chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "NP": "8"}
    done = subprocess.run(
        ["bash", str(_EXAMPLES / script), *arguments], env=env, text=True, capture_output=True, check=True
    )
    given = [f"{_EXAMPLES}/{program}", *arguments]
    assert done.stdout.split() == ["0", "-np", "8", "-H", "localhost:8", "--gloo", "python3", *given]


_TABLES = {"v1": np.arange(51.0).reshape(17, 3), "v2": np.arange(35.0).reshape(7, 5)}
# Of two ranks: which rows rank r holds.
_PARTS = {
    "distributed": lambda name, rank: slice(rank, None, 2),
    "localized": lambda name, rank: slice(None) if ("v1", "v2")[rank] == name else slice(0, 0),
}


def _held(mode, kind, name, rank):
    return _PARTS[kind](name, rank) if mode == "Horovod" else slice(None)


_TABLE_RUNS = [
    *[(mode, kind) for mode in ("one process, root 2", "Horovod") for kind in ("distributed", "localized")],
    ("one process, root 1", "distributed"),
]


def _example(name, kind):
    return name if kind == "distributed" else f"{name},--localized"


@horovod_runs.needs_horovod
@pytest.mark.parametrize("mode, kind", _TABLE_RUNS)
def test_s21_shows_the_rows_that_a_rank_holds(printed, mode, kind):
    for rank, text in enumerate(printed(mode, _example("s21", kind))):
        for name, table in _TABLES.items():
            np.testing.assert_array_equal(_array(text, f"{name}:"), table[_held(mode, kind, name, rank)])


@_modes(*_ONE_PROCESS)
def test_s22_makes_int32_keys(printed, mode):
    (text,) = printed(mode, "s22")
    first, second = text.strip().split("\n\n")[0], text
    assert "[1 1 3 4 5], shape=(5,), dtype=int32" in first and "[1 2 3], shape=(3,), dtype=int32" in second


@horovod_runs.needs_horovod
@pytest.mark.parametrize("mode, kind", _TABLE_RUNS)
def test_s23_gives_the_sums_on_all_ranks(printed, mode, kind):
    for text in printed(mode, _example("s23", kind)):
        np.testing.assert_array_equal(_array(text, "embedding1:"), [[6, 8, 10], [36, 39, 42]])
        np.testing.assert_array_equal(_array(text, "embedding2:"), [[5, 6, 7, 8, 9], [25, 27, 29, 31, 33]])


# rows of grad1 and grad2, row -> value, for each rank.
_ALONE = [({1: 2, 3: 1, 4: 1, 5: 1}, {1: 1, 2: 1, 3: 1})]
_GRADIENTS = {
    ("one process, root 1", "distributed"): _ALONE,
    ("one process, root 2", "distributed"): _ALONE,
    ("one process, root 2", "localized"): _ALONE,
    ("Horovod", "distributed"): [({2: 2}, {1: 2}), ({0: 4, 1: 2, 2: 2}, {0: 2, 1: 2})],
    ("Horovod", "localized"): [({1: 4, 3: 2, 4: 2, 5: 2}, {}), ({}, {1: 2, 2: 2, 3: 2})],
}


@horovod_runs.needs_horovod
@pytest.mark.parametrize("mode, kind", _TABLE_RUNS)
def test_s24_has_the_gradients_and_the_tables_after_a_step(printed, mode, kind):
    ranks = 2 if mode == "Horovod" else 1
    # What both ranks' batches took off.
    taken = {"v1": ranks * np.array([0, 2, 0, 1, 1, 1] + [0] * 11), "v2": ranks * np.array([0, 1, 1, 1, 0, 0, 0])}
    texts = printed(mode, _example("s24", kind))
    for rank, (text, of_rank) in enumerate(zip(texts, _GRADIENTS[mode, kind])):
        for i, expected in enumerate(of_rank, 1):
            of_table = text[text.index(f"grad{i}:") :]
            rows, values = _array(of_table, "indices="), _array(of_table, "values=")
            assert values.shape == (len(expected), (3, 5)[i - 1])
            assert dict(zip(rows, values.tolist())) == {row: [v] * (3, 5)[i - 1] for row, v in expected.items()}
        for name, table in _TABLES.items():
            after = (table - taken[name][:, None])[_held(mode, kind, name, rank)]
            np.testing.assert_array_equal(_array(text, f"\n{name}:"), after)
    assert len(texts) == ranks
