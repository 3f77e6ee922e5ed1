"""What a step sees of its input: N batches of the iterator as one."""

import numpy as np
import pytest
import tensorflow as tf


def same(got, expected):
    """Compares nests of values; ragged ones as lists."""
    tf.nest.assert_same_structure(got, expected, check_types=False)
    for mine, plain in zip(tf.nest.flatten(got), tf.nest.flatten(expected)):
        np.testing.assert_array_equal(mine, plain)


def as_lists(value):
    if isinstance(value, dict):
        return {key: as_lists(part) for key, part in value.items()}
    return value.to_list() if hasattr(value, "to_list") else value


def read(dataset, number, micro, steps, size, transform=lambda batch: batch):
    """All steps of `dataset` in batches of `size`, `number` of them a step."""
    with tf.Graph().as_default():
        iterator = tf.data.make_initializable_iterator(dataset(size))
        batch = transform(iterator.get_next())
        with tf.Session(config=micro(number)) as session:
            session.run(iterator.initializer)
            return as_lists_of(steps(session, batch))


def as_lists_of(values):
    return [as_lists(value) for value in values]


def ragged_range(count):
    return tf.RaggedTensor.from_row_splits(tf.range(count), tf.cast(tf.stack([0, count]), tf.int64))


def element(i):
    return {
        "float": tf.cast(i, tf.float32),
        "string": tf.as_string(i),
        "vector": tf.fill([3], i),
        "nest": {"a": tf.cast(i % 2, tf.bool), "b": tf.fill([2, 2], tf.as_string(i))},
        "sparse": tf.SparseTensor(tf.expand_dims(tf.range(i % 3), 1), tf.range(i % 3) * 10 + i, [i % 3 + 1]),
        "ragged": ragged_range(i % 4),
    }


@pytest.mark.parametrize("number,size,rows", [(2, 4, 16), (3, 4, 23), (4, 5, 40), (5, 3, 1), (2, 1, 5)])
def test_all_kinds_of_components_are_those_of_one_batch(number, size, rows, micro, steps):
    def dataset(batch):
        return tf.data.Dataset.range(rows).map(element).batch(batch)

    same(read(dataset, number, micro, steps, size), read(dataset, 1, micro, steps, size * number))


def test_sparse_tensors_of_parsed_batches(micro, steps):
    def example(i):
        values = [b"%d" % (i * j) for j in range(i % 4)]
        feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        return tf.train.Example(features=tf.train.Features(feature={"tags": feature})).SerializeToString()

    examples = [example(i) for i in range(21)]

    def dataset(size):
        parse = {"tags": tf.io.VarLenFeature(tf.string)}
        return (
            tf.data.Dataset.from_tensor_slices(examples)
            .batch(size)
            .map(lambda batch: tf.io.parse_example(batch, parse))
        )

    same(read(dataset, 3, micro, steps, 4), read(dataset, 1, micro, steps, 12))


def test_sparse_values_that_are_not_in_order_stay_so(micro, steps):
    def unsorted(i):
        shape = tf.where(i < 0, tf.constant([2, 5], tf.int64), tf.constant([1, 2], tf.int64))
        return tf.SparseTensor([[0, 1], [0, 0], [0, 0]], tf.stack([i, i + 10, i + 20]), shape)

    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(4).map(unsorted))
    batch = iterator.get_next()
    with tf.Session(config=micro(2)) as session:
        session.run(iterator.initializer)
        first = session.run(batch)
    assert first.indices.tolist() == [[0, 1], [0, 0], [0, 0], [1, 1], [1, 0], [1, 0]]
    assert first.values.tolist() == [0, 10, 20, 1, 11, 21]
    assert first.dense_shape.tolist() == [2, 2]


def test_ragged_tensors_that_were_batched_before(micro, steps):
    def dataset(size):
        splits = tf.data.Dataset.range(17).batch(size)
        return splits.map(
            lambda i: (
                tf.RaggedTensor.from_row_lengths(tf.range(tf.reduce_sum(i % 4)), i % 4) + tf.cast(i[0] * 0, tf.int64)
            )
        )

    plain = [row for step in read(dataset, 1, micro, steps, 4) for row in step]
    assert [row for step in read(dataset, 3, micro, steps, 4) for row in step] == plain


@pytest.mark.parametrize("kind", ["int64", "string", "float32"])
def test_padded_batches_are_padded_to_the_longest_of_all(kind, micro, steps):
    value = {"int64": -1, "string": "none", "float32": 0.0}[kind]

    def convert(i):
        row = tf.range(i % 5)
        return (tf.as_string(row) if kind == "string" else tf.cast(row, kind)), i

    def dataset(size):
        padding = (tf.constant(value, kind), tf.constant(0, tf.int64))
        return tf.data.Dataset.range(18).map(convert).padded_batch(size, ([None], []), padding)

    same(read(dataset, 3, micro, steps, 2), read(dataset, 1, micro, steps, 6))


def test_padded_batches_of_one_shot_iterators(micro, steps):
    def run(number, size):
        with tf.Graph().as_default():
            data = tf.data.Dataset.range(18).map(lambda i: tf.range(i % 5)).padded_batch(size, [None])
            batch = tf.data.make_one_shot_iterator(data).get_next()
            with tf.Session(config=micro(number)) as session:
                return steps(session, batch)

    same(run(3, 2), run(1, 6))


