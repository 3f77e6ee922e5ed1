"""Loops, conditions, functions, servers: where graphs run."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from fusion_helpers import check, config, run


def gate(x):
    return tf.where(x > 0, x, tf.zeros_like(x))


def test_inside_a_loop():
    x = tf.placeholder(tf.float32, [None])
    _, y = tf.while_loop(lambda i, _: i < 5, lambda i, v: (i + 1, gate(v - 0.5) * 1.5), [0, x])
    check([y, tf.gradients(y, x)], {x: np.linspace(-3, 3, 11)}, None)
    assert "select" in run(y, {x: np.linspace(-3, 3, 11)}).templates()


def test_a_constant_branch_inside_a_loop():
    x = tf.placeholder(tf.float32, [3])
    _, y = tf.while_loop(lambda i, _: i < 5, lambda i, v: (i + 1, tf.where(v > 0, v - 1, tf.fill([3], 2.5))), [0, x])
    check(y, {x: [-1.0, 0.5, 3.0]}, ["select"])


def test_inside_the_branches_of_a_condition():
    x, way = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.bool, [])
    y = tf.cond(way, lambda: gate(x), lambda: tf.where(x > 0, tf.ones_like(x), -x))
    for fed in (True, False):
        check([y, tf.gradients(y, x)], {x: [-1.0, 2.0], way: fed}, None)
        assert run(y, {x: [-1.0, 2.0], way: fed}).templates() == ["select", "select"]


def test_a_filled_branch_of_a_tensor_outside_of_the_condition():
    x, way = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.bool, [])
    zeros = tf.zeros_like(x)
    y = tf.cond(way, lambda: tf.where(x > 0, x, zeros), lambda: x)
    check(y, {x: [-1.0, 2.0], way: True}, None)
    check(y, {x: [-1.0, 2.0], way: False}, None)


def test_loops_and_conditions_of_version_2(check_python):
    out = check_python("""
import numpy as np
import tensorflow as tf
tf.enable_control_flow_v2()
x = tf.placeholder(tf.float32, [None])
gate = lambda v: tf.where(v > 0, v, tf.zeros_like(v))
_, y = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, gate(v - 0.5) * 1.5), [0, x])
z = tf.cond(tf.reduce_sum(y) > 0, lambda: gate(y), lambda: -y)
out = [z, *tf.gradients(z, x)]
values = []
for on in (False, True):
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.do_op_fusion = on
    with tf.Session(config=config) as session:
        values.append(session.run(out, {x: np.linspace(-3, 3, 11)}))
print(np.array_equal(*values), len(tf.graph_optimizer.fused_ops(out)) > 0)
""")
    assert out == "True True"


def test_a_monitored_session():
    x = tf.get_variable("x", initializer=[-1.0, 2.0])
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(gate(x)), step)
    with tf.train.MonitoredTrainingSession(config=config()) as session:
        metadata = tf.RunMetadata()
        session.run(train, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
    assert "select" in {op.template for op in tf.graph_optimizer.fused_ops_in(metadata)}


def test_with_grappler_off():
    x = tf.placeholder(tf.float32, [None])
    off = config()
    off.graph_options.rewrite_options.disable_meta_optimizer = True
    assert [op.template for op in tf.graph_optimizer.fused_ops(gate(x), config=off)] == ["select"]


def test_what_xla_takes_stays_with_xla():
    x = tf.placeholder(tf.float32, [None])
    y = gate(tf.exp(x) * x + 1)
    on = config()
    on.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    assert tf.graph_optimizer.fused_ops(y, config=on) == []


@pytest.mark.parametrize("in_server", [True, False])
def test_a_session_of_a_server_in_this_process(in_server):
    """The field may be that of the server or that of the session."""
    server = tf.train.Server.create_local_server(config=config(in_server))
    x = tf.placeholder(tf.float32, [None])
    with tf.Session(server.target, config=config(not in_server)) as session:
        metadata = tf.RunMetadata()
        options = tf.RunOptions(output_partition_graphs=True)
        np.testing.assert_array_equal(session.run(gate(x), {x: [-1.0, 2.0]}, options, metadata), [0, 2])
    fused = tf.graph_optimizer.fused_ops_in(metadata)
    assert [op.template for op in fused] == ["select"]


WORKER = """
import sys
import tensorflow as tf
config = tf.ConfigProto.FromString(bytes.fromhex(sys.argv[2]))
server = tf.train.Server({"worker": [sys.argv[1]]}, "worker", 0, config=config)
print("up", flush=True)
sys.stdin.read()
"""


def test_a_worker_in_another_process(tmp_path, unused_port):
    address = f"localhost:{unused_port}"
    serialized = config().SerializeToString().hex()
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, address, serialized],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0"},
        text=True,
    )
    try:
        assert worker.stdout.readline() == "up\n"
        with tf.device("/job:worker/task:0"):
            x = tf.placeholder(tf.float32, [None])
            y = gate(x)
        with tf.Session(f"grpc://{address}", config=config()) as session:
            metadata = tf.RunMetadata()
            options = tf.RunOptions(output_partition_graphs=True)
            np.testing.assert_array_equal(session.run(y, {x: [-1.0, 2.0]}, options, metadata), [0, 2])
        assert [op.template for op in tf.graph_optimizer.fused_ops_in(metadata)] == ["select"]
    finally:
        _, log = worker.communicate(timeout=30)
    assert "do_op_fusion: 1 select" in log
