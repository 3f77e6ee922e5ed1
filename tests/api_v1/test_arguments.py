"""Calls in 1.15's argument order and with 1.15's argument names do what they did."""

import warnings

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.api_v1 import signatures

_RANDOM = np.random.RandomState(0)


def _run(make):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(make())


def test_matmul_takes_name_in_ninth_place():
    a, b = _RANDOM.rand(2, 3), _RANDOM.rand(3, 4)
    with tf.Graph().as_default(), tf.Session() as session:
        out = tf.matmul(a, b, False, False, False, False, False, False, "product")
        assert out.op.name == "product"
        np.testing.assert_allclose(session.run(out), a @ b)


@pytest.mark.parametrize("function", [tf.nn.top_k, tf.math.top_k])
def test_top_k_takes_name_in_fourth_place(function):
    x = _RANDOM.rand(3, 6)
    with tf.Graph().as_default(), tf.Session() as session:
        values, indices = function(x, 2, True, "best")
        assert values.op.name == "best"
        np.testing.assert_array_equal(session.run(indices), np.argsort(-x, -1)[:, :2])


def test_scatter_nd_takes_name_in_fourth_place():
    with tf.Graph().as_default(), tf.Session() as session:
        out = tf.scatter_nd([[1], [3]], [5.0, 6.0], [4], "scattered")
        assert out.op.name == "scattered"
        np.testing.assert_array_equal(session.run(out), [0, 5, 0, 6])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tensor_scatter_add", [1, 3]),
        ("tensor_scatter_nd_add", [1, 3]),
        ("tensor_scatter_sub", [1, -1]),
        ("tensor_scatter_nd_sub", [1, -1]),
    ],
)
def test_tensor_scatter_takes_name_in_fourth_place(name, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        out = getattr(tf, name)([1.0, 1.0], [[1]], [2.0], "changed")
        assert out.op.name == "changed"
        np.testing.assert_array_equal(session.run(out), expected)


def test_numpy_function_takes_name_in_fourth_place():
    out = _run(lambda: tf.numpy_function(lambda x: x + 1, [tf.constant([1.0])], tf.float32, "plus_one"))
    np.testing.assert_array_equal(out, [2])


def test_cross_entropies_refuse_positional_labels():
    for name in ("sigmoid", "softmax", "sparse_softmax"):
        function = getattr(tf.nn, f"{name}_cross_entropy_with_logits")
        with pytest.raises(ValueError, match=r"named arguments \(labels=..., logits=..., ...\)"):
            function(tf.zeros([2]), tf.zeros([2]))
    z, y = _RANDOM.randn(4, 3), np.eye(3)[[0, 2, 1, 1]]
    loss = _run(lambda: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=z))
    np.testing.assert_allclose(loss, np.log(np.exp(z).sum(-1)) - (y * z).sum(-1), rtol=1e-6)


def test_convolutions_take_activation_after_dilation(graph):
    for name, shape in (("Conv1D", [1, 5, 2]), ("Conv2D", [1, 5, 5, 2]), ("Conv3D", [1, 5, 5, 5, 2])):
        layer = getattr(tf.keras.layers, name)(3, 2, 1, "same", "channels_last", 1, "relu", False)
        assert (layer.activation, layer.use_bias, layer.padding) == (tf.keras.activations.relu, False, "same")
        assert layer(tf.zeros(shape)).shape[-1] == 3


def test_depthwise_and_transposed_convolutions_take_the_old_order(graph):
    layer = tf.keras.layers.DepthwiseConv2D(3, 1, "valid", 2, "channels_last", "tanh", False)
    assert layer.activation is tf.keras.activations.tanh and not layer.use_bias
    layer = tf.keras.layers.Conv3DTranspose(3, 2, 1, "valid", None, "channels_last", "tanh", False)
    assert layer.activation is tf.keras.activations.tanh and not layer.use_bias


def test_subclasses_of_a_convolution_pass_positions_on(graph):
    class Own(tf.keras.layers.Conv2D):
        def __init__(self, filters):
            super().__init__(filters, 3, 1, "same", None, 1, "relu")

    layer = Own(4)
    assert layer.activation is tf.keras.activations.relu and layer.groups == 1


def test_a_layer_survives_its_configuration(graph):
    layer = tf.keras.layers.Conv2D(4, 3, groups=1, activation="relu")
    again = tf.keras.layers.Conv2D.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()


def test_recurrent_layers_take_implementation_in_the_old_place(graph):
    positional = ["tanh", "sigmoid", True, "zeros", "zeros", "zeros", True] + [None] * 7 + [0.0, 0.0, 2, True]
    lstm = tf.keras.layers.LSTM(4, *positional)
    assert lstm.implementation == 2 and lstm.return_sequences
    gru = tf.keras.layers.GRU(4, *(positional[:6] + positional[7:]))
    assert gru.implementation == 2 and gru.return_sequences


def test_losses_take_reduction_before_what_came_later(graph):
    loss = tf.keras.losses.BinaryCrossentropy(True, 0.1, "sum", "mine")
    assert (loss.reduction, loss.name) == ("sum", "mine")
    loss = tf.keras.losses.SparseCategoricalCrossentropy(True, "none")
    assert loss.reduction == "none"


