"""tf_slim's nets: shapes, end points, variable names, and a step of training on a small one."""

import numpy as np
import pytest
import tensorflow as tf
import tf_slim as slim
from tf_slim.nets import alexnet, inception, overfeat, resnet_utils, resnet_v1, resnet_v2, vgg

_CLASSES = 7


# Name -> (build, arg scope, image size, an end point and its shape, number of trainable variables, one of them).
_NETS = {
    "alexnet": (
        alexnet.alexnet_v2,
        alexnet.alexnet_v2_arg_scope,
        224,
        ("alexnet_v2/conv5", [1, 12, 12, 256]),
        16,
        "alexnet_v2/conv1/weights",
    ),
    "vgg_a": (vgg.vgg_a, vgg.vgg_arg_scope, 224, ("vgg_a/pool5", [1, 7, 7, 512]), 22, "vgg_a/conv1/conv1_1/weights"),
    "vgg_16": (
        vgg.vgg_16,
        vgg.vgg_arg_scope,
        224,
        ("vgg_16/pool5", [1, 7, 7, 512]),
        32,
        "vgg_16/conv1/conv1_1/weights",
    ),
    "overfeat": (
        overfeat.overfeat,
        overfeat.overfeat_arg_scope,
        231,
        ("overfeat/conv5", [1, 12, 12, 1024]),
        16,
        "overfeat/conv1/weights",
    ),
    "inception_v1": (
        inception.inception_v1,
        inception.inception_v1_arg_scope,
        224,
        ("Mixed_5c", [1, 7, 7, 1024]),
        116,
        "InceptionV1/Conv2d_1a_7x7/weights",
    ),
    "inception_v2": (
        inception.inception_v2,
        inception.inception_v2_arg_scope,
        224,
        ("Mixed_5c", [1, 7, 7, 1024]),
        141,
        "InceptionV2/Conv2d_1a_7x7/depthwise_weights",
    ),
    "inception_v3": (
        inception.inception_v3,
        inception.inception_v3_arg_scope,
        299,
        ("Mixed_7c", [1, 8, 8, 2048]),
        196,
        "InceptionV3/Conv2d_1a_3x3/weights",
    ),
    "resnet_v1_50": (
        resnet_v1.resnet_v1_50,
        resnet_utils.resnet_arg_scope,
        224,
        ("resnet_v1_50/block4", [1, 7, 7, 2048]),
        161,
        "resnet_v1_50/conv1/weights",
    ),
    "resnet_v2_50": (
        resnet_v2.resnet_v2_50,
        resnet_utils.resnet_arg_scope,
        224,
        ("resnet_v2_50/block4", [1, 7, 7, 2048]),
        174,
        "resnet_v2_50/conv1/weights",
    ),
}


@pytest.mark.parametrize("name", _NETS)
def test_net_has_its_end_points_and_variables(name):
    build, scope, size, (end_point, shape), num_trainable, first = _NETS[name]
    with slim.arg_scope(scope()):
        logits, end_points = build(tf.placeholder(tf.float32, [1, size, size, 3]), _CLASSES, is_training=True)
    assert logits.shape.as_list()[0] == 1 and logits.shape.as_list()[-1] == _CLASSES
    assert end_points[end_point].shape.as_list() == shape
    names = [v.op.name for v in tf.trainable_variables()]
    assert first in names and len(set(names)) == len(names) == num_trainable
    assert tf.losses.get_regularization_losses()


def _small_resnet(images, is_training, reuse=None):
    blocks = [
        resnet_v2.resnet_v2_block("block1", base_depth=2, num_units=2, stride=2),
        resnet_v2.resnet_v2_block("block2", base_depth=4, num_units=1, stride=1),
    ]
    with slim.arg_scope(resnet_utils.resnet_arg_scope(batch_norm_decay=0.9)):
        logits, _ = resnet_v2.resnet_v2(
            images, blocks, num_classes=2, is_training=is_training, include_root_block=False, reuse=reuse, scope="small"
        )
    return tf.squeeze(logits, [1, 2])


def test_a_small_resnet_learns_and_evaluates_with_the_same_variables(run):
    random = np.random.default_rng(0)
    x = random.normal(size=[16, 8, 8, 3]).astype(np.float32)
    labels = (x.mean((1, 2, 3)) > 0).astype(np.int64)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, _small_resnet(tf.constant(x), True))
    train = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.01))
    predictions = tf.argmax(_small_resnet(tf.constant(x), False, reuse=True), 1)
    losses = [run(train) for _ in range(60)]
    assert losses[-1] < losses[0] / 4
    assert (run(predictions) == labels).mean() > 0.9


def test_fully_convolutional_vgg_takes_larger_images():
    with slim.arg_scope(vgg.vgg_arg_scope()):
        logits, _ = vgg.vgg_a(tf.placeholder(tf.float32, [2, 256, 256, 3]), _CLASSES, spatial_squeeze=False)
    assert logits.shape.as_list() == [2, 2, 2, _CLASSES]


def test_resnet_output_stride_keeps_the_resolution():
    with slim.arg_scope(resnet_utils.resnet_arg_scope()):
        out, _ = resnet_v1.resnet_v1_50(
            tf.placeholder(tf.float32, [1, 65, 65, 3]), None, global_pool=False, output_stride=8, is_training=False
        )
    assert out.shape.as_list() == [1, 9, 9, 2048]
