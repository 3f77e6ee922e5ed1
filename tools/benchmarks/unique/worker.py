"""One side of the benchmark of Unique; run.py starts it. Each request {"measure": calls} is answered with milliseconds by case."""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
_BATCHES = 8


def cases():
    """{name: batches of int64 keys}."""
    random = np.random.default_rng(0)
    found = {}
    for n in (1024, 4096, 16384, 65536):
        found[f"{n:,} keys, uniform"] = [random.integers(0, 2**20, n) for _ in range(_BATCHES)]
        found[f"{n:,} keys, Zipf 1.05"] = [random.zipf(1.05, n) % 2**20 for _ in range(_BATCHES)]
    return found


def main():
    answers, sys.stdout = sys.stdout, sys.stderr  # libraries print
    keys = tf.placeholder(tf.int64, [None])
    session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2))
    unique = session.make_callable(tf.unique(keys).y.op, [keys])
    for line in sys.stdin:
        request = json.loads(line)
        if "stop" in request:
            return
        answer = {}
        for name, batches in cases().items():
            answer[name] = []
            for call in range(request["measure"]):
                start = time.perf_counter()
                unique(batches[call % _BATCHES])
                answer[name].append((time.perf_counter() - start) * 1e3)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
