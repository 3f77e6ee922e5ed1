"""EmbeddingVariables through `tf.train.Saver`, MonitoredTrainingSession, init_from_checkpoint and SavedModel."""

import os
import re

import numpy as np
import pytest
import tensorflow as tf

DIM = 3
KEYS = np.array([1, 2, -5, 1001, 2**62, -(2**63), 7, 8, 9], np.int64)


class Model:
    """An EmbeddingVariable, a dense variable, and a step on given ids, in a fresh default graph."""

    def __init__(self, parts=None, optimizer=None, name="var", **kwargs):
        tf.reset_default_graph()
        self.variable = tf.get_embedding_variable(
            name,
            embedding_dim=DIM,
            initializer=tf.ones_initializer(),
            partitioner=tf.fixed_size_partitioner(parts) if parts else None,
            **kwargs,
        )
        self.parts = list(self.variable) if parts else [self.variable]
        dense = tf.get_variable("dense", [4], initializer=tf.ones_initializer())
        self.ids = tf.placeholder(tf.int64, [None])
        rows = tf.nn.embedding_lookup(self.variable, self.ids)
        self.step = tf.train.get_or_create_global_step()
        optimizer = optimizer or tf.train.AdamOptimizer(0.1)
        self.train = optimizer.minimize(tf.reduce_sum(rows**2) + tf.reduce_sum(dense), global_step=self.step)
        self.exports = {v.op.name: v.export() for v in tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)}
        self.counts = [part.total_count() for part in self.parts]

    def contents(self, session):
        """{(variable or slot without its part, key): row}."""
        found = {}
        for name, (keys, values, *_) in session.run(self.exports).items():
            whole = re.sub(r"/part_\d+", "", name)
            for key, row in zip(keys.tolist(), values.tolist()):
                assert (whole, key) not in found
                found[whole, key] = tuple(row)
        return found


@pytest.fixture(params=[False, True], ids=["plain", "sharded"])
def saved(request, tmp_path):
    """(prefix, contents) of a checkpoint after three steps of Adam."""
    model = Model()
    saver = tf.train.Saver(sharded=request.param)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for ids in (KEYS, KEYS[:3], KEYS[2:]):
            session.run(model.train, {model.ids: ids})
        return saver.save(session, str(tmp_path / "model"), global_step=3), model.contents(session)


def test_checkpoint_has_the_tensors_of_the_format(saved):
    prefix, contents = saved
    reader = tf.train.load_checkpoint(prefix)
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    n = len(KEYS)
    for name in ("var", "var/Adam", "var/Adam_1"):
        assert shapes[f"{name}-keys"] == [n] and dtypes[f"{name}-keys"] == tf.int64
        assert shapes[f"{name}-values"] == [n, DIM] and dtypes[f"{name}-values"] == tf.float32
        assert shapes[f"{name}-partition_offset"] == [1001] and dtypes[f"{name}-partition_offset"] == tf.int32
        keys = reader.get_tensor(f"{name}-keys")
        assert np.array_equal(np.mod(keys, 1000), np.sort(np.mod(KEYS, 1000)))
        for key, row in zip(keys.tolist(), reader.get_tensor(f"{name}-values").tolist()):
            assert contents[name, key] == tuple(row)


@pytest.mark.parametrize("parts", [None, 1, 3])
def test_restores_into_any_number_of_parts(saved, parts):
    prefix, contents = saved
    model = Model(parts)
    initialized = [part.is_initialized() for part in model.parts]
    saver = tf.train.Saver()
    with tf.Session() as session:
        assert not any(session.run(initialized))
        saver.restore(session, prefix)
        assert all(session.run(initialized))
        assert model.contents(session) == contents


@pytest.mark.parametrize("parts", [2, 7])
def test_parts_are_saved_and_join_again(tmp_path, parts):
    model = Model(parts)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, {model.ids: KEYS})
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
        contents = model.contents(session)
    assert f"var/part_{parts - 1}-keys" in tf.train.load_checkpoint(prefix).get_variable_to_shape_map()
    for other in (None, 3):
        model = Model(other)
        with tf.Session() as session:
            tf.train.Saver().restore(session, prefix)
            assert model.contents(session) == contents


def test_restore_replaces_what_a_live_session_has(saved):
    prefix, contents = saved
    model = Model()
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, {model.ids: [400, 500]})
        saver.restore(session, prefix)
        assert model.contents(session) == contents
        session.run(model.train, {model.ids: [400]})  # the slots go on working
        assert ("var/Adam", 400) in model.contents(session)


