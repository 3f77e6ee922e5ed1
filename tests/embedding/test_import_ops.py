"""KvResourceImportV3: what SaveV3, the released writer and older versions have written comes back."""

import glob
import os

import numpy as np
import pytest
import tensorflow as tf

KEYS = np.unique(np.concatenate([np.random.RandomState(5).randint(-(2**62), 2**62, 4000), np.arange(-30, 30)]))
POOL = np.array([[7.0, 8.0, 9.0, 10.0]])
FRESH = POOL[0].tolist()
NEW_SLOT = [np.float64(np.float32(0.1))] * 4


def part_of(keys, parts):
    return np.mod(np.mod(keys, 1000), parts)


def write(prefix, **tensors):
    """A checkpoint by the released writer."""
    names = list(tensors)
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(
            tf.raw_ops.SaveV2(
                prefix=prefix,
                tensor_names=names,
                shape_and_slices=[""] * len(names),
                tensors=[tf.constant(tensors[n]) for n in names],
            )
        )


def save_parts(raw_table, folder, parts, keys=KEYS):
    """A checkpoint of `keys` in so many partitions (0: not partitioned); {key: row}, {key: row of the slot}."""
    values, slots, prefixes = {}, {}, []
    for part in range(max(parts, 1)):
        table = raw_table(pool=POOL)
        table.step(keys if parts == 0 else keys[part_of(keys, parts) == part])
        name = "var" if parts == 0 else f"var/part_{part}"
        prefixes.append(f"{folder}/saved-{part}")
        table.save(prefixes[-1], names=[name, f"{name}/Adagrad"])
        values.update(table.content())
        slots.update(table.content(slot=True))
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=f"{folder}/model"))
    return f"{folder}/model", values, slots


