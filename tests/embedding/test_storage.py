"""EmbeddingVariables of several storage tiers: where rows are, and that otherwise they are as in memory alone."""

import os

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework.embedding import config_pb2
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow.python.ops import kv_variable_ops

DIM = 5
ADAM = {"beta1": 0.5, "beta2": 0.75, "epsilon": 1e-3}
OPTIMIZERS = {
    "GradientDescent": lambda step: tf.train.GradientDescentOptimizer(0.125),
    "Adagrad": lambda step: tf.train.AdagradOptimizer(0.125),
    "AdagradDecay": lambda step: tf.train.AdagradDecayOptimizer(0.125, step, 0.5, 2, 0.75),
    "AdagradDecayV2": lambda step: tf.train.AdagradDecayOptimizerV2(0.125, step, 0.5, 2, 0.75),
    "Adam": lambda step: tf.train.AdamOptimizer(0.125, **ADAM, lazy=True),
    "AdamAsync": lambda step: tf.train.AdamAsyncOptimizer(0.125, **ADAM),
    "AdamW": lambda step: tf.train.AdamWOptimizer(0.0625, 0.125, **ADAM, lazy=True),
    "Ftrl": lambda step: tf.train.FtrlOptimizer(0.125),
    "Momentum": lambda step: tf.train.MomentumOptimizer(0.125, 0.5),
    "RMSProp": lambda step: tf.train.RMSPropOptimizer(0.125, 0.75, 0.5, 2**-10),
}
TYPES = ["DRAM_SSDHASH", "DRAM_LEVELDB", "DRAM_PMEM", "DRAM_PMEM_SSDHASH"]


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


def storage(path, rows=20, row_bytes=3 * 32, kind="DRAM_SSDHASH", **kwargs):
    """Two or three tiers; the first, and of three the second, with room for so many rows."""
    return tf.StorageOption(
        storage_type=config_pb2.StorageType.Value(kind),
        storage_path=path and str(path),
        storage_size=[rows * row_bytes, rows * row_bytes],
        **kwargs,
    )


class Model:
    """An EmbeddingVariable that is trained by its rows' squares, in the default graph."""

    def __init__(
        self, storage_option=None, optimizer="Adagrad", parts=None, name="var", dim=DIM, dtype=None, **options
    ):
        self.step = tf.train.get_or_create_global_step()
        self.variable = tf.get_embedding_variable(
            name,
            dim,
            value_dtype=dtype,
            initializer=tf.random_normal_initializer(seed=3),
            partitioner=tf.fixed_size_partitioner(parts) if parts else None,
            ev_option=tf.EmbeddingVariableOption(storage_option=storage_option, **options),
        )
        self.parts = list(self.variable) if parts else [self.variable]
        self.ids = tf.placeholder(tf.int64, [None])
        self.rows = tf.nn.embedding_lookup(self.variable, self.ids)
        loss = tf.reduce_sum(tf.cast(self.rows, tf.float32) ** 2)
        self.train = OPTIMIZERS[optimizer](self.step).minimize(loss, global_step=self.step)
        self.tiers = kv_variable_ops.lookup_tier(self.variable, self.ids)
        self.exports = {v.op.name: v.export() for v in tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)}
        self.saver = tf.train.Saver()

    def started(self):
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        return session

    def contents(self, session):
        """{(variable or slot, key): row}."""
        found = {}
        for name, (keys, values, _, _) in session.run(self.exports).items():
            for key, row in zip(keys.tolist(), values.astype(np.float64).tolist()):
                found["/".join(p for p in name.split("/") if not p.startswith("part_")), key] = tuple(row)
        return found


def batches(n=60, seed=0):
    random = np.random.RandomState(seed)
    return [np.minimum(random.randint(0, 90, 12), random.randint(-30, 90, 12)) for _ in range(n)]


def tiers(session, model, ids):
    return session.run(model.tiers, {model.ids: ids}).tolist()


def compare(contents, one="plain", other="tiered"):
    """The variables `one` and `other` and their slots have the same keys with the same rows."""
    named = {name: {} for name in (one, other)}
    for (var, key), row in contents.items():
        name, _, slot = var.partition("/")
        named[name][slot.replace(name, ""), key] = row
    assert len(named[one]) > 50
    assert named[one] == named[other]


