"""Ordinary TensorFlow 1 programs: each builds its graph and returns what a training step fetches, and a function that makes its feeds."""

import numpy as np
import tensorflow as tf

if not hasattr(tf, "Session"):
    tf = tf.compat.v1
    tf.disable_v2_behavior()

_random = np.random.RandomState(0)


def _floats(*shape):
    return _random.randn(*shape).astype(np.float32)


def _minimize(loss, optimizer):
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        return optimizer.minimize(loss, tf.train.get_or_create_global_step())


def _classify(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def mlp():
    x, y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
    net = tf.layers.dense(x, 512, tf.nn.relu)
    net = tf.nn.dropout(net, rate=0.5)
    net = tf.layers.dense(net, 512, tf.nn.relu)
    loss = _classify(tf.layers.dense(net, 10), y)
    return _minimize(loss, tf.train.AdamOptimizer()), lambda: {x: _floats(128, 784), y: _random.randint(0, 10, 128)}


def cnn():
    x, y = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.int32, [None])
    net = tf.layers.max_pooling2d(tf.layers.conv2d(x, 32, 5, padding="same", activation=tf.nn.relu), 2, 2)
    net = tf.layers.max_pooling2d(tf.layers.conv2d(net, 64, 5, padding="same", activation=tf.nn.relu), 2, 2)
    net = tf.layers.dense(tf.layers.flatten(net), 256, tf.nn.relu)
    loss = _classify(tf.layers.dense(net, 10), y)
    return _minimize(loss, tf.train.AdamOptimizer()), lambda: {x: _floats(32, 28, 28, 1), y: _random.randint(0, 10, 32)}


def residual():
    x, y = tf.placeholder(tf.float32, [None, 32, 32, 3]), tf.placeholder(tf.int32, [None])
    net = tf.layers.conv2d(x, 16, 3, padding="same", use_bias=False)
    for _ in range(3):
        inner = tf.nn.relu(tf.layers.batch_normalization(net, training=True))
        inner = tf.layers.conv2d(inner, 16, 3, padding="same", use_bias=False)
        inner = tf.nn.relu(tf.layers.batch_normalization(inner, training=True))
        net += tf.layers.conv2d(inner, 16, 3, padding="same", use_bias=False)
    loss = _classify(tf.layers.dense(tf.reduce_mean(net, [1, 2]), 10), y)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    return _minimize(loss, optimizer), lambda: {x: _floats(16, 32, 32, 3), y: _random.randint(0, 10, 16)}


def lstm_classifier():
    words, lengths = tf.placeholder(tf.int32, [None, 50]), tf.placeholder(tf.int32, [None])
    y = tf.placeholder(tf.int32, [None])
    embedded = tf.nn.embedding_lookup(tf.get_variable("words", [10000, 64]), words)
    _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(64), embedded, lengths, dtype=tf.float32)
    loss = _classify(tf.layers.dense(state.h, 2), y)
    return _minimize(loss, tf.train.AdamOptimizer()), lambda: {
        words: _random.randint(0, 10000, (64, 50)),
        lengths: _random.randint(1, 51, 64),
        y: _random.randint(0, 2, 64),
    }


def character_model():
    x = tf.placeholder(tf.int32, [32, 21])
    one_hot = tf.unstack(tf.one_hot(x[:, :-1], 60), axis=1)
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(96) for _ in range(2)])
    outputs, _ = tf.nn.static_rnn(cell, one_hot, dtype=tf.float32)
    loss = _classify(tf.layers.dense(tf.concat(outputs, 0), 60), tf.reshape(tf.transpose(x[:, 1:]), [-1]))
    optimizer = tf.train.RMSPropOptimizer(0.002)
    grads, variables = zip(*optimizer.compute_gradients(loss))
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    return optimizer.apply_gradients(zip(grads, variables)), lambda: {x: _random.randint(0, 60, (32, 21))}


def matrix_factorisation():
    users, items = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    ratings = tf.placeholder(tf.float32, [None])
    of_users = tf.nn.embedding_lookup(tf.get_variable("users", [50000, 32]), users)
    of_items = tf.nn.embedding_lookup(tf.get_variable("items", [20000, 32]), items)
    bias = tf.nn.embedding_lookup(tf.get_variable("bias", [20000], initializer=tf.zeros_initializer()), items)
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(of_users * of_items, 1) + bias - ratings))
    return _minimize(loss, tf.train.GradientDescentOptimizer(0.1)), lambda: {
        users: _random.randint(0, 50000, 1024),
        items: _random.randint(0, 20000, 1024),
        ratings: _floats(1024),
    }


def word_vectors():
    words, contexts = tf.placeholder(tf.int32, [128]), tf.placeholder(tf.int32, [128, 1])
    embedded = tf.nn.embedding_lookup(tf.get_variable("embeddings", [20000, 128]), words)
    weights = tf.get_variable("weights", [20000, 128])
    biases = tf.get_variable("biases", [20000], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, contexts, embedded, 64, 20000))
    return _minimize(loss, tf.train.GradientDescentOptimizer(1.0)), lambda: {
        words: _random.randint(0, 20000, 128),
        contexts: _random.randint(0, 20000, (128, 1)),
    }


