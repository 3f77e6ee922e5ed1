"""tf_slim's layers: shapes, variable names, and values against core ops or NumPy."""

import numpy as np
import pytest
import tensorflow as tf
import tf_slim as slim


def _names(variables=None):
    return [v.op.name for v in (tf.global_variables() if variables is None else variables)]


def _variable(name):
    [found] = [v for v in tf.global_variables() if v.op.name == name]
    return found


def _close(got, want, tolerance=1e-5):
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


# Convolutions: layer, core op of (inputs, weights), output shape.
_CONVOLUTIONS = {
    "conv2d": (lambda x: slim.conv2d(x, 4, 3, scope="c"), lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), [2, 8, 8, 4]),
    "conv2d strided, valid": (
        lambda x: slim.conv2d(x, 4, [3, 2], stride=2, padding="VALID", scope="c"),
        lambda x, w: tf.nn.conv2d(x, w, 2, "VALID"),
        [2, 3, 4, 4],
    ),
    "conv2d with a rate": (
        lambda x: slim.conv2d(x, 4, 3, rate=2, scope="c"),
        lambda x, w: tf.nn.conv2d(x, w, 1, "SAME", dilations=2),
        [2, 8, 8, 4],
    ),
    "conv2d_transpose": (
        lambda x: slim.conv2d_transpose(x, 4, 3, stride=2, scope="c"),
        lambda x, w: tf.nn.conv2d_transpose(x, w, [2, 16, 16, 4], 2, "SAME"),
        [2, 16, 16, 4],
    ),
    "conv2d_in_plane": (
        lambda x: slim.conv2d_in_plane(x, [1, 2], scope="c"),
        lambda x, w: tf.nn.depthwise_conv2d(x, tf.tile(w, [1, 1, 3, 1]), [1, 1, 1, 1], "SAME"),
        [2, 8, 8, 3],
    ),
    "conv1d": (
        lambda x: slim.conv1d(x[:, 0], 4, 3, scope="c"),
        lambda x, w: tf.nn.conv1d(x[:, 0], w, 1, "SAME"),
        [2, 8, 4],
    ),
    "conv3d": (
        lambda x: slim.conv3d(x[..., None], 4, [3, 3, 2], scope="c"),
        lambda x, w: tf.nn.conv3d(x[..., None], w, [1] * 5, "SAME"),
        [2, 8, 8, 3, 4],
    ),
    "conv3d_transpose": (
        lambda x: slim.conv3d_transpose(x[..., None], 4, 3, stride=2, scope="c"),
        lambda x, w: tf.nn.conv3d_transpose(x[..., None], w, [2, 16, 16, 6, 4], [1, 2, 2, 2, 1], "SAME"),
        [2, 16, 16, 6, 4],
    ),
}


@pytest.mark.parametrize("name", _CONVOLUTIONS)
def test_convolution(run, images, name):
    layer, core, shape = _CONVOLUTIONS[name]
    out = layer(tf.constant(images))
    assert out.shape.as_list() == shape and _names() == ["c/weights", "c/biases"]
    got, weights = run([out, _variable("c/weights")])
    _close(got, np.maximum(run(core(tf.constant(images), tf.constant(weights))), 0))


def test_conv2d_in_nchw_has_the_same_variables_as_in_nhwc(images):
    x = tf.constant(images.transpose(0, 3, 1, 2))
    assert slim.conv2d(x, 4, 3, data_format="NCHW", scope="c").shape.as_list() == [2, 4, 8, 8]
    assert _variable("c/weights").shape.as_list() == [3, 3, 3, 4]


def test_separable_conv2d(run, images):
    out = slim.separable_conv2d(tf.constant(images), 5, 3, depth_multiplier=2, activation_fn=None, scope="s")
    assert _names() == ["s/depthwise_weights", "s/pointwise_weights", "s/biases"]
    got, depthwise, pointwise = run([out, *tf.global_variables()[:2]])
    _close(got, run(tf.nn.separable_conv2d(images, depthwise, pointwise, [1, 1, 1, 1], "SAME")))


