"""Auto-clustering on CPU: the environment, the ConfigProto and set_jit agree."""

import numpy as np
import tensorflow as tf

_COUNT_CLUSTERS = """
import numpy as np, tensorflow as tf
def clusters(config=None):
  '''How many compiled clusters the session's graph has.'''
  with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, [32, 32])
    y = x
    for _ in range(5):
      y = tf.tanh(tf.matmul(y, y) + x) * 2
    with tf.Session(config=config) as session:
      metadata = tf.RunMetadata()
      session.run(y, {x: np.ones((32, 32))}, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
      return sum(n.op == "_XlaRun" for g in metadata.partition_graphs for n in g.node)
def config(level=None):
  c = tf.ConfigProto()
  if level is not None:
    c.graph_options.optimizer_options.global_jit_level = level
  return c
on, off = tf.OptimizerOptions.ON_1, tf.OptimizerOptions.OFF
"""


def test_without_a_switch_nothing_is_compiled(check_python):
    assert (
        check_python(_COUNT_CLUSTERS + "print(clusters(), clusters(config()), repr(tf.config.optimizer.get_jit()))")
        == "0 0 ''"
    )


def test_the_environment_switches_on_sessions_that_are_silent(check_python):
    out = check_python(
        _COUNT_CLUSTERS
        + """
print(clusters(), clusters(config()), clusters(config(off)), tf.config.optimizer.get_jit())
""",
        TF_DEEPREC_XLA="1",
    )
    assert out == "1 1 0 autoclustering"


def test_a_config_proto_switches_on_its_session(check_python):
    assert check_python(_COUNT_CLUSTERS + "print(clusters(config(on)), clusters(config(off)), clusters())") == "1 0 0"


def test_set_jit_is_the_same_switch(check_python):
    out = check_python(
        _COUNT_CLUSTERS
        + """
tf.config.optimizer.set_jit(True)
print(clusters(), clusters(config()), clusters(config(off)))
tf.config.optimizer.set_jit(False)
print(clusters(), clusters(config()), clusters(config(on)))
"""
    )
    assert out.splitlines() == ["1 1 0", "0 0 1"]


def test_set_jit_overrides_the_environment(check_python):
    assert (
        check_python(
            _COUNT_CLUSTERS + "tf.config.optimizer.set_jit(False); print(clusters(), clusters(config()))",
            TF_DEEPREC_XLA="1",
        )
        == "0 0"
    )


def test_the_given_config_is_not_changed(check_python):
    assert (
        check_python(_COUNT_CLUSTERS + "c = config(); clusters(c); print(c == config())", TF_DEEPREC_XLA="1") == "True"
    )


def test_compile_gives_the_plain_result():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [8])
        [compiled] = tf.xla.experimental.compile(lambda a: tf.sin(a) * a + 1, [x])
        value = np.arange(8, dtype=np.float32)
        np.testing.assert_allclose(session.run(compiled, {x: value}), np.sin(value) * value + 1, rtol=1e-6)


def test_jit_scope_marks_its_ops_and_gives_the_plain_result():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [8])
        with tf.xla.experimental.jit_scope():
            y = tf.cos(x) * tf.sin(x)
        assert y.op.get_attr("_XlaCompile")
        value = np.arange(8, dtype=np.float32)
        np.testing.assert_allclose(session.run(y, {x: value}), np.cos(value) * np.sin(value), rtol=1e-5, atol=1e-6)
        assert graph.get_operations()


def test_another_value_of_the_variable_is_refused(run_python):
    done = run_python("import tensorflow", TF_DEEPREC_XLA="yes")
    assert "TF_DEEPREC_XLA is 'yes', but must be one of 0, 1" in done.stderr
