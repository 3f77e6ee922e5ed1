"""Types of ops that programs look up by type are those of 1.15."""

import numpy as np
import pytest
import tensorflow as tf


def _run(tensor):
    with tf.Session() as session:
        return session.run(tensor)


@pytest.mark.parametrize("add", [tf.add, tf.math.add, tf.compat.v1.add])
def test_add_makes_an_add_and_plus_an_add_v2(graph, add):
    x = tf.constant([1.0, 2.0])
    total, more = add(x, [3.0, 4.0]), x + 1.0
    assert (total.op.type, total.op.name) == ("Add", "Add")
    assert [op.name for op in graph.get_operations()][1:3] == ["Add/y", "Add"]
    assert (more.op.type, more.op.name) == ("AddV2", "add_1")
    assert add(1.0, x, name="named").op.name == "named"
    np.testing.assert_array_equal(_run(total), [4, 6])


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "complex64"]
)
def test_add_of_all_types(graph, dtype):
    x, y = np.array([[1], [2]], dtype), np.array([3, 4], dtype)
    got = tf.add(x, y)
    assert got.op.type == "Add" and got.dtype == dtype
    np.testing.assert_array_equal(_run(got), x + y)


def test_add_of_strings_and_of_types_that_add_has_not(graph):
    assert _run(tf.add(["a", "b"], "c")).tolist() == [b"ac", b"bc"]
    wide = tf.add(np.array([1], np.uint16), np.array([2], np.uint16))
    assert wide.op.type == "AddV2" and _run(wide) == [3]


def test_gradients_of_a_broadcast_add(graph):
    x, y = tf.Variable([[1.0, 2.0]]), tf.Variable([[3.0], [4.0], [5.0]])
    gradients = tf.gradients(tf.reduce_sum(tf.add(x, y) * [1.0, 10.0]), [x, y])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        gx, gy = session.run(gradients)
    np.testing.assert_array_equal(gx, [[3, 30]])
    np.testing.assert_array_equal(gy, [[11], [11], [11]])


def test_composites_add_as_before(graph):
    ragged = tf.ragged.constant([[1, 2], [3]])
    assert _run(tf.add(ragged, 1).values).tolist() == [2, 3, 4]


def test_unequal_types_are_refused(graph):
    with pytest.raises((TypeError, ValueError), match="float32"):
        tf.add(tf.constant(1.0), tf.constant(1))


def test_what_is_built_on_add(graph):
    assert tf.random_normal([2]).op.type == "Add"
    table = tf.contrib.lookup.index_table_from_tensor(["a"], num_oov_buckets=2)
    table.lookup(tf.constant(["a", "b"]))
    # From the SavedModel of the real 1.15: hash_table_Lookup/Add.
    assert "hash_table_Lookup/Add" in [op.name for op in graph.get_operations() if op.type == "Add"]


def test_add_in_eager_mode(check_python):
    code = "import tensorflow as tf\ntf.enable_eager_execution()\nprint(tf.add(1, 2).numpy(), tf.add([1.5], 1).numpy())"
    assert check_python(code) == "3 [2.5]"


def test_all_names_of_a_function_make_the_same_ops(graph):
    assert tf.math.add is tf.add is tf.compat.v1.math.add
    assert tf.linalg.diag is tf.matrix_diag and tf.linalg.diag_part is tf.matrix_diag_part
    assert tf.linalg.diag([1.0]).op.type == "MatrixDiag"
