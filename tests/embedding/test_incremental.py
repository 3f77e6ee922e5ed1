"""Incremental checkpoints through `tf.train.Saver(incremental_save_restore=True)`: their format, and that nothing is lost."""

import glob
import os
import re

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework.embedding import config_pb2
from tensorflow.python.training import incremental_saver as incr_saver_module

DIM = 3
KEYS = np.array([1, 2, -5, 1001, 2**62, -(2**63), 7, 8, 9], np.int64)


class Model:
    """An EmbeddingVariable, an ordinary one looked up, one that is dense, and a step on ids and rows, in a fresh graph."""

    def __init__(self, parts=None, optimizer=None, saver=True, resource=False, ordinary=True, **kwargs):
        tf.reset_default_graph()
        partitioner = tf.fixed_size_partitioner(parts) if parts else None
        options = kwargs.pop("saver_options", {})
        self.variable = tf.get_embedding_variable(
            "var", DIM, initializer=tf.ones_initializer(), partitioner=partitioner, **kwargs
        )
        self.ids = tf.placeholder(tf.int64, [None])
        rows = tf.nn.embedding_lookup(self.variable, self.ids)
        loss = tf.reduce_sum(rows**2)
        if ordinary:
            rows_of = tf.get_variable(
                "rows", [20, 2], initializer=tf.ones_initializer(), partitioner=partitioner, use_resource=resource
            )
            dense = tf.get_variable("dense", [4], initializer=tf.ones_initializer(), use_resource=resource)
            found = tf.nn.embedding_lookup(rows_of, tf.math.floormod(self.ids, 20), partition_strategy="div")
            loss += tf.reduce_sum(found**2) + tf.reduce_sum(dense**2)
        self.step = tf.train.get_or_create_global_step()
        optimizer = (optimizer or (lambda: tf.train.AdamOptimizer(0.1)))()
        self.train = optimizer.minimize(loss, global_step=self.step)
        self.exports = {v.op.name: v.export() for v in tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)}
        self.others = {
            v.op.name: v for v in tf.global_variables() if v not in tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)
        }
        if saver:
            self.saver = tf.train.Saver(incremental_save_restore=True, **options)
            self.incremental = incr_saver_module._get_incremental_saver(True, self.saver)

    def contents(self, session):
        """Everything, whatever the parts: rows by name and key, ordinary variables joined."""
        found = {}
        for name, (keys, values, versions, frequencies) in session.run(self.exports).items():
            whole = re.sub(r"/part_\d+", "", name)
            for i, (key, row) in enumerate(zip(keys.tolist(), values.tolist())):
                assert (whole, key) not in found
                found[whole, key] = (*row, *versions[i : i + 1], *frequencies[i : i + 1])
        joined = {}
        for name, value in sorted(session.run(self.others).items()):
            joined.setdefault(re.sub(r"/part_\d+", "", name), []).append(np.atleast_1d(value))
        return found | {name: np.concatenate(values).tolist() for name, values in joined.items()}

    def run(self, session, *batches):
        for ids in batches:
            session.run(self.train, {self.ids: ids})


def tensors(prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


@pytest.mark.parametrize("sharded", [False, True])
def test_has_the_tensors_of_the_format(tmp_path, sharded):
    option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(2), evict_option=tf.GlobalStepEvict(100))
    model = Model(
        optimizer=lambda: tf.train.AdagradOptimizer(0.1), ev_option=option, saver_options=dict(sharded=sharded)
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 1, 2, 2])
        model.saver.save(session, str(tmp_path / "model"), global_step=1)
        model.run(session, [2, -5, -5, 1001, 1001, 8])
        contents = model.contents(session)
        prefix = model.incremental.incremental_save(session, str(tmp_path / "more" / "incr"), global_step=2)
    assert prefix == str(tmp_path / "more" / "incr-2")
    found = tensors(prefix)
    dense = {"dense", "dense/Adagrad", "rows", "rows/Adagrad", "global_step"}
    suffixes = ("-sparse_incr_keys", "-sparse_incr_values", "-sparse_incr_versions", "-sparse_incr_freqs")
    of_table = {name + suffix for name in ("var", "var/Adagrad") for suffix in (*suffixes, "-incr_partition_offset")}
    assert set(found) == dense | of_table | {"incremental_full_checkpoint"}
    assert found["incremental_full_checkpoint"] == b"model-1"
    assert {name: found[name].reshape(-1).tolist() for name in dense} == {
        name: np.ravel(contents[name]).tolist() for name in dense
    }
    for name in ("var", "var/Adagrad"):
        # By key mod 1000; 8 waits for admission.
        keys = [1001, 2, -5]
        assert (
            found[f"{name}-sparse_incr_keys"].tolist() == keys and found[f"{name}-sparse_incr_keys"].dtype == np.int64
        )
        values = found[f"{name}-sparse_incr_values"]
        assert values.dtype == np.float32
        assert found[f"{name}-sparse_incr_versions"].tolist() == [1, 1, 1]
        assert found[f"{name}-sparse_incr_freqs"].tolist() == [2, 3, 2]
        for key, row in zip(keys, values.tolist()):
            assert contents[name, key][:DIM] == tuple(row)
        offset = found[f"{name}-incr_partition_offset"]
        assert offset.dtype == np.int32
        assert offset.tolist() == np.searchsorted([1, 2, 995], np.arange(1001)).tolist()


