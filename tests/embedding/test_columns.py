"""Feature columns over EmbeddingVariables: core's, those of tf.contrib.layers, and estimators with them."""

import numpy as np
import pytest

IDS = [[0, 0], [0, 1], [2, 0]]


@pytest.fixture
def tf():
    """TensorFlow with an empty default graph."""
    import tensorflow

    with tensorflow.Graph().as_default():
        yield tensorflow


@pytest.fixture
def pool():
    """Rows of keys; key k has row k mod 20."""
    return np.random.RandomState(1).randn(20, 3).astype(np.float32)


def sparse(tf, values, dtype=None, shape=(4, 2)):
    return tf.SparseTensor(IDS, tf.constant(values, dtype or tf.int64), shape)


def of_pool(tf, pool):
    return lambda shape, dtype=None, partition_info=None: tf.constant(pool)


def option(tf, pool, **kwargs):
    return tf.EmbeddingVariableOption(
        init_option=tf.InitializerOption(initializer=of_pool(tf, pool), default_value_dim=len(pool)), **kwargs
    )


def trained(tf, tensor, fetches=None, steps=2):
    """The tensor before and after some steps that lower its sum."""
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tensor))
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        before = session.run(tensor)
        for _ in range(steps):
            session.run(train)
        after = session.run(tensor)
        return (before, after) if fetches is None else (before, after, session.run(fetches))


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_an_embedding_column_is_that_of_an_identity_column(tf, pool, combiner, weighted, dtype):
    fc = tf.feature_column
    features = {"a": sparse(tf, [4, 7, 4], tf.as_dtype(dtype)), "w": sparse(tf, [0.5, 2.0, 3.0], tf.float32)}
    results = []
    for column in (
        fc.categorical_column_with_embedding("a", dtype=tf.as_dtype(dtype), ev_option=option(tf, pool)),
        fc.categorical_column_with_identity("a", 20),
    ):
        if weighted:
            column = fc.weighted_categorical_column(column, "w")
        column = fc.embedding_column(column, 3, combiner=combiner, initializer=of_pool(tf, pool))
        with tf.variable_scope(None, default_name="layer"):
            results.append(fc.input_layer(features, [column]))
    before, after = trained(tf, tf.concat(results, 1))
    np.testing.assert_allclose(before[:, :3], before[:, 3:], rtol=1e-5)
    np.testing.assert_allclose(after[:, :3], after[:, 3:], rtol=1e-5)
    assert np.abs(after - before).max() > 0.05


def test_names_and_parts(tf):
    fc = tf.feature_column
    column = fc.embedding_column(fc.categorical_column_with_embedding("a", partition_num=3), 4)
    assert column.variable_shape.as_list() == [4]
    assert fc.make_parse_example_spec([column]) == {"a": tf.io.VarLenFeature(tf.string)}
    to_vars = {}
    fc.input_layer({"a": tf.constant([["x"]])}, [column], cols_to_vars=to_vars)
    names = [f"input_layer/a_embedding/embedding_weights/part_{i}" for i in range(3)]
    assert [v.op.name for v in to_vars[column]] == names
    assert [v.op.name for v in tf.trainable_variables()] == names
    assert {v.op.name for v in tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)} == set(names)


def test_strings_are_hashed_and_absent_values_dropped(tf, pool):
    fc = tf.feature_column
    column = fc.embedding_column(
        fc.categorical_column_with_embedding("a", ev_option=option(tf, pool)), 3, combiner="sum"
    )
    layer = fc.input_layer({"a": tf.constant([["x", ""], ["y", "x"], ["", ""]])}, [column])
    keys = tf.strings.to_hash_bucket_fast(["x", "y"], 2**63 - 1)
    (variable,) = tf.trainable_variables()
    before, _, (x_and_y, exported) = trained(tf, layer, [keys, variable.export()[0]])
    rows = pool[x_and_y % 20]
    np.testing.assert_allclose(before, [rows[0], rows[0] + rows[1], np.zeros(3)], rtol=1e-6)
    assert sorted(exported) == sorted(x_and_y)


