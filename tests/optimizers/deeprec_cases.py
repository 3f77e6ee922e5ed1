"""Trainings of one variable by given gradients, for the tests of DeepRec's optimizers."""

import numpy as np

ROWS, DIM = 7, 5


def initial(rng, dtype="float64"):
    return rng.normal(size=(ROWS, DIM)).astype(dtype)


def dense_steps(rng, steps):
    """Gradients of the whole variable."""
    return [(None, rng.normal(size=(ROWS, DIM))) for _ in range(steps)]


def sparse_steps(rng, steps):
    """Gradients of rows: equal indices occur, and so do steps without any."""
    sizes = [6, 0, 1, 9, 4, 0, 3] * steps
    return [(rng.integers(0, ROWS, size=n), rng.normal(size=(n, DIM))) for n in sizes[:steps]]


def touched(step, rows=ROWS):
    """A step as {row: summed gradient}."""
    indices, values = step
    if indices is None:
        return dict(enumerate(values))
    sums = {}
    for i, g in zip(indices, values):
        sums[int(i)] = sums.get(int(i), 0) + g
    return sums


def train(tf, make_optimizer, start, steps, resource=False, partitioner=None, index_dtype="int64", dtype=None):
    """Trains a variable.

    Args:
      tf: TensorFlow, with an empty default graph.
      make_optimizer: function of the global step.
      start: initial value.
      steps: list of (indices or None, values).
      resource: whether it is a resource variable.
      partitioner: of the variable. If given, steps must be dense.
      index_dtype: of sparse gradients.
      dtype: of the variable; None: that of start.

    Returns:
      All variables after the last step by name, without ":0".
    """
    dtype = tf.as_dtype(dtype or start.dtype.name)
    step = tf.train.get_or_create_global_step()
    table = tf.get_variable(
        "table", initializer=tf.cast(tf.constant(start), dtype), use_resource=resource, partitioner=partitioner
    )
    values = tf.placeholder(tf.float64, [None, *start.shape[1:]])
    indices = tf.placeholder(index_dtype, [None])
    grad = tf.cast(values, dtype)
    parts = list(table) if partitioner is not None else [table]
    optimizer = make_optimizer(step)
    if steps[0][0] is None:
        sizes = [part.shape[0].value for part in parts]
        train_op = optimizer.apply_gradients(list(zip(tf.split(grad, sizes), parts)), global_step=step)
    else:
        train_op = optimizer.apply_gradients([(tf.IndexedSlices(grad, indices), table)], global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i, v in steps:
            session.run(train_op, {values: v, **({} if i is None else {indices: i})})
        return {v.op.name: value for v, value in zip(tf.global_variables(), session.run(tf.global_variables()))}


def check_save_and_restore(tf, make_optimizer, start, steps, path, resource=False):
    """Checks that training on after a restore gives what training without a break gives."""
    dtype = tf.as_dtype(start.dtype.name)
    step = tf.train.get_or_create_global_step()
    table = tf.get_variable("table", initializer=start, use_resource=resource)
    values = tf.placeholder(dtype, [None, *start.shape[1:]])
    indices = tf.placeholder(tf.int64, [None])
    train_op = make_optimizer(step).apply_gradients([(tf.IndexedSlices(values, indices), table)], global_step=step)
    saver = tf.train.Saver()

    def run(session, some):
        for i, v in some:
            session.run(train_op, {values: v, indices: i})
        return session.run(tf.global_variables())

    half = len(steps) // 2
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        run(session, steps[:half])
        saved = saver.save(session, str(path / "model"))
        expected = run(session, steps[half:])
    with tf.Session() as session:
        saver.restore(session, saved)
        for got, want in zip(run(session, steps[half:]), expected):
            np.testing.assert_array_equal(got, want)
