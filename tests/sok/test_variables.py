import modes
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


@pytest.mark.parametrize("value", [[[0, 1], [2, 3]], np.arange(4).reshape(2, 2), lambda: tf.constant([[0, 1], [2, 3]])])
def test_integers_become_the_dtype_that_is_asked_for(sok, value):
    if callable(value):
        value = value()
    variable = sok.Variable(value, dtype=tf.float32)
    assert variable.dtype == tf.float32
    np.testing.assert_array_equal(variable, [[0, 1], [2, 3]])


def test_floats_are_float32_and_one_row_is_a_table(sok):
    variable = sok.Variable([1.0, 2.0])
    assert (variable.dtype, variable.shape, variable.global_shape) == (tf.float32, (1, 2), (1, 2))


def test_a_shape_and_an_initializer_make_the_rows(sok):
    variable = sok.Variable(shape=[7, 3], initializer="ones")
    np.testing.assert_array_equal(variable, np.ones([7, 3]))
    variable = sok.Variable(shape=[2, 3], initializer=tf.keras.initializers.Constant(2.0), dtype=tf.float64)
    assert variable.dtype == tf.float64
    np.testing.assert_array_equal(variable, np.full([2, 3], 2))


def test_modes_say_where_rows_are(sok):
    spread, here = sok.Variable([[1.0]]), sok.Variable([[1.0]], mode="localized:0")
    assert (spread.mode, spread.target_gpu, spread.num_gpus, spread.global_gpu_id) == ("distributed", -1, 1, 0)
    assert (here.mode, here.target_gpu) == ("localized:0", 0)
    assert isinstance(spread, sok.DistributedVariable) and isinstance(here, sok.LocalizedVariable)


def test_variables_are_named_printed_and_trainable(sok):
    assert sok.Variable([[1.0]], name="w").name == "w:0"
    assert sok.Variable([[1.0]]).name.startswith("sok_static_Variable_")
    assert "shape=(1, 1)" in repr(sok.Variable([[1.0]]))
    assert sok.Variable([[1.0]]).trainable and not sok.Variable([[1.0]], trainable=False).trainable


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ({"mode": "column"}, RuntimeError, "got 'column'"),
        ({"mode": "localized:1"}, RuntimeError, "there are 1 ranks"),
        ({"initial_value": [[[1.0]]]}, ValueError, r"\[rows, dim\]"),
        ({"initializer": "ones"}, ValueError, "either initial_value or"),
        ({"initial_value": None}, ValueError, "either initial_value or"),
        ({"initial_value": None, "initializer": "ones"}, ValueError, "shape must be given"),
        ({"shape": [3, 1]}, ValueError, "must have shape"),
        ({"initial_value": [["a"]]}, ValueError, "floats or integers, got string"),
        ({"dtype": "bool"}, ValueError, "floats or integers, got bool"),
        ({"initial_value": None, "shape": [3, 1], "initializer": "ones", "dtype": "bool"}, ValueError, "got bool"),
    ],
)
def test_what_does_not_fit_is_named(sok, arguments, error, text):
    with pytest.raises(error, match=text):
        sok.Variable(**{"initial_value": [[1.0]], **arguments})


def test_filter_variables_splits_in_order(sok):
    tables = [sok.Variable([[1.0]]), sok.DynamicVariable(2)]
    others = [tf.Variable(1.0), tf.Variable(2.0)]
    found, rest = sok.filter_variables([others[0], tables[1], tables[0], others[1]])
    assert found == [tables[1], tables[0]] or (found[0] is tables[1] and found[1] is tables[0])
    assert rest[0] is others[0] and rest[1] is others[1]


@pytest.mark.parametrize("kind", ["Variable", "DynamicVariable"])
def test_filter_variables_of_one_variable_is_refused(sok, kind):
    table = sok.Variable([[1.0]]) if kind == "Variable" else sok.DynamicVariable(2)
    with pytest.raises(TypeError, match="vars must be a list of variables"):
        sok.filter_variables(table)