def test_separable_conv2d_without_pointwise_part(images):
    out = slim.separable_conv2d(tf.constant(images), None, 3, depth_multiplier=2, scope="s")
    assert out.shape.as_list() == [2, 8, 8, 6] and _names() == ["s/depthwise_weights", "s/biases"]


_POOLINGS = {
    "max_pool2d": (lambda x: slim.max_pool2d(x, 2), lambda x: tf.nn.max_pool(x, 2, 2, "VALID")),
    "avg_pool2d": (lambda x: slim.avg_pool2d(x, 3, stride=1), lambda x: tf.nn.avg_pool(x, 3, 1, "VALID")),
    "max_pool3d": (
        lambda x: slim.max_pool3d(x[..., None], 2),
        lambda x: tf.nn.max_pool3d(x[..., None], 2, 2, "VALID"),
    ),
    "avg_pool3d": (
        lambda x: slim.avg_pool3d(x[..., None], 2, padding="SAME"),
        lambda x: tf.nn.avg_pool3d(x[..., None], 2, 2, "SAME"),
    ),
    "pool": (
        lambda x: slim.pool(x, [2, 2], "AVG", padding="SAME", stride=2),
        lambda x: tf.nn.avg_pool(x, 2, 2, "SAME"),
    ),
}


@pytest.mark.parametrize("name", _POOLINGS)
def test_pooling(run, images, name):
    layer, core = _POOLINGS[name]
    _close(*run([layer(tf.constant(images)), core(tf.constant(images))]))


def test_fully_connected(run, images):
    x = images[:, 0, 0]
    out = slim.fully_connected(x, 4, activation_fn=tf.tanh, scope="fc")
    assert _names() == ["fc/weights", "fc/biases"]
    got, weights = run([out, _variable("fc/weights")])
    _close(got, np.tanh(x @ weights))


def test_fully_connected_of_more_dimensions_works_on_the_last(run, images):
    out = slim.fully_connected(images, 4, activation_fn=None)
    got, weights = run([out, tf.global_variables()[0]])
    _close(got, images @ weights)


@pytest.mark.parametrize("fused", [True, False])
def test_batch_norm_of_images_in_training(run, images, fused):
    out = slim.batch_norm(tf.constant(images), scale=True, fused=fused, decay=0.9, scope="bn")
    assert sorted(_names()) == ["bn/beta", "bn/gamma", "bn/moving_mean", "bn/moving_variance"]
    mean, variance = images.mean((0, 1, 2)), images.var((0, 1, 2))
    _close(run(out), (images - mean) / np.sqrt(variance + 0.001), 1e-4)
    run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    _close(run(_variable("bn/moving_mean")), 0.1 * mean)


def test_batch_norm_of_rows_in_evaluation_uses_the_moving_values(run, images):
    x = images[:, 0, 0]
    out = slim.batch_norm(x, is_training=False, scope="bn")
    run([_variable("bn/moving_mean").assign([1, 2, 3]), _variable("bn/moving_variance").assign([4, 4, 4])])
    _close(run(out), (x - [1, 2, 3]) / np.sqrt(4.001))
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)


def test_batch_norm_updates_in_place_on_request(run, images):
    out = slim.batch_norm(images, updates_collections=None, decay=0.5, scope="bn")
    run(out)
    _close(run(_variable("bn/moving_mean")), 0.5 * images.mean((0, 1, 2)))


def test_layer_norm(run, images):
    out = slim.layer_norm(tf.constant(images), scope="ln")
    assert sorted(_names()) == ["ln/beta", "ln/gamma"]
    axes = (1, 2, 3)
    want = (images - images.mean(axes, keepdims=True)) / np.sqrt(images.var(axes, keepdims=True) + 1e-12)
    _close(run(out), want, 1e-4)


def test_instance_norm(run, images):
    out = slim.instance_norm(tf.constant(images))
    want = (images - images.mean((1, 2), keepdims=True)) / np.sqrt(images.var((1, 2), keepdims=True) + 1e-6)
    _close(run(out), want, 1e-4)


