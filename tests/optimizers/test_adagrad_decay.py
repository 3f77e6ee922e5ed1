"""AdagradDecay on ordinary variables."""

import pathlib
import runpy
import types

import numpy as np
import pytest

# Test modules cannot import their neighbours.
cases = types.SimpleNamespace(**runpy.run_path(str(pathlib.Path(__file__).with_name("deeprec_cases.py"))))

# Exact in float32, which is what floats become on their way to a variable of any dtype.
RATE, BASE, EVERY, DECAY = 0.25, 0.5, 3, 0.75
VERSIONS = {"V1": "AdagradDecayOptimizer", "V2": "AdagradDecayOptimizerV2"}


def maker(tf, version, **kwargs):
    arguments = {"initial_accumulator_value": BASE, "accumulator_decay_step": EVERY, "accumulator_decay_rate": DECAY}
    return lambda step: getattr(tf.train, VERSIONS[version])(RATE, step, **{**arguments, **kwargs})


def reference(start, steps, first_step=0):
    """Variable, accumulator, powers per row."""
    w = start.astype(np.float64)
    a, power = np.full_like(w, BASE), np.zeros(len(w), np.int64)
    for s, step in enumerate(steps, first_step + 1):
        for row, g in cases.touched(step).items():
            missed = s // EVERY - power[row]
            if missed > 0:
                a[row] = np.maximum(a[row] * DECAY**missed, BASE)
                power[row] += missed
            a[row] += g * g
            w[row] -= RATE * g / np.sqrt(a[row])
    return w, a, power


def check(got, start, steps, version, rtol=1e-12):
    w, a, power = reference(start, steps)
    np.testing.assert_allclose(got["table"], w, rtol=rtol)
    np.testing.assert_allclose(got["table/AdagradDecay"], a, rtol=rtol)
    if version == "V1":
        power = np.repeat(power[:, None], cases.DIM, 1)
    np.testing.assert_array_equal(got["table/AdagradDecay_1"], power)
    assert got["table/AdagradDecay_1"].dtype == np.int64


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("version", VERSIONS)
def test_dense(tf, version, resource):
    rng = np.random.default_rng(0)
    start, steps = cases.initial(rng), cases.dense_steps(rng, 10)
    check(cases.train(tf, maker(tf, version), start, steps, resource), start, steps, version)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("resource", [False, True])
def test_use_locking_changes_nothing(tf, resource, sparse):
    rng = np.random.default_rng(8)
    start, steps = cases.initial(rng), (cases.sparse_steps if sparse else cases.dense_steps)(rng, 4)
    check(cases.train(tf, maker(tf, "V2", use_locking=True), start, steps, resource), start, steps, "V2")


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,), (5000,)])
@pytest.mark.parametrize("version", VERSIONS)
def test_variables_of_any_size(tf, version, shape):
    got = cases.train(tf, maker(tf, version), np.ones(shape), [(None, np.full(shape, 2.0))] * 3)["table"]
    want, _, _ = reference(np.ones((1, 1)), [(None, np.full((1, 1), 2.0))] * 3)
    np.testing.assert_allclose(got, np.full(shape, want[0, 0]), rtol=1e-12)


