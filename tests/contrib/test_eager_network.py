"""tf.contrib.eager networks: names of variables, layers, checkpoints, in eager mode and in graphs."""

import gc

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

tfe = tf.contrib.eager


@pytest.fixture(autouse=True)
def apart():
    """Names start anew for each test."""
    with tf.Graph().as_default():
        yield


@pytest.fixture(params=["eager", "graph"])
def mode(request):
    if request.param == "eager":
        with tf.Graph().as_default(), context.eager_mode():
            yield "eager"
    else:
        with tf.Graph().as_default(), tf.Session():
            yield "graph"


@pytest.fixture
def eager():
    with tf.Graph().as_default(), context.eager_mode():
        yield


class MyNetwork(tfe.Network):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.l1 = self.track_layer(tf.layers.Dense(2, use_bias=False))

    def call(self, x):
        return self.l1(x)


class Nested(tfe.Network):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.first = self.track_layer(MyNetwork())
        self.second = self.track_layer(MyNetwork())
        self.last = self.track_layer(tf.layers.Dense(1))

    def call(self, x):
        return self.last(self.first(x) + self.second(x))


ONE = np.ones([1, 1], np.float32)


def names(network):
    return [v.name for v in network.variables]


def value(tensor):
    if tf.executing_eagerly():
        return tensor.numpy()
    return tf.get_default_session().run(tensor)


def start():
    if not tf.executing_eagerly():
        tf.get_default_session().run(tf.global_variables_initializer())


def fill(network, first=1.0):
    for i, variable in enumerate(network.variables):
        number = np.full(variable.shape.as_list(), first + i, np.float32)
        if tf.executing_eagerly():
            variable.assign(number)
        else:
            variable.load(number, tf.get_default_session())


def test_variables_are_named_after_the_nesting(mode):
    network = Nested()
    network(tf.constant(ONE))
    assert names(network) == [
        "nested/my_network/dense/kernel:0",
        "nested/my_network_1/dense/kernel:0",
        "nested/dense/kernel:0",
        "nested/dense/bias:0",
    ]
    assert network.name == network.scope_name == "nested" and network.first.name == "my_network"
    assert len(network.trainable_weights) == 4 and not network.non_trainable_weights
    assert all(v.dtype.base_dtype == tf.float32 for v in network.weights)


def test_value_and_gradient(eager):
    network = Nested()
    network(tf.constant(ONE))
    fill(network)
    # Kernels of 1 and 2, then 3 and a bias of 4: (1 + 2) * 3 * 2 units + 4.
    with tf.GradientTape() as tape:
        output = network(tf.constant(ONE))
    assert output.numpy() == 22
    gradients = tape.gradient(output, network.trainable_variables)
    for gradient, want in zip(gradients, ([[3.0, 3.0]], [[3.0, 3.0]], [[3.0], [3.0]], [1.0])):
        np.testing.assert_array_equal(gradient.numpy(), want)


def test_graph_ops_are_named_like_the_variables():
    output = MyNetwork()(tf.constant(ONE))
    assert output.op.name == "my_network/dense/MatMul"


def test_names_count_up_and_a_taken_name_is_refused(mode):
    first, second = MyNetwork(), MyNetwork()
    second(tf.constant(ONE))
    first(tf.constant(ONE))
    assert second.name == "my_network" and first.name == "my_network_1"
    named = MyNetwork(name="mine")
    named(tf.constant(ONE))
    assert names(named) == ["mine/dense/kernel:0"]
    with pytest.raises(ValueError, match="mine.*already exists"):
        MyNetwork(name="mine")(tf.constant(ONE))


def test_name_of_a_network_in_a_variable_scope(mode):
    with tf.variable_scope("around"):
        network = MyNetwork()
        network(tf.constant(ONE))
        late = MyNetwork(name="late")
    late(tf.constant(ONE))
    assert network.name == "around/my_network" and names(network) == ["around/my_network/dense/kernel:0"]
    assert names(late) == ["around/late/dense/kernel:0"]


def test_no_name_before_the_first_call(eager):
    network = MyNetwork()
    with pytest.raises(ValueError, match="does not yet have a final name"):
        network.name
    with pytest.raises(ValueError, match="slash"):
        MyNetwork(name="a/b")
    with pytest.raises(ValueError, match="VariableScope"):
        MyNetwork(name=tf.get_variable_scope())
    with pytest.raises(ValueError, match="explicit scopes"):
        MyNetwork()(tf.constant(ONE), scope="scope")


