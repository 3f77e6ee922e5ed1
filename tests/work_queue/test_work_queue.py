"""WorkQueue in one process: what is in it, in which order, and what refuses arguments."""

import collections
import random
import time

import pytest

WORKS = ["to", "be", "or", " not ", b"to", "be"]
STRIPPED = [b"to", b"be", b"or", b"not", b"to", b"be"]


@pytest.fixture
def WorkQueue():
    from tensorflow.python.ops.work_queue import WorkQueue

    return WorkQueue


@pytest.fixture
def take_all(tf, WorkQueue, started, rest):
    """take_all(works, **options): the works that `take` gives, in a graph of their own."""

    def take(works, **options):
        with tf.Graph().as_default():
            work = WorkQueue(works, **options).take()
            with started(runners=False) as session:
                return rest(session, work)

    return take


def test_every_epoch_has_all_works_in_order(take_all):
    assert take_all(WORKS, num_epochs=3, shuffle=False) == STRIPPED * 3


def test_a_seed_shuffles_each_epoch_by_itself_and_always_the_same(take_all):
    works = [f"w{i}" for i in range(20)]
    first = take_all(works, num_epochs=3, seed=5)
    epochs = [first[i : i + 20] for i in (0, 20, 40)]
    assert all(sorted(epoch) == sorted(w.encode() for w in works) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 3
    assert first == take_all(works, num_epochs=3, seed=5)
    assert first != take_all(works, num_epochs=3, seed=6)


def test_prefix_stands_in_front(take_all):
    assert take_all(["a", "b"], shuffle=False, prefix="/data/") == [b"/data/a", b"/data/b"]


def test_takes_after_the_end_name_the_queue(tf, WorkQueue, started, rest):
    work = WorkQueue(["a"], name="named").take()
    with started(runners=False) as session:
        rest(session, work)
        with pytest.raises(tf.errors.OutOfRangeError, match="All works of the work queue 'named' are taken"):
            session.run(work)


def test_a_queue_that_is_not_initialized_says_so(tf, WorkQueue):
    queue = WorkQueue(["a"])
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.FailedPreconditionError, match="'work_queue' is not initialized"),
    ):
        session.run(queue.take())


def test_input_producer_gives_each_work_once(tf, WorkQueue, started, rest):
    local = WorkQueue(WORKS, num_epochs=2, shuffle=False).input_producer()
    many, one = local.dequeue_many(7), local.dequeue()
    with started() as session:
        values = [work for [work] in session.run(many).tolist()]
        values += [work for [work] in rest(session, one)]
    assert values == STRIPPED * 2


def test_a_reader_of_files_reads_an_input_producer(tf, WorkQueue, started, rest, tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(f"{name}1\n{name}2\n")
    queue = WorkQueue(["a", "b"], shuffle=False, prefix=f"{tmp_path}/")
    _, line = tf.TextLineReader().read(queue.input_producer())
    with started() as session:
        assert rest(session, line) == [b"a1", b"a2", b"b1", b"b2"]


def test_input_dataset_ends_with_the_works(tf, WorkQueue, started, rest):
    data = tf.data.make_initializable_iterator(WorkQueue(WORKS, num_epochs=3, shuffle=False).input_dataset())
    element = data.get_next()
    with started() as session:
        session.run(data.initializer)
        assert rest(session, element) == STRIPPED * 3
        rest(session, element)


def test_input_dataset_takes_nothing_ahead(tf, WorkQueue, started, capfd):
    queue = WorkQueue(WORKS, shuffle=False)
    iterator = tf.data.make_initializable_iterator(queue.input_dataset())
    data = iterator.get_next()
    left = queue.add_summary()
    with started() as session:
        session.run(iterator.initializer)
        session.run([data])
        time.sleep(0.2)
        assert tf.Summary.FromString(session.run(left)).value[0].simple_value == pytest.approx(5 / 6)
    assert 'Take work: "to"' in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["producer", "dataset"])
