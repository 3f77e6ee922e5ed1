"""SaveV3 against NumPy and the released readers of checkpoints."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tensorflow as tf

EXTREMES = [0, -1, 1, -2, -111, -222, 2**63 - 1, -(2**63), 999, 1000, -999, -1000, -1001]
PER_KEY = ["versions", "freqs", "keys_filtered", "versions_filtered", "freqs_filtered"]


def tensors_of(prefix):
    reader = tf.train.load_checkpoint(str(prefix))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def offsets_of(keys):
    """Independent of how they are stored: how many keys have a smaller bucket."""
    buckets = np.sort([int(k) % 1000 for k in keys])
    return np.searchsorted(buckets, np.arange(1001)).astype(np.int32)


@pytest.mark.parametrize("key_dtype", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_tensors_have_the_names_dtypes_shapes_and_order_of_the_format(raw_table, tmp_path, key_dtype, dtype):
    keys = np.unique(np.random.RandomState(1).randint(-(2**31), 2**31 - 1, 3000))
    if key_dtype == "int64":
        keys = np.unique(np.concatenate([keys * 2**31, EXTREMES]))
    table = raw_table(3, key_dtype, dtype)
    table.step(keys)
    table.save(str(tmp_path / "model"))
    found = tensors_of(tmp_path / "model")
    assert sorted(found) == sorted(
        f"{p}-{s}"
        for p in ("var", "var/Adagrad")
        for s in ["keys", "values", "partition_offset", "partition_filter_offset", *PER_KEY]
    )
    for name, slot in (("var", False), ("var/Adagrad", True)):
        saved = found[f"{name}-keys"]
        assert saved.dtype == np.dtype(key_dtype) and sorted(saved.tolist()) == keys.tolist()
        assert (np.diff(np.mod(saved.astype(object), 1000).astype(int)) >= 0).all()
        values = found[f"{name}-values"]
        assert values.dtype == table.dtype.as_numpy_dtype and values.shape == (len(keys), 3)
        content = table.content(slot)
        np.testing.assert_array_equal(values.astype(np.float64), [content[k] for k in saved.tolist()])
        assert found[f"{name}-partition_offset"].dtype == np.int32
        np.testing.assert_array_equal(found[f"{name}-partition_offset"], offsets_of(keys))
        np.testing.assert_array_equal(found[f"{name}-partition_filter_offset"], np.zeros(1001, np.int32))
        for suffix in PER_KEY:
            empty = found[f"{name}-{suffix}"]
            assert empty.shape == (0,) and empty.dtype == (np.dtype(key_dtype) if "keys" in suffix else np.int64)


def test_offsets_of_a_known_case(raw_table, tmp_path):
    table = raw_table()
    table.step([0, 1, 1000, 1001, 2, 1002])
    table.save(str(tmp_path / "model"))
    assert tensors_of(tmp_path / "model")["var-partition_offset"].tolist() == [0, 2, 4] + [6] * 998


def test_an_empty_table_is_saved(raw_table, tmp_path):
    raw_table(dim=5).save(str(tmp_path / "deep" / "er" / "model"))
    found = tensors_of(tmp_path / "deep" / "er" / "model")
    assert found["var-keys"].shape == (0,) and found["var-values"].shape == (0, 5)


def test_frequencies_and_versions_are_saved_if_recorded(raw_table, tmp_path):
    table = raw_table(record_freq=True, record_version=True)
    table.step([1, 1, 1, 2, 2, 3], step=3)
    table.step([1, 3], step=7)
    table.save(str(tmp_path / "model"))
    found = tensors_of(tmp_path / "model")
    for name in ("var", "var/Adagrad"):
        assert found[f"{name}-keys"].tolist() == [1, 2, 3]
        assert found[f"{name}-freqs"].tolist() == [4, 2, 2]
        assert found[f"{name}-versions"].tolist() == [7, 3, 7]


@pytest.mark.parametrize("save_filtered", [True, False])
def test_keys_below_the_filter_are_saved_apart(raw_table, tmp_path, monkeypatch, save_filtered):
    if not save_filtered:
        monkeypatch.setenv("TF_EV_SAVE_FILTERED_FEATURES", "false")
    table = raw_table(filter_freq=3, record_version=True)
    table.step([1, 1, 1, 2, 2, -3], step=5)
    table.save(str(tmp_path / "model"))
    found = tensors_of(tmp_path / "model")
    for name in ("var", "var/Adagrad"):
        assert found[f"{name}-keys"].tolist() == [1] and found[f"{name}-freqs"].tolist() == [3]
        assert found[f"{name}-keys_filtered"].tolist() == ([2, -3] if save_filtered else [])
        assert found[f"{name}-freqs_filtered"].tolist() == ([2, 1] if save_filtered else [])
        assert found[f"{name}-versions_filtered"].tolist() == ([5, 5] if save_filtered else [])
        np.testing.assert_array_equal(
            found[f"{name}-partition_filter_offset"], offsets_of([2, -3] if save_filtered else [])
        )


def test_keys_past_their_steps_to_live_are_evicted_first(raw_table, tmp_path):
    table = raw_table(steps_to_live=2, record_version=True)
    for step, keys in enumerate([[1, 2, 3], [2, 3], [2, 3], [2, 3]]):
        table.step(keys, step=step)
    table.save(str(tmp_path / "unknown"))
    assert sorted(tensors_of(tmp_path / "unknown")["var-keys"]) == [1, 2, 3]
    table.save(str(tmp_path / "model"), step=4)
    found = tensors_of(tmp_path / "model")
    assert found["var-keys"].tolist() == [2, 3] and found["var-versions"].tolist() == [3, 3]
    assert found["var/Adagrad-keys"].tolist() == [2, 3]
    assert sorted(table.content()) == [2, 3]


def test_keys_of_small_rows_are_evicted_first(raw_table, tmp_path):
    table = raw_table(dim=1, pool=[[1.0]], l2_weight_threshold=0.45)
    # Adagrad moves by lr * g / sqrt(0.1 + g^2): 0.0998 for key 2, nothing for key 1.
    table.step([1, 2], grad=[[0.0], [5.0]], lr=0.1)
    table.save(str(tmp_path / "model"))
    assert tensors_of(tmp_path / "model")["var-keys"].tolist() == [1]


def test_ordinary_tensors_and_slices_share_the_checkpoint(raw_table, tmp_path):
    table = raw_table()
    table.step([5, 6])
    whole = np.arange(12, dtype=np.float32).reshape(4, 3)
    prefix = str(tmp_path / "model")
    table.save(
        prefix,
        tensors=[("text", np.array(["a", "bb"])), ("step", np.int64(9)), ("wide", whole[:2]), ("wide", whole[2:])],
        slices=["", "", "4 3 0,2:-", "4 3 2,2:-"],
    )
    found = tensors_of(prefix)
    assert found["text"].tolist() == [b"a", b"bb"] and found["step"] == 9
    np.testing.assert_array_equal(found["wide"], whole)
    assert sorted(found["var-keys"]) == [5, 6]
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.get_variable("step", [], tf.int64)
        wide = tf.get_variable("wide", [4, 3], partitioner=tf.fixed_size_partitioner(3))
        tf.train.Saver([step, wide]).restore(session, prefix)
        np.testing.assert_array_equal(session.run(tf.concat(list(wide), 0)), whole)


def test_merging_checkpoints_of_several_devices(raw_table, tmp_path):
    parts, keys = [], []
    for part in range(3):
        table = raw_table()
        keys.append(np.arange(part, 5000, 3))
        table.step(keys[-1])
        parts.append(str(tmp_path / f"part-{part}"))
        table.save(
            parts[-1],
            names=[f"var/part_{part}", f"var/part_{part}/Adagrad"],
            tensors=[(f"dense_{part}", np.float32(part))],
        )
    before = [tensors_of(p) for p in parts]
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=str(tmp_path / "all")))
    merged = tensors_of(tmp_path / "all")
    assert len(merged) == 3 * (2 * 9 + 1)
    for one in before:
        for name, value in one.items():
            np.testing.assert_array_equal(merged[name], value)


def test_a_row_and_its_slot_are_of_one_moment_while_training_goes_on(raw_table, tmp_path):
    keys = np.arange(20000)
    table = raw_table(dim=2, record_freq=True)
    # The same step over and over: a row follows from how often it was trained.
    count, value, accumulator = 400, np.float32(0), np.float32(0.1)
    values, accumulators = [value], [accumulator]
    for _ in range(count):
        accumulator += np.float32(4)
        value -= np.float32(0.5) * np.float32(2) / np.sqrt(accumulator)
        values.append(value)
        accumulators.append(accumulator)
    with table.graph.as_default():
        train = table.ops.kv_resource_sparse_apply_adagrad(
            table.variable, table.slot, 0.5, tf.fill([len(keys), 2], 2.0), tf.constant(keys), tf.constant(0, tf.int64)
        )
    stop = threading.Event()

    def train_on():
        for _ in range(count):
            if stop.is_set():
                return
            table.session.run(train)

    thread = threading.Thread(target=train_on)
    thread.start()
    moments = set()
    try:
        for i in range(6):
            prefix = str(tmp_path / f"model-{i}")
            table.save(prefix)
            found = tensors_of(prefix)
            freqs = found["var-freqs"]
            moments.update(freqs.tolist())
            np.testing.assert_allclose(found["var-values"][:, 0], np.array(values)[freqs], rtol=1e-4)
            np.testing.assert_allclose(found["var/Adagrad-values"][:, 1], np.array(accumulators)[freqs], rtol=1e-5)
    finally:
        stop.set()
        thread.join()
    assert len(moments) > 3


SAVE_FOREVER = """
import sys
import numpy as np
sys.path.insert(0, {folder!r})
from conftest import RawTable
table = RawTable(dim=8)
keys = np.arange(150000)
with table.graph.as_default():
    prefix = {prefix!r}
    grow = table.ops.kv_resource_gather(table.variable, table.tf.constant(keys, table.tf.int64), table.tf.constant(0.0))
    train = table.ops.kv_resource_sparse_apply_gradient_descent(
        table.variable, -1.0, table.tf.ones([len(keys), 8]), table.tf.constant(keys, table.tf.int64),
        table.tf.constant(0, table.tf.int64))
    save = table.ops.save_v3(prefix, [], [], ["var", "var/Adagrad"], [table.variable, table.slot],
                             table.tf.constant(-1, table.tf.int64), [], ev_key_types=[table.tf.int64] * 2, has_ev=True)
