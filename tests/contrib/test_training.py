"""tf.contrib.training."""

import collections
import threading

import numpy as np
import pytest
import tensorflow as tf

T = tf.contrib.training


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


class Running:
    """A session with its queue runners going."""

    def __enter__(self):
        self.session = tf.Session()
        self.session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        self.coordinator = tf.train.Coordinator()
        self.threads = tf.train.start_queue_runners(self.session, self.coordinator)
        return self.session

    def __exit__(self, *unused):
        self.coordinator.request_stop()
        self.coordinator.join(self.threads, stop_grace_period_secs=10, ignore_live_threads=True)
        # Left open: closing a barrier that is closed already, which a queue runner does at the end, may never return.


def until_end(session, fetches):
    results = []
    try:
        while True:
            results.append(session.run(fetches))
    except tf.errors.OutOfRangeError:
        return results


# Hyperparameters


def make_hparams():
    return T.HParams(rate=0.1, units=[8, 4], name="x", flag=True, n=3)


def test_hparams_are_attributes():
    hparams = make_hparams()
    assert (hparams.rate, hparams.units, hparams.name, hparams.flag, hparams.n) == (0.1, [8, 4], "x", True, 3)
    assert "rate" in hparams and "other" not in hparams


def test_hparams_parse():
    hparams = make_hparams().parse("rate=2,units=[1, 2,3],name=some_name,flag=false,n=-5")
    assert hparams.values() == dict(rate=2.0, units=[1, 2, 3], name="some_name", flag=False, n=-5)
    assert isinstance(hparams.rate, float)


@pytest.mark.parametrize(
    "text",
    ["other=1", "rate=abc", "units=3", "rate=[1.0]", "n=1.5", "flag=maybe", "n=1,n=2", "n", "units[0]=[1]", "=5"],
)
def test_hparams_refuse_to_parse(text):
    with pytest.raises(ValueError):
        make_hparams().parse(text)


def test_parse_values():
    types = dict(x=float, l=int, arr=int, b=bool)
    assert T.parse_values("x=5,l=[1,2],arr[1]=3,arr[0]=4,b=1", types) == dict(x=5.0, l=[1, 2], arr={1: 3, 0: 4}, b=True)
    assert T.parse_values("y=5,x=1", types, ignore_unknown=True) == dict(x=1.0)
    with pytest.raises(ValueError, match="Multiple assignments"):
        T.parse_values("arr[1]=3,arr[1]=4", types)
    with pytest.raises(ValueError, match="Multiple assignments"):
        T.parse_values("arr=3,arr[1]=4", types)


def test_hparams_json_round_trip():
    hparams = make_hparams()
    other = T.HParams(rate=0.0, units=[1], name="", flag=False, n=0)
    assert other.parse_json(hparams.to_json()).values() == hparams.values()
    assert hparams.to_json(sort_keys=True, separators=(",", ":")).startswith('{"flag":true,')
    with pytest.raises(KeyError):
        other.parse_json('{"unknown": 1}')


def test_hparams_proto_round_trip():
    hparams = T.HParams(f=0.5, i=[1, 2], s="text", l=["a", "b"], b=True, c=[False], g=[1.5])
    proto = hparams.to_proto()
    assert T.HParams(hparam_def=type(proto).FromString(proto.SerializeToString())).values() == hparams.values()
    # Bytes on the wire, by the numbers of 1.15's fields.
    assert T.HParams(i=7).to_proto().SerializeToString() == b"\n\x07\n\x01i\x12\x02\x08\x07"


def test_hparams_set_add_delete():
    hparams = make_hparams()
    hparams.set_hparam("rate", 3)
    assert hparams.rate == 3.0 and isinstance(hparams.rate, float)
    for name, value in (("n", 1.5), ("flag", 1), ("name", 5), ("units", 3), ("n", [1]), ("n", True)):
        with pytest.raises(ValueError):
            hparams.set_hparam(name, value)
    hparams.add_hparam("extra", 1)
    hparams.del_hparam("extra")
    assert "extra" not in hparams and not hasattr(hparams, "extra")
    with pytest.raises(ValueError, match="reserved"):
        hparams.add_hparam("rate", 1)
    with pytest.raises(ValueError, match="empty"):
        hparams.add_hparam("none", [])


def test_hparams_get():
    hparams = make_hparams()
    assert hparams.get("n") == 3 and hparams.get("m", 5) == 5 and hparams.get("rate", 1) == 0.1
    with pytest.raises(ValueError, match="incompatible"):
        hparams.get("n", "text")


# Batching


