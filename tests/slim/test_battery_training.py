"""tf_slim's training, evaluation, metrics, variables and data providers."""

import numpy as np
import pytest
import tensorflow as tf
import tf_slim as slim
from tf_slim.data import dataset, dataset_data_provider, parallel_reader, prefetch_queue, tfexample_decoder

_X = np.random.default_rng(0).normal(size=[64, 4]).astype(np.float32)
_Y = (_X[:, :1] - 2 * _X[:, 1:2] > 0).astype(np.float32)


def _model(is_training=True):
    hidden = slim.fully_connected(tf.constant(_X), 8, scope="hidden")
    hidden = slim.batch_norm(hidden, is_training=is_training, decay=0.9, scope="bn")
    return slim.fully_connected(hidden, 1, activation_fn=None, scope="logits")


def _train_op(**kwargs):
    slim.losses.sigmoid_cross_entropy(_model(), tf.constant(_Y))
    return slim.learning.create_train_op(slim.losses.get_total_loss(), tf.train.GradientDescentOptimizer(0.5), **kwargs)


def test_learning_train_lowers_the_loss_and_writes_checkpoints(tmp_path):
    first = slim.learning.train(_train_op(), str(tmp_path), number_of_steps=1, log_every_n_steps=1)
    with tf.Graph().as_default():
        last = slim.learning.train(_train_op(), str(tmp_path), number_of_steps=60, log_every_n_steps=30)
    assert last < first / 2
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-60")


def test_learning_train_calls_init_fn_and_the_step_function(tmp_path):
    calls = []

    def step(session, train_op, global_step, kwargs):
        calls.append("step")
        return slim.learning.train_step(session, train_op, global_step, kwargs)

    slim.learning.train(
        _train_op(), str(tmp_path), number_of_steps=2, train_step_fn=step, init_fn=lambda session: calls.append("init")
    )
    assert calls == ["init", "step", "step"]


def test_training_train_stops_with_a_hook(tmp_path):
    train_op = slim.training.create_train_op(
        tf.losses.sigmoid_cross_entropy(_Y, _model()), tf.train.AdamOptimizer(0.05)
    )
    loss = slim.training.train(train_op, str(tmp_path), hooks=[tf.train.StopAtStepHook(num_steps=80)])
    assert loss < 0.3
    assert tf.train.load_variable(str(tmp_path), "global_step") == 80


def test_create_train_op_runs_the_update_ops(run):
    train_op = _train_op()
    before = run(tf.global_variables("bn/moving_mean"))
    run(train_op)
    after = run(tf.global_variables("bn/moving_mean"))
    assert not np.array_equal(before[0], after[0])


def test_create_train_op_trains_the_chosen_variables_only(run):
    slim.losses.sigmoid_cross_entropy(_model(), tf.constant(_Y))
    chosen = slim.get_variables("logits")
    train_op = slim.learning.create_train_op(
        slim.losses.get_total_loss(), tf.train.GradientDescentOptimizer(0.5), variables_to_train=chosen
    )
    before = run(tf.trainable_variables())
    run(train_op)
    changed = [
        v.op.name for v, old in zip(tf.trainable_variables(), before) if not np.array_equal(run(v.read_value()), old)
    ]
    assert set(changed) <= {"logits/weights", "logits/biases"} and changed


def test_gradient_multipliers_and_clipping(run):
    w = tf.get_variable("w", initializer=[3.0, 4.0])
    loss = tf.reduce_sum(w * [30.0, 40.0])
    train_op = slim.learning.create_train_op(
        loss, tf.train.GradientDescentOptimizer(1.0), clip_gradient_norm=5.0, gradient_multipliers={w: 10.0}
    )
    run(train_op)
    # The multiplied gradient is clipped to length 5.
    np.testing.assert_allclose(run(w.read_value()), [0, 0], atol=1e-5)