# Which rows are where.


def test_the_least_used_row_goes_down(tmp_path):
    option = tf.StorageOption(config_pb2.DRAM_SSDHASH, str(tmp_path), [1024])
    model = Model(option, dim=30)
    with model.started() as session:
        for ids in ([1, 2, 3], [1, 2, 4], [1, 2, 2], [1, 2, 5]):
            session.run(model.train, {model.ids: ids})
        assert tiers(session, model, range(1, 7)) == [0, 0, 1, 0, 0, -1]
        assert [name.startswith("ssd_kv_") for name in os.listdir(tmp_path)] == [True]
    assert os.listdir(tmp_path) == []


def test_a_lookup_brings_a_row_up_and_lru_keeps_what_was_used_last(tmp_path):
    option = storage(tmp_path, rows=2, row_bytes=64, cache_strategy=config_pb2.CacheStrategy.LRU)
    model = Model(option)
    with model.started() as session:
        for ids in ([1], [1], [1], [2], [3]):
            session.run(model.train, {model.ids: ids})
        assert tiers(session, model, [1, 2, 3, 4]) == [1, 0, 0, -1]
        session.run(model.rows, {model.ids: [1]})
        assert tiers(session, model, [1, 2, 3, 4]) == [0, 1, 0, -1]


def test_the_second_of_three_tiers_has_a_bound_too(tmp_path):
    option = tf.StorageOption(config_pb2.DRAM_PMEM_SSDHASH, str(tmp_path), [2 * 64, 3 * 64])
    model = Model(option)
    with model.started() as session:
        for key in range(9):
            for _ in range(9 - key):
                session.run(model.train, {model.ids: [key]})
        assert tiers(session, model, range(9)) == [0, 0, 1, 1, 1, 2, 2, 2, 2]


def test_parts_have_a_first_tier_each(tmp_path):
    model = Model(storage(tmp_path, rows=4, row_bytes=64), parts=2)
    with model.started() as session:
        for ids in ([0, 2, 4, 1], [3, 6], [8, 10]):
            session.run(model.train, {model.ids: ids})
        assert tiers(session, model, [0, 2, 4, 6, 8, 10, 1, 3, 5]) == [1, 1, 0, 0, 0, 0, 0, 0, -1]


@pytest.mark.parametrize("dtype, row_bytes", [(tf.float64, 48 + 48), (tf.bfloat16, 16 + 16)])
def test_rows_of_other_dtypes_take_their_bytes(tmp_path, dtype, row_bytes):
    model = Model(storage(tmp_path, rows=3, row_bytes=row_bytes), dtype=dtype)
    with model.started() as session:
        session.run(model.train, {model.ids: [1, 2, 3]})
        assert tiers(session, model, [1, 2, 3]) == [0, 0, 0]
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=f"4 different ids.*3 rows.*{3 * row_bytes} bytes.*{row_bytes}"
        ):
            session.run(model.train, {model.ids: [1, 2, 3, 4]})


def test_a_batch_must_fit_into_the_first_tier(tmp_path):
    model = Model(storage(tmp_path, rows=3, row_bytes=64))
    with model.started() as session:
        session.run(model.train, {model.ids: [1, 1, 2, 2, 3, 3]})
        for op in (model.train, model.rows):
            with pytest.raises(
                tf.errors.InvalidArgumentError, match="var.*4 different ids.*holds 3 rows.*storage_size"
            ):
                session.run(op, {model.ids: [1, 2, 3, 4]})
        assert session.run(model.variable.total_count()).tolist() == [3, DIM]


# The same as in memory.


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_is_that_of_one_tier_bit_for_bit(tmp_path, name):
    tiered = Model(storage(tmp_path, rows=16), name, name="tiered")
    plain = Model(None, name, name="plain")
    set_back = plain.step.assign_sub(1)
    with plain.started() as session:
        for ids in batches():
            got, want = session.run([tiered.rows, plain.rows], {tiered.ids: ids, plain.ids: ids})
            np.testing.assert_array_equal(got, want)
            session.run(tiered.train, {tiered.ids: ids})
            session.run(set_back)
            session.run(plain.train, {plain.ids: ids})
        compare(plain.contents(session))
        assert set(tiers(session, tiered, range(60))) == {0, 1}