def test_minus_one_is_absent(tf, pool):
    fc = tf.feature_column
    column = fc.embedding_column(
        fc.categorical_column_with_embedding("a", dtype=tf.int64, ev_option=option(tf, pool)), 3, combiner="sum"
    )
    before, _ = trained(tf, fc.input_layer({"a": tf.constant([[3, -1], [-1, -1]], tf.int64)}, [column]))
    np.testing.assert_allclose(before, [pool[3], np.zeros(3)], rtol=1e-6)


@pytest.mark.parametrize("do_fusion", [False, True])
def test_columns_share_an_embedding(tf, pool, do_fusion):
    fc = tf.feature_column
    columns = fc.shared_embedding_columns(
        [fc.categorical_column_with_embedding(k, dtype=tf.int64) for k in "ab"],
        3,
        initializer=of_pool(tf, pool),
        do_fusion=do_fusion,
    )
    # A pool of 4096 rows asked of this initializer is the 20 it gives.
    features = {"a": sparse(tf, [1, 2, 3]), "b": sparse(tf, [3, 3, 1])}
    layer = fc.input_layer(features, columns)
    (variable,) = tf.trainable_variables()
    before, _, keys = trained(tf, layer, variable.export()[0])
    np.testing.assert_allclose(before[0], [*(pool[1] + pool[2]) / 2, *pool[3]], rtol=1e-6)
    np.testing.assert_allclose(before[2], [*pool[3], *pool[1]], rtol=1e-6)
    assert sorted(keys) == [1, 2, 3]
    assert variable.op.name == "input_layer/a_b_shared_embedding/embedding_weights"


def test_columns_of_unequal_options_do_not_share(tf):
    fc = tf.feature_column
    filtered = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(3))
    columns = [fc.categorical_column_with_embedding("a"), fc.categorical_column_with_embedding("b", ev_option=filtered)]
    with pytest.raises(ValueError, match="equal options"):
        fc.shared_embedding_columns(columns, 3)


@pytest.mark.parametrize("argument", [{"do_fusion": True}])
def test_the_kind_of_lookup_op_does_not_change_the_result(tf, pool, argument):
    fc = tf.feature_column
    category = fc.categorical_column_with_embedding("a", dtype=tf.int64, ev_option=option(tf, pool))
    column = fc.embedding_column(category, 3, combiner="sum", **argument)
    before, _ = trained(tf, fc.input_layer({"a": sparse(tf, [1, 2, 3])}, [column]))
    np.testing.assert_allclose(before[[0, 2]], [pool[1] + pool[2], pool[3]], rtol=1e-6)


def test_sequences(tf, pool):
    from tensorflow.contrib.feature_column import sequence_input_layer

    fc = tf.feature_column
    category = fc.sequence_categorical_column_with_embedding("a", dtype=tf.int64, ev_option=option(tf, pool))
    layer, length = sequence_input_layer({"a": sparse(tf, [4, 5, 6])}, [fc.embedding_column(category, 3)])
    before, after, lengths = trained(tf, layer, length)
    expected = np.zeros([4, 2, 3])
    expected[0], expected[2, 0] = pool[[4, 5]], pool[6]
    np.testing.assert_allclose(before, expected, rtol=1e-6)
    assert lengths.tolist() == [2, 0, 1, 0] and np.abs(after - before).max() > 0.05


@pytest.mark.parametrize("units", [1, 3])
def test_linear_model_is_that_of_an_identity_column(tf, units):
    fc = tf.feature_column
    features = {"a": sparse(tf, [4, 7, 4]), "x": tf.constant([[1.0], [2.0], [3.0], [4.0]])}
    outputs = []
    for column in (
        fc.categorical_column_with_embedding("a", dtype=tf.int64),
        fc.categorical_column_with_identity("a", 20),
    ):
        with tf.variable_scope(None, default_name="model"):
            outputs.append(fc.linear_model(features, [column, fc.numeric_column("x")], units=units))
    before, after = trained(tf, tf.concat(outputs, 1))
    np.testing.assert_allclose(after[:, :units], after[:, units:], rtol=1e-4, atol=1e-5)
    assert np.abs(after - before).max() > 0.05
    assert "model/linear_model/a/weights" in [v.op.name for v in tf.trainable_variables()]