for i in range(1, 10000):
    table.session.run(train)
    table.session.run(save)
    print(i, flush=True)
"""


@pytest.mark.parametrize("delay", [0, 0.004, 0.012, 0.025])
def test_a_process_killed_while_it_saves_leaves_the_last_checkpoint_whole(tmp_path, delay):
    prefix = tmp_path / "model"
    code = SAVE_FOREVER.format(folder=str(pathlib.Path(__file__).parent), prefix=str(prefix))
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    for _ in range(3):
        last = int(process.stdout.readline())
    writing = pathlib.Path(f"{prefix}.tempstate-1")
    end = time.time() + 60
    while not writing.exists() and time.time() < end:
        pass
    time.sleep(delay)
    os.kill(process.pid, signal.SIGKILL)
    last = max([last, *map(int, process.stdout.read().split())])
    process.wait()
    process.stdout.close()
    found = tensors_of(prefix)
    values = np.unique(found["var-values"])
    # Its word that a save is done may not have come through.
    assert len(values) == 1 and values[0] in (last, last + 1)
    assert found["var/Adagrad-values"].shape == (150000, 8)


def test_a_save_that_fails_leaves_the_last_checkpoint_and_no_files(raw_table, tmp_path):
    table = raw_table()
    table.step([1, 2, 3])
    prefix = str(tmp_path / "model")
    table.save(prefix)
    files = sorted(os.listdir(tmp_path))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Tensor var-keys is to be saved twice"):
        table.save(prefix, tensors=[("var-keys", np.float32(1))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Tensor var-values is to be saved twice"):
        table.save(prefix, names=["var", "var"])
    assert sorted(os.listdir(tmp_path)) == files
    assert sorted(tensors_of(prefix)["var-keys"]) == [1, 2, 3]
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.OpError, match="file"):
        table.save(str(tmp_path / "file" / "model"))


FULL_DISK = """
import resource
import sys
import numpy as np
sys.path.insert(0, {folder!r})
from conftest import RawTable
table = RawTable(dim=8)
table.step(np.arange(10))
table.save({prefix!r})
table.step(np.arange(20000))
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
try:
    table.save({prefix!r})
