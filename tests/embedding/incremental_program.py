"""Trains in a MonitoredTrainingSession that writes incremental checkpoints, until it is killed or has done its steps.

Arguments: folder, number of parts, last step, seconds between increments, steps between full checkpoints. Prints "step N" as it
goes, then the step and a digest of all it has.
"""

import hashlib
import sys

import numpy as np
import tensorflow as tf

folder, parts, last, seconds, full_steps = sys.argv[1], *map(float, sys.argv[2:])
KEYS = 3000
variable = tf.get_embedding_variable(
    "var", 8, initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(int(parts))
)
bias = tf.get_variable("bias", [8], initializer=tf.zeros_initializer())
step = tf.train.get_or_create_global_step()
# Ids are those of the step, so that whoever resumes at a step trains on what the other would have.
ids = tf.random.stateless_uniform([64], tf.stack([step, 7]), 0, KEYS, tf.int64)
rows = tf.nn.embedding_lookup(variable, ids)
train = tf.train.AdamOptimizer(0.01).minimize(tf.reduce_sum((rows + bias) ** 2), global_step=step)
everything = [v.export()[:2] for v in tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)]
dense = [v for v in tf.global_variables() if v not in tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)]

with tf.train.MonitoredTrainingSession(
    checkpoint_dir=folder,
    save_checkpoint_steps=int(full_steps),
    save_incremental_checkpoint_secs=seconds or None,
    save_summaries_steps=0,
    log_step_count_steps=0,
) as session:
    print("resumed at", session.run(step), flush=True)
    while session.run(step) < last:
        session.run(train)
        print("step", session.run(step), flush=True)
    digest = hashlib.sha256()
    tables, others = session.run([everything, dense])
    for keys, values in tables:
        order = np.argsort(keys)
        digest.update(keys[order].tobytes() + values[order].tobytes())
    for value in others:
        digest.update(value.tobytes())
    print("digest", digest.hexdigest(), flush=True)
