"""WorkQueues in checkpoints."""

import collections
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = pathlib.Path(__file__).with_name("program.py")
WORKS = [f"w{i}" for i in range(6)]


@pytest.fixture
def WorkQueue():
    from tensorflow.python.ops.work_queue import WorkQueue

    return WorkQueue


def names(works):
    return [work.encode() for work in works]


@pytest.fixture
def saved(tf, WorkQueue, started, tmp_path):
    """saved(read, count): (checkpoint, works read before it) of the queue "q" of WORKS; `read`: see `readers`."""

    def save(read, count, **options):
        with tf.Graph().as_default():
            queue = WorkQueue(WORKS, shuffle=False, name="q", **options)
            begin, work = readers(tf)[read](queue)
            saver = tf.train.Saver()
            with started() as session:
                session.run(begin)
                values = [session.run(work) for _ in range(count)]
                return saver.save(session, str(tmp_path / "model")), values

    return save


def readers(tf):
    """Kind -> function of a queue to (op to run first, tensor of a work)."""

    def dataset(queue):
        iterator = tf.data.make_initializable_iterator(queue.input_dataset())
        return iterator.initializer, iterator.get_next()

    return {
        "take": lambda queue: ([], queue.take()),
        "producer": lambda queue: ([], queue.input_producer().dequeue()[0]),
        "dataset": dataset,
    }


def restored(tf, WorkQueue, started, rest, checkpoint, works, **options):
    with tf.Graph().as_default():
        work = WorkQueue(works, shuffle=False, name="q", **options).take()
        saver = tf.train.Saver()
        with started(runners=False) as session:
            saver.restore(session, checkpoint)
            return rest(session, work)


@pytest.mark.parametrize("count", [0, 2, 6])
@pytest.mark.parametrize("sharded", [False, True])
def test_a_restored_queue_has_what_was_not_taken(tf, WorkQueue, started, rest, tmp_path, count, sharded):
    with tf.Graph().as_default():
        queue = WorkQueue(WORKS, num_epochs=2, shuffle=False, name="q")
        work = queue.take()
        tf.get_variable("v", [3])
        saver = tf.train.Saver(sharded=sharded)
        with started(runners=False) as session:
            for _ in range(count):
                session.run(work)
            path = saver.save(session, str(tmp_path / "model"))
            after = rest(session, work)
            saver.restore(session, path)
            assert rest(session, work) == after == names(WORKS * 2)[count:]
    reader = tf.train.load_checkpoint(path)
    assert np.ravel(reader.get_tensor("q_digest")).tolist() == [b"w0,w1,w2,w3,w4,w5"]
    assert reader.get_tensor("q_works").tolist() == names(WORKS * 2)[count:]


def test_what_an_input_producer_took_ahead_is_not_lost(tf, WorkQueue, started, rest, saved):
    checkpoint, values = saved("producer", 2)
    assert values == names(WORKS[:2])
    left = restored(tf, WorkQueue, started, rest, checkpoint, WORKS)
    # The one that left last may be given again: the queue learns of it a moment later.
    assert left in (names(WORKS[2:]), names(WORKS[1:]))


def test_the_work_that_a_dataset_reads_is_read_again(tf, WorkQueue, started, rest, saved):
    checkpoint, values = saved("dataset", 2)
    assert values == names(WORKS[:2])
    assert restored(tf, WorkQueue, started, rest, checkpoint, WORKS) == names(WORKS[1:])


def test_the_works_that_a_dataset_has_open_are_read_again(tf, WorkQueue, started, rest, saved):
    checkpoint, _ = saved("dataset", 4, num_clients=3)
    assert restored(tf, WorkQueue, started, rest, checkpoint, WORKS) == names(WORKS[1:])


def test_works_that_are_open_at_the_end_can_be_said_to_be_finished(tf, WorkQueue, started, rest):
    queue = WorkQueue(WORKS, num_clients=3)
    begin, work = readers(tf)["dataset"](queue)
    left, finished = queue.unfinished(), queue.finished()
    with started() as session:
        session.run(begin)
        assert session.run(left) == 6
        rest(session, work)
        assert session.run(left) == 2
        session.run(finished)
        assert session.run(left) == 0


