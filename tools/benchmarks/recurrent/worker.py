"""Times trainings of loops and ops that this wheel has kernels for. Stock: through tf.compat.v1."""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf

if hasattr(tf, "compat") and not hasattr(tf, "Session"):
    tf = tf.compat.v1
    tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

BATCH, STEPS = 512, 50
_random = np.random.RandomState(0)


def _loop(make_cell, width, full):
    lengths = None if full else _random.randint(0, STEPS + 1, BATCH)
    inputs = tf.constant(_random.randn(BATCH, STEPS, width).astype("f"))
    weights = tf.get_variable("x", [width])
    outputs, _ = tf.nn.dynamic_rnn(make_cell(), inputs * weights, lengths, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs))
    return [gradient.op for gradient in tf.gradients(loss, tf.trainable_variables())]


def _slice():
    inputs = tf.get_variable("x", [BATCH, STEPS, 37])
    return tf.gradients(tf.reduce_sum(tf.square(inputs[:, :, :-1])), inputs)[0].op


def _lookup():
    table = tf.get_variable("table", [100000, 18])
    ids = tf.SparseTensor(
        np.stack([np.arange(BATCH * STEPS), np.zeros(BATCH * STEPS, "i8")], 1),
        _random.randint(0, 100000, BATCH * STEPS),
        [BATCH * STEPS, 1],
    )
    vectors = tf.nn.embedding_lookup_sparse(table, ids, None, combiner="mean")
    return tf.gradients(tf.reduce_sum(tf.square(vectors)), table)[0].values.op


def _gru(units):
    return lambda: tf.nn.rnn_cell.GRUCell(units)


CASES = {
    "GRU 36, forward and backward": lambda: _loop(_gru(36), 36, False),
    "GRU 36, all rows of 50 steps": lambda: _loop(_gru(36), 36, True),
    "GRU 128": lambda: _loop(_gru(128), 128, False),
    "LSTM 64": lambda: _loop(lambda: tf.nn.rnn_cell.BasicLSTMCell(64), 64, False),
    "gradient of x[:, :, :-1] of [512, 50, 37]": _slice,
    "lookup of 25,600 ids, dim 18, mean, and its gradient": _lookup,
}


def build():
    """{case: (session, what it runs)}"""
    sessions = {}
    for name, make in CASES.items():
        with tf.Graph().as_default():
            fetch = make()  # ops, which control edges alone would not keep
            config = tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2)
            session = tf.Session(config=config)
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(fetch)
            sessions[name] = session, fetch
    return sessions


def main():
    sessions = build()
    for line in sys.stdin:
        request = json.loads(line)
        if "stop" in request:
            return
        answer = {}
        for name, (session, fetch) in sessions.items():
            begin = time.perf_counter()
            for _ in range(request["measure"]):
                session.run(fetch)
            answer[name] = [1e3 * (time.perf_counter() - begin) / request["measure"]]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