@pytest.mark.parametrize("kind", ["int64", "string"])
def test_adaptive_columns_read_what_the_mask_says(tf, pool, kind):
    fc = tf.feature_column
    dtype = tf.as_dtype(kind)
    category = fc.categorical_column_with_adaptive_embedding("a", 20, dtype=dtype)
    column = fc.embedding_column(category, 3, initializer=of_pool(tf, pool))
    values = [100, 200, 100] if kind == "int64" else ["x", "y", "x"]
    ids = tf.SparseTensor([[0, 0], [1, 0], [3, 0]], tf.constant(values, dtype), [4, 1])
    mask = tf.placeholder(tf.int32, [4])
    layer = fc.input_layer({"a": ids}, [column], adaptive_mask_tensors={"a": mask, "unused": mask})
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(layer))
    variables = {v.op.name.rsplit("/")[-1]: v for v in tf.trainable_variables()}
    assert set(variables) == {"embedding_weights", "hash_embedding_weights"}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        shared = session.run(layer, {mask: [0, 0, 0, 0]})
        np.testing.assert_array_equal(shared[0], shared[3])
        np.testing.assert_array_equal(shared[2], np.zeros(3))
        session.run(train, {mask: [0, 0, 0, 0]})
        # The own row starts where the bucket is now.
        own = session.run(layer, {mask: [1, 0, 0, 0]})
        np.testing.assert_allclose(own[0], shared[0] - 2 * 0.5, rtol=1e-5)
        session.run(train, {mask: [1, 0, 0, 1]})
        np.testing.assert_allclose(session.run(layer, {mask: [1, 0, 0, 0]})[0], shared[0] - 4 * 0.5, rtol=1e-5)
        np.testing.assert_allclose(session.run(layer, {mask: [0, 0, 0, 0]})[0], shared[0] - 2 * 0.5, rtol=1e-5)
        assert session.run(variables["embedding_weights"].total_count()).tolist() == [1, 3]


def test_filters_of_a_column_are_the_table_s(tf, pool):
    fc = tf.feature_column
    opt = option(tf, pool, filter_option=tf.CounterFilter(4))
    category = fc.categorical_column_with_embedding("a", dtype=tf.int64, ev_option=opt)
    layer = fc.input_layer({"a": sparse(tf, [1, 1, 2])}, [fc.embedding_column(category, 3, combiner="sum")])
    (variable,) = tf.trainable_variables()
    before, after, frequencies = trained(tf, layer, variable.get_frequency([1, 2]))
    np.testing.assert_array_equal(before, np.zeros([4, 3]))
    # Two occurrences in each of two batches.
    assert frequencies.tolist() == [4, 2] and np.abs(after[0]).max() > 0 and np.abs(after[2]).max() == 0


@pytest.mark.parametrize("where", ["input_layer", "keras"])
def test_a_checkpoint_that_a_column_starts_from(tf, pool, tmp_path, where):
    fc = tf.feature_column

    def layer(**kwargs):
        category = fc.categorical_column_with_embedding("a", dtype=tf.int64)
        column = fc.embedding_column(category, 3, combiner="sum", initializer=tf.zeros_initializer(), **kwargs)
        features = {"a": sparse(tf, [1, 2, 3])}
        return (
            fc.input_layer(features, [column])
            if where == "input_layer"
            else tf.keras.layers.DenseFeatures([column])(features)
        )

    first = layer()
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(first))
    (variable,) = tf.trainable_variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        expected = session.run(first)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    with tf.Graph().as_default():
        again = layer(ckpt_to_load_from=path, tensor_name_in_ckpt=variable.op.name)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            np.testing.assert_allclose(session.run(again), expected)
    assert expected[0].tolist() == [-2, -2, -2]


