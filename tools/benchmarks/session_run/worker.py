"""One side of the session.run benchmark; run.py starts it. Each request {"measure": runs} is answered with microseconds by graph."""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()


def graphs():
    """(name, what is run, feeds)."""
    ids = tf.placeholder(tf.int64, [None])
    weights = tf.get_variable("weights", [64, 64])
    net = tf.constant(np.ones([1, 64], np.float32))
    for _ in range(20):
        net = tf.nn.relu(tf.matmul(net, weights))
    return [
        ("no op", tf.no_op(), {}),
        ("identity of 13,312 fed ids", tf.identity(ids).op, {ids: np.arange(13312)}),
        ("20 layers of 64, batch 1", net.op, {}),
    ]


def main():
    answers, sys.stdout = sys.stdout, sys.stderr  # libraries print
    cases = graphs()
    session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2))
    session.run(tf.global_variables_initializer())
    for line in sys.stdin:
        request = json.loads(line)
        if "stop" in request:
            return
        answer = {name: [] for name, _, _ in cases}
        for name, fetch, feeds in cases:
            for _ in range(request["measure"]):
                start = time.perf_counter()
                session.run(fetch, feeds)
                answer[name].append((time.perf_counter() - start) * 1e6)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
