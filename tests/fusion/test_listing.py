"""`tf.graph_optimizer`, the log line and the switch."""

import numpy as np
import pytest
import tensorflow as tf

from fusion_helpers import config, run

PROGRAM = """
import sys
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 3])
ids = tf.placeholder(tf.int64, [None, 2])
fetches = [tf.where(x > 0, x, tf.zeros_like(x), name="gate"), tf.reduce_sum(tf.one_hot(ids, 5), -2, name="counts")]
config = tf.ConfigProto()
config.graph_options.optimizer_options.do_op_fusion = True
with tf.Session(config=config) as session:
    for _ in range(3):
        session.run(fetches, {x: [[1, -2, 3]], ids: [[1, 1]]})
print(sorted(op.template for op in tf.graph_optimizer.fused_ops(fetches)))
"""


def gate():
    x = tf.placeholder(tf.float32, [None, 3])
    return x, tf.where(x > 0, x, tf.zeros_like(x), name="gate")


def test_it_is_what_ran():
    x, y = gate()
    loss = tf.reduce_sum(tf.square(y * tf.get_variable("w", [3])))
    train = tf.train.AdamOptimizer().minimize(loss)
    ran = run([train, loss], {x: [[1, -2, 3]]})
    assert "select" in ran.templates()
    assert sorted(tf.graph_optimizer.fused_ops([train, loss], [x], config=config())) == sorted(ran.fused)


def test_what_is_in_an_entry():
    _, y = gate()
    (op,) = tf.graph_optimizer.fused_ops(y)
    assert (op.template, op.name, op.op) == ("select", "gate", "FusedSelectFill")
    assert op.replaced == ("gate", "zeros_like")


def test_by_default_it_is_the_whole_graph():
    gate()
    _, y = gate()
    assert len(tf.graph_optimizer.fused_ops(y)) == 1
    assert len(tf.graph_optimizer.fused_ops()) == 2


def test_the_graph_may_be_another_one(graph):
    gate()
    with tf.Graph().as_default():
        assert tf.graph_optimizer.fused_ops() == []
        assert len(tf.graph_optimizer.fused_ops(graph=graph)) == 1


def test_the_graph_does_not_change(graph):
    gate()
    before = graph.as_graph_def().SerializeToString(deterministic=True)
    assert tf.graph_optimizer.fused_ops()
    assert graph.as_graph_def().SerializeToString(deterministic=True) == before


def test_sessions_that_change_their_graph_do_not_change_it_here(graph):
    x = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors([1.0, -2.0]).repeat().batch(2)).get_next()
    y = tf.where(x > 0, x, tf.zeros_like(x))
    micro = config()
    micro.graph_options.optimizer_options.micro_batch_num = 3
    with tf.Session(config=micro) as session:
        before = graph.as_graph_def().SerializeToString(deterministic=True)
        assert [op.template for op in tf.graph_optimizer.fused_ops(y, config=micro)] == ["select"]
        assert graph.as_graph_def().SerializeToString(deterministic=True) == before
        assert session.run(y).shape == (6, 2)


def test_names_and_nests_as_fetches():
    gate()
    assert len(tf.graph_optimizer.fused_ops({"a": ["gate:0"]})) == 1


@pytest.mark.parametrize("argument", ["graph", "config", "feeds"])
def test_arguments_of_another_type(argument):
    _, y = gate()
    with pytest.raises(TypeError, match=f"{argument} must be"):
        tf.graph_optimizer.fused_ops(y, **{argument: 3})


def test_graphs_of_another_type():
    with pytest.raises(TypeError, match="source must be"):
        tf.graph_optimizer.fused_ops_in("graph")
    with pytest.raises(ValueError, match="output_partition_graphs"):
        tf.graph_optimizer.fused_ops_in(tf.RunMetadata())


def test_a_session_without_the_field_fuses_nothing():
    x, y = gate()
    assert run(y, {x: [[1, -2, 3]]}, on=False).fused == []


def test_no_warning_says_that_the_field_does_nothing(caplog):
    tf.get_logger().propagate = True
    with caplog.at_level("WARNING", "tensorflow"):
        run(gate()[1], {"Placeholder:0": np.ones([1, 3])})
    assert not [r for r in caplog.records if "without effect" in r.getMessage()]


def test_one_line_of_the_log_says_what_was_fused(run_python):
    done = run_python(PROGRAM, TF_CPP_MIN_LOG_LEVEL="0")
    lines = [line for line in done.stderr.splitlines() if "do_op_fusion" in line]
    assert len(lines) == 1 and lines[0].endswith("do_op_fusion: 1 one_hot_sum, 1 select")


@pytest.mark.parametrize(
    "value, left",
    [("", ["one_hot_sum", "select"]), ("select", ["one_hot_sum"]), ("select, one_hot_sum", []), ("all", [])],
)
def test_templates_are_off_by_name(value, left, check_python):
    assert check_python(PROGRAM, TF_DEEPREC_DISABLE_FUSIONS=value) == str(left)


def test_a_name_that_is_no_template(run_python):
    done = run_python("import tensorflow", TF_DEEPREC_DISABLE_FUSIONS="selct")
    assert done.returncode == 0 and "'selct', which is no fusion" in done.stderr and "sparse_reshape" in done.stderr
    known = [name for name in done.stderr.split("there are: all, ")[1].split(".")[0].split(", ")]
    assert "select" in known and "all" not in known


def test_the_module_shows_its_public_names():
    assert dir(tf.graph_optimizer) == sorted(tf.graph_optimizer.__all__)
    assert all(hasattr(tf.graph_optimizer, name) for name in dir(tf.graph_optimizer))
