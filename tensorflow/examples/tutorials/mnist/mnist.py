"""A network of two hidden layers for MNIST, in the four steps of the tutorial."""

import math

import tensorflow as tf

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _dense(scope, inputs, inputs_size, size):
    with tf.name_scope(scope):
        stddev = 1.0 / math.sqrt(float(inputs_size))
        weights = tf.Variable(tf.truncated_normal([inputs_size, size], stddev=stddev), name="weights")
        biases = tf.Variable(tf.zeros([size]), name="biases")
        return tf.matmul(inputs, weights) + biases


def inference(images, hidden1_units, hidden2_units):
    """Logits [n, 10] for images [n, 784]."""
    hidden1 = tf.nn.relu(_dense("hidden1", images, IMAGE_PIXELS, hidden1_units))
    hidden2 = tf.nn.relu(_dense("hidden2", hidden1, hidden1_units, hidden2_units))
    return _dense("softmax_linear", hidden2, hidden2_units, NUM_CLASSES)


def loss(logits, labels):
    """Mean cross entropy; labels are ints [n]."""
    return tf.losses.sparse_softmax_cross_entropy(labels=tf.cast(labels, tf.int64), logits=logits)


def training(loss, learning_rate):
    """An op for one step of gradient descent, with a summary of the loss."""
    tf.summary.scalar("loss", loss)
    global_step = tf.Variable(0, name="global_step", trainable=False)
    return tf.train.GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)


def evaluation(logits, labels):
    """How many of the n predictions are right, int32."""
    return tf.reduce_sum(tf.cast(tf.nn.in_top_k(logits, labels, 1), tf.int32))