@pytest.mark.parametrize("kind", TYPES)
def test_every_kind_of_storage_keeps_rows_and_slots(tmp_path, kind):
    path = None if kind == "DRAM_PMEM" else tmp_path
    tiered = Model(storage(path, rows=16, kind=kind), "Adam", name="tiered")
    plain = Model(None, "Adam", name="plain")
    with plain.started() as session:
        for ids in batches():
            session.run([tiered.train, plain.train], {tiered.ids: ids, plain.ids: ids})
        contents = plain.contents(session)
        compare(contents)
        keys = [key for var, key in contents if var == "tiered"]
        assert max(tiers(session, tiered, keys)) == (2 if kind == "DRAM_PMEM_SSDHASH" else 1)
        frequency = session.run(tiered.variable.get_frequency(keys))
        everything = np.concatenate(batches())
        assert frequency.tolist() == [int((everything == key).sum()) for key in keys]


def test_persistent_memory_with_a_path_is_a_mapped_file(tmp_path):
    model = Model(storage(tmp_path, rows=4, row_bytes=64, kind="DRAM_PMEM"))
    with model.started() as session:
        for key in range(10):
            session.run(model.train, {model.ids: [key]})
        assert sum(tiers(session, model, range(10))) == 6
        assert [name.startswith("pmem_kv_") for name in os.listdir(tmp_path)] == [True]


def test_keys_wait_for_admission_as_in_memory(tmp_path):
    model = Model(storage(tmp_path, rows=4, row_bytes=64), filter_option=tf.CounterFilter(3))
    with model.started() as session:
        for key in [*range(8)] * 2:
            session.run(model.train, {model.ids: [key]})
        assert tiers(session, model, range(8)) == [-1] * 8
        for key in range(6):
            session.run(model.train, {model.ids: [key]})
        assert tiers(session, model, range(8)) == [1, 1, 0, 0, 0, 0, -1, -1]
        assert session.run(model.variable.total_count()).tolist() == [8, DIM]


# Checkpoints and eviction.


@pytest.mark.parametrize("parts", [None, 3])
@pytest.mark.parametrize(
    "kinds", [("DRAM_SSDHASH", None), (None, "DRAM_SSDHASH"), ("DRAM_PMEM_SSDHASH", "DRAM_LEVELDB")]
)
def test_checkpoints_go_between_any_storage(tmp_path, kinds, parts):
    def made(kind, folder, parts):
        option = kind and storage(tmp_path / folder, rows=14, kind=kind)
        return Model(option, "Adam", parts=parts)

    model = made(kinds[0], "before", None)
    with model.started() as session:
        for ids in batches():
            session.run(model.train, {model.ids: ids})
        contents = model.contents(session)
        where = tiers(session, model, range(90))
        prefix = model.saver.save(session, str(tmp_path / "model"))
        assert tiers(session, model, range(90)) == where  # a save moves no row
    with tf.Graph().as_default():
        model = made(kinds[1], "after", parts)
        with tf.Session() as session:
            model.saver.restore(session, prefix)
            assert model.contents(session) == contents
            for ids in batches(10, seed=1):
                session.run(model.train, {model.ids: ids})


def test_a_restore_puts_the_most_frequent_keys_into_the_first_tier(tmp_path):
    for strategy in (config_pb2.CacheStrategy.LFU, config_pb2.CacheStrategy.LRU):
        with tf.Graph().as_default():
            model = Model(storage(tmp_path, rows=5, row_bytes=64, cache_strategy=strategy))
            with model.started() as session:
                for key in range(30):
                    session.run(model.train, {model.ids: [key] * (1 + key * 7 % 30)})
                prefix = model.saver.save(session, str(tmp_path / "model"))
                freqs = tf.train.load_checkpoint(prefix).get_tensor("var-freqs")
                assert sorted(freqs.tolist()) == list(range(1, 31))
            with tf.Session() as session:
                model.saver.restore(session, prefix)
                assert tiers(session, model, range(30)) == [0 if 1 + key * 7 % 30 > 25 else 1 for key in range(30)]


