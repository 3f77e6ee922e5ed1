"""tf.contrib.tpu without a TPU; TPUEstimator itself is tested in tests/estimator."""

import os
import threading

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.contrib import tpu


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def test_async_checkpoints_are_those_of_their_steps(tmp_path):
    x = tf.get_variable("x", initializer=0.0)
    step = tf.train.get_or_create_global_step()
    train = tf.group(x.assign_add(2.0), step.assign_add(1))
    threads = []

    class Listener(tf.train.CheckpointSaverListener):
        def before_save(self, session, global_step_value):
            threads.append(threading.current_thread().name)

    hook = tpu.AsyncCheckpointSaverHook(str(tmp_path), save_steps=2, listeners=[Listener()])
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        for _ in range(5):
            session.run(train)
    saved = tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths
    assert [int(path.rsplit("-", 1)[1]) for path in saved] == [0, 2, 4, 5]
    assert any(name.startswith("checkpoint of step") for name in threads)
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert reader.get_tensor("x") == 10


def test_an_error_of_the_writing_thread_is_raised(tmp_path):
    increase = tf.train.get_or_create_global_step().assign_add(1)
    folder = tmp_path / "model"
    hook = tpu.AsyncCheckpointSaverHook(str(folder), save_steps=1)
    with pytest.raises(Exception, match="no more"), tf.train.SingularMonitoredSession(hooks=[hook]) as session:

        class Broken:
            def save(self, *args, **kwargs):
                raise OSError("no more space")

        hook._saver = Broken()
        for _ in range(3):
            session.run(increase)
            if hook._thread is not None:
                hook._thread.join()


def test_loops_and_sharding_build_and_run_on_the_cpu():
    total = tpu.repeat(4, lambda x: x + 2.0, [tf.constant(1.0)])
    counted = tpu.while_loop(lambda i: i < 10, lambda i: i + 3, [tf.constant(0)])
    with tf.Session() as session:
        assert np.ravel(session.run(total)) == [9]
        assert np.ravel(session.run(counted)) == [12]


def test_cross_shard_optimizer_sums_over_replicas_and_so_needs_a_tpu():
    x = tf.get_variable("x", initializer=[1.0, 2.0])
    optimizer = tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
    gradients = optimizer.compute_gradients(tf.reduce_sum(tf.square(x)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(gradients[0][0]), [2, 4], rtol=1e-6)
    train = optimizer.apply_gradients(gradients)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="CrossReplicaSum"):
        session.run(train)


def test_bfloat16_scope_casts_inputs_and_keeps_variables():
    with tpu.bfloat16_scope():
        v = tf.get_variable("v", [2], dtype=tf.bfloat16)
    assert v.dtype.base_dtype == tf.bfloat16
    assert [x.dtype.base_dtype for x in tf.global_variables()] == [tf.float32]


def test_replicated_computations_build_a_graph():
    rewritten = tpu.rewrite(lambda x: x * 2.0, [tf.constant(1.0)])
    replicated = tpu.replicate(lambda x: x + 1.0, [[tf.constant(1.0)], [tf.constant(2.0)]])
    sharded = tpu.shard(lambda x: x + tpu.cross_replica_sum(x), [tf.zeros([4])], num_shards=2)
    parallel = tpu.batch_parallel(lambda x: x, [tf.zeros([4])], num_shards=2)
    assert rewritten[0].dtype == tf.float32 and len(replicated) == 2 and len(sharded) == 1 and len(parallel) == 1
    with tf.Session() as session, pytest.raises(tf.errors.OpError):
        session.run(rewritten)


def test_system_and_queue_ops_exist_and_fail_without_a_tpu():
    assert tpu.core(0) == "device:TPU_REPLICATED_CORE:0"
    ops = [
        tpu.initialize_system(),
        tpu.shutdown_system(),
        tpu.infeed_enqueue(tf.zeros([1]), shape=[1]),
        tpu.infeed_enqueue_tuple([tf.zeros([1])], shapes=[[1]]),
        tpu.infeed_dequeue(tf.float32, [1]),
        tpu.infeed_dequeue_tuple([tf.float32], [[1]])[0],
        tpu.outfeed_enqueue(tf.zeros([1])),
        tpu.outfeed_enqueue_tuple([tf.zeros([1])]),
        tpu.outfeed_dequeue(tf.float32, [1]),
        tpu.outfeed_dequeue_tuple([tf.float32], [[1]])[0],
    ]
    with tf.Session() as session:
        for op in ops:
            with pytest.raises(tf.errors.OpError):
                session.run(op)


def test_infeed_queue_describes_its_tuples():
    queue = tpu.InfeedQueue(tuple_types=[tf.float32, tf.int32], tuple_shapes=[[4, 2], [4]])
    assert queue.number_of_tuple_elements == 2
    assert [t.as_list() for t in queue.tuple_shapes] == [[4, 2], [4]]


def test_topology_and_device_assignment():
    coordinates = np.zeros([1, 2, 4], np.int32)
    coordinates[0, 1, 3] = 1
    topology = tpu.Topology(mesh_shape=[1, 1, 1, 2], device_coordinates=coordinates)
    assert topology.num_tasks == 1 and topology.num_tpus_per_task == 2
    assignment = tpu.device_assignment(topology, num_replicas=2)
    assert isinstance(assignment, tpu.DeviceAssignment) and assignment.num_replicas == 2


@pytest.mark.parametrize("make", [lambda: tpu.keras_to_tpu_model(None), lambda: tpu.TPUDistributionStrategy()])
def test_keras_on_tpu_says_what_is_missing(make):
    with pytest.raises(RuntimeError, match="needs a TPU"):
        make()


def test_profiler_messages():
    trace = tpu.profiler.Trace()
    trace.devices[1].CopyFrom(tpu.profiler.Device(name="cpu", device_id=1))
    trace.trace_events.add().CopyFrom(tpu.profiler.TraceEvent(device_id=1, name="step"))
    trace.devices[1].resources[2].CopyFrom(tpu.profiler.Resource(name="thread"))
    assert tpu.profiler.Trace.FromString(trace.SerializeToString()) == trace
    for name in tpu.profiler.__all__:
        if "Session" in name:
            with pytest.raises(NotImplementedError, match=name):
                getattr(tpu.profiler, name)()


def test_estimator_names_are_those_of_tf_estimator(tmp_path):
    assert tpu.TPUEstimatorSpec is tf.estimator.tpu.TPUEstimatorSpec
    assert tpu.TPUConfig is tf.estimator.tpu.TPUConfig
    assert tpu.InputPipelineConfig is tf.estimator.tpu.InputPipelineConfig
    assert os.path.basename(tpu.RunConfig(model_dir=str(tmp_path / "m")).model_dir) == "m"
    assert callable(tpu.export_estimator_savedmodel) and callable(tpu.outside_compilation)
