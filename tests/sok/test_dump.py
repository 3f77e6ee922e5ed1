import os
import struct

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

_ROWS = 9


def _setup(sok):
    static = sok.Variable(np.arange(2.0 * _ROWS).reshape(_ROWS, 2), dtype=tf.float32, name="static/table")
    dynamic = sok.DynamicVariable(3, initializer="1", name="dynamic")
    import tf_keras.src.optimizers.legacy.adam as adam

    return [static, dynamic], sok.OptimizerWrapper(adam.Adam(0.1))


def _train(made):
    (static, dynamic), optimizer = made
    keys = tf.constant([4, 2], tf.int64)
    pairs = [
        (tf.IndexedSlices(tf.ones([2, 2]), keys, tf.constant([_ROWS, 2], tf.int64)), static),
        (tf.IndexedSlices(tf.ones([2, 3]), keys), dynamic),
    ]
    return optimizer.apply_gradients(pairs)


def _state(sok, made):
    (static, dynamic), optimizer = made
    return [
        tf.convert_to_tensor(static),
        *sok.export(dynamic),
        tf.convert_to_tensor(optimizer.get_slot(static, "v")),
        *sok.export(optimizer.get_slot(dynamic, "m")),
    ]


@pytest.mark.parametrize("mode", ["eager", "session"])
def test_tables_and_slots_come_back_as_they_were(sok, mode, tmp_path):
    path = str(tmp_path / "new" / "folder")

    def program(load):
        made = _setup(sok)
        if mode == "eager":
            if not load:
                _train(made)
            (sok.load if load else sok.dump)(path, made[0], made[1])
            return [value.numpy() for value in _state(sok, made)]
        with tf.compat.v1.Session() as sess:
            step = _train(made)
            state = _state(sok, made)
            sess.run(tf.compat.v1.global_variables_initializer())
            if not load:
                sess.run(step)
            (sok.load if load else sok.dump)(path, made[0], made[1])
            return sess.run(state)

    with context.eager_mode() if mode == "eager" else tf.Graph().as_default():
        dumped = program(False)
    with context.eager_mode() if mode == "eager" else tf.Graph().as_default():
        loaded = program(True)
    assert dumped[1].tolist() == [2, 4] and dumped[0][4, 0] != 8
    for before, after in zip(dumped, loaded):
        np.testing.assert_array_equal(before, after)


@pytest.fixture
def eager():
    with context.eager_mode():
        yield


def test_files_have_the_format_that_is_described(sok, eager, tmp_path):
    made = _setup(sok)
    _train(made)
    sok.dump(str(tmp_path), *made)
    assert sorted(os.listdir(tmp_path)) == sorted(
        f"{table}-{part}" for table in ("static_table_0", "dynamic_0") for part in ("key", "weight", "Adam-m", "Adam-v")
    )
    cases = [
        ("static_table_0-key", 0, b"static/table", 1, "<i8", np.arange(_ROWS)),
        ("static_table_0-weight", 1, b"static/table", 5, "<f4", made[0][0].numpy().ravel()),
        ("dynamic_0-key", 0, b"dynamic", 1, "<i8", [2, 4]),
        ("dynamic_0-Adam-m", 2, b"m", 5, "<f4", np.full(6, 0.1)),
    ]
    for name, kind, variable, dtype, numpy_dtype, values in cases:
        data = (tmp_path / name).read_bytes()
        # Where upstream has room for a name: the number of the dump.
        assert data[:224] == b" " * 224 and int(data[224:256], 16)
        assert struct.unpack(">I", data[256:260]) == (kind,)
        assert data[260:292] == variable.rjust(32)
        assert struct.unpack(">I", data[292:296]) == (dtype,)
        np.testing.assert_allclose(np.frombuffer(data[296:], numpy_dtype), values, rtol=1e-6)