def test_a_save_evicts_old_rows_of_all_tiers(tmp_path):
    model = Model(storage(tmp_path, rows=4, row_bytes=64), evict_option=tf.GlobalStepEvict(4))
    with model.started() as session:
        for key in [0, 1, 2, 3, 4, 5, 0, 6, 7, 8]:
            session.run(model.train, {model.ids: [key]})
        assert tiers(session, model, range(9)).count(1) == 5
        model.saver.save(session, str(tmp_path / "model"), global_step=model.step)
        # Step 10 less the step of the last training: 4 or less.
        assert sorted(session.run(model.variable.export()[0]).tolist()) == [0, 6, 7, 8]
        versions = session.run(model.variable.get_version(tf.range(9, dtype=tf.int64))).tolist()
        assert versions == [6, -1, -1, -1, -1, -1, 7, 8, 9]


def test_a_save_evicts_small_rows_of_all_tiers(tmp_path):
    option = tf.InitializerOption(initializer=tf.ones_initializer())
    model = Model(
        storage(tmp_path, rows=3, row_bytes=32),
        "GradientDescent",
        evict_option=tf.L2WeightEvict(0.8),
        init_option=option,
    )
    with model.started() as session:
        # Each step makes a row 3/4 of what it was; half its squared norm is 2.5, 1.41, 0.79.
        for key, times in enumerate([1, 2, 1, 2, 1, 2, 1]):
            for _ in range(times):
                session.run(model.train, {model.ids: [key]})
        assert tiers(session, model, range(7)).count(1) == 4
        model.saver.save(session, str(tmp_path / "model"))
        assert sorted(session.run(model.variable.export()[0]).tolist()) == [0, 2, 4, 6]


def test_grouped_lookups_bring_rows_up_and_tell_of_files(tmp_path):
    def grouped(option, parts=None):
        model = Model(option, name="v", parts=parts)
        sparse = tf.SparseTensor(tf.stack([tf.range(6, dtype=tf.int64), tf.zeros([6], tf.int64)], 1), model.ids, [6, 1])
        model.rows = tf.nn.group_embedding_lookup_sparse([model.variable], [sparse], ["sum"])[0]
        return model

    ids = [np.random.RandomState(i).choice(40, 6, replace=False) for i in range(30)]
    rows = []
    for option, parts in (
        (None, None),
        (storage(tmp_path, rows=6, row_bytes=64), None),
        (storage(tmp_path, rows=6, row_bytes=64), 2),
    ):
        with tf.Graph().as_default():
            model = grouped(option, parts)
            with model.started() as session:
                for batch in ids:
                    session.run(model.train, {model.ids: batch})
                rows.append([session.run(model.rows, {model.ids: batch}) for batch in ids])
                if option is not None:
                    below = np.flatnonzero(np.array(tiers(session, model, range(40))) == 1)[:6]
                    for file in tmp_path.iterdir():
                        os.truncate(file, 0)
                    with pytest.raises(tf.errors.DataLossError, match="EmbeddingVariable v"):
                        session.run(model.rows, {model.ids: below})
    for other in rows[1:]:
        np.testing.assert_array_equal(rows[0], other)


# What can go wrong.


@pytest.mark.parametrize(
    "kind", ["HBM", "HBM_DRAM", "HBM_DRAM_SSDHASH", "PMEM_MEMKIND", "PMEM_LIBPMEM", "SSDHASH", "LEVELDB"]
)
def test_storage_without_memory_first_is_refused(tmp_path, kind):
    with pytest.raises(ValueError, match=f"storage_type {kind} is not available.*(GPU|memory).*DRAM_SSDHASH"):
        Model(storage(tmp_path, kind=kind))


@pytest.mark.parametrize("size", [[0], [-1], [1.5], [True], ["1G"], [2**63]])
def test_sizes_are_positive_integers(tmp_path, size):
    with pytest.raises(ValueError, match="storage_size"):
        tf.StorageOption(config_pb2.DRAM_SSDHASH, str(tmp_path), size)