def test_a_loss_that_is_not_finite_stops_the_step(run):
    # A resource variable: a reference could be read after the update.
    w = tf.get_variable("w", initializer=0.0, use_resource=True)
    train_op = slim.learning.create_train_op(1.0 / w, tf.train.GradientDescentOptimizer(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
        run(train_op)


def test_optimize_loss_minimizes(run):
    w = tf.get_variable("w", initializer=5.0)
    train = slim.optimize_loss(tf.square(w), tf.train.get_or_create_global_step(), 0.1, "SGD", clip_gradients=100.0)
    for _ in range(30):
        run(train)
    assert abs(run(w.read_value())) < 0.1


_LOSSES = {
    "absolute_difference": (lambda p, y: slim.losses.absolute_difference(p, y), lambda p, y: abs(p - y).mean()),
    "mean_squared_error": (lambda p, y: slim.losses.mean_squared_error(p, y), lambda p, y: ((p - y) ** 2).mean()),
    "log_loss": (
        lambda p, y: slim.losses.log_loss(tf.sigmoid(p), y),
        lambda p, y: np.log1p(np.exp(-(2 * y - 1) * p)).mean(),
    ),
    "softmax_cross_entropy": (
        lambda p, y: slim.losses.softmax_cross_entropy(tf.concat([p, -p], 1), tf.concat([y, 1 - y], 1)),
        lambda p, y: np.log1p(np.exp(-(2 * y - 1) * 2 * p)).mean(),
    ),
}


@pytest.mark.parametrize("name", _LOSSES)
def test_loss_has_the_value_of_its_formula_and_is_collected(run, name):
    loss, formula = _LOSSES[name]
    predictions = _X[:, :1]
    value = loss(tf.constant(predictions), tf.constant(_Y))
    np.testing.assert_allclose(run(value), formula(predictions, _Y), rtol=1e-4, atol=1e-5)
    assert slim.losses.get_losses() == [value]


def test_hinge_loss_is_given_for_each_element(run):
    got = run(slim.losses.hinge_loss(tf.constant(_X[:, :1]), tf.constant(_Y)))
    np.testing.assert_allclose(got, np.maximum(0, 1 - (2 * _Y - 1) * _X[:, :1]), rtol=1e-6)


def test_evaluate_once_gives_the_final_value_and_writes_summaries(tmp_path):
    slim.learning.train(_train_op(), str(tmp_path / "train"), number_of_steps=40)
    with tf.Graph().as_default():
        accuracy, update = slim.metrics.streaming_accuracy(tf.cast(_model(False) > 0, tf.float32), tf.constant(_Y))
        tf.summary.scalar("evaluated", accuracy)
        got = slim.evaluation.evaluate_once(
            "", tf.train.latest_checkpoint(str(tmp_path / "train")), str(tmp_path / "eval"),
            num_evals=2, eval_op=update, final_op=accuracy,
        )  # fmt: skip
    assert got > 0.8
    [events] = (tmp_path / "eval").glob("events*")
    tags = [v.tag for e in tf.train.summary_iterator(str(events)) for v in e.summary.value]
    assert tags == ["evaluated"]


def test_evaluation_loop_follows_the_checkpoints(tmp_path):
    slim.learning.train(_train_op(), str(tmp_path), number_of_steps=2)
    with tf.Graph().as_default():
        value = tf.reduce_mean(_model(False))
        got = slim.evaluation.evaluation_loop(
            "", str(tmp_path), str(tmp_path / "eval"), final_op=value, max_number_of_evaluations=1, timeout=5
        )
    assert np.isfinite(got)


def test_metrics_aggregate_over_batches(run):
    values, updates = slim.metrics.aggregate_metric_map(
        {
            "mean": slim.metrics.streaming_mean(tf.constant([1.0, 3.0])),
            "precision": slim.metrics.streaming_precision(tf.constant([1, 1, 0]), tf.constant([1, 0, 1])),
            "recall": slim.metrics.streaming_recall(tf.constant([1, 1, 0]), tf.constant([1, 0, 1])),
            "mse": slim.metrics.streaming_mean_squared_error(tf.constant([1.0]), tf.constant([3.0])),
            "auc": slim.metrics.streaming_auc(tf.constant([0.1, 0.9]), tf.constant([0, 1])),
        }
    )
    for _ in range(2):
        run(list(updates.values()))
    got = run(values)
    assert (got["mean"], got["precision"], got["recall"], got["mse"]) == (2, 0.5, 0.5, 4)
    assert got["auc"] > 0.99


def test_model_analyzer_counts_variables(capsys):
    _model()
    size, memory = slim.model_analyzer.analyze_vars(tf.trainable_variables(), print_info=True)
    assert (size, memory) == (4 * 8 + 8 + 8 + 8 + 1, 4 * 57)
    assert "hidden/weights" in capsys.readouterr().out


def test_model_analyzer_counts_ops(graph):
    x = tf.placeholder(tf.float32, [2, 3])
    tf.nn.relu(x)
    assert slim.model_analyzer.analyze_ops(graph) >= 6


def test_variables_are_found_by_scope_suffix_and_kind():
    _model()
    assert [v.op.name for v in slim.get_variables("hidden")] == ["hidden/weights", "hidden/biases"]
    assert len(slim.get_variables_by_suffix("weights")) == 2
    assert slim.get_unique_variable("logits/biases").shape.as_list() == [1]
    assert len(slim.get_model_variables()) == 7
    kept = [v.op.name for v in slim.get_variables_to_restore(exclude=["hidden", "bn"])]
    assert kept == ["logits/weights", "logits/biases"]


def test_local_and_model_variables_go_into_their_collections(run):
    local = slim.local_variable(3.0, name="local")
    model = slim.model_variable("model", [2], initializer=tf.ones_initializer(), regularizer=slim.l2_regularizer(0.5))
    assert local in tf.local_variables() and model in slim.get_model_variables()
    assert run(tf.losses.get_regularization_loss()) == 0.5


@pytest.mark.parametrize("by_name", [True, False])
def test_assign_from_checkpoint_fn_restores_under_other_names(tmp_path, run, by_name):
    with tf.Graph().as_default():
        tf.get_variable("old", initializer=[1.0, 2.0])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(session, str(tmp_path / "model"))
    name = "new" if by_name else "old"
    v = tf.get_variable(name, [2], initializer=tf.zeros_initializer())
    restore = slim.assign_from_checkpoint_fn(path, {"old": v} if by_name else [v])
    with tf.Session() as session:
        restore(session)
        np.testing.assert_array_equal(session.run(v), [1, 2])


def test_assign_from_checkpoint_fn_can_skip_and_reshape(tmp_path):
    with tf.Graph().as_default():
        tf.get_variable("a", initializer=[1.0, 2.0])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(session, str(tmp_path / "model"))
    a, b = tf.get_variable("a", [2, 1]), tf.get_variable("b", initializer=7.0)
    restore = slim.assign_from_checkpoint_fn(path, [a, b], ignore_missing_vars=True, reshape_variables=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        restore(session)
        np.testing.assert_array_equal(session.run(a), [[1], [2]])
        assert session.run(b) == 7
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match="Key b not found"):
        slim.assign_from_checkpoint_fn(path, [b])(session)


def test_assign_from_values_fn(run):
    v = tf.get_variable("v", [2])
    with tf.Session() as session:
        slim.assign_from_values_fn({"v": np.array([3, 4], np.float32)})(session)
        np.testing.assert_array_equal(session.run(v), [3, 4])
    assign, feeds = slim.assign_from_values({"v": np.array([5, 6], np.float32)})
    run(assign, feeds)
    np.testing.assert_array_equal(run(v), [5, 6])


@pytest.fixture
def records(tmp_path):
    """A tf_slim dataset of 20 records: an id, two floats and a text."""
    paths = []
    for shard in range(2):
        paths.append(str(tmp_path / f"rows-{shard}.tfrecord"))
        with tf.python_io.TFRecordWriter(paths[-1]) as writer:
            for i in range(10 * shard, 10 * shard + 10):
                example = tf.train.Example()
                example.features.feature["id"].int64_list.value.append(i)
                example.features.feature["x"].float_list.value.extend([i, -i])
                example.features.feature["text"].bytes_list.value.append(f"row {i}".encode())
                writer.write(example.SerializeToString())
    decoder = tfexample_decoder.TFExampleDecoder(
        {
            "id": tf.FixedLenFeature([], tf.int64),
            "x": tf.FixedLenFeature([2], tf.float32),
            "text": tf.FixedLenFeature([], tf.string),
        },
        {
            "id": tfexample_decoder.Tensor("id"),
            "x": tfexample_decoder.Tensor("x"),
            "text": tfexample_decoder.Tensor("text"),
        },
    )
    return dataset.Dataset(paths, tf.TFRecordReader, decoder, 20, {"id": "number", "x": "two floats", "text": "words"})


def _through_queues(fetch, times):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        got = [session.run(fetch) for _ in range(times)]
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    return got


def test_decoder_decodes_an_example(run, records):
    serialized = next(tf.python_io.tf_record_iterator(records.data_sources[1]))
    number, text = run(records.decoder.decode(tf.constant(serialized), ["id", "text"]))
    assert (number, text) == (10, b"row 10")
    assert sorted(records.decoder.list_items()) == ["id", "text", "x"]


@pytest.mark.parametrize("num_readers", [1, 2])
def test_dataset_data_provider_reads_every_record(records, num_readers):
    provider = dataset_data_provider.DatasetDataProvider(
        records,
        num_readers=num_readers,
        shuffle=num_readers > 1,
        num_epochs=1,
        common_queue_min=1,
        common_queue_capacity=4,
    )
    number, x, text = provider.get(["id", "x", "text"])
    assert sorted(provider.list_items()) == ["id", "record_key", "text", "x"] and provider.num_samples() == 20
    got = _through_queues([number, x, text], 20)
    assert sorted(n for n, _, _ in got) == list(range(20))
    assert all((x == [n, -n]).all() and text == f"row {n}".encode() for n, x, text in got)


def test_batches_come_through_a_prefetch_queue(records):
    provider = dataset_data_provider.DatasetDataProvider(records, shuffle=False)
    [number] = provider.get(["id"])
    batch = tf.train.batch([number], 5)
    queue = prefetch_queue.prefetch_queue([batch], capacity=2)
    first = _through_queues(queue.dequeue(), 2)
    assert np.ravel(first).tolist() == list(range(10))


def test_parallel_read_gives_keys_and_values(records):
    key, value = parallel_reader.parallel_read(
        records.data_sources,
        tf.TFRecordReader,
        num_epochs=1,
        num_readers=2,
        shuffle=False,
        capacity=8,
        min_after_dequeue=1,
    )
    parsed = tf.parse_single_example(value, {"id": tf.FixedLenFeature([], tf.int64)})["id"]
    assert sorted(_through_queues(parsed, 20)) == list(range(20))
    assert key.dtype == tf.string


def test_contrib_slim_is_the_same_package():
    assert tf.contrib.slim.learning.train is slim.learning.train
    assert tf.contrib.slim.arg_scope is slim.arg_scope
    from tensorflow.contrib.slim.python.slim.nets import vgg
    from tf_slim.nets import vgg as own_vgg

    assert vgg.vgg_16 is own_vgg.vgg_16
