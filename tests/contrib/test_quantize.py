"""quantize: folded networks against the unfolded ones, fake quantization against NumPy, and the names of 1.15."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.contrib.quantize.python import fold_batch_norms, quant_ops

quantize = tf.contrib.quantize
slim = tf.contrib.slim


def _norm(training, fused, activation=tf.nn.relu):
    return {
        "activation_fn": activation,
        "normalizer_fn": slim.batch_norm,
        "normalizer_params": {"is_training": training, "fused": fused, "scale": True, "decay": 0.9},
    }


def _layer(kind, training, fused):
    """A layer with batch norm and relu in the scope "layer", on a placeholder "x"."""
    norm = _norm(training, fused)
    if kind == "fc":
        return slim.fully_connected(tf.placeholder(tf.float32, [8, 3], name="x"), 4, scope="layer", **norm)
    x = tf.placeholder(tf.float32, [4, 5, 5, 3], name="x")
    if kind == "conv":
        return slim.conv2d(x, 4, 3, scope="layer", **norm)
    return slim.separable_conv2d(x, None, 3, depth_multiplier=2, scope="layer", **norm)


def _input(graph, rng):
    x = graph.get_tensor_by_name("x:0")
    return {x: rng.normal(size=x.shape.as_list()).astype(np.float32)}


def _randomize(session, graph, seed=0):
    """Gives the variables of the layers random values, the same for the same names."""
    session.run(tf.global_variables_initializer())
    for variable in graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES):
        name = variable.op.name
        if variable.shape.ndims:
            rng = np.random.default_rng([seed, *name.encode()])
            low = 0.5 if name.endswith(("gamma", "variance")) else -0.5
            variable.load(rng.uniform(low, 1.5, variable.shape.as_list()), session)


def _fake_quant(values, low, high, bits=8, narrow=False):
    """The nudged fake quantization of Jacob et al. in float64."""
    lowest, highest = int(narrow), 2**bits - 1
    scale = (high - low) / (highest - lowest)
    zero = np.clip(np.round(lowest - low / scale), lowest, highest)
    low, high = (lowest - zero) * scale, (highest - zero) * scale
    return np.round((np.clip(values, low, high) - low) / scale) * scale + low


KINDS = pytest.mark.parametrize("kind", ["conv", "depthwise", "fc"])
FUSED = pytest.mark.parametrize("fused", [True, False])


@KINDS
@FUSED
def test_a_folded_layer_for_evaluation_computes_what_it_did(kind, fused):
    with tf.Graph().as_default() as graph:
        output = _layer(kind, False, fused)
        before = output.op.inputs[0]
        fold_batch_norms.FoldBatchNorms(graph, is_training=False)
        after = output.op.inputs[0]
        assert after.op.name == "layer/add_fold"
        with tf.Session() as session:
            _randomize(session, graph)
            wanted, got = session.run([before, after], _input(graph, np.random.default_rng(1)))
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def _training_values(kind, fused, fold, freeze=None, steps=1):
    """Output, gradients and moving averages of the last of some steps on the same batch, by name."""
    with tf.Graph().as_default() as graph:
        output = _layer(kind, True, fused)
        if fold:
            fold_batch_norms.FoldBatchNorms(graph, is_training=True, freeze_batch_norm_delay=freeze)
        loss = tf.reduce_sum(tf.square(output - 0.3))
        variables = tf.trainable_variables()
        fetches = {"output": output}
        fetches.update((v.op.name, g) for v, g in zip(variables, tf.gradients(loss, variables)))
        with tf.control_dependencies([output]):
            update = tf.group(*tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        moving = {v.op.name: v for v in tf.global_variables() if "moving" in v.op.name}
        with tf.Session() as session:
            _randomize(session, graph)
            feeds = _input(graph, np.random.default_rng(2))
            for _ in range(steps):
                values = session.run(dict(fetches, update=update), feeds)
            values.update(session.run(moving))
    del values["update"]
    return values


@KINDS
@FUSED
def test_a_folded_layer_in_training_has_the_output_the_gradients_and_the_averages_of_the_batch_norm(kind, fused):
    wanted = _training_values(kind, fused, fold=False)
    got = _training_values(kind, fused, fold=True)
    assert sorted(got) == sorted(wanted) and len(got) == 6
    for name, value in wanted.items():
        if "moving" in name:
            np.testing.assert_allclose(got[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
        else:
            np.testing.assert_allclose(got[name], value, rtol=2e-3, atol=2e-3, err_msg=name)


@KINDS
@FUSED
def test_a_frozen_batch_norm_uses_the_moving_averages_and_leaves_them(kind, fused):
    live = _training_values(kind, fused, fold=True, freeze=10**6, steps=2)
    np.testing.assert_allclose(live["output"], _training_values(kind, fused, False)["output"], rtol=1e-3, atol=1e-4)
    frozen = _training_values(kind, fused, fold=True, freeze=0, steps=3)
    with tf.Graph().as_default() as graph:
        output = _layer(kind, False, fused)
        moving = {v.op.name: v for v in tf.global_variables() if "moving" in v.op.name}
        with tf.Session() as session:
            _randomize(session, graph)
            wanted = session.run(dict(moving, output=output), _input(graph, np.random.default_rng(2)))
    for name, value in wanted.items():
        np.testing.assert_allclose(frozen[name], value, rtol=1e-4, atol=1e-4, err_msg=name)


def _dense(activation=tf.nn.relu):
    x = tf.placeholder(tf.float32, [8, 3], name="x")
    return slim.fully_connected(x, 4, activation_fn=activation, scope="fc"), x


def test_an_evaluation_graph_is_the_quantized_network_of_numpy():
    rng = np.random.default_rng(3)
    with tf.Graph().as_default() as graph:
        output, x = _dense()
        result = tf.multiply(output, 1.0, name="result")
        quantize.create_eval_graph()
        with tf.Session() as session:
            _randomize(session, graph)
            ranges = {"fc/weights_quant": (-0.4, 1.1), "fc/act_quant": (0.0, 2.3)}
            for variable in tf.get_collection(tf.GraphKeys.MOVING_AVERAGE_VARIABLES):
                scope, _, end = variable.op.name.rpartition("/")
                variable.load(ranges[scope][end == "max"], session)
            value = rng.normal(size=[8, 3]).astype(np.float32)
            got = session.run(result, {x: value})
            weights, biases = session.run(["fc/weights/read:0", "fc/biases/read:0"])
    raw = np.maximum(value @ _fake_quant(weights, -0.4, 1.1, narrow=True) + biases, 0)
    wanted = _fake_quant(raw, 0.0, 2.3)
    # A value right between two quanta may fall to either side.
    assert np.mean(np.abs(got - wanted) > 1e-4) < 0.1
    np.testing.assert_allclose(got, wanted, atol=1.01 * 2.3 / 255)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("bits", [8, 4])
def test_a_training_graph_takes_its_ranges_from_the_data(bits, symmetric):
    rng = np.random.default_rng(4)
    with tf.Graph().as_default() as graph:
        output, x = _dense()
        result = tf.multiply(output, 1.0, name="result")
        quantize.experimental_create_training_graph(weight_bits=bits, activation_bits=bits, symmetric=symmetric)
        with tf.Session() as session:
            _randomize(session, graph)
            value = rng.normal(size=[8, 3]).astype(np.float32)
            got, raw = session.run([result, output], {x: value})
            weights, biases = session.run(["fc/weights/read:0", "fc/biases/read:0"])
            names = ("fc/weights_quant/min", "fc/weights_quant/max", "fc/act_quant/min", "fc/act_quant/max")
            w_low, w_high, a_low, a_high = session.run([f"{name}:0" for name in names])
    high = np.maximum(weights.max(), -weights.min()) if symmetric else weights.max()
    np.testing.assert_allclose([w_low, w_high], [-high if symmetric else min(weights.min(), 0), high], rtol=1e-6)
    wanted_raw = np.maximum(value @ _fake_quant(weights, w_low, w_high, bits, narrow=True) + biases, 0)
    np.testing.assert_allclose(raw, wanted_raw, rtol=1e-4, atol=1e-5)
    # The moving average is debiased: after one step it is the range of that step.
    low = -raw.max() / ((2**bits - 2) / 2**bits) if symmetric else 0.0
    np.testing.assert_allclose([a_low, a_high], [low, raw.max()], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(got, _fake_quant(raw, a_low, a_high, bits), atol=1.01 * (a_high - a_low) / (2**bits - 1))
    assert len(np.unique(got)) <= 2**bits


def test_the_range_of_activations_is_a_moving_average():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3])
        quantized = quant_ops.MovingAvgQuantize(x, ema_decay=0.5, name_prefix="q")
        session.run(tf.global_variables_initializer())
        for value in ([-1, 0, 2], [-3, 0, 6]):
            session.run(quantized, {x: value})
        got = session.run(["q/min:0", "q/max:0"])
    # Debiased with decay d: (d * (1 - d) * first + (1 - d) * second) / (1 - d**2).
    np.testing.assert_allclose(got, [-(0.25 * 1 + 0.5 * 3) / 0.75, (0.25 * 2 + 0.5 * 6) / 0.75], rtol=1e-6)


def test_ranges_per_channel():
    value = np.random.default_rng(5).normal(size=[4, 3]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        quantized = quant_ops.LastValueQuantize(tf.constant(value), per_channel=True, name_prefix="q")
        session.run(tf.global_variables_initializer())
        got = session.run(quantized)
        low, high = session.run(["q/min:0", "q/max:0"])
    np.testing.assert_allclose(low, np.minimum(value.min(0), 0))
    np.testing.assert_allclose(high, np.maximum(value.max(0), 0))
    for channel in range(3):
        wanted = _fake_quant(value[:, channel], low[channel], high[channel])
        np.testing.assert_allclose(got[:, channel], wanted, atol=1.01 * (high[channel] - low[channel]) / 255)


def test_gradients_pass_through_fake_quantization_inside_its_range():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([-2.0, 0.5, 3.0])
        quantized = quant_ops.FixedQuantize(x, init_min=-1.0, init_max=1.0)
        np.testing.assert_array_equal(session.run(tf.gradients(quantized, x)[0]), [0, 1, 0])


def _ranges(graph):
    names = [v.op.name for v in graph.get_collection(tf.GraphKeys.MOVING_AVERAGE_VARIABLES)]
    return sorted({name.rpartition("/")[0] for name in names})


@pytest.mark.parametrize("training", [True, False])
@FUSED
def test_names_of_a_network_with_batch_norms_and_a_residual(training, fused):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 6, 6, 3])
        with tf.variable_scope("net"):
            first = slim.conv2d(x, 4, 3, scope="conv1", **_norm(training, fused))
            second = slim.conv2d(first, 4, 3, scope="block/conv2", **_norm(training, fused, None))
            net = tf.nn.relu(first + second, name="block/out")
            third = slim.conv2d(net, 4, 3, scope="linear/conv3", **_norm(training, fused, None))
            net = tf.add(net, third, name="linear/add")
            net = slim.flatten(net)
            logits = slim.fully_connected(net, 5, activation_fn=None, scope="logits")
            tf.nn.softmax(logits)
        (quantize.create_training_graph if training else quantize.create_eval_graph)()
        quants = [op.name.rpartition("/")[0] for op in graph.get_operations() if op.type == "FakeQuantWithMinMaxVars"]
        assert sorted(quants) == _ranges(graph)
        assert _ranges(graph) == [
            "net/block/act_quant",
            "net/block/conv2/conv_quant",
            "net/block/conv2/weights_quant",
            "net/conv1/act_quant",
            "net/conv1/weights_quant",
            "net/linear/add_quant",
            "net/linear/conv3/conv_quant",
            "net/linear/conv3/weights_quant",
            "net/logits/act_quant",
            "net/logits/weights_quant",
        ]
        names = {op.name for op in graph.get_operations()}
        assert {"net/conv1/Conv2D_Fold", "net/conv1/mul_fold", "net/conv1/add_fold"} <= names
        assert ("net/conv1/correction_mult" in names) is training
        biased = [v.op.name for v in tf.global_variables() if v.op.name.endswith("/biased")]
        assert ("net/conv1/act_quant/net/conv1/act_quant/min/biased" in biased) is training
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert np.isfinite(session.run(logits, {x: np.ones([2, 6, 6, 3])})).all()


def test_a_checkpoint_of_training_restores_into_the_evaluation_graph(tmp_path):
    def build(training):
        x = tf.placeholder(tf.float32, [8, 5, 5, 3], name="x")
        return tf.multiply(slim.conv2d(x, 4, 3, scope="conv", **_norm(training, True)), 1.0, name="result")

    with tf.Graph().as_default() as graph, tf.Session() as session:
        result = build(True)
        quantize.create_training_graph()
        loss = tf.reduce_mean(tf.square(result - 1))
        train = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
        session.run(tf.global_variables_initializer())
        feeds = _input(graph, np.random.default_rng(6))
        losses = [session.run(train, feeds) for _ in range(80)]
        trained = session.run(result, feeds)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    assert losses[-1] < 0.7 * losses[0]
    with tf.Graph().as_default() as graph, tf.Session() as session:
        result = build(False)
        quantize.create_eval_graph()
        tf.train.Saver().restore(session, path)
        evaluated = session.run(result, _input(graph, np.random.default_rng(6)))
    assert np.mean(np.abs(evaluated - trained)) < 0.05


def test_quantization_starts_after_its_delay():
    value = np.random.default_rng(7).normal(size=[8, 3]).astype(np.float32)
    with tf.Graph().as_default() as graph:
        output, x = _dense()
        result = tf.multiply(output, 1.0)
        plain = tf.nn.relu(
            x @ graph.get_tensor_by_name("fc/weights/read:0") + graph.get_tensor_by_name("fc/biases/read:0")
        )
        quantize.experimental_create_training_graph(quant_delay=3, weight_bits=3, activation_bits=3)
        with tf.Session() as session:
            _randomize(session, graph)
            same = [np.allclose(*session.run([result, plain], {x: value}), atol=1e-5) for _ in range(5)]
            assert session.run("quantization_step:0") == 5
    assert same == [True, True, False, False, False]


@pytest.mark.parametrize("use_resource", [False, True])
def test_core_layers_in_a_variable_scope_with_both_delays(use_resource):
    with tf.Graph().as_default() as graph, tf.variable_scope("net", use_resource=use_resource):
        x = tf.placeholder(tf.float32, [4, 5, 5, 3], name="x")
        net = tf.layers.conv2d(x, 4, 3, name="conv", use_bias=False)
        net = tf.nn.relu(tf.layers.batch_normalization(net, training=True, name="norm"))
        loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.layers.flatten(net), 2, name="dense") - 1))
        quantize.experimental_create_training_graph(quant_delay=2, freeze_bn_delay=10)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        train = tf.group(tf.train.GradientDescentOptimizer(0.05).minimize(loss), *updates)
        ranges = [op.name for op in graph.get_operations() if op.type == "FakeQuantWithMinMaxVars"]
        assert len(ranges) == 4
        moving = [v for v in tf.global_variables() if v.op.name == "net/norm/moving_mean"]
        value = np.random.default_rng(8).normal(size=[4, 5, 5, 3])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            losses, means = [], []
            for _ in range(15):
                losses.append(session.run([loss, train], {"net/x:0": value})[0])
                means.append(session.run(moving))
        assert losses[8] < losses[0]
        assert not np.array_equal(means[0], means[5])
        np.testing.assert_array_equal(means[11], means[14])


def test_only_the_scope_is_quantized():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [8, 3])
        for scope in ("first", "second"):
            x = slim.fully_connected(x, 3, scope=f"{scope}/fc")
        tf.identity(x)
        quantize.experimental_create_training_graph(scope="second")
        assert _ranges(graph) == ["second/fc/act_quant", "second/fc/weights_quant"]


def test_an_addition_of_activations_has_a_range_of_its_own():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [8, 3])
        with tf.variable_scope("net"):
            tf.identity(tf.add(slim.fully_connected(x, 3, scope="fc"), x, name="sum/add"))
        quantize.create_eval_graph()
        assert _ranges(graph) == ["net/fc/act_quant", "net/fc/weights_quant", "net/sum/post_activation_bypass_quant"]


def test_a_second_rewrite_adds_no_second_quantization():
    with tf.Graph().as_default() as graph:
        tf.identity(_dense()[0])
        quantize.create_training_graph()
        before = len(graph.get_operations())
        quantize.create_training_graph(graph)
        assert len(graph.get_operations()) == before


def test_bad_arguments_are_named():
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match="weight_bits: expected 2 to 16, got 1"):
            quantize.experimental_create_training_graph(weight_bits=1)
        with pytest.raises(ValueError, match="activation_bits: expected 2 to 16, got 17"):
            quantize.experimental_create_eval_graph(activation_bits=17)
        with pytest.raises(ValueError, match="input_graph"):
            quantize.create_training_graph(input_graph="graph")
        with pytest.raises(ValueError, match="per_channel"):
            quant_ops.LastValueQuantize(tf.zeros([2, 3, 4]), per_channel=True)
        x = tf.placeholder(tf.float32, [2, 5, 5, 3])
        y = tf.nn.conv2d(x, tf.get_variable("w", [3, 3, 3, 4]), 1, "SAME")
        tf.identity(tf.nn.fused_batch_norm(y, tf.ones([4]), tf.zeros([4]))[0])
        with pytest.raises(ValueError, match="moving average"):
            quantize.create_training_graph(graph)