def test_each_is_cumulative_since_the_last_full_one(tmp_path):
    model = Model(ordinary=False)
    prefix = str(tmp_path / "model")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def keys():
            return set(tensors(model.incremental.incremental_save(session, prefix))["var-sparse_incr_keys"].tolist())

        model.run(session, KEYS)
        model.saver.save(session, prefix, global_step=1)
        assert keys() == set()
        model.run(session, [5, 6])
        assert keys() == {5, 6}
        model.run(session, [6, 7])
        assert keys() == {5, 6, 7}
        model.saver.save(session, prefix, global_step=3)
        assert keys() == set()
        model.run(session, [7])
        assert keys() == {7}


OPTIMIZERS = {
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    # All rows of ordinary variables move at each step.
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "adam_async": lambda: tf.train.AdamAsyncOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1),
    "adagrad_decay": lambda: tf.train.AdagradDecayOptimizer(
        0.1, tf.train.get_or_create_global_step(), accumulator_decay_step=2
    ),
}


@pytest.mark.parametrize("before, after", [(2, 3), (None, 2)])
@pytest.mark.parametrize("normal", [False, True], ids=["whole", "by_rows"])
@pytest.mark.parametrize("optimizer, resource", [("adagrad", False), ("adagrad_decay", True)])
def test_training_goes_on_as_if_it_had_never_stopped(tmp_path, optimizer, before, after, normal, resource):
    batches = [np.random.RandomState(i).choice(KEYS, 5) for i in range(9)]
    options = dict(sharded=before is not None, incremental_include_normal_var=normal)
    model = Model(before, OPTIMIZERS[optimizer], resource=resource, saver_options=options)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, *batches[:3])
        full = model.saver.save(session, str(tmp_path / "model"), global_step=model.step)
        model.run(session, *batches[3:5])
        model.incremental.incremental_save(session, str(tmp_path / "incr"), global_step=model.step)
        model.run(session, batches[5])
        increment = model.incremental.incremental_save(session, str(tmp_path / "incr"), global_step=model.step)
        contents = model.contents(session)
        model.run(session, *batches[6:])
        expected = model.contents(session)
    assert increment.endswith("incr-6")
    assert ("rows/part_0" if before else "rows") + "-sparse_incr_keys" in tensors(increment) or not normal
    model = Model(after, OPTIMIZERS[optimizer], resource=resource, saver_options=options)
    with tf.Session() as session:
        model.saver.restore(session, full)
        model.incremental.incremental_restore(session, full, increment)
        assert session.run(model.step) == 6
        assert model.contents(session) == contents
        model.run(session, *batches[6:])
        assert model.contents(session) == expected


@pytest.mark.parametrize("optimizer", ["adam", "adam_async", "ftrl"])
@pytest.mark.parametrize("normal", [False, True], ids=["whole", "by_rows"])
def test_other_optimizers_go_on_as_well(tmp_path, optimizer, normal):
    options = dict(incremental_include_normal_var=normal)
    model = Model(2, OPTIMIZERS[optimizer], saver_options=options)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, KEYS[:5])
        full = model.saver.save(session, str(tmp_path / "model"), global_step=1)
        model.run(session, KEYS[3:])
        increment = model.incremental.incremental_save(session, str(tmp_path / "incr"), global_step=2)
        model.run(session, KEYS)
        expected = model.contents(session)
    model = Model(2, OPTIMIZERS[optimizer], saver_options=options)
    with tf.Session() as session:
        model.saver.restore(session, full)
        model.incremental.incremental_restore(session, full, increment)
        model.run(session, KEYS)
        assert model.contents(session) == expected


