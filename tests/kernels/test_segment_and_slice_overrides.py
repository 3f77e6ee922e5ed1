"""StridedSliceGrad, SparseSegment* and their gradients: the stock kernels' results bit for bit, and their errors."""

import os
import subprocess
import sys

import pytest

# Prints the results of random cases and the messages of wrong ones; the stock kernels print the same.
SLICES = """
import numpy as np
import tensorflow as tf
random = np.random.RandomState(0)

def run(make):
    try:
        with tf.Graph().as_default(), tf.Session() as session:
            return [np.asarray(value).tolist() for value in session.run(make())]
    except Exception as error:
        return [type(error).__name__, str(error).splitlines()[0].split("Node:")[0]]

for trial in range(300):
    rank = random.randint(1, 5)
    shape = random.randint(0 if trial % 10 == 0 else 1, 6, rank)
    count = random.randint(1, rank + 1)
    strides = random.choice([-2, -1, 1, 1, 1, 1, 2, 3], count)
    begin, end = random.randint(-6, 7, count), random.randint(-6, 7, count)
    masks = {name: int(random.randint(0, 1 << count)) for name in ("begin_mask", "end_mask")}
    if trial % 3 == 0:
        masks["ellipsis_mask"] = int(1 << random.randint(0, count))
        masks["new_axis_mask"] = int(random.randint(0, 1 << count))
    if trial % 4 == 0:
        masks["shrink_axis_mask"] = int(random.randint(0, 1 << count))
    dtype = [np.float32, np.float64, np.float16, np.int32, np.int64][trial % 5]
    index = [np.int32, np.int64][trial % 2]

    def make():
        x = tf.constant(random.randn(*shape).astype(dtype))
        slice_of = tf.strided_slice(x, begin.astype(index), end.astype(index), strides.astype(index), **masks)
        dy = random.randint(1, 100, slice_of.shape.as_list()).astype(dtype)
        arguments = [t.astype(index) for t in (shape, begin, end, strides)]
        return [tf.raw_ops.StridedSliceGrad(shape=arguments[0], begin=arguments[1], end=arguments[2], strides=arguments[3],
                                            dy=dy, **masks)]
    print(trial, run(make))
big = random.randn(300, 50, 36).astype(np.float32)
print(float(run(lambda: [tf.reduce_sum(tf.raw_ops.StridedSliceGrad(
    shape=[300, 50, 37], begin=[0, 0, 0], end=[300, 50, 36], strides=[1, 1, 1], dy=big) * np.arange(37, dtype=np.float32))])[0]))
for shape, begin, end, strides, dy in [
    ([3, 4], [0, 0], [3, 2], [1, 1], np.zeros((3, 3))), ([[3]], [0], [1], [1], np.zeros(1)), ([3, 4], [0, 0], [3, 2], [1, 0], np.zeros((3, 2))),
    ([3, 4], [0], [3, 2], [1, 1], np.zeros((3, 2))), ([-3, 4], [0, 0], [3, 2], [1, 1], np.zeros((3, 2))), ([2], [0, 0], [1, 1], [1, 1], np.zeros((1, 1)))]:
    def make():
        tensors = [tf.placeholder_with_default(np.int32(t), None) for t in (shape, begin, end, strides)]
        return [tf.raw_ops.StridedSliceGrad(shape=tensors[0], begin=tensors[1], end=tensors[2], strides=tensors[3],
                                            dy=tf.placeholder_with_default(np.float32(dy), None))]
    print(run(make))
"""