def test_two_readers_of_one_queue_share_the_works(tf, WorkQueue, started, rest, kind):
    works = [f"w{i}" for i in range(12)]
    queue = WorkQueue(works)
    if kind == "producer":
        tensors = [queue.input_producer().dequeue()[0] for _ in range(2)]
        begin = []
    else:
        iterators = [tf.data.make_initializable_iterator(queue.input_dataset()) for _ in range(2)]
        tensors, begin = [it.get_next() for it in iterators], [it.initializer for it in iterators]
    with started() as session:
        session.run(begin)
        values = [session.run(tensors[random.randrange(2)]) for _ in range(8)]
        values += rest(session, tensors[0]) + rest(session, tensors[1])
    assert collections.Counter(values) == collections.Counter(w.encode() for w in works)


def test_a_dataset_of_the_rows_of_files(tf, WorkQueue, started, rest, tmp_path):
    rows = []
    for name in "abc":
        rows += [f"{name}{i}" for i in range(5)]
        (tmp_path / name).write_text("\n".join(rows[-5:]) + "\n")
    paths = WorkQueue(["a", "b", "c"], prefix=f"{tmp_path}/", num_clients=2).input_dataset()
    lines = paths.interleave(tf.data.TextLineDataset, cycle_length=2, block_length=1)
    iterator = tf.data.make_initializable_iterator(lines)
    line = iterator.get_next()
    with started() as session:
        session.run(iterator.initializer)
        assert sorted(rest(session, line)) == [row.encode() for row in rows]


def test_the_properties(WorkQueue):
    queue = WorkQueue(WORKS, num_epochs=4, num_clients=3)
    assert (queue.works, queue.digest, queue.num_clients, len(queue)) == (STRIPPED, b"to,be,or,not,to,be", 3, 6)


def test_equal_names_in_one_graph_are_two_queues(WorkQueue, started, rest):
    first, second = (WorkQueue([work], name="queue") for work in "ab")
    assert (first.name, second.name) == ("queue", "queue_1")
    works = first.take(), second.take()
    with started(runners=False) as session:
        assert [rest(session, work) for work in works] == [[b"a"], [b"b"]]


def test_a_session_that_closes_ends_readers_that_wait(tf, WorkQueue, started):
    queue = WorkQueue(["a"])
    queue.input_producer()
    tf.data.make_initializable_iterator(queue.input_dataset())
    begun = time.monotonic()
    with started():
        pass
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    "works, options, error, message",
    [
        ([], {}, ValueError, "works must be a list of strings that is not empty, got"),
        ("abc", {}, ValueError, "works must be a list of strings that is not empty, got 'abc'"),
        (["a", 3], {}, ValueError, "works must be a list of strings, got 3"),
        (["a", ""], {}, ValueError, "works must be a list of strings that are not empty, got ''"),
        ([b" \n"], {}, ValueError, "works must be a list of strings that are not empty, got b' \\\\n'"),
        (["a"], {"num_epochs": 0}, ValueError, "num_epochs must be at least 1, got 0"),
        (["a"], {"num_epochs": 1.5}, TypeError, "num_epochs must be a whole number"),
        (["a"], {"num_clients": 0}, ValueError, "num_clients must be at least 1, got 0"),
        (["a"], {"num_slices": -1}, ValueError, "num_slices must be at least 1, got -1"),
        (["a"], {"shuffle": "no"}, TypeError, "shuffle must be a bool, got 'no'"),
        (["a"], {"seed": "x"}, TypeError, "seed must be a whole number, got 'x'"),
        (["a"], {"prefix": 3}, TypeError, "prefix must be a string, got 3"),
        (["a"], {"local_work_mgr": 3}, TypeError, "local_work_mgr must be a LocalWorkMgr"),
    ],
)
def test_arguments_that_do_not_fit(tf, WorkQueue, works, options, error, message):
    with pytest.raises(error, match=message):
        WorkQueue(works, **options)