def test_group_norm(run, images):
    x = np.concatenate([images, images**2], -1)
    groups = x.reshape(2, 8, 8, 2, 3)
    axes = (1, 2, 4)
    want = (groups - groups.mean(axes, keepdims=True)) / np.sqrt(groups.var(axes, keepdims=True) + 1e-6)
    _close(run(slim.group_norm(tf.constant(x), groups=2)), want.reshape(x.shape), 1e-4)


def test_dropout_keeps_a_share_and_scales_it(run):
    out = run(slim.dropout(tf.ones([1000]), keep_prob=0.8))
    assert set(np.unique(out)) == {0, np.float32(1.25)} and 700 < (out > 0).sum() < 900
    assert (run(slim.dropout(tf.ones([10]), is_training=False)) == 1).all()


def test_flatten_one_hot_unit_norm_and_softmax(run, images):
    flat, hot, unit, soft = run(
        [
            slim.flatten(tf.constant(images)),
            slim.one_hot_encoding([2, 0], 3),
            slim.unit_norm(tf.constant(images), 3, epsilon=1e-9),
            slim.softmax(tf.constant(images)),
        ]
    )
    np.testing.assert_array_equal(flat, images.reshape(2, -1))
    np.testing.assert_array_equal(hot, [[0, 0, 1], [1, 0, 0]])
    _close(unit, images / np.linalg.norm(images, axis=3, keepdims=True), 1e-4)
    _close(soft, np.exp(images) / np.exp(images).sum(-1, keepdims=True))


def test_bias_add_and_maxout(run, images):
    out = slim.bias_add(tf.constant(images), initializer=tf.constant_initializer(2.0), scope="b")
    assert _names() == ["b/biases"]
    _close(run(out), images + 2)
    x = np.arange(12.0, dtype=np.float32).reshape(2, 6)
    np.testing.assert_array_equal(run(slim.maxout(tf.constant(x), 3)), [[1, 3, 5], [7, 9, 11]])


def test_spatial_softmax_gives_expected_positions(run):
    x = np.full([1, 3, 3, 1], -50, np.float32)
    x[0, 2, 1, 0] = 50
    _close(run(slim.spatial_softmax(tf.constant(x))), [[1, 0]])  # row, column, from -1 to 1


def test_dense_to_sparse(run):
    sparse = run(slim.layers.dense_to_sparse(tf.constant([[1, 0, 2]]), eos_token=0))
    assert sparse.indices.tolist() == [[0, 0], [0, 2]] and sparse.values.tolist() == [1, 2]


def test_images_to_sequence_and_back(run, images):
    sequence = slim.images_to_sequence(tf.constant(images))
    assert sequence.shape.as_list() == [8, 16, 3]
    np.testing.assert_array_equal(run(slim.sequence_to_images(sequence, 8)), images)


def test_repeat_and_stack_name_their_scopes(images):
    slim.repeat(tf.constant(images), 2, slim.conv2d, 4, 3, scope="conv")
    slim.stack(tf.constant(images[:, 0, 0]), slim.fully_connected, [5, 6], scope="fc")
    assert _names()[::2] == ["conv/conv_1/weights", "conv/conv_2/weights", "fc/fc_1/weights", "fc/fc_2/weights"]


def test_default_scopes_count_up(images):
    for _ in range(2):
        slim.conv2d(tf.constant(images), 2, 1)
        slim.fully_connected(images[:, 0, 0], 2)
    assert _names()[::2] == ["Conv/weights", "fully_connected/weights", "Conv_1/weights", "fully_connected_1/weights"]


def test_reuse_shares_variables(run, images):
    first = slim.conv2d(tf.constant(images), 2, 3, scope="c")
    again = slim.conv2d(tf.constant(images), 2, 3, scope="c", reuse=True)
    assert len(_names()) == 2
    np.testing.assert_array_equal(*run([first, again]))


