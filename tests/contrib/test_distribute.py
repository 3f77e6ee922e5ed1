"""tf.contrib.distribute and cluster_resolver: contrib's arguments, and training under the strategies."""

import json

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.contrib import cluster_resolver, distribute


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def _train(strategy, x, steps=3):
    """Gradient descent of the mean of (w x)^2 over batches; returns w."""
    dataset = tf.data.Dataset.from_tensors(x).repeat()
    with strategy.scope():
        w = tf.get_variable("w", initializer=1.0, use_resource=True)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        step = distribute.StandardSingleLossStep(
            lambda: dataset, lambda ctx, batch: tf.reduce_mean(tf.square(w * batch)), optimizer, strategy
        )
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            session.run(step.initialize())
            distribute.Monitor(step, session).run_steps(steps)
            return session.run(w)


@pytest.mark.parametrize(
    "make",
    [
        lambda: distribute.MirroredStrategy(),
        lambda: distribute.MirroredStrategy(num_gpus=0),
        lambda: distribute.OneDeviceStrategy("/cpu:0"),
        lambda: distribute.CollectiveAllReduceStrategy(),
    ],
)
def test_training_under_a_strategy(make):
    x = np.array([1.0, 2.0, 3.0], np.float32)
    want = 1.0
    for _ in range(3):
        want -= 0.1 * 2 * want * np.mean(x**2)
    np.testing.assert_allclose(_train(make(), x), want, rtol=1e-5)


def test_parameter_server_strategy_on_one_machine():
    x = np.array([1.0, 2.0, 3.0], np.float32)
    strategy = distribute.ParameterServerStrategy()
    with strategy.scope():
        w = tf.get_variable("w", initializer=1.0, use_resource=True)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.from_tensors(x).repeat())
        train = strategy.experimental_run(
            lambda batch: optimizer.minimize(tf.reduce_mean(tf.square(w * batch))), iterator
        )
        with tf.Session() as session:
            session.run([iterator.initialize(), tf.global_variables_initializer()])
            session.run(train)
            np.testing.assert_allclose(session.run(w), 1 - 0.2 * np.mean(x**2), rtol=1e-5)


def test_batches_are_for_one_replica():
    strategy = distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    assert not strategy.extended._global_batch_size and strategy.num_replicas_in_sync == 2
    assert tf.distribute.MirroredStrategy(["/cpu:0"]).extended._global_batch_size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_gpus": 1, "num_gpus_per_worker": 1}, "not both"),
        ({"devices": ["/cpu:0"], "num_gpus": 1}, "not both"),
        ({"cross_device_ops": 1, "cross_tower_ops": 1}, "not both"),
    ],
)
def test_arguments_that_contradict(arguments, message):
    with pytest.raises(ValueError, match=message):
        distribute.MirroredStrategy(**arguments)


def test_cross_tower_ops_is_the_old_name():
    ops = distribute.AllReduceCrossDeviceOps("hierarchical_copy", num_packs=1)
    assert isinstance(ops, distribute.CrossDeviceOps)
    strategy = distribute.MirroredStrategy(["/cpu:0"], cross_tower_ops=ops)
    assert strategy.extended._get_cross_device_ops(tf.zeros([1])) is ops


def test_arguments_without_effect_warn_once():
    with pytest.warns(UserWarning, match="agg_small_grads_max_bytes"):
        distribute.AllReduceCrossDeviceOps(agg_small_grads_max_bytes=17)
    with pytest.warns(UserWarning, match="auto_shard_dataset"):
        distribute.MirroredStrategy(["/cpu:0"], auto_shard_dataset=True)
    with pytest.raises(NotImplementedError, match="CollectiveAllReduceStrategy"):
        distribute.MultiWorkerAllReduce(["/cpu:0"], 0)
    with pytest.raises(NotImplementedError, match="from_tensor_slices"):
        distribute.ParameterServerStrategy().experimental_make_numpy_dataset(np.zeros(2))


