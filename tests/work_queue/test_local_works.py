"""LocalWorkMgr: works that a worker keeps on its disk."""

import pytest

WORKS = [f"table{i // 2}?start={4 * i}&end={4 * i + 4}" for i in range(4)]


@pytest.fixture
def LocalWorkMgr():
    from tensorflow.python.ops.work_queue import LocalWorkMgr

    return LocalWorkMgr


def monitored(tf, manager, works, hooks, **options):
    from tensorflow.python.ops.work_queue import WorkQueue

    tf.train.get_or_create_global_step()
    queue = WorkQueue(works, shuffle=False, local_work_mgr=manager, **options)
    iterator = tf.data.make_initializable_iterator(queue.input_dataset())
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    work, values = iterator.get_next(), []
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
        while not session.should_stop():
            values.append(session.run(work).decode())
    return values


def test_what_is_taken_is_on_disk_and_comes_first_after_a_restart(tf, LocalWorkMgr, tmp_path):
    manager = LocalWorkMgr("worker", 1, str(tmp_path))
    assert monitored(tf, manager, WORKS, [manager.hook()]) == WORKS
    files = sorted((tmp_path / "worker_1").iterdir())
    assert sorted(file.read_text().strip() for file in files) == sorted(WORKS)
    for file in files[:2]:
        file.unlink()  # finished
    left = sorted((file.read_text().strip() for file in files[2:]), key=WORKS.index)
    with tf.Graph().as_default():
        again = LocalWorkMgr("worker", 1, str(tmp_path))
        values = monitored(tf, again, ["new?start=0&end=1"], [again.hook()], prefix="p/")
    assert values == [f"p/{work}" for work in [*left, "new?start=0&end=1"]]


def test_other_workers_files_and_malformed_lines_are_left(tf, LocalWorkMgr, tmp_path, caplog):
    for folder, line in (("worker_0", "a?start=0&end=4\nnothing\n\n"), ("worker_1", "b?start=0&end=4\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text(line)
    manager = LocalWorkMgr("worker", 0, str(tmp_path))
    assert "'nothing' is no work of the form path?start=a&end=b" in caplog.text
    assert monitored(tf, manager, WORKS[:1], []) == ["a?start=0&end=4", WORKS[0]]


def test_arguments_that_do_not_fit(tf, LocalWorkMgr, tmp_path):
    from tensorflow.python.ops.work_queue import WorkQueue

    for arguments, message in (
        (("ps", 0, str(tmp_path)), "job_name must be one of worker, chief, got 'ps'"),
        (("worker", -1, str(tmp_path)), "task_index must be a whole number of at least 0, got -1"),
        (("worker", 0, str(tmp_path / "no")), "restore_works_dir must be a folder that exists"),
    ):
        with pytest.raises(ValueError, match=message):
            LocalWorkMgr(*arguments)
    manager = LocalWorkMgr("chief", 0, str(tmp_path))
    with pytest.raises(ValueError, match="works must have the form path.start=a&end=b with a local_work_mgr, got b'x'"):
        WorkQueue(["x"], local_work_mgr=manager)
    with pytest.raises(RuntimeError, match="hook.. without a WorkQueue"):
        manager.hook().begin()