def test_batches_that_were_bucketed_by_length(micro, steps):
    def run(number):
        with tf.Graph().as_default():
            rows = tf.data.Dataset.range(20).map(lambda i: tf.fill([i % 6 + 1], i))
            bucket = tf.data.experimental.bucket_by_sequence_length(tf.size, [4], [2, 2])
            batch = tf.data.make_one_shot_iterator(rows.apply(bucket)).get_next()
            with tf.Session(config=micro(number)) as session:
                return steps(session, batch)

    firsts = [[row[0] for step in run(number) for row in step] for number in (1, 2)]
    assert firsts[0] == firsts[1] and sorted(firsts[0]) == list(range(20))


def test_rows_of_unequal_sizes_without_padding_are_an_error(micro):
    data = (
        tf.data.Dataset.range(1, 7)
        .batch(2)
        .map(lambda i: tf.fill(tf.stack([tf.size(i, out_type=tf.int64), i[0]]), i[0]))
    )
    iterator = tf.data.make_initializable_iterator(data)
    batch = tf.identity(iterator.get_next())
    with tf.Session(config=micro(2)) as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="micro_batch/component_0"):
            session.run(batch)


def test_static_shapes_are_kept_but_for_the_rows(graph, micro):
    batch = tf.data.make_one_shot_iterator(tf.data.Dataset.range(9).map(lambda i: tf.fill([3], i)).batch(2)).get_next()
    reader = tf.identity(batch)
    tf.Session(config=micro(3)).close()
    assert reader.op.inputs[0].shape.as_list() == [None, 3]
    assert reader.op.inputs[0] is not batch


def test_a_feedable_iterator_reads_from_the_one_of_each_step(micro):
    datasets = [tf.data.Dataset.range(start, start + 100).batch(2) for start in (0, 1000)]
    handle = tf.placeholder(tf.string, [])
    batch = tf.data.Iterator.from_string_handle(handle, tf.int64, [None]).get_next() + 0
    handles = [tf.data.make_one_shot_iterator(data).string_handle() for data in datasets]
    with tf.Session(config=micro(2)) as session:
        first, second = session.run(handles)
        assert session.run(batch, {handle: first}).tolist() == [0, 1, 2, 3]
        assert session.run(batch, {handle: second}).tolist() == [1000, 1001, 1002, 1003]
        assert session.run(batch, {handle: first}).tolist() == [4, 5, 6, 7]


def test_an_iterator_that_is_initialized_again(micro, steps):
    iterator = tf.data.Iterator.from_structure(tf.int64, [None])
    inits = [iterator.make_initializer(tf.data.Dataset.range(limit).batch(2)) for limit in (5, 9)]
    batch = iterator.get_next() * 2
    with tf.Session(config=micro(3)) as session:
        for init, limit in zip(inits, (5, 9)):
            session.run(init)
            assert np.concatenate(steps(session, batch)).tolist() == [2 * i for i in range(limit)]


def test_several_iterators_in_a_graph(micro):
    x, y = (tf.data.make_one_shot_iterator(tf.data.Dataset.range(start, 100).batch(2)).get_next() for start in (0, 50))
    total = x + y
    with tf.Session(config=micro(2)) as session:
        assert session.run(total).tolist() == [50, 52, 54, 56]
        assert session.run(x * 1).tolist() == [4, 5, 6, 7]
        assert session.run(total).tolist() == [62, 64, 66, 68]


def test_what_waits_for_the_iterator_waits_for_all_reads(micro):
    x = tf.data.make_one_shot_iterator(tf.data.Dataset.range(100).batch(2)).get_next()
    with tf.control_dependencies([x]):
        after = tf.constant(1)
    with tf.Session(config=micro(3)) as session:
        assert session.run(after) == 1
        assert session.run(x).tolist() == [6, 7, 8, 9, 10, 11]
        session.run(x.op)
        assert session.run(x).tolist() == [18, 19, 20, 21, 22, 23]


def test_an_error_of_the_input_is_that_of_the_step(micro, steps):
    data = tf.data.Dataset.range(12).map(lambda i: tf.check_numerics(1.0 / tf.cast(i - 5, tf.float32), "bad row"))
    batch = tf.data.make_one_shot_iterator(data.batch(2)).get_next() * 1
    with tf.Session(config=micro(2)) as session:
        session.run(batch)
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad row"):
            session.run(batch)
        assert session.run(batch).shape == (4,)


def test_control_flow_of_the_second_kind(micro, check_python):
    program = """
import tensorflow as tf
tf.enable_control_flow_v2()
config = tf.ConfigProto()
config.graph_options.optimizer_options.micro_batch_num = 3
x = tf.data.make_one_shot_iterator(tf.data.Dataset.range(8).batch(2)).get_next()
with tf.Session(config=config) as session:
    print([session.run(x + 0).tolist() for _ in range(2)])
"""
    assert check_python(program) == "[[0, 1, 2, 3, 4, 5], [6, 7]]"
