"""What the optimizers put into a graph: one op per sparse gradient, the released names otherwise."""

import pytest

OPS = {
    "GradientDescent": "SparseApplyGradientDescent",
    "Adagrad": "SparseApplyAdagrad",
    "Momentum": "SparseApplyMomentum",
    "Ftrl": "SparseApplyFtrl",
    "RMSProp": "SparseApplyRMSProp",
    "Adam": "SparseApplyAdam",
}


def make(tf, name, **arguments):
    if name == "Momentum":
        arguments.setdefault("momentum", 0.9)
    return getattr(tf.train, name + "Optimizer")(learning_rate=0.1, **arguments)


def train_table(tf, optimizer, resource, dtype=None):
    table = tf.get_variable("table", initializer=tf.ones([10, 4], dtype or tf.float32), use_resource=resource)
    gradient = tf.IndexedSlices(tf.ones([3, 4], dtype or tf.float32), tf.constant([1, 2, 1]))
    return table, optimizer.apply_gradients([(gradient, table)])


def types(tf):
    return [node.type for node in tf.get_default_graph().get_operations()]


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", OPS)
def test_one_op_and_no_deduplication(name, resource, tf):
    train_table(tf, make(tf, name), resource)
    assert types(tf).count("Resource" * resource + OPS[name]) == 1
    assert not {"Unique", "UnsortedSegmentSum", "ScatterSub", "ScatterAdd", "ResourceScatterAdd"} & set(types(tf))


@pytest.mark.parametrize("name", [n for n in OPS if n not in ("GradientDescent", "Adam")])
def test_only_the_op_itself_is_marked(name, tf):
    train_table(tf, make(tf, name), False, tf.float64)
    marked = [n.op for n in tf.get_default_graph().as_graph_def().node if "_sum_duplicates" in n.attr]
    assert marked == [OPS[name]]


def test_centered_rmsprop_and_shrinking_ftrl_use_their_ops(tf):
    train_table(tf, make(tf, "RMSProp", centered=True), False)
    with tf.variable_scope("second"):
        train_table(tf, make(tf, "Ftrl", l2_shrinkage_regularization_strength=0.1), True)
    assert "SparseApplyCenteredRMSProp" in types(tf) and "ResourceSparseApplyFtrlV2" in types(tf)
    assert "Unique" not in types(tf)


@pytest.mark.parametrize("name", OPS)
def test_dense_gradients_use_the_released_op(name, tf):
    table = tf.get_variable("table", initializer=tf.ones([10, 4]))
    make(tf, name).apply_gradients([(tf.ones([10, 4]), table)])
    assert OPS[name].replace("Sparse", "") in types(tf)


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", OPS)
def test_variables_are_the_released_ones_in_the_released_order(name, resource, tf):
    names = []
    for cls in (type(make(tf, name)), type(make(tf, name)).released_class):
        with tf.Graph().as_default():
            extra = {"momentum": 0.9} if name == "Momentum" else {}
            train_table(tf, cls(learning_rate=0.1, **extra), resource)
            names.append([(v.op.name, v.dtype, v.shape.as_list()) for v in tf.global_variables()])
    assert names[0] == names[1]


def test_other_dtypes_take_the_released_way(tf):
    train_table(tf, make(tf, "Adagrad"), False, tf.complex64)
    assert "Unique" in types(tf)
    assert not [n for n in tf.get_default_graph().as_graph_def().node if "_sum_duplicates" in n.attr]


def test_meta_graph_round_trip_keeps_the_sum(tf, run_session, tmp_path):
    table, train = train_table(tf, make(tf, "Adagrad"), False)
    expected = run_session(train, table)
    tf.train.export_meta_graph(str(tmp_path / "graph"))
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(str(tmp_path / "graph"))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(graph.get_operation_by_name(train.name))
            assert (session.run(table.name) == expected).all()
