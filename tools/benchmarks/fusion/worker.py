"""One side of the fusion benchmark; run.py starts it. Each request {"measure": runs} is answered with microseconds by case.

The request {"fusion": on} comes first: whether sessions have `do_op_fusion`.
"""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

BATCH = 512


def aligned(array):
    """A copy that the runtime takes as it is: at an address that is a multiple of 64."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def cases():
    """(name, what is run, feeds)."""
    random = np.random.RandomState(0)

    def floats(*shape):
        place = tf.placeholder(tf.float32, [None, *shape[1:]])
        return place, aligned(random.randn(*shape).astype(np.float32))

    def bools(*shape):
        return tf.placeholder(tf.bool, [None, *shape[1:]]), aligned(random.rand(*shape) < 0.5)

    x, of_x = floats(BATCH, 50)
    c, of_c = bools(BATCH, 50)
    yield "select: attention mask [512, 50]", tf.where(c, x, tf.ones_like(x) * (-(2.0**32) + 1)), {x: of_x, c: of_c}
    x, of_x = floats(BATCH, 1024)
    c, of_c = bools(BATCH, 1024)
    yield "select: zeros_like [512, 1024]", tf.where(c, x, tf.zeros_like(x)), {x: of_x, c: of_c}
    yield "select: where_v2 with 0 [512, 1024]", tf.where_v2(c, x, 0.0), {x: of_x, c: of_c}
    yield "select: gradient of maximum [512, 1024]", tf.gradients(tf.maximum(x, 0.0), x)[0], {x: of_x}
    x, of_x = floats(BATCH, 16)
    c, of_c = bools(BATCH)
    tiled = tf.tile(tf.reshape(c, [-1, 1]), tf.stack([1, tf.shape(x)[1]]))
    yield "select: empty rows [512, 16]", tf.where(tiled, tf.zeros_like(x), x), {x: of_x, c: of_c}

    sparse = tf.sparse_placeholder(tf.int64, [None, 5])
    rows = np.repeat(np.arange(BATCH), 5)
    indices = np.stack([rows, np.tile(np.arange(5), BATCH)], 1)
    of_sparse = tf.SparseTensorValue(indices, random.randint(0, 9, len(rows)), np.array([BATCH, 5]))
    shape = sparse.dense_shape
    flat = tf.sparse_reshape(sparse, [tf.reduce_prod(tf.slice(shape, [0], [1])), tf.gather(shape, 1)])
    yield "sparse_flatten: matrix of 2560 entries", flat.indices, {sparse: of_sparse}
    chain = tf.sparse_reshape(tf.sparse_reshape(sparse, [-1, 1, 5]), [-1])
    yield "sparse_reshape: two of 2560 entries", chain.indices, {sparse: of_sparse}

    for buckets in (100, 10000):
        ids = tf.placeholder(tf.int64, [None, None])
        counts = tf.reduce_sum(tf.one_hot(ids, buckets), -2)
        yield f"one_hot_sum: 5 of {buckets}", counts, {ids: random.randint(0, buckets, [BATCH, 5])}

    parts = [floats(BATCH, 16) for _ in range(26)]
    joined = tf.concat([place for place, _ in parts], 1)
    yield "concat_cast: 26 x 16 to bfloat16", tf.cast(joined, tf.bfloat16), dict(parts)
    casts = tf.concat([tf.cast(place, tf.bfloat16) for place, _ in parts], 1)
    yield "concat_cast: the casts first", casts, dict(parts)
    for size in (16, 256):
        x, of_x = floats(BATCH, size)
        yield f"l2_normalize: [512, {size}]", tf.nn.l2_normalize(x, 1), {x: of_x}


def main():
    answers, sys.stdout = sys.stdout, sys.stderr  # libraries print
    graphs = list(cases())
    config = tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2)
    if json.loads(sys.stdin.readline())["fusion"]:
        config.graph_options.optimizer_options.do_op_fusion = True
    print(json.dumps({}), file=answers, flush=True)
    session = tf.Session(config=config)
    for line in sys.stdin:
        request = json.loads(line)
        if "stop" in request:
            return
        answer = {}
        for name, tensor, feeds in graphs:
            answer[name] = times = []
            for _ in range(request["measure"]):
                start = time.perf_counter()
                session.run(tensor.op, feeds)
                times.append((time.perf_counter() - start) * 1e6)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