def test_metrics_take_name_before_what_came_later(graph):
    assert tf.keras.metrics.SensitivityAtSpecificity(0.5, 10, "mine").name == "mine"


def test_renamed_arguments(graph):
    assert tf.keras.preprocessing.text.text_to_word_sequence(text="A b") == ["a", "b"]
    assert len(tf.keras.preprocessing.text.one_hot(text="a b c", n=10)) == 3
    assert float(tf.keras.regularizers.l2(l=0.5).l2) == 0.5
    assert float(tf.keras.regularizers.l1(0.25).l1) == 0.25
    spec = tf.OptionalSpec(value_structure=tf.TensorSpec([2], tf.int32))
    assert spec.value_type is not None


def test_both_names_of_an_argument_or_too_many_positions_are_an_error(graph):
    with pytest.raises(TypeError, match="multiple values for argument 'name'"):
        tf.nn.top_k([1.0], 1, True, "x", name="y")
    with pytest.raises(TypeError, match="takes 4 positional arguments but 5 were given"):
        tf.nn.top_k([1.0], 1, True, "x", 5)


def test_set_loop_options_takes_back_prop():
    def loop():
        i = tf.constant(0)
        while i < 3:
            tf.autograph.experimental.set_loop_options(back_prop=False, maximum_iterations=2)
            i += 1
        return i

    assert _run(lambda: tf.autograph.to_graph(loop)()) == 2


def test_an_argument_without_effect_gives_one_warning():
    new = signatures.with_old_arguments(lambda a, b=0: a + b, "a gone= b")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [new(1, None, 2), new(1, 5, 2), new(1, gone=5)] == [3, 3, 1]
    assert [w.filename for w in caught if "gone has no effect" in str(w.message)] == [__file__]


def test_unknown_error_keeps_its_code():
    assert tf.errors.UnknownError(None, None, "m").error_code == tf.errors.UNKNOWN
    assert tf.errors.UnknownError(None, None, "m", error_code=7).error_code == 7


def test_options_of_tf_data_that_are_gone_are_kept_and_ignored():
    options = tf.data.Options()
    with pytest.warns(UserWarning, match="experimental_stats has no effect"):
        options.experimental_stats = tf.data.experimental.StatsOptions()
    options.experimental_optimization.autotune = False
    options.experimental_optimization.map_vectorization.enabled = True
    options.experimental_distribute.auto_shard = False
    assert not options.experimental_distribute.auto_shard
    assert options.experimental_distribute.auto_shard_policy == tf.data.experimental.AutoShardPolicy.OFF
    data = tf.data.Dataset.range(3).with_options(options)
    value = _run(
        lambda: tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3).with_options(options)).get_next()
    )
    assert value == 0 and data is not None


def test_statistics_of_tf_data_change_nothing():
    def make():
        data = tf.data.Dataset.range(3).apply(tf.data.experimental.latency_stats("t"))
        data = data.apply(tf.data.experimental.bytes_produced_stats("b"))
        return tf.data.experimental.get_single_element(data.batch(3))

    np.testing.assert_array_equal(_run(make), [0, 1, 2])


def test_optional_has_its_old_names():
    with tf.Graph().as_default(), tf.Session() as session:
        some = tf.data.experimental.Optional.from_value(tf.constant(3))
        none = tf.data.experimental.Optional.none_from_structure(some.value_structure)
        assert session.run([some.has_value(), none.has_value()]) == [True, False]


def test_a_strategy_runs_by_its_old_name():
    with tf.Graph().as_default(), tf.Session() as session:
        strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        with strategy.scope():
            assert session.run(strategy.experimental_run_v2(lambda x: x * 2, args=(tf.constant(4),))) == 8


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_of_both_kinds_are_a_tf_variable(graph, use_resource):
    variable = tf.get_variable("v", [2], use_resource=use_resource)
    assert isinstance(variable, tf.Variable) and issubclass(type(variable), tf.Variable)


def test_variables_of_keras_and_embedding_variables_are_a_tf_variable(graph):
    layer = tf.keras.layers.Dense(2)
    layer.build([None, 3])
    table = tf.get_embedding_variable("e", 2)
    assert isinstance(layer.kernel, tf.Variable) and isinstance(table, tf.Variable)
    assert not isinstance(tf.constant(1.0), tf.Variable)


def test_operation_and_tensor_have_the_members_that_graph_code_uses():
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        y = tf.identity(x)
        frames = y.op.traceback_with_start_lines
        assert any(frame[0].endswith("test_arguments.py") for frame in frames) and len(frames[0]) == 5
        assert y.op._inputs == [x] and x._consumers == [y.op] and y._value_index == 0


def test_a_test_case_compares_shapes_and_protos_by_the_old_argument_names():
    case = tf.test.TestCase()
    with tf.Graph().as_default():
        case.assertShapeEqual(np_array=np.zeros((2, 3)), tf_tensor=tf.zeros([2, 3]))
        with pytest.raises(AssertionError):
            case.assertShapeEqual(np_array=np.zeros((2, 4)), tf_tensor=tf.zeros([2, 3]))
    case.assertProtoEquals("allow_soft_placement: true", message=tf.ConfigProto(allow_soft_placement=True))
