"""Sequences in SparseTensors: cut off, reversed, flattened; rows put together."""

import numpy as np
import pytest

DTYPES = ["int8", "int32", "int64", "float16", "float32", "float64", "bool", "complex64", "string"]


@pytest.fixture
def sparse_ops(tf):
    from tensorflow.python.ops import sparse_ops

    return sparse_ops


def matrix(tf):
    """[0 . 2 . 4 5], [. 11 . 13 14 .], [20 . . 23 . 25], [30 . 32 33 . 35]."""
    values = [0, 2, 4, 5, 11, 13, 14, 20, 23, 25, 30, 32, 33, 35]
    indices = [[max(v // 10, 0), v % 10] for v in values]
    return tf.SparseTensor(indices, tf.constant(values, tf.int64), [4, 6])


def cube(tf):
    indices = [
        [0, 0, 0],
        [0, 0, 1],
        [0, 2, 0],
        [0, 2, 1],
        [1, 1, 0],
        [1, 1, 1],
        [1, 3, 0],
        [1, 3, 1],
        [2, 2, 0],
        [2, 2, 1],
    ]
    return tf.SparseTensor(indices, ["a0", "a1", "b0", "b1", "c0", "c1", "d0", "d1", "e0", "e1"], [3, 4, 2])


def test_cut_off_a_matrix(tf, run, sparse_ops):
    right, left, long = run(
        [
            sparse_ops.sparse_valid_cutoff(matrix(tf), 1, 4, side="right"),
            sparse_ops.sparse_valid_cutoff(matrix(tf), 1, 4, side="left"),
            sparse_ops.sparse_valid_cutoff(matrix(tf), 1, 8, side="left"),
        ]
    )
    assert right.values.tolist() == [0, 2, 11, 13, 20, 23, 30, 32, 33]
    assert right.indices[:, 1].tolist() == [0, 2, 1, 3, 0, 3, 0, 2, 3]
    assert left.values.tolist() == [2, 4, 5, 11, 13, 14, 23, 25, 32, 33, 35]
    assert left.indices[:, 1].tolist() == [0, 2, 3, 0, 2, 3, 1, 3, 0, 1, 3]
    assert long.indices[:, 1].tolist() == [0, 2, 4, 5, 1, 3, 4, 0, 3, 5, 0, 2, 3, 5]
    assert [t.dense_shape.tolist() for t in (right, left, long)] == [[4, 4], [4, 4], [4, 8]]


def test_cut_off_a_cube(tf, run, sparse_ops):
    right, left, last, reverse = run(
        [
            sparse_ops.sparse_valid_cutoff(cube(tf), 1, 2),
            sparse_ops.sparse_valid_cutoff(cube(tf), 1, 2, side="left"),
            sparse_ops.sparse_valid_cutoff(cube(tf), -1, 1),
            sparse_ops.sparse_valid_cutoff(cube(tf), 1, 2, reverse=True),
        ]
    )
    assert right.indices.tolist() == [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    assert left.values.tolist() == [b"b0", b"b1", b"d0", b"d1", b"e0", b"e1"]
    assert left.indices.tolist() == [[i, 1, k] for i in range(3) for k in range(2)]
    assert last.values.tolist() == [b"a0", b"b0", b"c0", b"d0", b"e0"] and last.dense_shape.tolist() == [3, 4, 1]
    assert reverse.indices.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]
    assert reverse.values.tolist() == [b"a0", b"a1", b"c0", b"c1"]


def test_reverse_keeps_the_lengths(tf, run, sparse_ops):
    got = run(tf.sparse.to_dense(sparse_ops.sparse_reverse(matrix(tf)), -1))
    assert got.tolist() == [
        [5, 4, -1, 2, -1, 0],
        [14, 13, -1, 11, -1, -1],
        [25, -1, 23, -1, -1, 20],
        [35, -1, 33, 32, -1, 30],
    ]


def test_flatten_is_a_reshape(tf, run, sparse_ops):
    for rank, shape in ((1, [24]), (2, [3, 8]), (3, [3, 4, 2])):
        got, expected = run([sparse_ops.sparse_inner_flatten(cube(tf), rank), tf.sparse.reshape(cube(tf), shape)])
        for a, b in zip(got, expected):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_of_every_dtype(tf, run, sparse_ops, dtype):
    values = tf.strings.as_string([1, 0, 3]) if dtype == "string" else tf.cast([1, 0, 3], dtype)
    tensor = tf.SparseTensor([[0, 0], [0, 1], [1, 1]], values, [2, 2])
    cut, reverse, before = run(
        [sparse_ops.sparse_valid_cutoff(tensor, 1, 1, "left"), sparse_ops.sparse_reverse(tensor), values]
    )
    assert cut.values.tolist() == before[[1, 2]].tolist() and cut.indices.tolist() == [[0, 0], [1, 0]]
    assert reverse.values.tolist() == before[[1, 0, 2]].tolist() and reverse.indices.tolist() == [
        [0, 0],
        [0, 1],
        [1, 0],
    ]


def test_no_entries(tf, run, sparse_ops):
    empty = tf.SparseTensor(np.zeros([0, 2], np.int64), tf.constant([], tf.float32), [3, 0])
    for got in run(
        [
            sparse_ops.sparse_valid_cutoff(empty, 1, 2, "left"),
            sparse_ops.sparse_reverse(empty),
            sparse_ops.sparse_inner_flatten(empty, 1),
        ]
    ):
        assert len(got.values) == 0


def test_values_have_a_gradient(tf, run, sparse_ops):
    values = tf.constant([1.0, 2, 3, 4])
    tensor = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 1]], values, [2, 3])
    for result, scale, expected in (
        (sparse_ops.sparse_valid_cutoff(tensor, 1, 2, "left"), [5.0, 6, 7], [0, 5, 6, 7]),
        (sparse_ops.sparse_reverse(tensor), [5.0, 6, 7, 8], [7, 6, 5, 8]),
    ):
        assert run(tf.gradients(result.values * scale, values)[0]).tolist() == expected


