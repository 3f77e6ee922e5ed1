"""tf.contrib.eager: metrics, iterator, saver, functions."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

tfe = tf.contrib.eager


@pytest.fixture(params=["eager", "graph"])
def mode(request):
    if request.param == "eager":
        with context.eager_mode():
            yield "eager"
    else:
        with tf.Graph().as_default():
            yield "graph"


def feed(metric, calls, mode):
    """The value after some calls, and after starting anew."""
    if mode == "eager":
        for call in calls:
            metric(*call)
        value = metric.result().numpy()
        metric.init_variables()
        return value, metric.numer.numpy()
    updates = [metric(*call) for call in calls]
    with tf.Session() as session:
        session.run(metric.init_variables())
        for update in updates:
            session.run(update)
        value = session.run(metric.value())
        session.run(metric.init_variables())
        return value, session.run(metric.numer)


@pytest.mark.parametrize(
    "make, calls, want",
    [
        (tfe.metrics.Mean, [([1.0, 2.0],), ([6.0],)], 3.0),
        (tfe.metrics.Mean, [([1.0, 2.0], [1.0, 3.0]), ([5.0], 2.0)], 17 / 6),
        (tfe.metrics.Accuracy, [([1, 2, 3], [1, 0, 3])], 2 / 3),
        (tfe.metrics.CategoricalAccuracy, [([[0, 1], [1, 0]], [[0.2, 0.8], [0.1, 0.9]])], 0.5),
        (lambda: tfe.metrics.BinaryAccuracy(0.5), [([1, 0, 1], [0.7, 0.6, 0.8])], 2 / 3),
        (tfe.metrics.SparseAccuracy, [([1, 1], [[0.2, 0.8], [0.9, 0.1]], [1.0, 3.0])], 0.25),
    ],
)
def test_metrics(make, calls, want, mode):
    value, anew = feed(make(), calls, mode)
    np.testing.assert_allclose(value, want, rtol=1e-6)
    assert anew == 0


def test_metrics_aggregate_and_keep_their_variables_local():
    with context.eager_mode():
        a, b = tfe.metrics.Mean("a"), tfe.metrics.Mean("b")
        a([1.0])
        b([3.0, 5.0])
        a.aggregate([b])
        assert a.result().numpy() == 3
        with pytest.raises(RuntimeError, match="build"):
            a.add_variable("late")
    with tf.Graph().as_default():
        metric = tfe.metrics.Mean()
        with pytest.raises(RuntimeError, match="first call"):
            metric.init_variables()
        metric([1.0])
        assert not tf.global_variables() and [v.op.name for v in tf.local_variables()] == ["Mean/numer", "Mean/denom"]
        with pytest.raises(ValueError, match="unequal"):
            tfe.metrics.Accuracy()([1, 2], [1, 2, 3])


def test_iterator():
    with context.eager_mode():
        iterator = tfe.Iterator(tf.data.Dataset.range(3))
        assert iterator.output_types == tf.int64 and iterator.output_shapes.as_list() == []
        assert iterator.next().numpy() == 0 and [v.numpy() for v in iterator] == [1, 2]
    with pytest.raises(RuntimeError, match="eager"):
        tfe.Iterator(None)


def test_saver(tmp_path):
    with context.eager_mode():
        v, w = tfe.Variable(1.0, name="v"), tfe.Variable([2.0, 3.0], name="w")
        path = tfe.Saver([v, w]).save(str(tmp_path / "saved"), global_step=7)
        assert path.endswith("-7") and {n for n, _ in tf.train.list_variables(path)} == {"v", "w"}
        v.assign(9.0)
        tfe.Saver([v, w]).restore(path)
        assert v.numpy() == 1
    with pytest.raises(TypeError, match="resource"):
        tfe.Saver([tf.constant(1.0)])


def test_gradients_and_functions():
    with context.eager_mode():
        assert tfe.gradients_function(lambda x: x * x)(tf.constant(3.0))[0].numpy() == 6
        value, (gradient,) = tfe.value_and_gradients_function(lambda x: x * x)(tf.constant(3.0))
        assert (value.numpy(), gradient.numpy()) == (9, 6)
        v = tfe.Variable(2.0)
        ((gradient, variable),) = tfe.implicit_gradients(lambda: v * v)()
        assert gradient.numpy() == 4 and variable is v
        doubled = tfe.defun(lambda x: 2 * x, input_signature=[tfe.TensorSpec([None], tf.float32)])
        np.testing.assert_array_equal(doubled(tf.constant([1.0, 2.0])), [2, 4])
        assert tfe.in_eager_mode() and tfe.num_gpus() == 0 and any("CPU:0" in d for d in tfe.list_devices())
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        optimizer.minimize(lambda: v * v)
        assert len(tfe.get_optimizer_variables(optimizer)) == 1


_SUMMARY = """
import glob, tensorflow as tf
if {eager}: tf.enable_eager_execution()
from tensorflow.contrib import summary
writer = summary.create_file_writer("logs")
with writer.as_default(), summary.always_record_summaries():
    tf.train.get_or_create_global_step()
    mean = tf.contrib.eager.metrics.Mean("loss")
    update = mean([1.0, 5.0])
    result = mean.result({write})
    if not {eager}:
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), mean.init_variables()])
            summary.initialize(session=session)
            session.run(update)
            session.run(summary.all_summary_ops())
            session.run(writer.flush())
    else:
        writer.flush()
events = [e for path in glob.glob("logs/*") for e in tf.train.summary_iterator(path)]
print([(v.tag.split("_")[0], v.simple_value) for e in events for v in e.summary.value])
"""


@pytest.mark.parametrize("eager", [True, False])
@pytest.mark.parametrize(
    ("write", "expected"), [("", "[('loss', 3.0)]"), ("False", "[]"), ("write_summary=True", "[('loss', 3.0)]")]
)
def test_the_result_of_a_metric_is_written_as_a_summary_unless_told_not_to(check_python, eager, write, expected):
    assert check_python(_SUMMARY.format(eager=eager, write=write)) == expected


def test_the_value_of_an_eager_metric_is_its_method(check_python):
    out = check_python(
        "import tensorflow as tf\n"
        "tf.enable_eager_execution()\n"
        "mean = tf.contrib.eager.metrics.Mean()\n"
        "mean(4.0)\n"
        "print(float(mean.value()()))"
    )
    assert out == "4.0"


def test_an_eager_iterator_tells_its_elements_and_its_end(check_python):
    out = check_python(
        "import tensorflow as tf\n"
        "tf.enable_eager_execution()\n"
        "iterator = tf.contrib.eager.Iterator(tf.data.Dataset.range(2))\n"
        "print(iterator.element_spec.dtype.name, int(iterator.get_next()), int(iterator.get_next()))\n"
        "try:\n"
        "    iterator.get_next()\n"
        "except tf.errors.OutOfRangeError:\n"
        "    print('end')"
    )
    assert out == "int64 0 1\nend"