def test_a_shared_network_has_the_name_of_its_first_parent(eager):
    class Holder(tfe.Network):
        def __init__(self, inner):
            super().__init__()
            self.inner = self.track_layer(inner)

        def call(self, x):
            return self.inner(x)

    inner = MyNetwork()
    first, second = Holder(inner), Holder(inner)
    second(tf.constant(ONE))
    assert names(second) == names(first) == ["holder_1/my_network/dense/kernel:0"]
    assert second.name == "holder"


def test_a_network_whose_parent_is_gone_is_its_own(eager):
    class Holder(tfe.Network):
        def __init__(self, inner):
            super().__init__()
            self.track_layer(inner)

    inner = MyNetwork()
    Holder(inner)
    gc.collect()
    inner(tf.constant(ONE))
    assert names(inner) == ["my_network/dense/kernel:0"]


def test_layers(eager):
    network = Nested()
    network(tf.constant(ONE))
    assert network.layers == [network.first, network.second, network.last]
    assert network.get_layer(index=1) is network.get_layer(name="my_network_1") is network.second
    for arguments in ({}, {"name": "dense", "index": 0}, {"index": 3}, {"name": "other"}):
        with pytest.raises(ValueError):
            network.get_layer(**arguments)
    network.trainable = True
    with pytest.raises(AttributeError, match="not trainable"):
        network.trainable = False
    with pytest.raises(RuntimeError, match="add_variable"):
        network.add_variable("v", [])
    with pytest.raises(RuntimeError, match="add_loss"):
        network.add_loss(tf.constant(0.0))


def test_track_layer_refuses(eager):
    class Named(tfe.Network):
        def __init__(self):
            super().__init__()
            self.track_layer(tf.layers.Dense(1, name="same"))
            self.track_layer(tf.layers.Dense(1, name="same"))

    class Early(tfe.Network):
        def __init__(self):
            self.track_layer(tf.layers.Dense(1))

    with pytest.raises(ValueError, match="two Layers with the name 'same'"):
        Named()
    with pytest.raises(RuntimeError, match="__init__"):
        Early()
    with pytest.raises(TypeError, match="tf.layers.Layer"):
        MyNetwork().track_layer(lambda x: x)
    network = MyNetwork()
    assert network.track_layer(network.l1) is network.l1 and len(network.layers) == 1


def test_losses_are_those_of_the_layers(mode):
    network = tfe.Sequential([tf.layers.Dense(1, use_bias=False, kernel_regularizer=lambda w: 3 * tf.reduce_sum(w))])
    network(tf.constant(ONE))
    start()
    fill(network, 2.0)
    assert [value(loss) for loss in network.losses] == [6.0]


def test_sequential(mode):
    seen = []

    def note(x, training=False):
        seen.append(training)
        return x + 1

    dense = tf.layers.Dense(3, use_bias=False)
    network = tfe.Sequential([dense, tf.nn.relu], name="steps")
    network.add(note)
    network.add(tf.layers.Dropout(0.999))
    network(tf.constant(ONE))
    start()
    fill(network, -1.0)
    np.testing.assert_array_equal(value(network(tf.constant(-ONE))), np.full((1, 3), 2.0))
    assert np.count_nonzero(value(network(tf.constant(-ONE), training=True))) < 3
    assert seen == [False, False, True] and network.layers[0] is dense and names(network) == ["steps/dense/kernel:0"]
    with pytest.raises(TypeError, match="add"):
        network.add(3)


def test_save_and_restore_at_once(mode, tmp_path):
    network = Nested()
    network(tf.constant(ONE))
    start()
    fill(network)
    path = tfe.save_network_checkpoint(network, str(tmp_path / "saved"), global_step=7)
    assert path.endswith("saved-7")
    shapes = dict(tf.train.list_variables(path))
    assert set(shapes) == {"my_network/dense/kernel", "my_network_1/dense/kernel", "dense/kernel", "dense/bias"}
    fill(network, 0.0)
    tfe.restore_network_checkpoint(network, path)
    assert [value(v).ravel()[0] for v in network.variables] == [1, 2, 3, 4]


def test_a_folder_stands_for_the_file_of_the_network(mode, tmp_path):
    network = MyNetwork(name="saved_one")
    network(tf.constant(ONE))
    start()
    fill(network, 5.0)
    assert tfe.save_network_checkpoint(network, str(tmp_path)) == str(tmp_path / "saved_one")
    fill(network, 0.0)
    tfe.restore_network_checkpoint(network, str(tmp_path))
    np.testing.assert_array_equal(value(network.variables[0]), [[5.0, 5.0]])


