"""Works that are ranges of records."""

import random

import pytest


@pytest.fixture
def module():
    from tensorflow.python.ops import work_queue

    return work_queue


def test_slices_cover_every_line_of_text_files_once(tf, module, started, rest, tmp_path):
    random.seed(3)
    lines = {name: [f"{name}{i}" for i in range(random.randint(1, 30))] for name in ("a.csv", "b.txt", "c.tsv")}
    for name, text in lines.items():
        (tmp_path / name).write_text("\n".join(text) + random.choice(["", "\n"]))
    queue = module.WorkQueue(list(lines), num_slices=4, prefix=f"{tmp_path}/")
    assert len(queue) == sum(min(4, len(text)) for text in lines.values())

    def rows(work):
        path, start, end = module.parse_slice(work)
        return tf.data.TextLineDataset(path).skip(start).take(end - start)

    iterator = tf.data.make_initializable_iterator(queue.input_dataset().flat_map(rows))
    row = iterator.get_next()
    with started() as session:
        session.run(iterator.initializer)
        assert sorted(rest(session, row)) == sorted(row.encode() for text in lines.values() for row in text)


def test_slices_of_a_parquet_file_are_its_row_groups(module, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", exc_type=ImportError)
    parquet = pytest.importorskip("pyarrow.parquet", exc_type=ImportError)
    path = str(tmp_path / "rows.parquet")
    parquet.write_table(pyarrow.table({"x": list(range(10))}), path, row_group_size=3)
    for prefix in ("", "file://"):
        work = module.Work.from_url(prefix, path.encode())
        assert work.count_records() == 4
        assert work.slices(3) == [f"{path}?start=0&end=1", f"{path}?start=1&end=2", f"{path}?start=2&end=4"]


def test_a_parquet_dataset_reads_the_rows_of_each_slice(tf, module, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", exc_type=ImportError)
    parquet = pytest.importorskip("pyarrow.parquet", exc_type=ImportError)
    from tensorflow.python.data.experimental.ops.parquet_dataset_ops import ParquetDataset

    path = str(tmp_path / "rows.parquet")
    parquet.write_table(pyarrow.table({"x": list(range(12))}), path, row_group_size=3)
    found = []
    for piece in module.Work.from_url(None, path).slices(2):
        element = tf.data.make_one_shot_iterator(ParquetDataset(piece, batch_size=3)).get_next()
        with tf.Session() as session:
            found.append([session.run(element)["x"].tolist() for _ in range(2)])
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)
    assert found == [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]


def test_works_that_can_not_be_counted_stay_whole(tf, module, started, rest):
    works = ["hdfs://tables/a", "hdfs://tables/b/pt=12", "x.csv?start=0&end=4"]
    work = module.WorkQueue(works, shuffle=False, num_slices=5).take()
    with started(runners=False) as session:
        assert rest(session, work) == [w.encode() for w in works]


def test_a_counter_of_the_users_own(module, monkeypatch):
    from tensorflow.deeprec.work_queue import slices

    monkeypatch.setattr(slices, "_COUNTERS", dict(slices._COUNTERS))
    module.register_record_counter(".rec", lambda path: len(path))
    assert module.Work.from_url("ab/", "c.rec").slices(2) == ["c.rec?start=0&end=4", "c.rec?start=4&end=8"]
    with pytest.raises(ValueError, match="suffix must be a string that is not empty, got ''"):
        module.register_record_counter("", len)
    with pytest.raises(TypeError, match="count must be callable, got 3"):
        module.register_record_counter(".x", 3)


def test_works_without_a_record_are_refused(module, tmp_path):
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(ValueError, match="works: none of them has a record"):
        module.WorkQueue([str(tmp_path / "a.csv")], num_slices=2)


def test_a_file_to_cut_that_is_missing_is_named(tf, module, tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="nowhere.csv"):
        module.WorkQueue([str(tmp_path / "nowhere.csv")], num_slices=2)


def test_parse_slice_of_text_and_of_tensors(tf, module):
    works = ["/a?b/c.csv?start=3&end=12", "/a/b", "?start=0&end=1"]
    expected = [("/a?b/c.csv", 3, 12), ("/a/b", 0, -1), ("", 0, 1)]
    assert [tuple(module.parse_slice(work)) for work in works] == expected
    with tf.Session() as session:
        path, start, end = session.run(module.parse_slice(tf.constant(works)))
    assert list(zip([p.decode() for p in path], start.tolist(), end.tolist())) == expected
