"""hb.data.Iterator, SyncReplicasDataset and the iterators of tf.data."""

import hybridbackend.tensorflow as hb
import pyarrow as pa
import pytest
import tensorflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def dataset(write):
    path = write(pa.table({"x": range(100), "l": [[i] * (i % 3) for i in range(100)]}))
    return hb.data.Dataset.from_parquet(path).batch(10)


def test_an_iterator_gives_every_element_and_then_ends(dataset):
    iterator = hb.data.Iterator(hb.data.make_one_shot_iterator(dataset), capacity=3)
    element = iterator.get_next()
    assert isinstance(element["l"], tf.SparseTensor)
    with tf.Session() as session:
        iterator.create_threads(session)
        rows = [session.run(element)["x"].tolist() for _ in range(10)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
    assert rows == [list(range(i, i + 10)) for i in range(0, 100, 10)]


def test_an_iterator_takes_nests_with_none():
    count = tf.data.make_one_shot_iterator(tf.data.Dataset.range(5)).get_next()
    iterator = hb.data.Iterator({"a": count, "b": None, "c": [count + 1]}, num_runners=2)
    assert iterator.num_runners == 2
    element = iterator.get_next()
    assert element["b"] is None
    with tf.Session() as session:
        hb.data.Iterator.start(session)
        found = sorted(session.run((element["a"], element["c"][0])) for _ in range(5))
    assert found == [(i, i + 1) for i in range(5)]


def test_the_hook_starts_it_in_monitored_sessions(dataset):
    element = hb.data.Iterator(hb.data.make_one_shot_iterator(dataset)).get_next()
    rows = []
    with tf.train.MonitoredSession(hooks=[hb.data.Iterator.Hook()]) as session:
        while not session.should_stop():
            rows += session.run(element["x"]).tolist()
    assert rows == list(range(100))


def test_an_iterator_tells_the_errors_of_its_threads():
    numbers = tf.data.Dataset.from_tensor_slices([1, 0]).map(lambda x: tf.debugging.check_numerics(1 / x, "no number"))
    iterator = hb.data.Iterator(tf.data.make_one_shot_iterator(numbers))
    with tf.Session() as session:
        iterator.create_threads(session)
        assert session.run(iterator.get_next()) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="no number"):
            session.run(iterator.get_next())
    (error,) = iterator.exceptions_raised
    assert isinstance(error, tf.errors.InvalidArgumentError)


def test_an_iterator_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one Tensor"):
        hb.data.Iterator({"a": None})


@pytest.mark.parametrize("make", [hb.data.make_one_shot_iterator, hb.data.make_iterator])
def test_one_shot_iterators_are_on_the_processor(dataset, make):
    element = make(dataset).get_next()
    with tf.Session() as session:
        assert session.run(element["x"]).tolist() == list(range(10))


def test_an_initializable_iterator(dataset):
    iterator = hb.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(element["x"]).tolist() == list(range(10))


def test_sync_replicas_marks_the_last_element_and_goes_on_with_empty_ones(dataset):
    element = hb.data.make_one_shot_iterator(hb.data.SyncReplicasDataset(dataset)).get_next()
    with tf.Session() as session:
        found = [session.run(element) for _ in range(13)]
    assert [stop for stop, _ in found] == [0] * 9 + [1] * 4
    assert [batch["x"].tolist() for _, batch in found[:10]] == [list(range(i, i + 10)) for i in range(0, 100, 10)]
    for _, batch in found[10:]:
        assert batch["x"].shape == (0,) and batch["x"].dtype == "int64"
        assert batch["l"].dense_shape.tolist()[0] == 0 and batch["l"].values.shape == (0,)


def test_sync_replicas_of_an_empty_dataset_stops_at_once():
    dataset = hb.data.SyncReplicasDataset(tf.data.Dataset.range(0).batch(2))
    element = hb.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        stop, batch = session.run(element)
    assert (stop, batch.tolist()) == (1, [])


def test_sync_replicas_ends_a_monitored_session_behind_the_last_element():
    dataset = hb.data.SyncReplicasDataset(tf.data.Dataset.range(100).batch(10))
    batch = dataset.sync()
    found = []
    with tf.train.MonitoredSession(hooks=dataset.hooks()) as session:
        while not session.should_stop():
            found.append(session.run(batch).tolist())
    assert found == [list(range(i, i + 10)) for i in range(0, 100, 10)]


def test_sync_replicas_of_more_processes_says_what_is_not_there():
    with pytest.raises(NotImplementedError, match="one process"):
        hb.data.SyncReplicasDataset(tf.data.Dataset.range(5), world=["/job:a", "/job:b"], rank=0)