@pytest.mark.parametrize("resource", [False, True])
def test_of_ordinary_variables_the_rows_that_changed(tmp_path, resource):
    options = dict(incremental_include_normal_var=True)
    model = Model(2, OPTIMIZERS["adagrad"], resource=resource, saver_options=options)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [0, 1, 2])
        model.saver.save(session, str(tmp_path / "model"), global_step=1)
        model.run(session, [3, 12, 3], [4])
        found = tensors(model.incremental.incremental_save(session, str(tmp_path / "incr"), global_step=2))
        contents = model.contents(session)
    for slot in ("", "/Adagrad"):
        # Rows are counted in the whole variable.
        for part, keys in (("rows/part_0", [3, 4]), ("rows/part_1", [12])):
            assert found[f"{part}{slot}-sparse_incr_keys"].tolist() == keys
            assert found[f"{part}{slot}-sparse_incr_values"].tolist() == [contents[f"rows{slot}"][key] for key in keys]
        assert f"rows{slot}" not in found
        assert found[f"dense{slot}"].tolist() == contents[f"dense{slot}"]


@pytest.mark.parametrize("resource", [False, True])
def test_a_variable_that_is_changed_as_a_whole_too_is_saved_whole(tmp_path, resource):
    tf.reset_default_graph()
    variable = tf.get_variable("rows", [20, 2], initializer=tf.zeros_initializer(), use_resource=resource)
    loss = tf.reduce_sum(tf.nn.embedding_lookup(variable, [3]))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    decay = tf.assign(variable, variable * 0.5)
    saver = tf.train.Saver(incremental_save_restore=True, incremental_include_normal_var=True)
    incremental = incr_saver_module._get_incremental_saver(True, saver)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, str(tmp_path / "model"), global_step=1)
        session.run([train])
        session.run(decay)
        found = tensors(incremental.incremental_save(session, str(tmp_path / "incr")))
        assert found["rows"].tolist() == session.run(variable).tolist()
    assert found["rows"][3].tolist() == [-0.5, -0.5]


def test_training_ops_that_come_after_the_saver_are_an_error(tmp_path):
    model = Model(optimizer=OPTIMIZERS["adagrad"], saver_options=dict(incremental_include_normal_var=True))
    rows = tf.global_variables("rows")[0]
    late = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(tf.nn.embedding_lookup(rows, [3])))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.saver.save(session, str(tmp_path / "model"), global_step=1)
        session.run(late)
        with pytest.raises(RuntimeError, match="Ops that change rows:0 were added after the Saver"):
            model.incremental.incremental_save(session, str(tmp_path / "incr"))


def test_there_is_no_increment_before_a_full_checkpoint(tmp_path):
    model = Model()
    prefix = str(tmp_path / "model")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.FailedPreconditionError, match="No full checkpoint was saved"):
            model.incremental.incremental_save(session, prefix)
        full = model.saver.save(session, prefix, global_step=1)
        session.run(tf.global_variables_initializer())
        with pytest.raises(
            tf.errors.FailedPreconditionError, match="EmbeddingVariable var.* needs a full one to start"
        ):
            model.incremental.incremental_save(session, prefix)
        model.saver.save(session, prefix, global_step=1)
        model.saver.restore(session, full)
        with pytest.raises(tf.errors.FailedPreconditionError, match="No full checkpoint was saved"):
            model.incremental.incremental_save(session, prefix)
    assert not glob.glob(f"{prefix}.index")


@pytest.mark.parametrize("sharded", [False, True])
def test_a_full_save_that_fails_loses_nothing(tmp_path, sharded):
    options = dict(incremental_include_normal_var=True, sharded=sharded)
    model = Model(optimizer=OPTIMIZERS["adagrad"], saver_options=options)
    (tmp_path / "file").touch()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1])
        full = model.saver.save(session, str(tmp_path / "model"), global_step=1)
        model.run(session, [2])
        with pytest.raises((ValueError, tf.errors.OpError)):
            model.saver.save(session, str(tmp_path / "file" / "model"), global_step=2)
        model.run(session, [3])
        increment = model.incremental.incremental_save(session, str(tmp_path / "incr"), global_step=3)
        expected = model.contents(session)
        found = tensors(increment)
        assert found["incremental_full_checkpoint"] == b"model-1"
        assert found["var-sparse_incr_keys"].tolist() == found["rows-sparse_incr_keys"].tolist() == [2, 3]
        model.saver.restore(session, full)
        model.incremental.incremental_restore(session, full, increment)
        assert model.contents(session) == expected