@pytest.mark.parametrize("key_dtype", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_what_was_saved_comes_back(raw_table, tmp_path, key_dtype, dtype):
    keys = KEYS if key_dtype == "int64" else np.unique(KEYS.astype(np.int32))
    table = raw_table(4, key_dtype, dtype, pool=POOL)
    table.step(keys)
    table.save(str(tmp_path / "model"))
    restored = raw_table(4, key_dtype, dtype, pool=-POOL)
    restored.restore(str(tmp_path / "model"))
    assert restored.content() == table.content() and restored.content(slot=True) == table.content(slot=True)
    assert sorted(restored.content()) == keys.tolist()
    grad = np.random.RandomState(3).randn(len(keys), 4)
    for each in (table, restored):
        each.step(keys, grad)
    assert restored.content() == table.content()


@pytest.mark.parametrize("saved", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("parts", [0, 1, 2, 4, 7])
def test_any_number_of_partitions_becomes_any_other(raw_table, tmp_path, saved, parts):
    prefix, values, slots = save_parts(raw_table, str(tmp_path), saved)
    found, found_slots = {}, {}
    for part in range(max(parts, 1)):
        table = raw_table(pool=-POOL, part=part, parts=max(parts, 1))
        if part % 2:
            # By the name of the variable without its part, or by that of the part itself.
            table.restore(prefix)
        else:
            name = f"var/part_{part}" if parts > 1 else "var"
            table.restore(prefix, name, f"{name}/Adagrad")
        content = table.content()
        assert (part_of(np.array(list(content)), max(parts, 1)) == part).all()
        assert not found.keys() & content.keys()
        found.update(content)
        found_slots.update(table.content(slot=True))
    assert found == values and found_slots == slots and len(found) == len(KEYS)


def test_all_sources_may_be_named(raw_table, tmp_path):
    prefix, values, slots = save_parts(raw_table, str(tmp_path), 3)
    table = raw_table(pool=-POOL)
    table.restore(prefix, [f"var/part_{i}" for i in range(3)], [f"var/part_{i}/Adagrad" for i in range(3)])
    assert table.content() == values and table.content(slot=True) == slots


def test_checkpoints_without_offsets_are_read_and_sorted_out(raw_table, tmp_path):
    keys = np.random.RandomState(2).permutation(KEYS)
    rows = np.random.RandomState(3).randn(len(keys), 4).astype(np.float32)
    slots = np.abs(rows) + 1
    freqs = np.arange(len(keys)) + 1
    prefix = str(tmp_path / "old")
    write(
        prefix,
        **{
            "var-keys": keys,
            "var-values": rows,
            "var-freqs": freqs,
            "var/Adagrad-keys": keys,
            "var/Adagrad-values": slots,
        },
    )
    for parts in (1, 3):
        for part in range(parts):
            table = raw_table(pool=POOL, part=part, parts=parts, record_freq=True, record_version=True)
            table.restore(prefix)
            mine = np.flatnonzero(part_of(keys, parts) == part)
            assert table.content() == dict(zip(keys[mine].tolist(), rows[mine].astype(float).tolist()))
            assert table.content(slot=True) == dict(zip(keys[mine].tolist(), slots[mine].astype(float).tolist()))
            np.testing.assert_array_equal(table.frequencies(keys[mine]), freqs[mine])
            np.testing.assert_array_equal(table.versions(keys[mine]), np.full(len(mine), -1))


def test_restoring_replaces_what_there_was(raw_table, tmp_path):
    table = raw_table(pool=POOL)
    table.step([1, 2, 3])
    table.save(str(tmp_path / "model"))
    content, slots = table.content(), table.content(slot=True)
    table.step([3, 4, 5])
    table.restore(str(tmp_path / "model"))
    assert table.content() == content and table.content(slot=True) == slots


def test_a_slot_that_lacks_keys_starts_them_as_new(raw_table, tmp_path):
    prefix = str(tmp_path / "old")
    write(
        prefix,
        **{
            "var-keys": np.array([1, 2, 3]),
            "var-values": np.ones([3, 4], np.float32),
            "var/Adagrad-keys": np.array([2, 9]),
            "var/Adagrad-values": np.full([2, 4], 5, np.float32),
        },
    )
    table = raw_table()
    table.restore(prefix)
    assert table.content(slot=True) == {1: NEW_SLOT, 2: [5.0] * 4, 3: NEW_SLOT}
    # A slot that the checkpoint does not have at all is an error, and no more.
    with pytest.raises(tf.errors.NotFoundError, match="EmbeddingVariable var/Adam is not in the checkpoint .*old"):
        table.restore(prefix, slot_names="var/Adam")
    assert table.content(slot=True) == {1: NEW_SLOT, 2: NEW_SLOT, 3: NEW_SLOT}


def test_frequencies_and_versions_come_back(raw_table, tmp_path):
    table = raw_table(record_freq=True, record_version=True)
    table.step([1, 1, 1, 2], step=4)
    table.step([2], step=6)
    prefix = str(tmp_path / "model")
    table.save(prefix)
    restored = raw_table(record_freq=True, record_version=True)
    restored.restore(prefix)
    assert restored.frequencies([1, 2, 3]).tolist() == [3, 2, 0]
    assert restored.versions([1, 2, 3]).tolist() == [4, 6, -1]
    restored.restore(prefix, reset_version=True)
    assert restored.versions([1, 2, 3]).tolist() == [0, 0, -1]


def test_without_saved_frequencies_keys_stay_admitted(raw_table, tmp_path):
    table = raw_table()
    table.step([1, 2])
    table.save(str(tmp_path / "model"))
    for threshold in (0, 5):
        restored = raw_table(filter_freq=threshold, record_freq=True, record_version=True)
        restored.restore(str(tmp_path / "model"))
        assert restored.content() == table.content()
        assert restored.frequencies([1, 2]).tolist() == [max(threshold, 1)] * 2
        assert restored.versions([1, 2]).tolist() == [-1, -1]


@pytest.mark.parametrize("parts", [1, 2])
def test_waiting_keys_are_judged_by_the_new_threshold(raw_table, tmp_path, parts):
    table = raw_table(pool=POOL, filter_freq=4, record_version=True)
    table.step([1] * 4 + [2] * 3 + [-3] * 2 + [4], step=6)
    prefix = str(tmp_path / "model")
    table.save(prefix)
    trained = table.content()
    for threshold, admitted in ((6, [1]), (4, [1]), (3, [1, 2]), (2, [1, 2, -3]), (0, [1, 2, -3, 4])):
        content, slots = {}, {}
        for part in range(parts):
            restored = raw_table(
                pool=POOL, part=part, parts=parts, filter_freq=threshold, record_freq=True, record_version=True
            )
            restored.restore(prefix)
            mine = [k for k in (1, 2, -3, 4) if k % 1000 % parts == part]
            assert restored.size() == len(mine)
            saved = {1: max(threshold, 4), 2: 3, -3: 2, 4: 1}
            assert restored.frequencies(mine).tolist() == [saved[k] for k in mine]
            assert restored.versions(mine).tolist() == [6] * len(mine)
            content.update(restored.content())
            slots.update(restored.content(slot=True))
            # One more occurrence counts on from there.
            if threshold == 4 and 2 in mine:
                restored.step([2], step=7)
                assert 2 in restored.content()
        assert content == {k: trained.get(k, FRESH) for k in admitted}
        assert {k: s for k, s in slots.items() if k != 1} == {k: NEW_SLOT for k in admitted if k != 1}


def test_a_table_of_another_dim_is_refused_unless_asked_for(raw_table, tmp_path, monkeypatch):
    table = raw_table(dim=4, pool=POOL)
    table.step([1, 2])
    prefix = str(tmp_path / "model")
    table.save(prefix)
    wide = raw_table(dim=6, pool=np.arange(6.0)[None])
    narrow = raw_table(dim=2)
    wide.step([5])
    for other in (wide, narrow):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"var-values .* of shape \[2,4\].*needs float of shape"
        ):
            other.restore(prefix)
    assert list(wide.content()) == [5]
    monkeypatch.setenv("TF_EV_RESTORE_CUSTOM_DIM", "true")
    for other in (wide, narrow):
        other.restore(prefix)
    assert wide.content() == {k: row + [4.0, 5.0] for k, row in table.content().items()}
    assert wide.content(slot=True) == {k: row + NEW_SLOT[:2] for k, row in table.content(slot=True).items()}
    assert narrow.content() == {k: row[:2] for k, row in table.content().items()}


def test_a_variable_is_initialized_when_it_has_been_imported(raw_table, tmp_path):
    table = raw_table()
    table.step([1, 2])
    prefix = str(tmp_path / "model")
    table.save(prefix)
    restored = raw_table(for_restore=True)
    assert not restored.is_initialized() and not restored.is_initialized(slot=True)
    with pytest.raises(tf.errors.FailedPreconditionError, match="var is not initialized"):
        restored.lookup([1])
    with pytest.raises(tf.errors.FailedPreconditionError, match="Slot var/Adagrad can not be restored before"):
        restored.run(
            lambda t: t.ops.kv_resource_import_v3(
                prefix, t.slot, "var/Adagrad", tf.constant(0, tf.int64), dtype=tf.float32
            )
        )
    with pytest.raises(tf.errors.NotFoundError):
        restored.restore(prefix + "none")
    assert not restored.is_initialized()
    restored.restore(prefix, slot_names=None)
    assert restored.is_initialized() and not restored.is_initialized(slot=True)
    restored.restore(prefix)
    assert restored.is_initialized(slot=True)
    assert restored.content() == table.content()
    # To be restored again leaves it as it is until then; to be initialized empties it.
    restored.run(lambda t: t.init_variable)
    assert restored.is_initialized() and restored.size() == 2
    with pytest.raises(tf.errors.FailedPreconditionError, match="must be initialized, for_restore or otherwise"):
        raw_table(initialize=False).restore(prefix)


def test_what_does_not_fit_the_variable_is_named(raw_table, tmp_path):
    table = raw_table(key_dtype="int32")
    table.step([1])
    prefix = str(tmp_path / "model")
    table.save(prefix)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="var-keys .* is int32 .*var takes a vector of keys of dtype int64"
    ):
        raw_table().restore(prefix)
    with pytest.raises(tf.errors.InvalidArgumentError, match="var-values .* is float of shape .*needs double"):
        raw_table(key_dtype="int32", dtype="float64").restore(prefix)
    with pytest.raises(tf.errors.NotFoundError, match="EmbeddingVariable other is not in the checkpoint"):
        raw_table(key_dtype="int32").restore(prefix, "other")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"partition_id must be in \[0, 2\), got 2"):
        raw_table(key_dtype="int32", part=2, parts=2).restore(prefix)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tensor_names must be a scalar or \[n\]"):
        raw_table(key_dtype="int32").restore(prefix, np.array([], str))
    with pytest.raises(tf.errors.NotFoundError, match="There is no checkpoint .*nowhere"):
        raw_table().restore(str(tmp_path / "nowhere"))


