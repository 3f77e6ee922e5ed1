"""Select with a branch of one value."""

import numpy as np
import pytest
import tensorflow as tf

from fusion_helpers import check, config, run
from tensorflow.deeprec import library

DTYPES = (tf.float32, tf.float64, tf.half, tf.bfloat16, tf.int32, tf.int64, tf.uint8, tf.bool, tf.complex128)


def numbers(shape, dtype=tf.float32, seed=0):
    """A placeholder of unknown sizes, and what is fed."""
    values = np.asarray(np.random.RandomState(seed).randn(*shape) * 4).astype(dtype.as_numpy_dtype)
    return tf.placeholder(dtype, [None] * len(shape)), values


def bits(shape, seed=1):
    return tf.placeholder(tf.bool, [None] * len(shape)), np.random.RandomState(seed).rand(*shape) < 0.5


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("first", [True, False])
def test_zeros_like(dtype, first):
    (x, fed), (c, chosen) = numbers((7, 33), dtype), bits((7, 33))
    zeros = tf.zeros_like(x)
    y = tf.where(c, zeros, x) if first else tf.where(c, x, zeros)
    check(y, {x: fed, c: chosen}, ["select"])


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.half, tf.bfloat16], ids=lambda dtype: dtype.name)
def test_the_padding_of_attention_scores(dtype):
    (x, fed), (c, chosen) = numbers((5, 50), dtype), bits((5, 50))
    paddings = tf.ones_like(x) * (-(2.0**15) + 1)
    check(tf.where(c, x, paddings), {x: fed, c: chosen}, ["select"])


@pytest.mark.parametrize("make", [tf.fill, lambda dims, value: tf.broadcast_to(value, dims)])
def test_fill_of_the_shape_of_a_tensor(make):
    (x, fed), (c, chosen) = numbers((4, 6)), bits((4, 6))
    check(tf.where(c, make(tf.shape(x), tf.constant(3.5)), x), {x: fed, c: chosen}, ["select"])


def test_a_constant_of_one_value():
    x, fed = numbers((4, 6))
    c, chosen = bits((4, 6))
    check(tf.where(c, tf.constant(2.0, shape=[4, 6]), x), {x: fed, c: chosen}, ["select"])


@pytest.mark.parametrize("shape", [(), (6,)])
def test_conditions_that_are_a_scalar_or_a_vector_of_rows(shape):
    x, fed = numbers((6, 5, 3))
    c, chosen = bits(shape)
    check(tf.where(c, x, tf.zeros_like(x)), {x: fed, c: chosen}, ["select"])
    check(tf.where(c, tf.zeros_like(x), x), {x: fed, c: ~np.asarray(chosen)}, ["select"])


@pytest.mark.parametrize(
    "condition, x",
    [
        ((4, 6), (4, 6)),
        ((4, 1), (4, 6)),
        ((6,), (4, 6)),
        ((1, 6), (4, 6)),
        ((4, 6), (1, 6)),
        ((4, 6), (4, 1)),
        ((4, 6), ()),
        ((), (4, 6)),
        ((3, 1, 5), (3, 4, 5)),
        ((3, 4, 1), (1, 4, 5)),
        ((2, 1, 3, 1), (5, 1, 4)),
        ((0, 3), (0, 3)),
        ((1, 3), (0, 3)),
    ],
)
def test_select_v2_broadcasts(condition, x):
    (c, chosen), (x, fed) = bits(condition), numbers(x)
    for y in (tf.where_v2(c, x, 0.25), tf.where_v2(c, tf.zeros_like(x), x)):
        check(y, {c: chosen, x: fed}, ["select"])


def test_select_v2_takes_the_shape_of_the_filled_branch():
    (c, chosen), (x, fed), (other, of_shape) = bits((4, 1)), numbers((1, 6)), numbers((3, 1, 1))
    check(tf.where_v2(c, x, tf.ones_like(other)), {c: chosen, x: fed, other: of_shape}, ["select"])


def test_the_condition_of_empty_rows():
    (x, fed), (c, chosen) = numbers((6, 5)), bits((6,))
    tiled = tf.tile(tf.reshape(c, [-1, 1]), tf.stack([1, tf.shape(x)[1]]))
    for y in (tf.where(tiled, tf.zeros_like(x), x), tf.where_v2(tiled, tf.zeros_like(x), x)):
        fused = check(y, {x: fed, c: chosen}, ["select"])
        assert "Tile" in "".join(fused.fused[0].replaced)