def test_another_saver_does_not_forget_what_changed(tmp_path):
    model = Model(ordinary=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.saver.save(session, str(tmp_path / "model"), global_step=1)
        model.run(session, [2])
        tf.train.Saver().save(session, str(tmp_path / "copy"))
        found = tensors(model.incremental.incremental_save(session, str(tmp_path / "incr")))
    assert found["var-sparse_incr_keys"].tolist() == [2]


def test_the_last_ones_are_kept_and_named_in_a_state_file_of_their_own(tmp_path):
    model = Model(saver_options=dict(max_to_keep=2))
    prefix = str(tmp_path / ".incremental_checkpoint" / "incremental_model.ckpt")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        full = model.saver.save(session, str(tmp_path / "model.ckpt"), global_step=0)
        for step in range(1, 5):
            model.run(session, [step])
            model.incremental.incremental_save(session, prefix, global_step=step)
        assert model.incremental.last_incr_checkpoints == [f"{prefix}-3", f"{prefix}-4"]
    assert sorted(glob.glob(prefix + "*.index")) == [f"{prefix}-3.index", f"{prefix}-4.index"]
    state = tf.train.get_checkpoint_state(os.path.dirname(prefix))
    assert list(state.all_model_checkpoint_paths) == [f"{prefix}-3", f"{prefix}-4"]
    assert tf.train.latest_checkpoint(str(tmp_path)) == full


@pytest.fixture
def saved(tmp_path):
    """(full checkpoint, incremental one) that a fresh Model() can restore."""
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, KEYS)
        full = model.saver.save(session, str(tmp_path / "model.ckpt"), global_step=1)
        model.run(session, KEYS[3:])
        prefix = str(tmp_path / ".incremental_checkpoint" / "incremental_model.ckpt")
        return full, model.incremental.incremental_save(session, prefix, global_step=2)


def altered_bytes(path):
    with open(path, "r+b") as file:
        content = bytearray(file.read())
        for i in range(0, len(content), 16):
            content[i] ^= 0x41
        file.seek(0)
        file.write(content)


@pytest.mark.parametrize("what", ["data", "index"])
@pytest.mark.parametrize(
    "damage",
    [altered_bytes, lambda path: os.truncate(path, 10), lambda path: os.truncate(path, 0)],
    ids=["altered", "cut", "empty"],
)
def test_a_damaged_one_is_refused_by_name(saved, what, damage):
    full, increment = saved
    for path in glob.glob(f"{increment}.{what}*"):
        if os.path.getsize(path):
            damage(path)
    model = Model()
    with tf.Session() as session:
        model.saver.restore(session, full)
        with pytest.raises((tf.errors.DataLossError, tf.errors.OutOfRangeError), match=re.escape(increment)):
            model.incremental.recover_incr_checkpoints(session, os.path.dirname(full))


def test_recovery_takes_the_newest_that_goes_with_the_full_one(saved):
    full, increment = saved
    folder = os.path.dirname(full)
    model = Model()
    with tf.Session() as session:
        model.saver.restore(session, full)
        assert model.incremental.recover_incr_checkpoints(session, folder) == increment
        assert session.run(model.step) == 2
        # There is a new full one, to which the old changes do not belong.
        model.run(session, [1])
        newer = model.saver.save(session, f"{folder}/model.ckpt", global_step=3)
        assert model.incremental.recover_incr_checkpoints(session, folder) is None
        assert model.incremental.last_incr_checkpoints == [increment]
        model.run(session, [1])
        at_five = model.incremental.incremental_save(session, increment[:-2], global_step=5)
        # Of another base, though of a greater step.
        os.remove(newer + ".index")
        assert incr_saver_module.newest_increment(full, [increment, at_five]) == increment
        with pytest.raises(
            ValueError, match="has the changes since model.ckpt-3, so it can not go over .*model.ckpt-1"
        ):
            model.incremental.incremental_restore(session, full, at_five)