def test_variables_are_restored_when_they_are_made(mode, tmp_path):
    old = Nested()
    old(tf.constant(ONE))
    start()
    fill(old)
    path = tfe.save_network_checkpoint(old, str(tmp_path / "saved"))
    new = Nested(name="another")
    new.first(tf.constant(ONE))
    start()
    tfe.restore_network_checkpoint(new, path)
    assert len(new.variables) == 1 and value(new.variables[0]).ravel()[0] == 1
    output = new(tf.constant(ONE))
    assert value(output) == 22
    assert [value(v).ravel()[0] for v in new.variables] == [1, 2, 3, 4]


def test_the_newest_restoration_wins(eager, tmp_path):
    network = MyNetwork()
    network(tf.constant(ONE))
    paths = []
    for number in (1.0, 2.0):
        fill(network, number)
        paths.append(tfe.save_network_checkpoint(network, str(tmp_path / f"saved{number}")))
    new = MyNetwork()
    for path in paths:
        tfe.restore_network_checkpoint(new, path)
    new(tf.constant(ONE))
    np.testing.assert_array_equal(new.variables[0].numpy(), [[2.0, 2.0]])


def test_map_func(eager, tmp_path):
    network = MyNetwork(name="one")
    network(tf.constant(ONE))
    fill(network, 3.0)
    path = tfe.save_network_checkpoint(network, str(tmp_path / "saved"), map_func=lambda name: name.replace("/", "."))
    assert [name for name, _ in tf.train.list_variables(path)] == ["one.dense.kernel"]
    new = MyNetwork(name="two")
    tfe.restore_network_checkpoint(new, path, map_func=lambda name: "one." + ".".join(name.split("/")[1:]))
    new(tf.constant(ONE))
    np.testing.assert_array_equal(new.variables[0].numpy(), [[3.0, 3.0]])


def test_checkpoints_refuse(eager, tmp_path):
    with pytest.raises(ValueError, match="before it was first called"):
        tfe.save_network_checkpoint(MyNetwork(), str(tmp_path / "saved"))
    network = Nested()
    network(tf.constant(ONE))
    with pytest.raises(ValueError, match="two variables named 'x'"):
        tfe.save_network_checkpoint(network, str(tmp_path / "saved"), map_func=lambda name: "x")
    with pytest.raises(ValueError, match="map_func"):
        tfe.save_network_checkpoint(network, str(tmp_path / "saved"), map_func="x")
    path = tfe.save_network_checkpoint(MyDense(2), str(tmp_path / "saved"))
    new = tfe.Sequential([tf.layers.Dense(3, use_bias=False)])
    tfe.restore_network_checkpoint(new, path)
    with pytest.raises(ValueError, match="in the checkpoint"):
        new(tf.constant(ONE))
    with pytest.raises(tf.errors.NotFoundError):
        tfe.restore_network_checkpoint(network, path)


def MyDense(units):
    network = tfe.Sequential([tf.layers.Dense(units, use_bias=False)])
    network(tf.constant(ONE))
    return network


def test_checkpoints_in_a_graph_need_a_session(tmp_path):
    network = MyNetwork()
    network(tf.constant(ONE))
    with pytest.raises(ValueError, match="default session"):
        tfe.save_network_checkpoint(network, str(tmp_path / "saved"))


def test_restore_variables_on_create(eager, tmp_path):
    saved = tfe.Variable([1.0, 2.0], name="v"), tfe.Variable(3.0, name="w")
    path = tfe.Saver(saved).save(str(tmp_path / "saved"))
    with tfe.restore_variables_on_create(path):
        v, w = tfe.Variable([0.0, 0.0], name="v"), tf.get_variable("w", initializer=0.0)
        again = tfe.Variable([5.0, 6.0], name="v")
        with pytest.raises(tf.errors.NotFoundError, match="other not found"):
            tfe.Variable(0.0, name="other")
    assert v.numpy().tolist() == [1, 2] and w.numpy() == 3 and again.numpy().tolist() == [5, 6]
    assert tfe.Variable(0.5, name="other").numpy() == 0.5
    with tfe.restore_variables_on_create(path, map_func=lambda name: name[-1]):
        assert tfe.Variable(0.0, name="scope/w").numpy() == 3
    with tfe.restore_variables_on_create(None):
        assert tfe.Variable(0.0, name="w").numpy() == 0


def test_restore_variables_on_create_refuses(tmp_path):
    with pytest.raises(ValueError, match="eager"):
        with tfe.restore_variables_on_create("path"):
            pass
    with context.eager_mode():
        with pytest.raises(ValueError, match="map_func"):
            with tfe.restore_variables_on_create("path", map_func="x"):
                pass