@pytest.mark.parametrize("read", ["producer", "dataset"])
def test_nothing_is_left_when_all_is_read(tf, WorkQueue, started, rest, tmp_path, read):
    begin, work = readers(tf)[read](WorkQueue(WORKS, name="q"))
    saver = tf.train.Saver()
    with started() as session:
        session.run(begin)
        assert len(rest(session, work)) == 6
        path = saver.save(session, str(tmp_path / "model"))
    assert tf.train.load_checkpoint(path).get_tensor("q_works").tolist() == []


def test_a_checkpoint_of_other_works_is_left_aside(tf, WorkQueue, started, rest, saved, capfd):
    checkpoint, _ = saved("take", 4)
    assert restored(tf, WorkQueue, started, rest, checkpoint, ["a", "b"], num_epochs=2) == [b"a", b"b"] * 2
    assert "no works of the work queue q, or of other works" in capfd.readouterr().err


def test_a_checkpoint_without_the_queue_leaves_it_full(tf, WorkQueue, started, rest, tmp_path):
    with tf.Graph().as_default():
        tf.get_variable("v", [3])
        saver = tf.train.Saver()
        with started(runners=False) as session:
            path = saver.save(session, str(tmp_path / "model"))
    with tf.Graph().as_default():
        tf.get_variable("v", [3])
        work = WorkQueue(WORKS, shuffle=False).take()
        saver = tf.train.Saver()
        with started(runners=False) as session:
            session.run(work)
            saver.restore(session, path)
            assert rest(session, work) == names(WORKS)


def test_a_damaged_checkpoint_is_an_error_and_leaves_the_queue(tf, WorkQueue, started, rest, saved):
    checkpoint, _ = saved("take", 1)
    data = pathlib.Path(checkpoint + ".data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:-3])
    work = WorkQueue(WORKS, shuffle=False, name="q").take()
    saver = tf.train.Saver()
    with started(runners=False) as session:
        with pytest.raises((tf.errors.DataLossError, tf.errors.OutOfRangeError)):
            saver.restore(session, checkpoint)
        assert rest(session, work) == names(WORKS)


def test_a_killed_training_reads_nothing_less_and_only_the_open_file_twice(tmp_path):
    """The program saves every 3 rows; it is killed at row 17 of 40, and goes on from row 15."""
    for i in range(8):
        (tmp_path / f"f{i}").write_text("".join(f"f{i}r{j}\n" for j in range(5)))

    def run(*arguments):
        command = [sys.executable, str(PROGRAM), "local", str(tmp_path), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)

    killed = run("17")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = killed.stdout.split()
    done = run("0")
    assert done.returncode == 0, done.stderr
    after = done.stdout.split()
    checkpoint = before[:15]
    assert len(before) == 17 and set(checkpoint) | set(after) == {f"f{i}r{j}" for i in range(8) for j in range(5)}
    counts = collections.Counter(checkpoint + after)
    twice = {row for row, count in counts.items() if count > 1}
    # The 15th row ends a file, that was still open.
    assert max(counts.values()) == 2 and {row[:2] for row in twice} == {before[14][:2]}


def test_a_program_may_replace_what_a_checkpoint_left(tf, WorkQueue, started, saved):
    checkpoint, values = saved("take", 4)
    with tf.Graph().as_default():
        queue = WorkQueue(WORKS, shuffle=False, name="q")
        work, saver, left = queue.take(), tf.train.Saver(), queue.remaining()
        replaced = queue.replace(tf.placeholder_with_default(["a", "b"], [None]))
        with started() as session:
            saver.restore(session, checkpoint)
            assert session.run(left).tolist() == names(WORKS[4:])
            session.run(replaced)
            assert session.run(left).tolist() == [b"a", b"b"]
            assert [session.run(work) for _ in range(2)] == [b"a", b"b"]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(work)