def test_bucket_batches_by_bucket():
    x = tf.train.input_producer(tf.range(12), shuffle=False, num_epochs=1).dequeue()
    which, batch = T.bucket([x], x % 3, batch_size=2, num_buckets=3)
    with Running() as session:
        for bucket, values in until_end(session, [which, batch]):
            assert set(values % 3) == {bucket} and len(values) == 2


def test_bucket_by_sequence_length_pads():
    n = tf.train.input_producer([1, 5, 2, 7, 3, 6], shuffle=False, num_epochs=1).dequeue()
    lengths, outputs = T.bucket_by_sequence_length(
        n, {"x": tf.fill([n], n), "n": n}, 2, [3, 6], dynamic_pad=True, allow_smaller_final_batch=True
    )
    with Running() as session:
        seen = until_end(session, [lengths, outputs["x"]])
    buckets = collections.defaultdict(list)
    for length, x in seen:
        assert x.shape == (len(length), max(length))
        for size, row in zip(length, x):
            assert row.tolist() == [size] * size + [0] * (len(row) - size)
            buckets[sum(size >= b for b in (3, 6))].append(size)
    assert {k: sorted(v) for k, v in buckets.items()} == {0: [1, 2], 1: [3, 5], 2: [6, 7]}


def test_bucket_drops_what_is_not_kept():
    x = tf.train.input_producer(tf.range(8), shuffle=False, num_epochs=1).dequeue()
    _, batch = T.bucket([x], 0, 2, num_buckets=1, keep_input=x < 4)
    with Running() as session:
        assert np.concatenate(until_end(session, batch)).tolist() == [0, 1, 2, 3]


def test_bad_buckets():
    for boundaries, error in ((3, TypeError), ([], ValueError), ([3, 3], ValueError), ([1.5, 2.5], TypeError)):
        with pytest.raises(error, match="bucket_boundaries"):
            T.bucket_by_sequence_length(1, [tf.constant(1)], 2, boundaries)
    with pytest.raises(ValueError, match="batch_size"):
        T.bucket([tf.constant(1)], 0, [2, 2, 2], num_buckets=2)


def stateful_batch(allow_small_batch=True, sparse=False, **kwargs):
    index = tf.train.input_producer(tf.range(3), shuffle=False, num_epochs=1).dequeue()
    length = index + 3
    sequence = tf.range(length) + 10 * index
    sequences = {"x": sequence}
    context = {"c": index * 100}
    if sparse:
        positions = tf.cast(tf.stack([tf.range(length), tf.zeros_like(sequence)], 1), tf.int64)
        sequences["s"] = tf.SparseTensor(positions, sequence, [tf.cast(length, tf.int64), 1])
        context["t"] = tf.SparseTensor([[0]], tf.reshape(index, [1]), [1])
    return T.batch_sequences_with_states(
        tf.as_string(index), sequences, context, length, {"sum": tf.constant(0)}, num_unroll=2, batch_size=1,
        num_threads=1, capacity=2, allow_small_batch=allow_small_batch, **kwargs,
    )  # fmt: skip