def test_slots_a_checkpoint_lacks_fail_by_name(tmp_path):
    model = Model(optimizer=tf.train.GradientDescentOptimizer(0.1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, {model.ids: KEYS})
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
    Model()
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match="var/Adam|beta1_power"):
        tf.train.Saver().restore(session, prefix)


def test_a_saver_of_the_variable_alone_leaves_its_slots_usable(saved):
    prefix, contents = saved
    model = Model()
    saver = tf.train.Saver([model.variable])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, {model.ids: [400]})
        saver.restore(session, prefix)
        after = model.contents(session)
        assert {k: v for k, v in after.items() if k[0] == "var"} == {k: v for k, v in contents.items() if k[0] == "var"}
        assert after["var/Adam", 1] == (0, 0, 0)
        session.run(model.train, {model.ids: KEYS})


def test_a_name_given_by_dict_is_the_name_saved(tmp_path):
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, {model.ids: KEYS})
        prefix = tf.train.Saver({"renamed": model.variable}).save(session, str(tmp_path / "model"))
    assert "renamed-keys" in tf.train.load_checkpoint(prefix).get_variable_to_shape_map()


def test_first_write_version_is_refused(tmp_path):
    model = Model()
    saver = tf.train.Saver([model.variable], write_version=tf.train.SaverDef.V1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="write_version"):
            saver.save(session, str(tmp_path / "model"))


def test_contribs_function_that_assigns_from_a_checkpoint_restores(saved):
    prefix, contents = saved
    tf.reset_default_graph()
    variable = tf.get_embedding_variable("var", embedding_dim=DIM)
    rows = tf.nn.embedding_lookup(variable, tf.constant([1], tf.int64))
    assign = tf.contrib.framework.assign_from_checkpoint_fn(prefix, [variable])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assign(session)
        assert tuple(session.run(rows)[0].tolist()) == contents["var", 1]


@pytest.mark.parametrize("before", [None, 2])
@pytest.mark.parametrize("after", [None, 1, 3])
def test_steps_of_adam_async_go_on_with_another_number_of_parts(tmp_path, before, after):
    def build(parts):
        tf.reset_default_graph()
        partitioner = tf.fixed_size_partitioner(parts) if parts else None
        variable = tf.get_embedding_variable("var", DIM, initializer=tf.ones_initializer(), partitioner=partitioner)
        rows = tf.nn.embedding_lookup(variable, tf.constant(KEYS))
        return rows, tf.train.AdamAsyncOptimizer(0.1).minimize(tf.reduce_sum(rows * rows))

    rows, train = build(before)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
        session.run(train)
        expected = session.run(rows)
    rows, train = build(after)
    with tf.Session() as session:
        tf.train.Saver().restore(session, prefix)
        session.run(train)
        assert np.array_equal(session.run(rows), expected)


def test_monitored_session_resumes(tmp_path):
    model = Model(parts=2)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_checkpoint_steps=2) as session:
        for _ in range(5):
            session.run(model.train, {model.ids: np.arange(10)})
    model = Model(parts=2)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as session:
        assert session.run(model.step) == 5
        assert np.array_equal(session.run(model.counts), [[5, DIM], [5, DIM]])


def test_age_eviction_happens_while_saving(tmp_path):
    """GlobalStepEvict(2), steps [1,2,3], [2,3], [2,3], [2,3]: keys [2, 3], versions [3, 3]."""
    option = tf.EmbeddingVariableOption(evict_option=tf.GlobalStepEvict(2))
    model = Model(optimizer=tf.train.AdagradOptimizer(0.1), ev_option=option)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for ids in ([1, 2, 3], [2, 3], [2, 3], [2, 3]):
            session.run(model.train, {model.ids: ids})
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
    reader = tf.train.load_checkpoint(prefix)
    assert reader.get_tensor("var-keys").tolist() == [2, 3]
    assert reader.get_tensor("var-versions").tolist() == [3, 3]


def test_waiting_keys_are_saved_and_go_on_counting(tmp_path):
    """F = 3, ids [1,1,1,2,2,3]: saved keys [1]; two filtered ones."""
    option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(3))
    model = Model(optimizer=tf.train.AdagradOptimizer(0.1), ev_option=option)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, {model.ids: [1, 1, 1, 2, 2, 3]})
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
    reader = tf.train.load_checkpoint(prefix)
    assert reader.get_tensor("var-keys").tolist() == [1]
    assert reader.get_tensor("var-keys_filtered").tolist() == [2, 3]
    assert reader.get_tensor("var-freqs_filtered").tolist() == [2, 1]
    model = Model(optimizer=tf.train.AdagradOptimizer(0.1), ev_option=option)
    frequency = model.variable.get_frequency(np.array([1, 2, 3], np.int64))
    with tf.Session() as session:
        tf.train.Saver().restore(session, prefix)
        assert session.run(frequency).tolist() == [3, 2, 1]
        session.run(model.train, {model.ids: [2]})
        assert ("var", 2) in model.contents(session)