@pytest.mark.parametrize("kind", ["linear", "combined"])
def test_estimators_learn_by_keys(tf, tmp_path, kind):
    """A label that depends on the key alone."""
    fc = tf.feature_column
    random = np.random.RandomState(0)
    keys = random.randint(0, 40, size=[64, 1]) * 10**15 - 3 * 10**15
    labels = (keys // 10**15 % 2).astype(np.int64)

    def input_fn(epochs=None):
        return tf.data.Dataset.from_tensor_slices(({"a": keys, "s": keys.astype(str)}, labels)).repeat(epochs).batch(64)

    category = fc.categorical_column_with_embedding("a", dtype=tf.int64, ev_option=tf.EmbeddingVariableOption())
    strings = fc.categorical_column_with_embedding("s", partition_num=2)
    config = tf.estimator.RunConfig(model_dir=str(tmp_path), tf_random_seed=1)
    if kind == "linear":
        estimator = tf.estimator.LinearClassifier([strings], config=config)
    else:
        estimator = tf.estimator.DNNLinearCombinedClassifier(
            linear_feature_columns=[strings],
            dnn_feature_columns=[fc.embedding_column(category, 4), fc.embedding_column(strings, 4)],
            dnn_hidden_units=[8],
            dnn_optimizer=tf.train.AdamOptimizer(0.05),
            config=config,
        )
    estimator.train(input_fn, max_steps=20)
    estimator.train(input_fn, max_steps=40)
    metrics = estimator.evaluate(lambda: input_fn(1))
    assert metrics["accuracy"] > 0.95 and metrics["global_step"] == 40
    names = estimator.get_variable_names()
    assert any(name.endswith("weights/part_1-keys") for name in names)


# tf.contrib.layers.


def contrib_embedding(tf, pool, name="a", **kwargs):
    layers = tf.contrib.layers
    column = layers.sparse_column_with_embedding(name, dtype=tf.int64, ev_option=option(tf, pool), **kwargs)
    return layers.embedding_column(column, 3, combiner="sum")


@pytest.mark.parametrize("parts", [None, 2])
def test_contrib_input_layer(tf, pool, parts):
    layer = tf.contrib.layers.input_from_feature_columns(
        {"a": sparse(tf, [1, 2, 3])}, [contrib_embedding(tf, pool, partition_num=parts)]
    )
    before, after = trained(tf, layer)
    np.testing.assert_allclose(before, [pool[1] + pool[2], np.zeros(3), pool[3], np.zeros(3)], rtol=1e-6)
    assert np.abs(after - before).max() > 0.05
    scope = "input_from_feature_columns/a_embedding/weights"
    names = [scope] if parts is None else [f"{scope}/part_{i}" for i in range(parts)]
    assert [v.op.name for v in tf.trainable_variables()] == names
    assert [v.op.name for v in tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)] == names


def test_contrib_sequences(tf, pool):
    layer = tf.contrib.layers.sequence_input_from_feature_columns(
        {"a": sparse(tf, [1, 2, 3])}, [contrib_embedding(tf, pool)]
    )
    before, _ = trained(tf, layer)
    np.testing.assert_allclose(before[[0, 0, 2], [0, 1, 0]], pool[1:4], rtol=1e-6)
    assert before.shape == (4, 2, 3)


def test_contrib_columns_share_an_embedding(tf, pool):
    layers = tf.contrib.layers
    opt = option(tf, pool)
    columns = layers.shared_embedding_columns(
        [layers.sparse_column_with_embedding(k, dtype=tf.int64, ev_option=opt) for k in "ab"],
        3,
        combiner="sum",
        do_fusion=True,
    )
    features = {"a": sparse(tf, [1, 2, 3]), "b": sparse(tf, [5, 5, 1])}
    before, _ = trained(tf, layers.input_from_feature_columns(features, columns))
    np.testing.assert_allclose(before[0], [*pool[1] + pool[2], *2 * pool[5]], rtol=1e-5)
    assert len(tf.trainable_variables()) == 1
    other = layers.sparse_column_with_embedding("c", dtype=tf.int64, partition_num=2)
    with pytest.raises(ValueError, match="not compatible"):
        layers.shared_embedding_columns([columns[0].sparse_id_column, other], 3)


