"""Ranks that do not meet: rank 1 ends in its third step with an exit code, or goes the other way round; says what the ranks are told.

    failing_ranks.py MODE CODE|order

MODE: eager, function or session.
"""

import os
import sys

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

mode, failure = sys.argv[1:]
if mode == "session":
    tf.compat.v1.disable_eager_execution()
else:
    tf.compat.v1.enable_v2_behavior()
from sparse_operation_kit import experiment as sok

hvd.init()
sok.init()
tables = [sok.Variable(np.ones([8, 2]), dtype=tf.float32, name=f"table{i}") for i in range(2)]
ids = tf.SparseTensor([[0, 0], [0, 1]], [1, 2], [1, 2])


def first():
    return sok.lookup_sparse(tables[0], ids, name="first")


def second():
    return sok.lookup_sparse(tables[1], ids, name="second")


steps = [first, second]
if mode == "function":
    steps = [tf.function(step) for step in steps]
if mode == "session":
    session = tf.compat.v1.Session()
    steps = [session.make_callable(step()) for step in steps]
    session.run(tf.compat.v1.global_variables_initializer())

for number in range(1000):
    if number == 3 and hvd.rank() == 1 and failure != "order":
        sys.stdout.flush()
        os._exit(int(failure))
    if number == 3 and hvd.rank() == 1:
        steps.reverse()
    try:
        for step in steps:
            step()
    except tf.errors.OpError as e:
        print(f"rank {hvd.rank()} stopped in step {number}: {type(e).__name__}: {e}", flush=True)
        sys.exit(1)
print("not stopped")