def test_a_missing_partition_is_named(raw_table, tmp_path):
    prefixes = []
    for part in (0, 2):
        table = raw_table()
        table.step([part])
        prefixes.append(str(tmp_path / f"{part}"))
        table.save(prefixes[-1], names=[f"var/part_{part}", f"var/part_{part}/Adagrad"])
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(
            tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=str(tmp_path / "model"))
        )
    with pytest.raises(tf.errors.NotFoundError, match="has var/part_2, but not var/part_1"):
        raw_table().restore(str(tmp_path / "model"))


def test_keys_outside_of_their_buckets_are_refused(raw_table, tmp_path):
    prefix = str(tmp_path / "model")
    offsets = np.array([0] + [2] * 1000, np.int32)
    write(
        prefix,
        **{"var-keys": np.array([0, 7]), "var-values": np.ones([2, 4], np.float32), "var-partition_offset": offsets},
    )
    with pytest.raises(tf.errors.DataLossError, match="var-keys .* has key 7 outside of its bucket"):
        raw_table(part=0, parts=2).restore(prefix, slot_names=None)
    write(
        prefix,
        **{
            "var-keys": np.array([0, 7]),
            "var-values": np.ones([2, 4], np.float32),
            "var-partition_offset": offsets + 1,
        },
    )
    with pytest.raises(tf.errors.DataLossError, match="var-partition_offset .* ascending int32 from 0 to 2"):
        raw_table().restore(prefix, slot_names=None)