except table.tf.errors.OpError as e:
    print(type(e).__name__)
"""


# The limit is met in the keys, in the rows, and when the last of the rows leaves the buffer.
@pytest.mark.parametrize("limit", [50000, 400000, 639999])
def test_a_file_that_can_not_grow_is_an_error_and_leaves_the_last_checkpoint(tmp_path, limit):
    prefix = tmp_path / "model"
    code = FULL_DISK.format(folder=str(pathlib.Path(__file__).parent), prefix=str(prefix), limit=limit)
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        check=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    assert done.stdout.strip()
    assert sorted(tensors_of(prefix)["var-keys"]) == list(range(10))
    assert len(os.listdir(tmp_path)) == 4


def test_tensors_alone_are_saved_as_savev2_does(raw_table, tmp_path):
    table = raw_table()
    prefix = str(tmp_path / "model")
    table.run(
        lambda t: t.ops.save_v3(
            prefix,
            ["a", "b"],
            ["", ""],
            tf.constant([], tf.string),
            [],
            tf.constant(3, tf.int64),
            [tf.constant([1.5]), tf.constant(["x"])],
        )
    )
    assert tensors_of(prefix) == {"a": 1.5, "b": b"x"}
    assert sorted(os.listdir(tmp_path)) == ["model.data-00000-of-00001", "model.index"]


def test_bad_inputs_are_named(raw_table, tmp_path):
    table = raw_table()
    prefix = str(tmp_path / "model")

    def save(prefix=prefix, names=(), slices=(), ev_names=("var",), evs=None, step=0, tensors=(), **attrs):
        evs = [table.variable] if evs is None else evs
        attrs = {"ev_key_types": [tf.int64] * len(evs), "has_ev": bool(evs), **attrs}
        return table.run(
            lambda t: t.ops.save_v3(
                tf.constant(prefix),
                tf.constant(names, tf.string, [len(names)]),
                tf.constant(slices, tf.string, [len(slices)]),
                list(ev_names),
                evs,
                tf.constant(step, tf.int64),
                list(tensors),
                **attrs,
            )
        )

    error = tf.errors.InvalidArgumentError
    with pytest.raises(error, match="prefix must be one string that is not empty"):
        save(prefix="")
    with pytest.raises(error, match=r"tensor_names must have shape \[0\], got \[1\]"):
        save(names=["a"])
    with pytest.raises(error, match=r"ev_names must have shape \[1\], got \[2\]"):
        save(ev_names=["a", "b"])
    with pytest.raises(error, match="has_ev is false, but there are 1"):
        save(has_ev=False)
    with pytest.raises(error, match="one dtype for each of the 1 ev_resources, got 2"):
        save(ev_key_types=[tf.int64, tf.int64])
    with pytest.raises(error, match="keys of dtype int64, got indices of dtype int32"):
        save(ev_key_types=[tf.int32])
    with pytest.raises(error, match="is 4 3 0,2:-, a slice of shape .*, but the tensor has shape"):
        with table.graph.as_default():
            tensor = tf.ones([3, 3])
        save(names=["a"], slices=["4 3 0,2:-"], tensors=[tensor])
    with pytest.raises(tf.errors.FailedPreconditionError, match="var is not initialized"):
        raw_table(initialize=False).save(prefix)
    assert not os.listdir(tmp_path)