def test_a_condition_that_is_tiled_along_the_rows_too():
    (x, fed), (c, chosen) = numbers((6, 5)), bits((3,))
    times = tf.placeholder(tf.int32, [2])
    tiled = tf.tile(tf.reshape(c, [-1, 1]), times)
    check(tf.where(tiled, tf.zeros_like(x), x), {x: fed, c: chosen, times: [2, 5]}, ["select"])
    check(tf.where_v2(tiled, 0.0, x), {x: fed, c: chosen, times: [2, 1]}, ["select"])


def test_not_a_number_and_infinity_where_they_are_not_chosen():
    x = tf.placeholder(tf.float32, [None])
    c = tf.placeholder(tf.bool, [None])
    fed = np.array([np.nan, np.inf, -np.inf, -0.0, np.nan], np.float32)
    y = run(tf.where(c, x, tf.zeros_like(x)), {x: fed, c: [False, False, False, True, True]})
    assert y.templates() == ["select"]
    assert y.values.tobytes() == np.array([0, 0, 0, -0.0, np.nan], np.float32).tobytes()


@pytest.mark.parametrize("where", [tf.where, tf.where_v2])
def test_gradients(where):
    (x, fed), (c, chosen) = numbers((6, 5)), bits((6, 5))
    y = tf.reduce_sum(where(c, x * x, tf.zeros_like(x)) ** 2)
    fused = check(tf.gradients(y, x), {x: fed, c: chosen}, None)
    assert fused.templates().count("select") >= 2


def test_the_gradient_of_a_maximum():
    x, fed = numbers((6, 5))
    check(tf.gradients(tf.reduce_sum(tf.maximum(x, 0.5) ** 2), x), {x: fed}, ["select"])


def test_branches_of_unequal_shape_are_still_an_error():
    x, other, c = (tf.placeholder(dtype, [None, None]) for dtype in (tf.float32, tf.float32, tf.bool))
    y = tf.where(c, x, tf.zeros_like(other))
    feeds = {x: np.ones([2, 3]), other: np.ones([2, 4]), c: np.ones([2, 3], bool)}
    with pytest.raises(tf.errors.InvalidArgumentError, match="same size"):
        run(y, feeds)
    feeds[other], feeds[c] = np.ones([2, 3]), np.ones([2, 4], bool)
    with pytest.raises(tf.errors.InvalidArgumentError, match="condition must be a scalar"):
        run(y, feeds)


def test_shapes_that_do_not_broadcast_are_still_an_error():
    x, c = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.bool, [None, None])
    with pytest.raises(tf.errors.InvalidArgumentError, match="broadcastable"):
        run(tf.where_v2(c, x, 0.0), {x: np.ones([2, 3]), c: np.ones([4, 3], bool)})


def test_a_fetched_or_fed_inner_tensor():
    (x, fed), (c, chosen) = numbers((3, 4)), bits((3, 4))
    zeros = tf.zeros_like(x)
    y = tf.where(c, x, zeros)
    check([y, zeros], {x: fed, c: chosen}, ["select"])
    check(y, {x: fed, c: chosen, zeros: np.full([3, 4], 7.0)}, [])


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"fill": np.zeros([2], np.float32)}, "fill must be a scalar"),
        ({"fill": np.int32(0)}, "fill must be a scalar of type float"),
        ({"multiples": [[2]]}, r"condition must be \[rows, 1\]"),
        ({"multiples": [[2, 2]], "condition": np.ones([3, 1], bool)}, "condition must be a scalar, of the shape"),
        ({"multiples": [[2]], "condition": np.ones([3, 1], bool)}, r"multiples must be \[2\]"),
        ({"multiples": [[1, -1]], "condition": np.ones([3, 1], bool)}, "multiples must not be negative"),
        ({"like": [np.zeros(1), np.zeros(1)]}, "must each be one tensor or none"),
    ],
)
def test_the_op_refuses(arguments, message):
    given = {"condition": np.ones([3], bool), "x": np.ones([3], np.float32), "fill": np.float32(0), **arguments}
    given["fill"] = tf.make_tensor_proto(given["fill"])
    given.setdefault("multiples", [])
    given["multiples"] = [tf.constant(value, tf.int32) for value in given["multiples"]]
    given.setdefault("like", [])
    given["like"] = [tf.constant(value, tf.float32) for value in given["like"]]
    y = library.ops().fused_select_fill(fill_where=True, **given)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message), tf.Session(config=config(False)) as session:
        session.run(y)
