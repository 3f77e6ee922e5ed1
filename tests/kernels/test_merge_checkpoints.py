"""MergeV2Checkpoints: the stock result, and no moment without a whole checkpoint."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf

# Merges two parts of random tensors in each of three rounds, prints what there is after each, and how errors read.
ROUNDS = """
import os
import sys
import numpy as np
import tensorflow as tf
folder = sys.argv[1]
prefix = folder + "/out/model"

def run(op):
    with tf.Session() as session:
        return session.run(op)

def save(path, names, values, slices=None):
    with tf.Graph().as_default():
        run(tf.raw_ops.SaveV2(prefix=path, tensor_names=names, shape_and_slices=slices or [""] * len(names),
                              tensors=[tf.constant(v) for v in values]))

def merge(*args, **kwargs):
    with tf.Graph().as_default():
        run(tf.raw_ops.MergeV2Checkpoints(*args, **kwargs))

random = np.random.RandomState(0)
for round in range(3):
    whole = random.randn(4, 3).astype(np.float32)
    parts = [f"{folder}/temp{round}_{i}/part" for i in range(2 + (round == 2))]
    for i, part in enumerate(parts):
        names, values, slices = [f"x{i}", f"s{i}"], [random.randn(50), np.array(["a", "bb"])], ["", ""]
        if i < 2:
            names, values = names + ["wide"], values + [whole[2 * i:2 * i + 2]]
            slices = slices + [f"4 3 {2 * i},2:-"]
        save(part, names, values, slices)
    merge(checkpoint_prefixes=parts, destination_prefix=prefix, delete_old_dirs=round != 1)
    reader = tf.train.load_checkpoint(prefix)
    for name in sorted(reader.get_variable_to_shape_map()):
        print(round, name, reader.get_tensor(name).tolist())
    print(sorted(d for d in os.listdir(folder) if d != "out"), os.listdir(folder + "/out").count("model.index"))
for kwargs in [dict(checkpoint_prefixes="a", destination_prefix="b"), dict(checkpoint_prefixes=["a"], destination_prefix=["b"]),
               dict(checkpoint_prefixes=[folder + "/none"], destination_prefix=prefix),
               dict(checkpoint_prefixes=[folder + "/none"], destination_prefix=prefix, allow_missing_files=True)]:
    for _ in range(2):
        try:
            merge(**kwargs)
            print("no error")
        except Exception as e:
            print(type(e).__name__, str(e).split("Node:")[0].splitlines()[0], [l for l in str(e).splitlines() if "nput" in l][:1])
print(tf.train.load_checkpoint(prefix).get_tensor("x2").tolist()[:3])
"""


def run_script(script, folder, disabled=""):
    folder.mkdir()
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_DEEPREC_DISABLE_KERNELS": disabled}
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], env=env, cwd=folder, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.replace(str(folder), "FOLDER")


def test_results_and_errors_are_those_of_the_stock_kernel(tmp_path):
    ours = run_script(ROUNDS, tmp_path / "ours")
    assert ours == run_script(ROUNDS, tmp_path / "stock", "MergeV2Checkpoints")
    assert ours.count("wide") == 3


def merge(folder, values, destination):
    prefixes = []
    for i, value in enumerate(values):
        prefixes.append(str(folder / f"parts_{value[0]}_{i}" / "part"))
        with tf.Graph().as_default(), tf.Session() as session:
            session.run(
                tf.raw_ops.SaveV2(
                    prefix=prefixes[-1], tensor_names=[f"x{i}"], shape_and_slices=[""], tensors=[tf.constant(value)]
                )
            )
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=str(destination)))


def test_new_data_files_do_not_take_the_names_of_old_ones(tmp_path):
    prefix = tmp_path / "out" / "model"
    shards = []
    for value in (1.0, 2.0, 3.0):
        merge(tmp_path, [np.full(10, value), np.full(10, -value)], prefix)
        shards.append(sorted(f.split("data-")[1] for f in os.listdir(prefix.parent) if "data-" in f))
        reader = tf.train.load_checkpoint(str(prefix))
        assert (reader.get_tensor("x0") == value).all() and (reader.get_tensor("x1") == -value).all()
    assert not set(shards[0]) & set(shards[1]) and not set(shards[1]) & set(shards[2])
    assert not [f for f in os.listdir(prefix.parent) if "tempstate" in f]


MERGE_FOREVER = """
import sys
import pathlib
import numpy as np
import tensorflow as tf
folder = sys.argv[1]
values = tf.placeholder(tf.float64)
names = [f"x{i:03}" for i in range(100)]
prefixes = [f"{folder}/temp/part{i}" for i in range(100)]
saves = [tf.raw_ops.SaveV2(prefix=p, tensor_names=[n], shape_and_slices=[""], tensors=[tf.fill([10], values)])
         for p, n in zip(prefixes, names)]
with tf.control_dependencies(saves):
    merge = tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=folder + "/model")
with tf.Session() as session:
    for i in range(1, 100000):
        session.run(merge, {values: float(i)})
        print(i, flush=True)
"""


@pytest.mark.parametrize("after", [3, 4, 5, 6])
def test_a_process_killed_while_it_merges_leaves_a_whole_checkpoint(tmp_path, after):
    process = subprocess.Popen(
        [sys.executable, "-c", MERGE_FOREVER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    for _ in range(after):
        last = int(process.stdout.readline())
    # When files of a merge are there, and some have been renamed.
    end = time.time() + 30
    while not any(".tempstate" in name for name in os.listdir(tmp_path)) and time.time() < end:
        pass
    os.kill(process.pid, signal.SIGKILL)
    last = max([last, *map(int, process.stdout.read().split())])
    process.wait()
    process.stdout.close()
    reader = tf.train.load_checkpoint(str(tmp_path / "model"))
    found = np.unique([reader.get_tensor(name) for name in reader.get_variable_to_shape_map()])
    assert len(found) == 1 and found[0] in (last, last + 1)