def test_a_normalizer_takes_the_place_of_biases(images):
    slim.conv2d(tf.constant(images), 2, 3, normalizer_fn=slim.batch_norm, scope="c")
    assert _names() == ["c/weights", "c/BatchNorm/beta", "c/BatchNorm/moving_mean", "c/BatchNorm/moving_variance"]


def test_arg_scope_sets_defaults_and_inner_ones_win(run, images):
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected], activation_fn=None, weights_initializer=tf.ones_initializer()
    ):
        with slim.arg_scope([slim.conv2d], biases_initializer=tf.constant_initializer(-1e3)):
            out = slim.conv2d(tf.constant(images), 2, 1)
            relu = slim.conv2d(tf.constant(images), 2, 1, activation_fn=tf.nn.relu)
        rows = slim.fully_connected(images[:, 0, 0], 2)
    assert slim.has_arg_scope(slim.conv2d)
    out, relu, rows = run([out, relu, rows])
    _close(out[..., 0], images.sum(-1) - 1e3, 1e-3)
    assert (relu == 0).all()
    _close(rows[:, 1], images[:, 0, 0].sum(-1))


def test_a_saved_arg_scope_can_be_entered_again(images):
    with slim.arg_scope([slim.conv2d], padding="VALID") as saved:
        pass
    with slim.arg_scope(saved):
        assert slim.conv2d(tf.constant(images), 2, 3).shape.as_list() == [2, 6, 6, 2]
    assert slim.conv2d(tf.constant(images), 2, 3).shape.as_list() == [2, 8, 8, 2]


def test_add_arg_scope_makes_a_function_configurable():
    @slim.add_arg_scope
    def scaled(x, factor=1):
        return x * factor

    with slim.arg_scope([scaled], factor=3):
        assert scaled(2) == 6
    assert scaled(2) == 2
    with pytest.raises(ValueError, match="add_arg_scope"), slim.arg_scope([len], factor=3):
        pass


@pytest.mark.parametrize("uniform", [True, False])
def test_xavier_initializer_has_its_deviation(run, uniform):
    values = run(slim.xavier_initializer(uniform=uniform)([200, 300]))
    assert abs(values.std() - np.sqrt(2 / 500)) < 0.002 and abs(values.mean()) < 0.002
    if uniform:
        assert abs(values).max() <= np.sqrt(6 / 500)


@pytest.mark.parametrize("mode, fan", [("FAN_IN", 200), ("FAN_OUT", 300), ("FAN_AVG", 250)])
def test_variance_scaling_initializer_has_its_deviation(run, mode, fan):
    values = run(slim.variance_scaling_initializer(factor=2.0, mode=mode)([200, 300]))
    assert abs(values.std() - np.sqrt(2 / fan)) < 0.003


def test_regularizers(run):
    x = tf.constant([[3.0, -4.0]])
    losses = [slim.l1_regularizer(0.1)(x), slim.l2_regularizer(0.1)(x), slim.l1_l2_regularizer(0.1, 0.2)(x)]
    _close(run(losses), [0.7, 1.25, 0.7 + 2.5])
    _close(run(slim.sum_regularizer([slim.l1_regularizer(1.0), slim.l2_regularizer(1.0)])(x)), 7 + 12.5)
    assert slim.l2_regularizer(0.0)(x) is None


def test_a_weights_regularizer_adds_a_loss(run, images):
    slim.conv2d(tf.constant(images), 2, 3, weights_regularizer=slim.l2_regularizer(0.5), scope="c")
    [loss] = tf.losses.get_regularization_losses()
    got, weights = run([loss, _variable("c/weights")])
    _close(got, 0.25 * (weights**2).sum())
    assert loss.op.name == "c/kernel/Regularizer/l2_regularizer"


def test_bad_arguments_are_refused(images):
    with pytest.raises(ValueError, match="data_format"):
        slim.conv2d(tf.constant(images), 2, 3, data_format="NWHC")
    with pytest.raises(ValueError):
        slim.fully_connected(tf.placeholder(tf.float32, [None, None]), 2)
    with pytest.raises(ValueError, match="data_format"):
        slim.max_pool2d(tf.constant(images), 2, data_format="NWHC")
