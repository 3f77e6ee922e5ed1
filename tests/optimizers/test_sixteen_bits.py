"""16-bit tables: computed in float, rounded once per step."""

import numpy as np
import pytest


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_adam_step_is_the_float_step_rounded(dtype, lazy, resource, tf):
    rng = np.random.default_rng(0)
    kind = tf.as_dtype(dtype)
    start = rng.normal(size=[20, 5]).astype(kind.as_numpy_dtype)
    gradients = rng.normal(size=[8, 5]).astype(kind.as_numpy_dtype)
    indices = np.array([3, 1, 3, 7, 19, 0, 0, 3])
    # Powers of two exist in every type.
    settings = dict(learning_rate=0.25, beta1=0.5, beta2=0.75, epsilon=2.0**-6, lazy=lazy)
    results = []
    for storage in (kind, tf.float64):
        with tf.Graph().as_default(), tf.Session() as session:
            table = tf.get_variable(
                "table", initializer=tf.constant(start.astype(storage.as_numpy_dtype)), use_resource=resource
            )
            optimizer = tf.train.AdamOptimizer(**settings)
            train = optimizer.apply_gradients(
                [(tf.IndexedSlices(tf.constant(gradients.astype(storage.as_numpy_dtype)), indices), table)]
            )
            session.run(tf.global_variables_initializer())
            session.run(train)
            results.append(session.run([table, optimizer.get_slot(table, "m"), optimizer.get_slot(table, "v")]))
    half_unit = {"float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]
    for got, exact in zip(*results):
        np.testing.assert_allclose(got.astype(np.float64), exact, rtol=half_unit * 1.001, atol=2.0**-24)
