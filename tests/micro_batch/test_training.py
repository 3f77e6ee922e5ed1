"""A step over N micro batches is the step of one batch of all their rows: for every optimizer, metrics and moving averages."""

import numpy as np
import pytest
import tensorflow as tf

_ROWS, _IDS = 46, 12
_EMBEDDING = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adagrad_decay": lambda: tf.train.AdagradDecayOptimizer(
        0.1, tf.train.get_or_create_global_step(), accumulator_decay_step=2
    ),
    "adagrad_decay_v2": lambda: tf.train.AdagradDecayOptimizerV2(
        0.1, tf.train.get_or_create_global_step(), accumulator_decay_step=2
    ),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "adam_async": lambda: tf.train.AdamAsyncOptimizer(0.1),
    "adam_async_rmsprop": lambda: tf.train.AdamAsyncOptimizer(0.1, apply_sparse_rmsprop=True),
    "adamw": lambda: tf.train.AdamWOptimizer(weight_decay=0.01, learning_rate=0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.5),
}
_DENSE = {
    "adadelta": lambda: tf.train.AdadeltaOptimizer(1.0),
    "adagrad_da": lambda: tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step()),
    "proximal_adagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1, l2_regularization_strength=0.01),
    "proximal_sgd": lambda: tf.train.ProximalGradientDescentOptimizer(0.1, l2_regularization_strength=0.01),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "centered_rmsprop": lambda: tf.train.RMSPropOptimizer(0.01, centered=True),
}


def rows():
    random = np.random.RandomState(3)
    return {
        "id": random.randint(0, _IDS, [_ROWS]),
        "x": random.normal(size=[_ROWS, 3]).astype(np.float32),
        "label": random.randint(0, 2, [_ROWS, 1]).astype(np.float32),
    }


def batches(size):
    return tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices(rows()).batch(size)).get_next()


def train(optimizer, number, size, micro, embedding, resource):
    """Losses of all steps and the variables at the end: 4 steps of 12 rows, the last of 10."""
    with tf.Graph().as_default(), tf.variable_scope("", use_resource=resource):
        tf.set_random_seed(1)
        batch = batches(size)
        parts = [tf.nn.embedding_lookup(tf.get_variable("table", [_IDS, 4]), batch["id"]), batch["x"]]
        if embedding:
            start = tf.random_uniform_initializer(-1, 1, seed=2)
            table = tf.get_embedding_variable("keys", 4, initializer=start)
            parts.append(tf.nn.embedding_lookup(table, batch["id"]))
        hidden = tf.layers.batch_normalization(tf.layers.dense(tf.concat(parts, 1), 8), training=True)
        logits = tf.layers.dense(tf.nn.relu(hidden), 1)
        loss = tf.losses.sigmoid_cross_entropy(batch["label"], logits)
        step = tf.train.get_or_create_global_step()
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            op = optimizer().minimize(loss, step)
        values = [variable for variable in tf.global_variables() if "keys" not in variable.name]
        names = [variable.name for variable in values]
        if embedding:
            values.append(tf.nn.embedding_lookup(table, tf.range(_IDS, dtype=tf.int64)))
            names.append("keys")
        losses = []
        with tf.Session(config=micro(number)) as session:
            session.run(tf.global_variables_initializer())
            with pytest.raises(tf.errors.OutOfRangeError):
                while True:
                    losses.append(session.run([loss, op])[0])
            assert session.run(step) == len(losses) == 4
            return losses, dict(zip(names, session.run(values)))


def compare(optimizer, micro, embedding, resource):
    losses, values = train(optimizer, 3, 4, micro, embedding, resource)
    plain_losses, plain = train(optimizer, 1, 12, micro, embedding, resource)
    np.testing.assert_array_equal(losses, plain_losses)
    assert values.keys() == plain.keys() and any("moving_mean" in name for name in values)
    for name in values:
        np.testing.assert_array_equal(values[name], plain[name], name)
    return losses


@pytest.mark.parametrize("optimizer", _EMBEDDING)
def test_training_with_an_embedding_variable(optimizer, micro):
    losses = compare(_EMBEDDING[optimizer], micro, embedding=True, resource=True)
    assert losses[0] != losses[-1]


@pytest.mark.parametrize("optimizer", [*_EMBEDDING, *_DENSE])
def test_training_with_ordinary_variables(optimizer, micro):
    compare({**_EMBEDDING, **_DENSE}[optimizer], micro, embedding=False, resource=False)


def test_metrics_over_micro_batches(micro, steps):
    def evaluate(number, size):
        with tf.Graph().as_default():
            batch = batches(size)
            scores = tf.sigmoid(tf.reduce_sum(batch["x"], 1, keepdims=True))
            auc, update = tf.metrics.auc(batch["label"], scores)
            mean, update_mean = tf.metrics.mean(scores)
            with tf.Session(config=micro(number)) as session:
                session.run(tf.local_variables_initializer())
                steps(session, [update, update_mean])
                return session.run([auc, mean])

    assert evaluate(4, 5) == evaluate(1, 20)


def test_admission_counts_the_rows_of_all_micro_batches(micro, steps):
    def frequencies(number, size):
        with tf.Graph().as_default():
            batch = batches(size)
            option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(filter_freq=3))
            table = tf.get_embedding_variable("keys", 4, ev_option=option)
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, batch["id"]))
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
            counts = table.get_frequency(tf.range(_IDS, dtype=tf.int64))
            with tf.Session(config=micro(number)) as session:
                session.run(tf.global_variables_initializer())
                steps(session, train_op)
                return session.run(counts).tolist()

    counts = frequencies(3, 4)
    assert counts == frequencies(1, 12) and max(counts) > 1