def test_keys_of_a_localized_table_are_unsigned(sok, eager, tmp_path):
    table = sok.Variable(np.ones([3, 1], np.float32), mode="localized:0", name="here")
    sok.dump(str(tmp_path), table)
    assert struct.unpack(">I", (tmp_path / "here_0-key").read_bytes()[292:296]) == (3,)
    table.assign(np.zeros([3, 1]))
    sok.load(str(tmp_path), table)
    np.testing.assert_array_equal(table, np.ones([3, 1]))


def test_an_empty_table_has_files_with_headers_alone(sok, eager, tmp_path):
    table = sok.DynamicVariable(2, name="empty")
    sok.dump(str(tmp_path), table)
    assert (tmp_path / "empty_0-key").stat().st_size == (tmp_path / "empty_0-weight").stat().st_size == 296
    sok.load(str(tmp_path), table)
    assert table.size.numpy()[0] == 0


def test_rows_go_in_rounds(sok, eager, tmp_path, monkeypatch):
    from sparse_operation_kit import dump_load

    monkeypatch.setattr(dump_load, "ROUND_BYTES", 100)
    values = np.random.default_rng(0).standard_normal([101, 3]).astype(np.float32)
    table = sok.Variable(values, name="t")
    sok.dump(str(tmp_path), table)
    table.assign(np.zeros_like(values))
    sok.load(str(tmp_path), table)
    np.testing.assert_array_equal(table, values)


def _cut(path):
    path.write_bytes(path.read_bytes()[:-4])


def _shorter(path):
    path.write_bytes(path.read_bytes()[:-12])


def _headless(path):
    path.write_bytes(b"short")


def _other_kind(path):
    data = path.read_bytes()
    path.write_bytes(data[:256] + struct.pack(">I", 2) + data[260:])


@pytest.mark.parametrize(
    "change, part, error, text",
    [
        (_cut, "weight", ValueError, "cut short"),
        (_shorter, "weight", ValueError, "has 3 rows of 3 elements, but .* has 4 keys"),
        (_headless, "key", ValueError, "too short for its header"),
        (_other_kind, "weight", ValueError, "file type 1"),
        (os.remove, "weight", FileNotFoundError, "t_0-weight"),
    ],
)
def test_files_that_do_not_fit_are_named_and_change_nothing(sok, eager, tmp_path, change, part, error, text):
    table = sok.Variable(np.ones([4, 3], np.float32), name="t")
    sok.dump(str(tmp_path), table)
    table.assign(np.zeros([4, 3]))
    change(tmp_path / f"t_0-{part}")
    with pytest.raises(error, match=text):
        sok.load(str(tmp_path), table)
    np.testing.assert_array_equal(table, np.zeros([4, 3]))


def test_keys_past_the_table_are_refused(sok, eager, tmp_path):
    sok.dump(str(tmp_path), sok.Variable(np.ones([4, 3], np.float32), name="t"))
    with pytest.raises(ValueError, match=r"not in \[0, 3\)"):
        sok.load(str(tmp_path), sok.Variable(np.ones([3, 3], np.float32), name="t"))


def test_more_keys_than_the_capacity_are_refused(sok, eager, tmp_path):
    table = sok.DynamicVariable(1, var_type="hybrid", name="full")
    sok.assign(table, [1, 2], tf.ones([2, 1]))
    sok.dump(str(tmp_path), table)
    small = sok.DynamicVariable(1, var_type="hybrid", max_capacity=1, name="less")
    for path in list(tmp_path.iterdir()):
        path.rename(path.with_name(path.name.replace("full", "less")))
    with pytest.raises(ValueError, match="less_0-key has 2 keys of this rank, but .* max_capacity=1"):
        sok.load(str(tmp_path), small)
    assert int(small.size[0]) == 0


def test_a_file_that_cannot_be_written_leaves_no_part_of_it(sok, eager, tmp_path):
    table = sok.DynamicVariable(1, name="blocked")
    (tmp_path / "blocked_0-key").mkdir()
    with pytest.raises(OSError, match="blocked_0-key"):
        sok.dump(str(tmp_path), table)
    assert [path.name for path in tmp_path.iterdir()] == ["blocked_0-key"]