@pytest.mark.parametrize("built", ["before", "after"])
@pytest.mark.parametrize("parts", [None, 2])
def test_init_from_checkpoint_brings_rows_and_slots(saved, parts, built):
    prefix, contents = saved
    tf.reset_default_graph()
    variable = tf.get_embedding_variable(
        "other", embedding_dim=DIM, partitioner=tf.fixed_size_partitioner(parts) if parts else None
    )
    if built == "after":
        tf.train.init_from_checkpoint(prefix, {"var": variable})
    loss = tf.reduce_sum(tf.nn.embedding_lookup(variable, tf.constant([1], tf.int64)))
    tf.train.AdamOptimizer(0.1).minimize(loss)
    if built == "before":
        tf.train.init_from_checkpoint(prefix, {"var": variable})
    exports = {v.op.name: v.export() for v in tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)}
    found = {}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for name, (keys, values, *_) in session.run(exports).items():
            whole = re.sub(r"/part_\d+", "", name).replace("other", "var")
            found.update({(whole, key): tuple(row) for key, row in zip(keys.tolist(), values.tolist())})
    assert found == contents


def test_initializers_for_restore_and_without_do_not_undo_each_other():
    variable = tf.get_embedding_variable("var", embedding_dim=DIM)
    loss = tf.reduce_sum(tf.nn.embedding_lookup(variable, tf.constant([1], tf.int64)))
    tf.train.AdamOptimizer(0.1).minimize(loss)
    tables = [variable, *variable.slots]
    # The two have no order, as in tf.train.init_from_checkpoint of a variable whose slots are there already.
    both = tf.group(*[op for table in tables for op in (table.initializer, table._initializer_for_restore)])
    for _ in range(100):
        with tf.Session() as session:
            session.run(both)
            assert all(session.run([table.is_initialized() for table in tables]))


def test_init_from_checkpoint_takes_scopes(saved):
    prefix, contents = saved
    tf.reset_default_graph()
    with tf.variable_scope("tower"):
        variable = tf.get_embedding_variable("var", embedding_dim=DIM)
        dense = tf.get_variable("dense", [4])
    tf.train.init_from_checkpoint(prefix, {"/": "tower/"})
    rows = tf.nn.embedding_lookup(variable, tf.constant([1], tf.int64))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert tuple(session.run(rows)[0].tolist()) == contents["var", 1]
        assert np.array_equal(session.run(dense), tf.train.load_variable(prefix, "dense"))


@pytest.mark.parametrize(
    "name, scopes, parts", [("var", {"/": "/"}, None), ("var", {"/": "/"}, 2), ("other", {"var/": "other/"}, 2)]
)
def test_init_from_checkpoint_takes_the_root_and_a_variables_name_as_scopes(saved, name, scopes, parts):
    prefix, contents = saved
    tf.reset_default_graph()
    partitioner = tf.fixed_size_partitioner(parts) if parts else None
    variable = tf.get_embedding_variable(name, embedding_dim=DIM, partitioner=partitioner)
    rows = tf.nn.embedding_lookup(variable, tf.constant([1], tf.int64))
    tf.train.init_from_checkpoint(prefix, scopes)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert tuple(session.run(rows)[0].tolist()) == contents["var", 1]


def test_init_from_checkpoint_names_what_is_missing(saved):
    prefix, _ = saved
    tf.reset_default_graph()
    variable = tf.get_embedding_variable("other", embedding_dim=DIM)
    with pytest.raises(ValueError, match="absent-keys is not found in checkpoint"):
        tf.train.init_from_checkpoint(prefix, {"absent": variable})


def test_checkpoint_option_loads_one_variable(saved):
    prefix, contents = saved
    tf.reset_default_graph()
    option = tf.EmbeddingVariableOption(ckpt=tf.CheckpointOption(prefix, "var"))
    variable = tf.get_embedding_variable("other", embedding_dim=DIM, ev_option=option)
    rows = tf.nn.embedding_lookup(variable, tf.constant(KEYS))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(rows)
    assert {key: tuple(row) for key, row in zip(KEYS.tolist(), found.tolist())} == {
        key: row for (name, key), row in contents.items() if name == "var"
    }