def test_contexts():
    strategy = distribute.MirroredStrategy(["/cpu:0"])
    assert not distribute.has_strategy() and not distribute.has_distribution_strategy()
    with strategy.scope():
        assert distribute.get_strategy() is strategy is distribute.get_distribution_strategy()
        assert distribute.in_cross_replica_context() and distribute.get_cross_replica_context() is strategy
        seen = strategy.experimental_run_v2(
            lambda: isinstance(distribute.get_replica_context(), distribute.ReplicaContext)
        )
    assert seen
    with pytest.raises(RuntimeError):
        distribute.require_replica_context(distribute.ReplicaContext(strategy, 0))
    assert issubclass(distribute.MirroredStrategy, distribute.DistributionStrategy)
    assert distribute.get_loss_reduction() is not None


def test_distribute_config_in_run_config():
    strategy = distribute.MirroredStrategy(["/cpu:0"])
    config = tf.estimator.RunConfig(experimental_distribute=distribute.DistributeConfig(train_distribute=strategy))
    assert config.train_distribute is strategy


def test_monitor_needs_a_session():
    with pytest.raises(ValueError, match="needs a session"):
        distribute.Monitor(lambda: tf.no_op())


def test_monitor_stops_when_the_input_ends():
    value = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    total = tf.get_variable("total", initializer=tf.constant(0, tf.int64), use_resource=True)
    with tf.Session() as session:
        distribute.Monitor(lambda: total.assign_add(value), session).run_steps()
        assert session.run(total) == 3


def test_simple_and_union_resolver():
    first = cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["a:1"]}), master="grpc://m:1")
    second = cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["b:1"], "ps": ["c:1"]}))
    union = cluster_resolver.UnionClusterResolver(first, second)
    assert union.cluster_spec().as_dict() == {"worker": ["a:1", "b:1"], "ps": ["c:1"]}
    assert union.master() == "grpc://m:1" and isinstance(union, cluster_resolver.ClusterResolver)


def test_tf_config_resolver(monkeypatch):
    cluster = {"worker": ["a:1", "b:2"], "ps": ["c:3"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 1}}))
    resolver = cluster_resolver.TFConfigClusterResolver()
    assert resolver.cluster_spec().as_dict() == cluster
    assert (resolver.task_type, resolver.task_id) == ("worker", 1) and resolver.master() == "b:2"


def test_slurm_resolver(monkeypatch):
    for name, value in {
        "SLURM_PROCID": "3",
        "SLURM_STEP_NODELIST": "t02n[13,41]",
        "SLURM_STEP_NUM_TASKS": "4",
        "SLURM_STEP_TASKS_PER_NODE": "2(x2)",
        "SLURM_NTASKS_PER_NODE": "2",
        "CUDA_VISIBLE_DEVICES": "",
    }.items():
        monkeypatch.setenv(name, value)
    resolver = cluster_resolver.SlurmClusterResolver(
        {"ps": 1, "worker": 3}, port_base=8888, tasks_per_node=2, gpus_per_node=2, gpus_per_task=1, auto_set_gpu=False
    )
    assert resolver.cluster_spec().as_dict() == {
        "ps": ["t02n13:8888"],
        "worker": ["t02n13:8889", "t02n41:8888", "t02n41:8889"],
    }


@pytest.mark.parametrize("name", ["GCEClusterResolver", "KubernetesClusterResolver", "TPUClusterResolver"])
def test_resolvers_of_clouds_are_those_of_the_core(name):
    assert issubclass(getattr(cluster_resolver, name), cluster_resolver.ClusterResolver)


def test_contrib_boosted_trees_says_what_replaces_it():
    import tensorflow.contrib.boosted_trees as trees

    with pytest.raises(NotImplementedError, match="tf.estimator.BoostedTreesClassifier"):
        trees.GradientBoostedDecisionTreeClassifier()