def test_a_path_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below", "/proc/none"):
        with pytest.raises(ValueError, match=f"storage_path.*{path}"):
            storage(path)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    tmp_path.chmod(0o500)
    if os.geteuid() == 0:  # may write everywhere
        monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    with pytest.raises(ValueError, match="storage_path.*written"):
        storage(tmp_path)


def test_a_path_that_is_gone_when_the_variable_is_initialized(tmp_path):
    path = tmp_path / "a"
    model = Model(storage(path))
    path.rmdir()
    path.write_text("")
    with tf.Session() as session, pytest.raises(tf.errors.InternalError, match=f"var.*{path}"):
        session.run(model.variable.initializer)


def test_files_that_are_altered_are_found_and_the_rest_is_kept(tmp_path):
    model = Model(storage(tmp_path, rows=2, row_bytes=64))
    with model.started() as session:
        for key in range(10):
            session.run(model.train, {model.ids: [key]})
        assert sum(tiers(session, model, range(10))) == 8
        (file,) = tmp_path.iterdir()
        os.truncate(file, file.stat().st_size // 2)
        told = 0
        for key in range(10):
            try:
                session.run(model.rows, {model.ids: [key]})
            except tf.errors.DataLossError as error:
                assert str(tmp_path) in error.message
                told += 1
        assert told == 4
        with pytest.raises(tf.errors.DataLossError, match="cut short|does not hold"):
            model.saver.save(session, str(tmp_path / "model"))
        assert not list(tmp_path.glob("model*index"))


def test_a_folder_that_is_gone_fails_a_step_and_loses_nothing(tmp_path):
    path = tmp_path / "a"
    model = Model(storage(path, rows=2, row_bytes=64))
    with model.started() as session:
        path.rmdir()
        told = trained = 0
        for key in range(6):
            try:
                session.run(model.train, {model.ids: [key]})
                trained += 1
            except tf.errors.InternalError as error:
                assert str(path) in error.message
                told += 1
            tiers(session, model, [0])
        assert told > 0
        path.mkdir()
        tiers(session, model, [0])
        keys = session.run(model.exports)["var"][0]
        assert len(keys) == trained
        assert tiers(session, model, keys).count(0) == 2


def test_a_bloom_filter_needs_all_rows_in_memory(tmp_path):
    bloom = tf.CBFFilter(3, max_element_size=100, false_positive_probability=0.01)
    with pytest.raises(ValueError, match="CBFFilter.*DRAM_SSDHASH"):
        Model(storage(tmp_path), filter_option=bloom)
    # Which counts exactly.
    Model(storage(tmp_path), filter_option=tf.CBFFilter(3))


def test_the_initializer_op_checks_its_attributes(raw_table, tmp_path):
    good = dict(storage_type=12, storage_path=str(tmp_path), storage_size=[1024], cache_strategy=1)
    raw_table(**good).step([1, 2, 3])
    for change, message in (
        ({"storage_type": 6}, "storage_type"),
        ({"storage_path": ""}, "storage_path"),
        ({"storage_size": []}, "storage_size"),
        ({"storage_size": [0]}, "storage_size"),
        ({"storage_type": 101}, "storage_size must have 2"),
        ({"cache_strategy": 7}, "cache_strategy"),
        ({"filter_freq": 2, "max_element_size": 9, "false_positive_probability": 0.1}, "Bloom"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            raw_table(**{**good, **change})


# Several variables, sessions and graphs.


def test_variables_and_sessions_share_a_folder(tmp_path):
    first = Model(storage(tmp_path, rows=12), name="first")
    second = Model(storage(tmp_path, rows=12), name="second")
    with first.started() as one, first.started() as two:
        for ids, others in zip(batches(), batches(seed=1)):
            one.run([first.train, second.train], {first.ids: ids, second.ids: others})
            two.run(first.train, {first.ids: others})
        contents = first.contents(one)
        alone = Model(None, name="alone")
        with alone.started() as session:
            for ids in batches():
                session.run(alone.train, {alone.ids: ids})
            for (var, key), row in alone.contents(session).items():
                if var.startswith("alone"):
                    assert contents[var.replace("alone", "first"), key] == row
    assert os.listdir(tmp_path) == []


def test_one_name_has_one_storage(tmp_path):
    def get(option):
        with tf.variable_scope("", reuse=tf.AUTO_REUSE):
            return tf.get_embedding_variable("v", DIM, ev_option=tf.EmbeddingVariableOption(storage_option=option))

    variable = get(storage(tmp_path))
    assert get(storage(tmp_path)) is variable
    assert variable.storage_type == config_pb2.DRAM_SSDHASH and variable.need_counts()
    for other in (None, storage(tmp_path, rows=21), storage(tmp_path / "b"), storage(tmp_path, kind="DRAM_LEVELDB")):
        with pytest.raises(ValueError, match="exists already"):
            get(other)


def test_meta_graphs_keep_the_storage(tmp_path):
    option = tf.EmbeddingVariableOption(storage_option=storage(tmp_path, rows=4, row_bytes=64))
    tf.get_embedding_variable("v", DIM, ev_option=option)
    meta = meta_graph_pb2.MetaGraphDef.FromString(tf.train.export_meta_graph().SerializeToString())
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta)
        variable = tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)[0]
        assert variable.storage_type == config_pb2.DRAM_SSDHASH
        assert variable.config.storage_size[0] == 256 and variable.config.storage_path == str(tmp_path)
        ids = tf.placeholder(tf.int64, [None])
        train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.nn.embedding_lookup(variable, ids)))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for key in range(7):
                session.run(train, {ids: [key]})
            assert set(session.run(variable.lookup_tier(list(range(7))))) == {0, 1}