def test_those_without_a_name_of_the_full_one_go_by_their_steps(saved, tmp_path):
    full, _ = saved
    tf.reset_default_graph()
    tf.get_variable("v", [1])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        paths = [tf.train.Saver().save(session, str(tmp_path / "other"), global_step=step) for step in (1, 2)]
    assert incr_saver_module.newest_increment(full, paths) == paths[1]
    assert incr_saver_module.newest_increment(full, paths[:1]) is None
    assert incr_saver_module.newest_increment(full, [*paths, str(tmp_path / "gone-7")]) == paths[1]


def test_what_can_not_be_restored_is_an_error(saved):
    full, increment = saved
    model = Model()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="must be restored from a full checkpoint before"):
            model.incremental.incremental_restore(session, full, increment)
        with pytest.raises(ValueError, match="save_path must be the prefix of a full checkpoint, got None"):
            model.incremental.incremental_restore(session, None, increment)
        with pytest.raises(ValueError, match="There is no incremental checkpoint /no/such-1"):
            model.incremental.incremental_restore(session, full, "/no/such-1")
    tf.reset_default_graph()
    variable = tf.get_variable("rows", [20, 2])
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(tf.nn.embedding_lookup(variable, [3])))
    saver = tf.train.Saver(incremental_save_restore=True, incremental_include_normal_var=True)
    with tf.Session() as session:
        saver.restore(session, full)
        with pytest.raises(
            tf.errors.NotFoundError, match="has no rows of rows.*another incremental_include_normal_var"
        ):
            incr_saver_module._get_incremental_saver(True, saver).incremental_restore(session, full, increment)
        session.run(train)


@pytest.mark.parametrize(
    "filter_option", [tf.CounterFilter(2), tf.CBFFilter(2, 1000, 0.001, tf.uint64)], ids=["counter", "bloom"]
)
def test_keys_admitted_since_are_restored_and_others_wait_as_they_were(tmp_path, filter_option):
    option = tf.EmbeddingVariableOption(filter_option=filter_option)
    model = Model(ordinary=False, ev_option=option)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 1, 2, 3])
        full = model.saver.save(session, str(tmp_path / "model"), global_step=1)
        model.run(session, [1, 2, 4])
        increment = model.incremental.incremental_save(session, str(tmp_path / "incr"), global_step=2)
        expected = model.contents(session)
    assert tensors(increment)["var-sparse_incr_keys"].tolist() == [1, 2]
    model = Model(3, ordinary=False, ev_option=option)
    frequencies = [part.get_frequency(np.array([1, 2, 3, 4], np.int64)) for part in model.variable]
    with tf.Session() as session:
        model.saver.restore(session, full)
        model.incremental.incremental_restore(session, full, increment)
        counter = isinstance(filter_option, tf.CounterFilter)
        if not counter:
            # What is restored with a row counts as admitted, also 2, which has one by its second occurrence.
            expected = {
                name: (*row[:DIM], max(2, row[DIM])) if isinstance(name, tuple) else row
                for name, row in expected.items()
            }
        assert model.contents(session) == expected
        # 3 waits as it did in the full checkpoint, 4 came later; a Bloom filter's counts are not saved.
        assert np.sum(session.run(frequencies), 0).tolist() == [3, 2, 1 if counter else 0, 0]


def test_keys_evicted_by_a_full_save_do_not_come_back(tmp_path):
    option = tf.EmbeddingVariableOption(evict_option=tf.GlobalStepEvict(2))
    model = Model(ordinary=False, ev_option=option)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2])
        model.saver.save(session, str(tmp_path / "model"), global_step=0)
        model.run(session, [1], [1], [1], [1])
        full = model.saver.save(session, str(tmp_path / "model"), global_step=5)
        model.run(session, [3])
        increment = model.incremental.incremental_save(session, str(tmp_path / "incr"), global_step=6)
        expected = model.contents(session)
    assert ("var", 2) not in expected
    model = Model(ordinary=False, ev_option=option)
    with tf.Session() as session:
        model.saver.restore(session, full)
        model.incremental.incremental_restore(session, full, increment)
        assert model.contents(session) == expected