def variational_autoencoder():
    x = tf.placeholder(tf.float32, [None, 784])
    hidden = tf.layers.dense(x, 400, tf.nn.softplus)
    mean, deviation = tf.layers.dense(hidden, 20), tf.layers.dense(hidden, 20)
    code = mean + tf.exp(0.5 * deviation) * tf.random_normal(tf.shape(mean))
    logits = tf.layers.dense(tf.layers.dense(code, 400, tf.nn.softplus), 784)
    likelihood = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
    divergence = -0.5 * tf.reduce_sum(1 + deviation - tf.square(mean) - tf.exp(deviation), 1)
    loss = tf.reduce_mean(likelihood + divergence)
    return _minimize(loss, tf.train.AdamOptimizer(1e-4)), lambda: {x: _random.rand(100, 784).astype(np.float32)}


def adversarial():
    real, training = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.bool, [])
    with tf.variable_scope("generator"):
        net = tf.layers.dense(tf.random_uniform([64, 100], -1.0), 128)
        net = tf.nn.relu(tf.layers.batch_normalization(net, training=training))
        fake = tf.layers.dense(net, 784, tf.nn.tanh)

    def judge(images, reuse):
        with tf.variable_scope("judge", reuse=reuse):
            return tf.layers.dense(tf.layers.dense(images, 128, tf.nn.leaky_relu, name="a"), 1, name="b")

    of_real, of_fake = judge(real, False), judge(fake, True)

    def loss(logits, label):
        return tf.losses.sigmoid_cross_entropy(tf.fill([64, 1], label), logits)

    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        steps = [
            tf.train.AdamOptimizer(2e-4, 0.5).minimize(value, var_list=tf.trainable_variables(scope))
            for value, scope in (
                (loss(of_real, 1.0) + loss(of_fake, 0.0), "judge"),
                (loss(of_fake, 1.0), "generator"),
            )
        ]
    return steps, lambda: {real: _floats(64, 784), training: True}


def self_attention():
    x, y = tf.placeholder(tf.float32, [32, 32, 64]), tf.placeholder(tf.int32, [32])
    query, key, value = (
        tf.transpose(tf.reshape(tf.layers.dense(x, 64), [32, 32, 4, 16]), [0, 2, 1, 3]) for _ in range(3)
    )
    weights = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) / 4.0)
    net = x + tf.reshape(tf.transpose(tf.matmul(weights, value), [0, 2, 1, 3]), [32, 32, 64])
    mean, variance = tf.nn.moments(net, [-1], keep_dims=True)
    net = (net - mean) * tf.rsqrt(variance + 1e-6)
    net += tf.layers.dense(tf.layers.dense(net, 256, tf.nn.relu), 64)
    loss = _classify(tf.layers.dense(tf.reduce_mean(net, 1), 5), y)
    return _minimize(loss, tf.train.AdamOptimizer()), lambda: {x: _floats(32, 32, 64), y: _random.randint(0, 5, 32)}


def policy_gradient():
    states, actions = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [None])
    returns = tf.placeholder(tf.float32, [None])
    logits = tf.layers.dense(tf.layers.dense(states, 16, tf.nn.tanh), 2)
    loss = tf.reduce_mean(returns * tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits))
    return _minimize(loss, tf.train.AdamOptimizer()), lambda: {
        states: _floats(20, 4),
        actions: _random.randint(0, 2, 20),
        returns: _floats(20),
    }


def sparse_linear_model():
    columns = [tf.feature_column.categorical_column_with_hash_bucket(f"c{i}", 1000) for i in range(8)]
    columns.append(tf.feature_column.crossed_column(["c0", "c1"], 5000))
    fed = {f"c{i}": tf.placeholder(tf.string, [None, 1]) for i in range(8)}
    y = tf.placeholder(tf.float32, [None, 1])
    loss = tf.losses.sigmoid_cross_entropy(y, tf.feature_column.linear_model(fed, columns))
    words = np.array([f"w{i}" for i in range(3000)], object)
    return _minimize(loss, tf.train.FtrlOptimizer(0.1)), lambda: {
        **{column: _random.choice(words, (256, 1)) for column in fed.values()},
        y: _random.randint(0, 2, (256, 1)),
    }


PROGRAMS = {
    "multilayer perceptron": mlp,
    "convolutional network": cnn,
    "residual network": residual,
    "LSTM classifier": lstm_classifier,
    "unrolled character model": character_model,
    "matrix factorisation": matrix_factorisation,
    "word vectors (NCE)": word_vectors,
    "variational autoencoder": variational_autoencoder,
    "adversarial networks": adversarial,
    "self-attention": self_attention,
    "policy gradient": policy_gradient,
    "sparse linear model": sparse_linear_model,
}