@pytest.mark.parametrize("always", [False, True])
def test_checkpoint_option_before_the_programs_own_checkpoint(saved, tmp_path, always):
    prefix, contents = saved
    model = Model(name="other", optimizer=tf.train.GradientDescentOptimizer(1.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, {model.ids: [1]})
        own = tf.train.Saver().save(session, str(tmp_path / "own"))
    option = tf.EmbeddingVariableOption(ckpt=tf.CheckpointOption(prefix, "var", always_load_from_specific_ckpt=always))
    model = Model(name="other", optimizer=tf.train.GradientDescentOptimizer(1.0), ev_option=option)
    with tf.Session() as session:
        tf.train.Saver().restore(session, own)
        row = model.contents(session)["other", 1]
    assert row == (contents["var", 1] if always else (-1.0, -1.0, -1.0))


def test_meta_graph_trains_on_after_import(tmp_path):
    model = Model()
    tf.add_to_collection("train", model.train)
    tf.add_to_collection("ids", model.ids)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, {model.ids: KEYS})
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
    tf.reset_default_graph()
    saver = tf.train.import_meta_graph(prefix + ".meta")
    variable = tf.global_variables()[0]
    assert type(variable).__name__ == "EmbeddingVariable"
    with tf.Session() as session:
        saver.restore(session, prefix)
        session.run(tf.get_collection("train"), {tf.get_collection("ids")[0]: [12345]})
        assert session.run(variable.total_count()).tolist() == [len(KEYS) + 1, DIM]


@pytest.mark.parametrize("parts", [1, 2])
def test_shared_columns_under_a_partitioner_are_saved_with_their_graph(tmp_path, parts):
    tf.reset_default_graph()
    fc = tf.feature_column
    features = {key: tf.placeholder(tf.int64, [None, 1], key) for key in ("a", "b")}
    columns = [fc.categorical_column_with_embedding(key, tf.int64) for key in features]
    with tf.variable_scope("input", partitioner=tf.fixed_size_partitioner(parts)):
        rows = fc.input_layer(features, fc.shared_embedding_columns(columns, 2))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.square(rows)))
    feed = {"a:0": [[1], [2]], "b:0": [[3], [4]]}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train, feed)
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
        expected = session.run(rows, feed)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(f"{prefix}.meta").restore(session, prefix)
        np.testing.assert_array_equal(session.run(rows.name, feed), expected)


def test_saved_model_predicts_the_same(tmp_path):
    model = Model()
    rows = tf.nn.embedding_lookup(model.variable, model.ids)
    asked = np.concatenate([KEYS, [31337]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, {model.ids: KEYS})
        expected = session.run(rows, {model.ids: asked})
        tf.saved_model.simple_save(session, str(tmp_path / "export"), {"ids": model.ids}, {"rows": rows})
    tf.reset_default_graph()
    with tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], str(tmp_path / "export"))
        signature = loaded.signature_def["serving_default"]
        found = session.run(signature.outputs["rows"].name, {signature.inputs["ids"].name: asked})
    assert np.array_equal(found, expected)


def test_damaged_checkpoint_is_refused_and_the_table_stays(saved, tmp_path):
    prefix, _ = saved
    name = next(f for f in sorted(os.listdir(tmp_path)) if ".data-" in f and os.path.getsize(tmp_path / f) >= 100)
    with open(tmp_path / name, "r+b") as file:
        file.seek(8)
        byte = file.read(1)
        file.seek(8)
        file.write(bytes([byte[0] ^ 0x40]))
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, {model.ids: [400]})
        before = {k: v for k, v in model.contents(session).items() if k[0] == "var"}
        with pytest.raises(tf.errors.DataLossError):
            tf.train.Saver().restore(session, prefix)
        assert {k: v for k, v in model.contents(session).items() if k[0] == "var"} == before


def test_a_truncated_file_of_ordinary_variables_is_refused_by_name(tmp_path):
    tf.reset_default_graph()
    tf.get_variable("v", [1000], initializer=tf.zeros_initializer())
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        prefix = saver.save(session, str(tmp_path / "model"))
        os.truncate(f"{prefix}.data-00000-of-00001", 100)
        with pytest.raises((tf.errors.OutOfRangeError, tf.errors.DataLossError), match=prefix):
            saver.restore(session, prefix)


@pytest.mark.parametrize("dim, says", [(DIM, False), (DIM + 1, True)])
def test_another_dimension_alone_is_answered_with_the_option_for_it(saved, dim, says):
    prefix, _ = saved
    tf.reset_default_graph()
    tf.get_embedding_variable("var", embedding_dim=dim, value_dtype=tf.float32 if says else tf.float64)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="var") as error:
        tf.train.Saver().restore(session, prefix)
    assert ("TF_EV_RESTORE_CUSTOM_DIM" in str(error.value)) == says