@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("version", VERSIONS)
def test_sparse_rows_sum_duplicates_and_catch_up(tf, version, resource, index_dtype):
    rng = np.random.default_rng(1)
    start, steps = cases.initial(rng), cases.sparse_steps(rng, 25)
    steps[3] = (np.zeros(0, np.int64), np.zeros((0, cases.DIM)))
    got = cases.train(tf, maker(tf, version), start, steps, resource, index_dtype=index_dtype)
    check(got, start, steps, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_row_not_touched_for_periods_decays_by_all_of_them(tf, version):
    start = np.ones((2, 1))
    steps = [(np.array([0, 1]), np.array([[10.0], [10.0]]))]
    steps += [(np.array([1]), np.zeros((1, 1)))] * (4 * EVERY)
    steps += [(np.array([0]), np.zeros((1, 1)))]
    got = cases.train(tf, maker(tf, version), start, steps)
    # Row 1 decayed in each period, row 0 four periods later.
    np.testing.assert_allclose(got["table/AdagradDecay"], np.full((2, 1), (100 + BASE) * DECAY**4), rtol=1e-12)
    np.testing.assert_array_equal(got["table/AdagradDecay_1"].ravel(), [4, 4])


@pytest.mark.parametrize("resource", [False, True])
def test_published_losses(tf, resource):
    steps = [(np.arange(6), np.full((6, 3), 2.0))] * 5
    expected = [36, 32.444176, 29.847788, 27.74195, 25.852505]
    start = np.ones((6, 3), np.float32)

    def optimizer(step):
        return tf.train.AdagradDecayOptimizerV2(0.1, step, accumulator_decay_step=2)

    for n in range(1, 5):
        with tf.Graph().as_default():
            table = cases.train(tf, optimizer, start, steps[:n], resource)["table"]
        assert 2 * table.sum() == pytest.approx(expected[n], rel=1e-6)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("resource", [False, True])
def test_partitioned(tf, version, resource):
    rng = np.random.default_rng(2)
    start, steps = cases.initial(rng), cases.dense_steps(rng, 7)
    got = cases.train(tf, maker(tf, version), start, steps, resource, partitioner=tf.fixed_size_partitioner(2))
    names = [name for name in got if name != "global_step"]
    joined = {
        "table" + suffix: np.concatenate([got[f"table/part_{i}{suffix}"] for i in range(2)])
        for suffix in ("", "/AdagradDecay", "/AdagradDecay_1")
    }
    assert len(names) == 6
    check(joined, start, steps, version)


@pytest.mark.parametrize("dtype, rtol", [("float32", 1e-5), ("bfloat16", 0.1), ("float16", 0.02)])
def test_dtypes(tf, dtype, rtol):
    rng = np.random.default_rng(3)
    start, steps = cases.initial(rng), cases.sparse_steps(rng, 6)
    got = cases.train(tf, maker(tf, "V2"), start, steps, dtype=dtype)
    w, a, power = reference(start, steps)
    np.testing.assert_allclose(got["table"].astype(float), w, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(got["table/AdagradDecay"].astype(float), a, rtol=rtol)
    np.testing.assert_array_equal(got["table/AdagradDecay_1"], power)


@pytest.mark.parametrize("version", VERSIONS)
def test_scalars_and_vectors(tf, version):
    step = tf.train.get_or_create_global_step()
    variables = [tf.get_variable("scalar", initializer=1.0), tf.get_variable("vector", initializer=[1.0, 2.0])]
    grads = [tf.constant(2.0), tf.constant([2.0, 2.0])]
    train = maker(tf, version)(step).apply_gradients(list(zip(grads, variables)), global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(EVERY):
            session.run(train)
        scalar, vector = session.run(variables)
    w, _, _ = reference(np.ones((1, 1)), [(None, np.full((1, 1), 2.0))] * EVERY)
    np.testing.assert_allclose([scalar, vector[0], vector[1] - 1], w[0, 0].repeat(3), rtol=1e-5)


def test_int32_global_step(tf):
    rng = np.random.default_rng(4)
    start, steps = cases.initial(rng), cases.dense_steps(rng, 1)
    counter = tf.get_variable("counter", initializer=np.int32(EVERY - 1))
    got = cases.train(tf, lambda _: maker(tf, "V1")(counter), start, steps)
    assert got["table/AdagradDecay_1"].dtype == np.int32 and (got["table/AdagradDecay_1"] == 1).all()


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("version", VERSIONS)
def test_save_and_restore(tf, version, resource, tmp_path):
    rng = np.random.default_rng(5)
    cases.check_save_and_restore(
        tf, maker(tf, version), cases.initial(rng), cases.sparse_steps(rng, 14), tmp_path, resource
    )


def test_nan_gradients_stay_in_their_rows(tf):
    got = cases.train(tf, maker(tf, "V1"), np.ones((3, 2)), [(np.array([1]), np.array([[np.nan, 1.0]]))])
    assert np.isnan(got["table"]).tolist() == [[False, False], [True, False], [False, False]]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "argument, value",
    [
        ("initial_accumulator_value", 0.0),
        ("accumulator_decay_step", 0),
        ("accumulator_decay_rate", 1.0),
        ("accumulator_decay_rate", 0.0),
    ],
)
def test_arguments_out_of_range_are_refused(tf, version, argument, value):
    with pytest.raises(ValueError, match=f"{argument} must be .*, got {value}"):
        maker(tf, version, **{argument: value})(tf.train.get_or_create_global_step())


def test_a_missing_global_step_is_refused(tf):
    with pytest.raises(ValueError, match="global_step must be .*, got None"):
        tf.train.AdagradDecayOptimizer(0.1, None)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("index", [7, -1])
def test_indices_outside_are_refused(tf, resource, index):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[0\] = {index} is not in \[0, 7\)"):
        cases.train(tf, maker(tf, "V2"), np.ones((7, 5)), [(np.array([index]), np.ones((1, 5)))], resource)


@pytest.mark.parametrize("resource", [False, True])
def test_gradients_of_another_shape_are_refused(tf, resource):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"grad must have shape \[1,5\].*got \[2,5\]"):
        cases.train(tf, maker(tf, "V2"), np.ones((7, 5)), [(np.array([0]), np.ones((2, 5)))], resource)


@pytest.mark.parametrize("resource", [False, True])
def test_uninitialized_slots_are_reported(tf, resource):
    step = tf.train.get_or_create_global_step()
    table = tf.get_variable("table", initializer=np.ones((2, 2)), use_resource=resource)
    train = maker(tf, "V2")(step).apply_gradients([(tf.ones([2, 2], tf.float64), table)])
    with tf.Session() as session:
        session.run([table.initializer, step.initializer])
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized.*(accum|table/AdagradDecay)"):
            session.run(train)


def test_old_import_paths(tf):
    from tensorflow.python.training import adagrad_decay, adagrad_decay_v2
    from tensorflow.python.training.adagrad_decay import AdagradDecayOptimizer

    assert AdagradDecayOptimizer is adagrad_decay.AdagradDecayOptimizer is tf.train.AdagradDecayOptimizer
    assert tf.compat.v1.train.AdagradDecayOptimizerV2 is adagrad_decay_v2.AdagradDecayOptimizerV2
