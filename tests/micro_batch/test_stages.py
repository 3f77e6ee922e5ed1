"""Micro batches in front of stages and of SmartStage."""

import pytest
import tensorflow as tf


def numbers(limit=23, size=2):
    data = tf.data.Dataset.range(limit).map(lambda i: (i, tf.SparseTensor([[i % 4]], [i], [4])))
    return tf.data.make_one_shot_iterator(data.batch(size)).get_next()


def start(session):
    for runner in session.graph.get_collection("prefetch"):
        runner.create_threads(session, start=True)


def graph_of(staged):
    x, sparse = numbers()
    if staged:
        x, sparse = tf.staged((x, sparse), capacity=2)
    text = tf.strings.to_number(tf.as_string(x * 3), tf.int64)
    dense = tf.sparse.to_dense(sparse)
    return x, [text + tf.Variable(0, dtype=tf.int64), dense * tf.Variable(1, dtype=tf.int64), x]


EXPECTED = [list(range(begin, min(begin + 6, 23))) for begin in range(0, 23, 6)]


@pytest.mark.parametrize("staged,smart", [(True, False), (True, True), (False, True)])
def test_stages_hold_the_rows_of_a_step(staged, smart, micro, steps):
    _, fetches = graph_of(staged)
    with tf.Session(config=micro(3, smart)) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        values = steps(session, fetches)
    assert [x.tolist() for _, _, x in values] == EXPECTED
    assert [(text // 3).tolist() for text, _, _ in values] == EXPECTED
    assert [dense.max(1).tolist() for _, dense, _ in values] == EXPECTED


def test_smart_stage_widens_a_stage_that_it_made_behind_micro_batches(graph, micro):
    graph_of(staged=False)
    tf.Session(config=micro(3, smart=True)).close()
    (runner,) = graph.get_collection("prefetch")
    types, stack = set(), [runner.put_ops[0]]
    while stack:
        op = stack.pop()
        types.add(op.type)
        stack += [tensor.op for tensor in op.inputs]
    assert {"StringToNumber", "ConcatV2", "IteratorGetNext", "SparseToDense"} <= types


def test_the_staged_iterator_is_fetched_but_not_fed(micro):
    x, (text, _, _) = graph_of(staged=False)
    with tf.Session(config=micro(2, smart=True)) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        got = session.run([x, text])
        assert got[0].tolist() == [0, 1, 2, 3] and got[1].tolist() == [0, 3, 6, 9]
        with pytest.raises(ValueError, match="may not be fed"):
            session.run(text, {x: [1]})


def test_a_graph_that_smart_stage_changed_keeps_its_number(micro):
    graph_of(staged=False)
    tf.Session(config=micro(2, smart=True)).close()
    with pytest.raises(ValueError, match="micro_batch_num must be 2, as in the session before"):
        tf.Session(config=micro(3, smart=True))
    with pytest.raises(ValueError, match="micro_batch_num must be 2"):
        tf.Session()


def test_micro_batches_in_a_graph_whose_stage_is_there_already(micro, steps):
    x = tf.data.make_one_shot_iterator(tf.data.Dataset.range(23).batch(2)).get_next()
    y = tf.as_string(x)
    tf.Session(config=micro(1, smart=True)).close()
    with tf.Session(config=micro(3, smart=True)) as session:
        start(session)
        assert [[int(text) for text in step] for step in steps(session, y)] == EXPECTED


def test_monitored_training_with_everything(micro):
    def train(number, size, smart):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            x, sparse = numbers(60, size)
            x, sparse = tf.staged((x, sparse), capacity=3)
            table = tf.get_embedding_variable("keys", 4)
            rows = tf.nn.embedding_lookup(table, tf.strings.to_hash_bucket_fast(tf.as_string(x), 10))
            logits = tf.layers.dense(
                tf.concat([rows, tf.reshape(tf.cast(tf.sparse.to_dense(sparse), tf.float32), [-1, 4])], 1), 1
            )
            loss = tf.losses.mean_squared_error(tf.cast(x % 2, tf.float32)[:, None], logits)
            train_op = tf.train.AdamAsyncOptimizer(0.01).minimize(loss, tf.train.get_or_create_global_step())
            losses = []
            with tf.train.MonitoredTrainingSession(
                config=micro(number, smart), hooks=[tf.make_prefetch_hook()]
            ) as session:
                while not session.should_stop():
                    losses.append(session.run([loss, train_op])[0])
            return losses

    losses = train(4, 3, smart=True)
    assert losses == train(1, 12, smart=False) and len(losses) == 5
