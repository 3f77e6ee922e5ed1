"""Prints what this machine can do at most, as JSON: `roofline.py THREADS`.

gflops: float32 matrix products of 2048 x 2048, by TensorFlow with THREADS threads. gigabytes: a second, copied between arrays larger than
the caches, read and written bytes both counted.
"""

import json
import sys
import threading
import time

import numpy as np

_SIZE, _TURNS = 2048, 10
_COPIED = 1 << 27  # bytes of a thread


def gflops(threads: int) -> float:
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
    with tf.Graph().as_default():
        matrix = tf.compat.v1.get_variable(
            "matrix", initializer=np.ones((_SIZE, _SIZE), np.float32), use_resource=False
        )
        product = tf.matmul(matrix, matrix)
        with tf.compat.v1.Session(config=config) as session:
            session.run(matrix.initializer)
            seconds = min(_timed(lambda: session.run(product.op)) for _ in range(_TURNS))
    return 2 * _SIZE**3 / seconds / 1e9


def gigabytes(threads: int) -> float:
    pairs = [(np.ones(_COPIED, np.uint8), np.zeros(_COPIED, np.uint8)) for _ in range(threads)]

    def copy_all():
        workers = [threading.Thread(target=np.copyto, args=(to, source)) for source, to in pairs]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    seconds = min(_timed(copy_all) for _ in range(_TURNS))
    return 2 * _COPIED * threads / seconds / 1e9


def _timed(run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    threads = int(sys.argv[1])
    print(json.dumps({"gflops": gflops(threads), "gigabytes": gigabytes(threads)}))