SEGMENTS = """
import numpy as np
import tensorflow as tf
random = np.random.RandomState(0)

def run(*tensors, op):
    try:
        with tf.Graph().as_default(), tf.Session() as session:
            grad, indices, segments, size = (tf.placeholder_with_default(t, None) for t in tensors)
            results = getattr(tf.raw_ops, op)(grad=grad, indices=indices, segment_ids=segments, dense_output_dim0=size)
            return [value.tolist() for value in session.run(list(results))]
    except Exception as error:
        return [type(error).__name__, str(error).splitlines()[0].split("Node:")[0]]

for op in ("SparseSegmentSumGradV2", "SparseSegmentMeanGradV2", "SparseSegmentSqrtNGradV2"):
    for trial in range(40):
        n, rows, size = random.randint(1, 600), random.randint(1, 50), random.randint(1, 5000)
        dtype, index, segment = [np.float32, np.float64][trial % 2], [np.int32, np.int64][trial // 2 % 2], [np.int32, np.int64][trial // 4 % 2]
        grad = random.randn(rows, *([3] if trial % 3 else [2, 5])).astype(dtype)
        segments = np.sort(random.randint(0, rows, n)).astype(segment)
        print(op, trial, run(grad, random.randint(0, size, n).astype(index), segments, np.int32(size), op=op))
    grad = np.ones((2, 3), np.float32)
    for indices, segments, size in [([0, 1], [0, 1, 1], 4), ([0, 5], [0, 1], 4), ([0, -5], [0, 1], 4), ([0, 1], [0, 7], 4), ([0, 1], [0, -7], 4),
                                    ([0, 1], [-1, 1], 4), ([[0, 1]], [0, 1], 4), ([0, 1], [[0, 1]], 4), ([0, 1], [0, 1], [4]), ([], [], 4), ([0, 1], [0, 1], 0),
                                    ([0, 1], [1, 0], 2), ([], [], -1), ([0], [0], -1)]:
        print(run(grad, np.array(indices, np.int32), np.array(segments, np.int32), np.int32(size), op=op))
    print(run(np.ones((2, 0), np.float32), np.int32([0, 1]), np.int32([0, 1]), np.int32(3), op=op))
    print(run(np.float32(1), np.int32([0]), np.int32([0]), np.int32(3), op=op))
    print(run(np.ones((0, 2), np.float32), np.int32([0]), np.int32([0]), np.int32(3), op=op))
"""

LOOKUPS = """
import numpy as np
import tensorflow as tf
random = np.random.RandomState(0)

def run(*tensors, op):
    try:
        with tf.Graph().as_default(), tf.Session() as session:
            tensors = dict(zip(("data", "indices", "segment_ids", "num_segments"), (tf.placeholder_with_default(t, None) for t in tensors)))
            return session.run(getattr(tf.raw_ops, op)(**tensors)).tolist()
    except Exception as error:
        return [type(error).__name__, str(error).splitlines()[0].split("Node:")[0]]

I = lambda *values: np.array(values, np.int32)
for op in ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"):
    for trial in range(40):
        n, rows, segments = random.randint(1, 600), random.randint(1, 50), random.randint(1, [5, 60, 700][trial % 3])
        dtype, index, segment = [np.float32, np.float64][trial % 2], [np.int32, np.int64][trial // 2 % 2], [np.int32, np.int64][trial // 4 % 2]
        data = random.randn(rows, *([3] if trial % 3 else [2, 17])).astype(dtype)
        ids = np.sort(random.randint(0, segments, n)).astype(segment)
        indices = random.randint(0, rows, n).astype(index)
        print(op, trial, run(data, indices, ids, op=op), run(data, indices, ids, np.int32(segments + trial % 4), op=op + "WithNumSegments"))
    data = np.ones((2, 3), np.float32)
    for arguments in [
        (data, I(0, 1), I(0, 1, 1)), (data, I(0, 5), I(0, 1)), (data, I(0, -5), I(0, 1)), (data, I(0, 1), I(1, 0)), (data, I(0, 1), I(-1, 0)),
        (data, I(0, 1), I(-1, -1)), (data, I([0, 0]), I(0, 1)), (data, I(0, 1), I([0, 0])), (data, I(), I()), (np.float32(1), I(0), I(0)),
        (data[:, :0], I(0, 1), I(0, 3)), (data[:0], I(0), I(0)), (data, I(0, 1, 1), I(2, 2, 5)), (data, I(0, 1, 7), I(2, 1, 5)),
        (data, I(0, 7, 1), I(0, 1, 0)), (data, I(7, 0, 1), I(-3, 1, 0))]:
        print(run(*arguments, op=op))
    for arguments in [(I(0, 1), I(0, 1), np.int32(4)), (I(0, 1), I(0, 4), np.int32(4)), (I(0, 1), I(0, 1), np.int32(-1)), (I(0, 1), I(0, 1), I(4)),
                      (I(), I(), np.int32(3)), (I(), I(), np.int32(0)), (I(0), I(0), np.int32(0))]:
        print(run(data, *arguments, op=op + "WithNumSegments"))
"""


def output(script, disabled=""):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_DEEPREC_DISABLE_KERNELS": disabled}
    done = subprocess.run([sys.executable, "-c", script], env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "script, lines", [(SLICES, 307), (SEGMENTS, 171), (LOOKUPS, 189)], ids=["slices", "gradients", "lookups"]
)
def test_results_and_errors_are_those_of_the_stock_kernel(script, lines):
    ours = output(script)
    assert len(ours) == lines
    assert ours == output(script, "all")