@pytest.mark.parametrize("mode", modes.MODES)
def test_export_and_assign_go_by_key(sok, mode):
    def step(made):
        return [sok.assign(table, tf.constant([3, 1]), [[30.0], [10.0]]) for table in made]

    def setup():
        return sok.Variable(np.arange(5.0)[:, None]), sok.DynamicVariable(1, initializer="7")

    _, ((keys, rows), (dynamic_keys, dynamic_rows)) = modes.run(
        mode, setup, step, lambda made: [sok.export(t) for t in made]
    )
    assert keys.tolist() == [0, 1, 2, 3, 4] and rows[:, 0].tolist() == [0, 10, 2, 30, 4]
    assert dynamic_keys.tolist() == [1, 3] and dynamic_rows[:, 0].tolist() == [10, 30]


@pytest.mark.parametrize("kind", ["Variable", "DynamicVariable"])
@pytest.mark.parametrize(
    "indices, values, error, text",
    [
        ([1], [[1.0]], ValueError, "values of assigned"),
        ([1, 2], [[1.0, 2.0, 3.0]], tf.errors.InvalidArgumentError, "values of assigned.*one row for each"),
        ([1.0], [[1.0, 2.0, 3.0]], TypeError, "keys of assigned.*float32"),
        ([[1]], [[1.0, 2.0, 3.0]], ValueError, "indices of assigned.*rank 1"),
    ],
)
def test_rows_that_do_not_fit_are_not_assigned(sok, kind, indices, values, error, text):
    table = sok.Variable(np.zeros([5, 3]), name="assigned")
    if kind == "DynamicVariable":
        table = sok.DynamicVariable(3, name="assigned")
    with pytest.raises(error, match=text):
        sok.assign(table, indices, values)
    assert not sok.export(table)[1].numpy().any()


def test_a_key_past_the_table_is_not_assigned(sok):
    table = sok.Variable(np.zeros([5, 3]), name="assigned")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"keys of assigned.*must be in \[0, 5\)"):
        sok.assign(table, [5], [[1.0, 2.0, 3.0]])


def test_init_is_called_once_and_before_all_else(check_python):
    code = """
import tensorflow as tf
from sparse_operation_kit import experiment as sok
errors = []
tables = (lambda: sok.Variable([[1.0]]), lambda: sok.DynamicVariable(2))
for call in (sok.rank, *tables, lambda: sok.init(comm_tool="mail"), sok.init, sok.init):
    try:
        call()
    except (RuntimeError, ValueError) as e:
        errors.append(str(e))
print(errors, sok.num_ranks())
"""
    printed = check_python(code, TF_DEEPREC_ROOT="2")
    assert printed.count("sok.init() must be called first") == 3
    assert "got 'mail'" in printed and "must be called once" in printed and printed.endswith("1")


def test_horovod_that_is_asked_for_and_missing_is_an_error_with_the_command(run_python):
    code = """
import sys
sys.modules["horovod"] = None
from sparse_operation_kit import experiment as sok
sok.init()
"""
    done = run_python(code, HOROVOD_SIZE="2")
    assert done.returncode != 0 and "ImportError" in done.stderr and "tf-deeprec-horovod --install" in done.stderr


def test_communication_of_one_process(sok):
    tensor = tf.constant([1.0, 2.0])
    assert (sok.rank(), sok.num_ranks(), sok.local_rank(), sok.id_in_rank()) == (0, 1, 0, 0)
    received, splits = sok.alltoall(tensor, [2])
    np.testing.assert_array_equal(received, tensor)
    assert splits.numpy().tolist() == [2]
    for result in (sok.allreduce(tensor, "max"), sok.allgather(tensor), sok.broadcast(tensor)):
        np.testing.assert_array_equal(result, tensor)
    with pytest.raises(ValueError, match="got 'product'"):
        sok.allreduce(tensor, "product")
    with pytest.raises(ValueError, match=r"shape \[1\]"):
        sok.alltoall(tensor, [1, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="splits must add up to the rows of tensor"):
        sok.alltoall(tensor, [1])
    with pytest.raises(ValueError, match="root must be"):
        sok.broadcast(tensor, 1)


def test_legacy_optimizers_keep_their_name_on_the_second_root(check_python):
    code = """
import tensorflow as tf
from sparse_operation_kit import experiment as sok
sok.init()
print(tf.keras.optimizers.legacy.Adam is tf.keras.optimizers.Adam, tf.optimizers.legacy.SGD(0.5).learning_rate.numpy())
"""
    assert check_python(code, TF_DEEPREC_ROOT="2").endswith("True 0.5")