@pytest.mark.parametrize(
    "indices, values, shape, message",
    [
        ([[0, 0], [0, 7]], [1, 2], [1, 3], r"within dense_shape 1 3, got 0 7 at entry 1"),
        ([[0, -1]], [1], [1, 3], r"got 0 -1 at entry 0"),
        ([[0, 0]], [1, 2], [1, 3], r"values must be \[1\]"),
        ([[0, 0]], [1], [1, 3, 5], r"indices must be \[entries, 3\]"),
        ([[0, 0]], [1], [1, -3], r"dense_shape must not be negative"),
    ],
)
def test_what_is_no_sparse_tensor_is_refused(tf, run, indices, values, shape, message):
    from tensorflow.deeprec import library

    parts = [tf.placeholder(tf.int64), tf.placeholder(tf.int64), tf.placeholder(tf.int64)]
    feeds = dict(zip(parts, (indices, values, shape)))
    for make in (
        lambda: library.ops().sparse_valid_cutoff(*parts, axis=1, length=2, side="left"),
        lambda: library.ops().sparse_reverse(*parts, axis=1),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(make(), feeds)


def test_bad_arguments_are_named(tf, run, sparse_ops):
    for axis in (0, 2, -2, -3):
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"axis must be in \[1, 2\).*got {axis}"):
            run(sparse_ops.sparse_valid_cutoff(matrix(tf), axis, 2))
    with pytest.raises(ValueError, match="length"):
        sparse_ops.sparse_valid_cutoff(matrix(tf), 1, 0)
    with pytest.raises(ValueError, match="side.*middle"):
        sparse_ops.sparse_valid_cutoff(matrix(tf), 1, 2, side="middle")
    with pytest.raises(TypeError, match="sp_input must be a SparseTensor"):
        sparse_ops.sparse_reverse(tf.zeros([2, 2]))
    rank = tf.placeholder(tf.int64, [])
    for bad in (0, 3):
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"new_rank must be in \[1, 2\].*got {bad}"):
            run(sparse_ops.sparse_inner_flatten(matrix(tf), rank), {rank: bad})
    large = tf.SparseTensor(np.zeros([0, 3], np.int64), tf.constant([], tf.int64), [2, 2**40, 2**40])
    with pytest.raises(tf.errors.InvalidArgumentError, match="2\\^63"):
        run(sparse_ops.sparse_inner_flatten(large, 2))


@pytest.fixture
def stitch(tf):
    from tensorflow.python.ops import data_flow_ops

    return data_flow_ops.dynamic_stitch_fast


@pytest.mark.parametrize("dtype", ["int32", "int64", "float16", "float32", "float64", "bool", "string"])
def test_stitch_is_dynamic_stitch(tf, run, stitch, dtype):
    random = np.random.RandomState(0)
    order = random.permutation(60)
    indices = [order[:20].astype(np.int32).reshape(4, 5), order[20:21][0], order[21:]]
    data = [random.randint(0, 9, np.shape(i) + (3, 2)) for i in indices]
    data = [tf.strings.as_string(d) if dtype == "string" else tf.cast(d, dtype) for d in data]
    got = stitch([tf.constant(i, tf.int32) for i in indices], data)
    assert got.shape.as_list() == [None, 3, 2]
    np.testing.assert_array_equal(*run([got, tf.dynamic_stitch(indices, data)]))


def test_stitch_with_gaps_and_several_rows_for_one_index(tf, run, stitch):
    assert run(stitch([[0, 4], [4, 1]], [[1.0, 2], [3.0, 5]])).tolist() == [1, 5, 0, 0, 3]
    assert run(stitch([[2]], [["x"]])).tolist() == [b"", b"", b"x"]
    assert run(stitch([tf.zeros([0], tf.int32)], [tf.zeros([0, 3])])).shape == (0, 3)


def test_stitch_has_the_gradient_of_dynamic_stitch(tf, run, stitch):
    indices = [tf.constant([3, 0]), tf.constant([1, 2])]
    data = [tf.constant([[1.0, 2], [3, 4]]), tf.constant([[5.0, 6], [7, 8]])]
    scale = tf.constant(np.arange(8.0).reshape(4, 2), tf.float32)
    for a, b in zip(*run([tf.gradients(f(indices, data) * scale, data) for f in (stitch, tf.dynamic_stitch)])):
        np.testing.assert_array_equal(a, b)


def test_bad_stitches_are_named(tf, run, stitch):
    index, rows = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
    for i, r, message in (
        ([0, -3], [1.0, 2], r"indices\[1\] must not be negative, got -3"),
        ([0, 1], [1.0], r"data\[1\] must have shape \[2\]"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(stitch([[0], index], [[1.0], rows]), {index: i, rows: r})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"data\[0\] must begin with the shape of indices\[0\]"):
        run(stitch([index], [rows]), {index: [0], rows: 1.0})
    with pytest.raises(ValueError):
        stitch([[0], [1]], [[[1.0]], [[1.0, 2]]])
