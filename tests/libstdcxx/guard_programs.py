"""Pieces of programs that the tests run in processes of their own."""

# One training step, of the API that both the released package and ours have.
TRAIN_STEP = """
import tensorflow as tf
tf1 = tf.compat.v1
with tf.Graph().as_default():
    v = tf1.get_variable("v", [3], initializer=tf1.zeros_initializer())
    loss = tf.reduce_sum((v - 1.0) ** 2)
    step = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        before = session.run(loss)
        session.run(step)
        print(f"TRAINED {before:.2f} {session.run(loss):.2f}")
"""
TRAINED = "TRAINED 3.00 1.92"

# Loads numpy, and libstdc++ with a need that an old one meets. (numpy alone needs it from 2.0 on.)
EARLY_IMPORT = "import numpy, ml_dtypes\n"

SHOW_COPIES = """
for line in sorted({l.split()[-1] for l in open("/proc/self/maps") if "libstdc++.so" in l}):
    print("MAPPED", line)
"""