def test_tables_that_have_no_files_are_refused(sok, eager, tmp_path):
    with pytest.raises(TypeError, match="dump_vars must be"):
        sok.dump(str(tmp_path), [tf.constant(1)])
    with pytest.raises(ValueError, match="t_0 more than once"):
        sok.dump(str(tmp_path), [sok.Variable([[1.0]], name="t"), sok.Variable([[1.0]], name="t")])
    with pytest.raises(ValueError, match="optimizer must be one of"):
        sok.dump(str(tmp_path), [sok.Variable([[1.0]], name="u")], tf.compat.v1.train.RMSPropOptimizer(1.0))
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="session"):
        sok.dump(str(tmp_path), [sok.Variable([[1.0]], name="g")])


def _tables_of(sok, keys):
    tables = [sok.DynamicVariable(2, initializer="0", name=name) for name in ("t", "u")]
    for table in tables:
        table.insert(keys, np.repeat(np.array(keys, np.float32)[:, None], 2, 1))
    return tables


# Two tables: two old key files are removed, then four files replaced.
@pytest.mark.parametrize("done", range(7))
def test_a_dump_that_is_cut_short_leaves_the_earlier_one_of_all_tables_or_none(
    sok, eager, tmp_path, interrupt_files, done
):
    folder = str(tmp_path)
    sok.dump(folder, _tables_of(sok, [1, 2, 3]))
    interrupt_files(done)
    if done < 6:
        with pytest.raises(KeyboardInterrupt):
            sok.dump(folder, _tables_of(sok, [7, 8, 9]))
    else:
        sok.dump(folder, _tables_of(sok, [7, 8, 9]))
    loaded = _tables_of(sok, [5])
    if done in (0, 6):
        sok.load(folder, loaded)
        expected = [1, 2, 3, 5] if done == 0 else [5, 7, 8, 9]
        assert all(sok.export(table)[0].numpy().tolist() == expected for table in loaded)
        return
    with pytest.raises(FileNotFoundError, match="-key"):
        sok.load(folder, loaded)


def test_a_dump_that_is_cut_short_while_it_writes_leaves_the_earlier_one(sok, eager, tmp_path, monkeypatch):
    from sparse_operation_kit import files

    sok.dump(str(tmp_path), _tables_of(sok, [1, 2, 3]))
    calls, write = iter(range(100)), files.little_endian

    def cut(values):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return write(values)

    monkeypatch.setattr(files, "little_endian", cut)
    with pytest.raises(KeyboardInterrupt):
        sok.dump(str(tmp_path), _tables_of(sok, [7, 8, 9]))
    loaded = _tables_of(sok, [])
    sok.load(str(tmp_path), loaded)
    assert [sok.export(table)[0].numpy().tolist() for table in loaded] == [[1, 2, 3]] * 2


def test_files_of_two_dumps_are_not_mixed(sok, eager, tmp_path):
    for keys, folder in (([1, 2, 3], "old"), ([7, 8, 9], "new")):
        sok.dump(str(tmp_path / folder), _tables_of(sok, keys))
    os.replace(tmp_path / "new" / "t_0-key", tmp_path / "old" / "t_0-key")
    loaded = _tables_of(sok, [5])
    with pytest.raises(ValueError, match="-weight is of another dump than .*-key"):
        sok.load(str(tmp_path / "old"), loaded)
    assert sok.export(loaded[0])[0].numpy().tolist() == [5]


def test_files_without_a_dump_of_upstream_are_loaded(sok, tmp_path):
    with context.eager_mode():
        made = sok.DynamicVariable(1, initializer="2", name="u")
        made.sparse_read(tf.constant([4], tf.int64))
        sok.dump(str(tmp_path), made)
        for path in tmp_path.iterdir():
            path.write_bytes(b" " * 256 + path.read_bytes()[256:])
        loaded = sok.DynamicVariable(1, initializer="0", name="u")
        sok.load(str(tmp_path), loaded)
        keys, rows = sok.export(loaded)
        assert keys.numpy().tolist() == [4] and rows.numpy().tolist() == [[2.0]]