_PROGRAM = """
import tensorflow as tf
from tensorflow.core.framework.embedding import config_pb2
option = tf.StorageOption(config_pb2.DRAM_SSDHASH, {path!r}, [40 * 64])
v = tf.get_embedding_variable("v", 5, ev_option=tf.EmbeddingVariableOption(storage_option=option))
ids = tf.placeholder(tf.int64, [None])
train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.nn.embedding_lookup(v, ids)))
session = tf.Session()
session.run(tf.global_variables_initializer())
for i in range(50):
    session.run(train, {{ids: range(i * 40, i * 40 + 40)}})
print(session.run(v.lookup_tier(list(range(2000)))).tolist().count(1))
{end}
"""


@pytest.mark.parametrize("end, left", [("", 0), ("import sys; sys.exit(0)", 0), ("import os; os._exit(0)", 1)])
def test_a_process_that_ends_leaves_nothing_and_one_that_is_killed_is_cleaned_up_after(
    check_python, tmp_path, end, left
):
    assert check_python(_PROGRAM.format(path=str(tmp_path), end=end)).splitlines()[-1] == "1960"
    assert len(os.listdir(tmp_path)) == left
    model = Model(storage(tmp_path))
    with model.started():
        assert os.listdir(tmp_path) == []


def test_memory_stays_near_the_first_tier(check_python, tmp_path):
    code = """
import numpy as np, tensorflow as tf
from tensorflow.core.framework.embedding import config_pb2
option = tf.StorageOption(config_pb2.DRAM_SSDHASH, {path!r}, [8 << 20])
v = tf.get_embedding_variable("v", 64, ev_option=tf.EmbeddingVariableOption(storage_option=option))
ids = tf.placeholder(tf.int64, [None])
train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.nn.embedding_lookup(v, ids)))
def resident():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) >> 10
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(train, {{ids: np.arange(4096)}})
    before = resident()
    for begin in range(0, 98 * 4096, 4096):
        session.run(train, {{ids: np.arange(begin, begin + 4096)}})
    tiers = session.run(v.lookup_tier(np.arange(98 * 4096)))
    print((tiers == 0).sum(), resident() - before)
"""
    first, grown = map(int, check_python(code.format(path=str(tmp_path))).splitlines()[-1].split())
    assert first == (8 << 20) // 512
    # The rows are 200 MB, the index is 8 to 16.
    assert grown < 80