@pytest.mark.parametrize("weighted", [False, True])
def test_contrib_weighted_sums(tf, weighted):
    layers = tf.contrib.layers
    features = {"a": sparse(tf, [4, 7, 4]), "w": sparse(tf, [0.5, 2.0, 3.0], tf.float32)}
    outputs = []
    for column in (
        layers.sparse_column_with_embedding("a", dtype=tf.int64),
        layers.sparse_column_with_integerized_feature("a", 20),
    ):
        column = layers.weighted_sparse_column(column, "w") if weighted else column
        with tf.variable_scope(None, default_name="model"):
            output, to_variable, _ = layers.weighted_sum_from_feature_columns(features, [column], 2)
        outputs.append(output)
        assert [v.op.name.rsplit("/")[-1] for v in to_variable[column]] == ["weights"]
    before, after = trained(tf, tf.concat(outputs, 1))
    np.testing.assert_allclose(after[:, :2], after[:, 2:], rtol=1e-4, atol=1e-5)
    assert np.abs(after - before).max() > 0.05


@pytest.mark.parametrize("as_dict", [False, True])
def test_contrib_dynamic_dimension(tf, pool, as_dict):
    layers = tf.contrib.layers
    source = layers.sparse_column_with_dynamic_dimension_embedding("a", 2, 3, dtype=tf.int64)
    column = layers.embedding_column(source, 6, combiner="sum", initializer=tf.ones_initializer())
    blocks = tf.constant([1, 2, 3])
    layer = layers.input_from_feature_columns(
        {"a": sparse(tf, [1, 2, 3])}, [column], blocknums={"a": blocks} if as_dict else blocks
    )
    before, _ = trained(tf, layer)
    assert before.tolist() == [[2, 2, 1, 1, 0, 0], [0] * 6, [1] * 6, [0] * 6]


def test_bad_columns_are_refused_by_name(tf):
    fc, layers = tf.feature_column, tf.contrib.layers
    integers = {"a": sparse(tf, [1, 2, 3])}
    column = fc.categorical_column_with_embedding
    dynamic = layers.sparse_column_with_dynamic_dimension_embedding("a", 2, 3, dtype=tf.int64)
    cases = {
        "partition_num": lambda: column("a", partition_num=0),
        "dtype": lambda: column("a", dtype=tf.float32),
        "key": lambda: column(3),
        "ev_option": lambda: column("a", ev_option=tf.CounterFilter(3)),
        "dimension": lambda: fc.embedding_column(column("a"), 0),
        'got "tile"': lambda: fc.embedding_column(column("a"), 3, combiner="tile"),
        "initializer": lambda: fc.embedding_column(column("a"), 3, initializer=3.0),
        "number of buckets": lambda: fc.indicator_column(column("a")),
        "string.*int64": lambda: fc.input_layer(integers, [fc.embedding_column(column("a"), 3)]),
        "int64.*string": lambda: fc.input_layer(
            {"a": tf.constant([["x"]])}, [fc.embedding_column(column("a", dtype=tf.int64), 3)]
        ),
        "hash_bucket_size": lambda: fc.categorical_column_with_adaptive_embedding("a", 0),
        "adaptive_mask_tensors": lambda: fc.input_layer(
            integers, [fc.embedding_column(fc.categorical_column_with_adaptive_embedding("a", 5, dtype=tf.int64), 3)]
        ),
        "partition_num ": lambda: layers.sparse_column_with_embedding("a", partition_num=-1),
        "ev_option ": lambda: layers.sparse_column_with_embedding("a", ev_option=3),
        "embedding_block_num": lambda: layers.sparse_column_with_dynamic_dimension_embedding("a", 2, 0),
        "number of ids": lambda: layers.one_hot_column(layers.sparse_column_with_embedding("a")),
        "blocknums": lambda: layers.input_from_feature_columns(integers, [layers.embedding_column(dynamic, 6)]),
        "dimension must be 6": lambda: layers.input_from_feature_columns(
            integers, [layers.embedding_column(dynamic, 5)], blocknums=[1, 1, 1]
        ),
        "dynamic dimension": lambda: layers.weighted_sum_from_feature_columns(integers, [dynamic], 2),
        "joint": lambda: layers.joint_weighted_sum_from_feature_columns(
            integers, [layers.sparse_column_with_embedding("a", dtype=tf.int64)], 2
        ),
    }
    for message, make in cases.items():
        with pytest.raises(ValueError, match=message.strip()):
            make()