def test_states_go_from_segment_to_segment():
    batch = stateful_batch()
    total = batch.state("sum") + tf.reduce_sum(batch.sequences["x"], 1)
    save = batch.save_state("sum", total)
    fetches = [batch.key, batch.next_key, batch.sequence, batch.sequence_count, batch.length, batch.total_length]
    fetches += [batch.context["c"], batch.sequences["x"], total, batch.batch_size, batch.insertion_index, save]
    with Running() as session:
        rows = until_end(session, fetches)
    assert [r[0][0] for r in rows[:2]] == [b"00000_of_00002:0", b"00001_of_00002:0"]
    assert rows[1][1][0] == b"STOP:0"
    final = {}
    for key, _, sequence, count, length, total_length, context, x, total, size, _, _ in rows:
        index = int(key[0][-1:])
        assert count[0] == -(-(index + 3) // 2) and total_length[0] == index + 3 and context[0] == 100 * index
        assert length[0] == min(2, index + 3 - 2 * sequence[0]) and x.shape == (1, 2) and size == 1
        final[index] = int(total[0])
    assert final == {i: sum(range(10 * i, 10 * i + i + 3)) for i in range(3)}


def test_sparse_sequences_and_context():
    batch = stateful_batch(sparse=True)
    save = batch.save_state("sum", batch.state("sum"))
    with Running() as session:
        rows = until_end(session, [batch.length, batch.sequences, batch.context, save])
    for length, sequences, context, _ in rows:
        assert sequences["s"].values.tolist() == sequences["x"][0][: length[0]].tolist()
        assert sequences["s"].dense_shape.tolist() == [1, 2, 1]
        assert context["t"].values.tolist() == (context["c"] // 100).tolist()
        assert context["t"].dense_shape.tolist() == [1, 1]


def test_unpadded_lengths_are_checked():
    batch = stateful_batch(pad=False)
    save = batch.save_state("sum", batch.state("sum"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="multiple of: 2"):
        with Running() as session:
            session.run(save)


def test_bad_state_savers():
    arguments = dict(batch_size=1, num_unroll=2, input_length=2, input_key="k", input_sequences={"x": tf.zeros([2])},
                     input_context={}, initial_states={"s": tf.constant(0)})  # fmt: skip
    saver = T.SequenceQueueingStateSaver(**arguments)
    with pytest.raises(KeyError, match="other"):
        saver.next_batch.save_state("other", tf.constant([0]))
    for change, error, match in (
        (dict(initial_states={}), ValueError, "initial_states"),
        (dict(initial_states=[]), TypeError, "initial_states"),
        (dict(input_sequences={}), ValueError, "input_sequences"),
        (dict(input_sequences={"a:b": tf.zeros([2])}), ValueError, "colon"),
        (dict(input_context={"c": tf.placeholder(tf.int32, [None])}), ValueError, "context c"),
        (dict(capacity=0), ValueError, "capacity"),
        (dict(input_length=2.5), TypeError, "length"),
        (dict(input_key=5), TypeError, "key"),
    ):
        with pytest.raises(error, match=match):
            T.SequenceQueueingStateSaver(**{**arguments, **change})


def test_make_keys_unique_appends_a_number():
    batch = stateful_batch(make_keys_unique=True, make_keys_unique_seed=1)
    save = batch.save_state("sum", batch.state("sum"))
    with Running() as session:
        key, _ = session.run([batch.key, save])
    assert key[0].startswith(b"00000_of_00002:0") and len(key[0]) > len(b"00000_of_00002:0")


# Sampling


def test_rejection_sample_keeps_by_probability():
    x = tf.train.input_producer(tf.range(100), num_epochs=1).dequeue()
    (batch,) = T.rejection_sample([x], lambda t: tf.cast(t[0] % 2, tf.float32), 10, runtime_checks=True)
    with Running() as session:
        got = np.concatenate(until_end(session, batch))
    assert got.size == 50 and (got % 2).all()


def test_rejection_sample_of_batches():
    x = tf.train.input_producer(tf.range(8), shuffle=False, num_epochs=1).dequeue_many(4)
    (batch,) = T.rejection_sample([x], lambda t: 1.0, 2, enqueue_many=True)
    with Running() as session:
        assert np.concatenate(until_end(session, batch)).tolist() == list(range(8))


@pytest.mark.parametrize("init_probs", [[0.9, 0.1], None])
def test_stratified_sample_reaches_the_target(init_probs):
    tf.set_random_seed(5)
    label = tf.cast(tf.random_uniform([]) < 0.1, tf.int32)
    (data,), labels = T.stratified_sample([label * 7], label, [0.5, 0.5], 50, init_probs=init_probs)
    with Running() as session:
        session.run(labels) if init_probs else [session.run(labels) for _ in range(5)]
        pairs = [session.run([data, labels]) for _ in range(10)]
    assert all((d == 7 * label).all() for d, label in pairs)
    mean = np.mean([labels for _, labels in pairs])
    assert abs(mean - 0.5) < 0.12


def test_stratified_sample_checks():
    with pytest.raises(ValueError, match="same length"):
        T.stratified_sample([tf.constant(1)], 0, [0.5, 0.5], 2, init_probs=[0.2, 0.3, 0.5])
    (_,), labels = T.stratified_sample([tf.constant(1)], 0, [0.5, 0.5], 2, init_probs=[1.0, 0.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="target_probs 0"):
        with Running() as session:
            session.run(labels)


def test_resample_at_rate():
    rates = tf.placeholder(tf.float32, [3])
    a, b = T.resample_at_rate([tf.constant([1, 2, 3]), tf.constant([[1.0], [2.0], [3.0]])], rates, seed=1)
    with tf.Session() as session:
        counts = np.zeros(3)
        for _ in range(200):
            x, y = session.run([a, b], {rates: [0.0, 1.0, 3.0]})
            assert x.tolist() == y.ravel().tolist()
            counts += [(x == i).sum() for i in (1, 2, 3)]
        assert session.run(a, {rates: [0.0, 0.0, 0.0]}).shape == (0,)
    assert counts[0] == 0 and abs(counts[1] / 200 - 1) < 0.25 and abs(counts[2] / 200 - 3) < 0.4


def test_weighted_resample_rates():
    weights = tf.constant([1.0, 3.0])
    (x,), rates = T.weighted_resample([tf.constant([0, 1])], weights, 2.0, seed=1)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        counts = np.zeros(2)
        for _ in range(200):
            values, got = session.run([x, rates])
            np.testing.assert_allclose(got, np.array([1.0, 3.0])[values], rtol=1e-3)
            counts += [(values == i).sum() for i in (0, 1)]
    # Mean weight 2, so rates 1 and 3.
    np.testing.assert_allclose(counts / 200, [1, 3], rtol=0.25)


# Placement, training, evaluation


def test_greedy_strategy_balances_bytes():
    strategy = T.GreedyLoadBalancingStrategy(2, T.byte_size_load_fn)
    setter = tf.train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)
    with tf.device(setter):
        big = tf.get_variable("big", [10])
        small = [tf.get_variable(f"s{i}", [4], use_resource=bool(i)) for i in range(2)]
    assert [v.device for v in (big, *small)] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:1"]
    assert T.byte_size_load_fn(big.op) == 40 and T.byte_size_load_fn(small[1].op) == 16


def test_random_strategy_is_stable():
    op = tf.no_op(name="x")
    assert T.RandomStrategy(1000)(op) == T.RandomStrategy(1000)(op) != T.RandomStrategy(1000, seed=1)(op)
    with pytest.raises(ValueError, match="single output"):
        T.byte_size_load_fn(op)


def test_train_and_evaluate(tmp_path):
    w = tf.get_variable("w", initializer=4.0)
    op = T.create_train_op(tf.square(w), tf.train.GradientDescentOptimizer(0.25))
    hooks = [tf.train.StopAtStepHook(num_steps=2)]
    assert T.train(op, str(tmp_path), hooks=hooks, save_summaries_steps=None) >= 0.0
    path = T.wait_for_new_checkpoint(str(tmp_path), timeout=1)
    assert list(T.checkpoints_iterator(str(tmp_path), timeout=0)) == [path]
    # The initializer of local variables is made once for a graph.
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=0.0)
        tf.train.get_or_create_global_step()
        step = T.get_or_create_eval_step()
        tf.summary.scalar("w", w)
        evaluate(path, w, step, tmp_path)


def evaluate(path, w, step, tmp_path):
    final = T.evaluate_once(path, eval_ops=tf.no_op(), final_ops=[w, step], hooks=[T.StopAfterNEvalsHook(2)])
    assert final == [1.0, 2]
    hooks = [T.StopAfterNEvalsHook(1), T.SummaryAtEndHook(str(tmp_path / "eval"))]
    assert T.evaluate_repeatedly(
        str(tmp_path), eval_ops=tf.no_op(), final_ops=w, hooks=hooks, eval_interval_secs=0, max_number_of_evaluations=1
    ) == 1.0  # fmt: skip
    assert list((tmp_path / "eval").iterdir())


def test_gradient_helpers():
    v = tf.get_variable("v", initializer=[3.0, 4.0])
    pairs = [(tf.constant([3.0, 4.0]), v)]
    clipped = T.clip_gradient_norms(pairs, 1.0)[0][0]
    same = T.clip_gradient_norms_fn(1.0)(pairs)[0][0]
    twice = T.multiply_gradients(pairs, {v: 2.0})[0][0]
    T.add_gradients_summaries(pairs)
    with tf.Session() as session:
        got = session.run([clipped, same, twice])
    np.testing.assert_allclose(got, [[0.6, 0.8], [0.6, 0.8], [6.0, 8.0]], rtol=1e-6)
    assert len(tf.get_collection(tf.GraphKeys.SUMMARIES)) == 2


def test_feeding_queue_runner_feeds():
    queue = tf.FIFOQueue(10, [tf.int32])
    x = tf.placeholder(tf.int32, [])
    feeds = iter([{x: 1}, {x: 2}])
    lock = threading.Lock()

    def feed():
        with lock:
            try:
                return next(feeds)
            except StopIteration:
                raise tf.errors.OutOfRangeError(None, None, "end")

    tf.train.add_queue_runner(T.FeedingQueueRunner(queue, [queue.enqueue(x)], feed_fns=[feed]))
    with Running() as session:
        assert [session.run(queue.dequeue()) for _ in range(2)] == [1, 2]


def test_deep_paths():
    from tensorflow.contrib.training.python.training import evaluation, hparam, training, tuner

    assert hparam.HParams is T.HParams and training.create_train_op is T.create_train_op
    assert evaluation.evaluate_once is T.evaluate_once
    with pytest.raises(TypeError, match="abstract"):
        tuner.Tuner()