@pytest.mark.parametrize("storage", ["DRAM_SSDHASH", "DRAM_PMEM_SSDHASH"])
def test_rows_below_the_first_tier_are_saved_and_restored(tmp_path, storage):
    def build(folder):
        size = [8 * 128] * (2 if storage == "DRAM_PMEM_SSDHASH" else 1)
        option = tf.StorageOption(getattr(config_pb2, storage), str(tmp_path / folder), size)
        return Model(ordinary=False, ev_option=tf.EmbeddingVariableOption(storage_option=option))

    model = build("a")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for begin in range(0, 40, 4):
            model.run(session, np.arange(begin, begin + 4))
        full = model.saver.save(session, str(tmp_path / "model"), global_step=1)
        for begin in range(20, 60, 4):
            model.run(session, np.arange(begin, begin + 4))
        increment = model.incremental.incremental_save(session, str(tmp_path / "incr"), global_step=2)
        expected = model.contents(session)
    assert len([name for name in expected if name[0] == "var"]) == 60
    assert sorted(tensors(increment)["var-sparse_incr_keys"].tolist()) == list(range(20, 60))
    model = build("b")
    with tf.Session() as session:
        model.saver.restore(session, full)
        model.incremental.incremental_restore(session, full, increment)
        assert model.contents(session) == expected


def test_rows_that_lookups_insert_are_recorded(tmp_path):
    model = Model(ordinary=False)
    insert = model.variable.sparse_read(np.array([77], np.int64), ev_init_value=tf.fill([1, DIM], 5.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.saver.save(session, str(tmp_path / "model"), global_step=1)
        session.run(insert)
        found = tensors(model.incremental.incremental_save(session, str(tmp_path / "incr")))
    assert found["var-sparse_incr_keys"].tolist() == [77]
    assert found["var-sparse_incr_values"].tolist() == [[5.0] * DIM]


def test_names_given_by_dict_are_the_names_saved(tmp_path):
    model = Model(saver=False, ordinary=False)
    saver = tf.train.Saver({"renamed": model.variable}, incremental_save_restore=True)
    incremental = incr_saver_module._get_incremental_saver(True, saver)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, str(tmp_path / "model"), global_step=1)
        model.run(session, [4])
        found = tensors(incremental.incremental_save(session, str(tmp_path / "incr")))
    assert found["renamed-sparse_incr_keys"].tolist() == [4]


def test_the_saver_is_made_as_deeprec_scripts_make_it(tmp_path):
    model = Model(2, saver=False)
    saver = tf.train.Saver(sharded=True, incremental_save_restore=True)
    incremental = incr_saver_module.IncrementalSaver(sharded=True, saver_def=saver.saver_def, defer_build=True)
    with pytest.raises(RuntimeError, match="build"):
        incremental.incremental_save(tf.Session(), "x")
    incremental.build(saver._builder.filename_tensor)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1])
        full = saver.save(session, str(tmp_path / "model.ckpt"), global_step=10)
        model.run(session, [2], [3])
        increment = incremental.incremental_save(session, str(tmp_path / ".incr" / "model.ckpt"), global_step=12345)
        expected = model.contents(session)
        saver.restore(session, full)
        incremental.incremental_restore(session, full, increment)
        assert model.contents(session) == expected


def test_nothing_is_recorded_and_no_op_is_added_without_it(tmp_path):
    model = Model(saver=False)
    tf.train.Saver()
    types = {op.type for op in tf.get_default_graph().get_operations()}
    assert not types & {
        "RecordSparseIndices",
        "ActivateSparseRecorder",
        "KvResourceRecord",
        "IncrSave",
        "KvResourceIncrImport",
    }
    updates = [op for op in tf.get_default_graph().get_operations() if "SparseApply" in op.type]
    control = {op.name: [c.name for c in op._control_outputs] for op in updates}
    tf.train.Saver(incremental_save_restore=True)
    # Only the rows of ordinary variables need ops beside those that change them.
    assert {op.name: [c.name for c in op._control_outputs] for op in updates} == control
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1])


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: tf.train.Saver(incremental_include_normal_var=True), "incremental_include_normal_var is True, but"),
        (lambda: tf.train.Saver(incremental_save_restore=True, write_version=tf.train.SaverDef.V1), "V2.*got V1"),
        (lambda: incr_saver_module._get_incremental_saver(True, tf.train.Saver()), "incremental_save_restore=True"),
        (
            lambda: incr_saver_module.IncrementalSaver(saver_def=tf.train.SaverDef(version=tf.train.SaverDef.V1)),
            "V2.*got V1",
        ),
    ],
)
def test_arguments_that_do_not_go_together_are_errors(make, message):
    Model(saver=False)
    with pytest.raises(ValueError, match=message):
        make()


def test_it_may_be_left_out():
    Model(saver=False)
    assert incr_saver_module._get_incremental_saver(False, tf.train.Saver(incremental_save_restore=False)) is None
