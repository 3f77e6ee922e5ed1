"""One task of a cluster: `python cluster_program.py PS_HOSTS WORKER_HOST ps|worker INDEX`. The worker trains and checks."""

import sys
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.training import incremental_saver


def main(ps, worker, task, index):
    cluster = tf.train.ClusterSpec({"ps": ps.split(","), "worker": [worker]})
    server = tf.train.Server(cluster, job_name=task, task_index=int(index))
    if task == "ps":
        server.join()
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(2))
        one = tf.get_embedding_variable("one", 3, initializer=tf.ones_initializer())
        parts = tf.get_embedding_variable(
            "parts", 3, initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2), ev_option=option
        )
        ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([5, 6, 5], tf.int64), [3, 2])
        rows = [tf.nn.safe_embedding_lookup_sparse(v, ids, combiner="sum") for v in (one, parts)]
        # Of keys that nothing else looks up.
        other = tf.get_variable("other", [8, 3], initializer=tf.ones_initializer(), use_resource=True)
        low = tf.SparseTensor(ids.indices, ids.values + 100, ids.dense_shape)
        in_other = tf.SparseTensor(ids.indices, ids.values - 4, ids.dense_shape)
        grouped = tf.nn.group_embedding_lookup_sparse([one, parts, other], [low, low, in_other], ["sum"] * 3)
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdamOptimizer(0.1).minimize(
            tf.add_n([tf.reduce_sum(r) for r in rows + grouped]), global_step=step
        )
    variables = [one, *parts]
    keys = [v.export()[0] for v in parts]
    devices = {v.device for v in variables}
    assert all("/job:ps" in device for device in devices), devices
    assert len(devices) == min(len(ps.split(",")), 2), devices
    savers = [tf.train.Saver(sharded=sharded) for sharded in (False, True)]
    full = tf.train.Saver(sharded=True, incremental_save_restore=True, incremental_include_normal_var=True)
    incremental = incremental_saver._get_incremental_saver(True, full)
    with tf.train.MonitoredTrainingSession(server.target, is_chief=True) as session:
        before = session.run(rows)
        session.run(train)
        session.run(train)
        np.testing.assert_allclose(before[0], [[2, 2, 2], [0, 0, 0], [1, 1, 1]])
        np.testing.assert_allclose(before[1], np.zeros([3, 3]))
        # Adam's first steps are those of the learning rate; a key of `parts` is admitted by its second occurrence, 5 at once.
        np.testing.assert_allclose(session.run(rows[0])[2], np.full([3], 0.8), rtol=1e-4)
        found = np.concatenate(session.run(keys))
        assert sorted(found.tolist()) == [5, 6, 105, 106], found
        for of_column in session.run(grouped[::2]):
            np.testing.assert_allclose(of_column[2], np.full([3], 0.8), rtol=1e-4)
        trained = session.run(rows)
        for saver in savers:
            saved = saver.save(session._tf_sess(), f"{tempfile.mkdtemp()}/model")
            session.run(train)
            saver.restore(session._tf_sess(), saved)
            np.testing.assert_array_equal(session.run(rows), trained)
        folder = tempfile.mkdtemp()
        saved = full.save(session._tf_sess(), f"{folder}/model", global_step=1)
        session.run(train)
        trained = session.run(rows)
        increment = incremental.incremental_save(session._tf_sess(), f"{folder}/incremental", global_step=2)
        session.run(train)
        full.restore(session._tf_sess(), saved)
        incremental.incremental_restore(session._tf_sess(), saved, increment)
        np.testing.assert_array_equal(session.run(rows), trained)
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
