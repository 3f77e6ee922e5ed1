"""The dataset in the iterators and transformations of 1.x programs."""

import glob

import columnar_helpers as helpers
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from tensorflow.python.data.experimental.ops import parquet_dataset_ops
from tensorflow.python.data.experimental.ops.parquet_dataset_ops import DataFrame, ParquetDataset


@pytest.fixture
def path(write):
    return write(pa.table({"a": list(range(10)), "l": [[i] * (i % 3) for i in range(10)]}))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def drain(session, element):
    found = []
    while True:
        try:
            found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            return found


def rows(batches):
    return [batch["a"].tolist() for batch in batches]


def test_an_initializable_iterator_starts_anew(path):
    iterator = tf.data.make_initializable_iterator(ParquetDataset(path, batch_size=4))
    element = iterator.get_next()
    with helpers.session() as session:
        for _ in range(2):
            session.run(iterator.initializer)
            assert rows(drain(session, element)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_reinitializable_iterator_takes_the_structure(path):
    first, second = ParquetDataset(path, batch_size=5), ParquetDataset(path, batch_size=10)
    iterator = tf.data.Iterator.from_structure(tf.data.get_output_types(first), tf.data.get_output_shapes(first))
    element = iterator.get_next()
    with helpers.session() as session:
        session.run(iterator.make_initializer(first))
        assert rows([session.run(element)]) == [[0, 1, 2, 3, 4]]
        session.run(iterator.make_initializer(second))
        (batch,) = drain(session, element)
        assert batch["l"].to_list() == [[i] * (i % 3) for i in range(10)]


def test_a_feedable_iterator_reads_by_handle(path):
    dataset = ParquetDataset(path, batch_size=5)
    handle = tf.placeholder(tf.string, [])
    iterator = tf.data.Iterator.from_string_handle(
        handle, tf.data.get_output_types(dataset), tf.data.get_output_shapes(dataset)
    )
    element = iterator.get_next()
    mine = tf.data.make_one_shot_iterator(dataset)
    with helpers.session() as session:
        batch = session.run(element, {handle: session.run(mine.string_handle())})
    assert batch["a"].tolist() == [0, 1, 2, 3, 4]
    assert isinstance(batch["l"], DataFrame.Value)


def test_file_names_may_be_fed(path):
    names = tf.placeholder(tf.string, [None])
    fields = [DataFrame.Field("a", tf.int64, 0)]
    iterator = tf.data.make_initializable_iterator(ParquetDataset(names, batch_size=6, fields=fields))
    element = iterator.get_next()
    with helpers.session() as session:
        session.run(iterator.initializer, {names: [path, path]})
        assert rows(drain(session, element)) == [list(range(6)), [6, 7, 8, 9]] * 2


def test_read_parquet_reads_a_dataset_of_names(path, write):
    write(pa.table({"a": [7, 8]}), name="b.parquet")
    names = tf.data.Dataset.from_tensor_slices(sorted(glob.glob(path.replace("a.parquet", "*.parquet"))))
    dataset = names.apply(parquet_dataset_ops.read_parquet(20, fields=[DataFrame.Field("a", tf.int64, 0)]))
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with helpers.session() as session:
        assert rows(drain(session, element)) == [list(range(10)), [7, 8]]


@pytest.mark.parametrize("reads", [1, 3, tf.data.experimental.AUTOTUNE])
def test_files_read_in_parallel_have_every_row_once(write, reads):
    paths = [write(pa.table({"a": np.arange(i * 100, i * 100 + 100)}), name=f"{i}.parquet") for i in range(5)]
    dataset = ParquetDataset(paths, batch_size=30, num_parallel_reads=reads, num_sequential_reads=2)
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with helpers.session() as session:
        assert sorted(sum(rows(drain(session, element)), [])) == list(range(500))


def test_it_goes_through_map_prefetch_and_repeat(path):
    dataset = ParquetDataset(path, batch_size=5).map(lambda batch: {"a": batch["a"] * 2}, num_parallel_calls=2)
    element = tf.data.make_one_shot_iterator(dataset.repeat(2).prefetch(2)).get_next()
    with helpers.session() as session:
        assert rows(drain(session, element)) == [[0, 2, 4, 6, 8], [10, 12, 14, 16, 18]] * 2


def test_to_sparse_gives_sparse_tensors(path):
    dataset = ParquetDataset(path, batch_size=10).apply(parquet_dataset_ops.to_sparse())
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with helpers.session() as session:
        batch = session.run(element)
    assert batch["l"].dense_shape.tolist() == [10, 2]
    assert batch["l"].indices.tolist() == [[i, j] for i in range(10) for j in range(i % 3)]
    assert batch["l"].values.tolist() == [i for i in range(10) for _ in range(i % 3)]


def test_unbatch_and_to_sparse_gives_rows(path):
    dataset = ParquetDataset(path).apply(parquet_dataset_ops.unbatch_and_to_sparse())
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with helpers.session() as session:
        found = drain(session, element)
    assert [row["a"] for row in found] == list(range(10))
    assert [row["l"].values.tolist() for row in found] == [[i] * (i % 3) for i in range(10)]
    assert found[5]["l"].dense_shape.tolist() == [2]


@pytest.mark.parametrize("column", ["a", "l"])
def test_unbatch_and_to_sparse_of_more_rows_is_refused(path, column):
    dataset = ParquetDataset(path, batch_size=2, fields=[column]).apply(parquet_dataset_ops.unbatch_and_to_sparse())
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with helpers.session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"column {column} has another number of rows"):
            session.run(element)


def test_a_saved_iterator_goes_on_where_it_was(write, tmp_path):
    path = write(pa.table({"a": list(range(100))}), name="many.parquet", row_group_size=35)
    iterator = tf.data.make_initializable_iterator(ParquetDataset([path, path], batch_size=20))
    element = iterator.get_next()
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
    saver = tf.train.Saver()
    with helpers.session() as session:
        session.run(iterator.initializer)
        before = [session.run(element) for _ in range(7)]
        checkpoint = saver.save(session, str(tmp_path / "ckpt"))
        rest = rows(drain(session, element))
    with helpers.session() as session:
        session.run(iterator.initializer)
        saver.restore(session, checkpoint)
        assert rows(drain(session, element)) == rest
    assert sum(rows(before), []) + sum(rest, []) == list(range(100)) * 2


def test_another_process_reads_the_graph(path, tmp_path, check_python):
    iterator = tf.data.make_initializable_iterator(ParquetDataset(path, batch_size=5))
    tf.identity(iterator.get_next()["a"], name="a")
    tf.group(iterator.initializer, name="init")
    tf.train.export_meta_graph(str(tmp_path / "graph.meta"))
    assert (
        check_python(
            "import tensorflow as tf\n"
            f"tf.train.import_meta_graph({str(tmp_path / 'graph.meta')!r})\n"
            "with tf.Session() as session:\n"
            "    session.run('init')\n"
            "    print(session.run('a:0').tolist())\n"
        ).splitlines()[-1]
        == "[0, 1, 2, 3, 4]"
    )


def test_a_process_may_end_while_files_are_open(path, check_python):
    assert (
        check_python(
            "import tensorflow as tf\n"
            "from tensorflow.python.data.experimental.ops.parquet_dataset_ops import ParquetDataset\n"
            f"dataset = ParquetDataset({path!r}, batch_size=1).repeat().prefetch(100)\n"
            "element = tf.data.make_one_shot_iterator(dataset).get_next()\n"
            "session = tf.Session()\n"
            "for _ in range(50): session.run(element)\n"
            "print('done')\n",
            timeout=60,
        ).splitlines()[-1]
        == "done"
    )