@pytest.mark.parametrize("damage", ["flipped", "cut short", "removed"])
def test_a_damaged_file_is_refused_by_name_and_changes_nothing(raw_table, tmp_path, damage):
    saved = raw_table(record_freq=True)
    saved.step(KEYS)
    prefix = str(tmp_path / "model")
    saved.save(prefix, tensors=[("dense", np.ones(3, np.float32))])
    table = raw_table(record_freq=True)
    table.step([1, 2])
    content, slots = table.content(), table.content(slot=True)
    files = sorted(glob.glob(f"{prefix}.data-*"))
    assert len(files) == 5  # dense, keys and offsets, frequencies, rows, slot rows
    for path in [*files[1:], f"{prefix}.index"]:
        whole = open(path, "rb").read()
        with open(path, "wb") as f:
            middle = len(whole) // 2
            flipped = whole[:middle] + bytes([whole[middle] ^ 16]) + whole[middle + 1 :]
            f.write(flipped if damage == "flipped" else whole[:middle])
        if damage == "removed":
            os.remove(path)
        expected = tf.errors.NotFoundError if damage == "removed" else tf.errors.DataLossError
        only_slot = path == files[4]
        with pytest.raises(expected, match=os.path.basename(path)):
            table.restore(prefix, slot_names="var/Adagrad" if only_slot else None)
        if not only_slot:
            assert table.content() == content and table.content(slot=True) == slots
        else:
            # The variable was restored before.
            assert table.content() == saved.content()
            assert set(map(tuple, table.content(slot=True).values())) == {tuple(NEW_SLOT)}
            table.run(lambda t: t.init_variable)
            table.run(lambda t: t.init_slot)
            table.step([1, 2])
        with open(path, "wb") as f:
            f.write(whole)
    table.restore(prefix)
    assert table.content() == saved.content()
