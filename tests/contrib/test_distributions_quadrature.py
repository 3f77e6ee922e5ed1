"""tf.contrib.distributions made by quadrature, against sums in NumPy; and the head that learns a distribution."""

import math
import statistics

import numpy as np
import pytest
import tensorflow as tf

D = tf.contrib.distributions
F64 = np.float64
NORMAL = statistics.NormalDist()


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        tf.set_random_seed(5)
        yield own


def run(tensors, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors, feed)


def quantiles(n):
    return np.array([NORMAL.inv_cdf(i / (n + 2)) for i in range(1, n + 2)])


def hermite(n):
    """Roots and weights of the probabilists' polynomials, for expectations under the standard normal distribution."""
    points, weights = np.polynomial.hermite_e.hermegauss(n)
    return points, weights / weights.sum()


LOC, SCALE = np.array([0.3, -0.5], F64), np.array([0.8, 0.4], F64)


def test_lognormal_gauss_hermite_integrates_polynomials():
    grid, probs = run(D.quadrature_scheme_lognormal_gauss_hermite(tf.constant(LOC), tf.constant(SCALE), 7))
    points, weights = hermite(7)
    np.testing.assert_allclose(grid, LOC[:, None] + SCALE[:, None] * points, rtol=1e-10)
    np.testing.assert_allclose(probs, weights, rtol=1e-10)
    np.testing.assert_allclose(grid @ probs, LOC, rtol=1e-10)
    np.testing.assert_allclose((grid - LOC[:, None]) ** 2 @ probs, SCALE**2, rtol=1e-10)


def test_lognormal_quantiles():
    grid, probs = run(D.quadrature_scheme_lognormal_quantiles(tf.constant(LOC), tf.constant(SCALE), 5))
    edges = np.exp(LOC[:, None] + SCALE[:, None] * quantiles(5))
    np.testing.assert_allclose(grid, (edges[:, 1:] + edges[:, :-1]) / 2, rtol=1e-9)
    np.testing.assert_allclose(probs, np.full(5, 0.2))


MIX_LOC, MIX_SCALE = np.array([[0.3], [-0.5]], F64), np.array([[0.8], [0.4]], F64)


def two_shares(x):
    return np.stack([1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x))], 1)


def test_softmaxnormal_gauss_hermite():
    grid, probs = run(D.quadrature_scheme_softmaxnormal_gauss_hermite(tf.constant(MIX_LOC), tf.constant(MIX_SCALE), 6))
    points, weights = hermite(6)
    np.testing.assert_allclose(grid, two_shares(MIX_LOC + MIX_SCALE * points), rtol=1e-10)
    np.testing.assert_allclose(probs, weights, rtol=1e-10)


def test_softmaxnormal_quantiles():
    grid, probs = run(D.quadrature_scheme_softmaxnormal_quantiles(tf.constant(MIX_LOC), tf.constant(MIX_SCALE), 4))
    edges = two_shares(MIX_LOC + MIX_SCALE * quantiles(4))
    np.testing.assert_allclose(grid, (edges[..., 1:] + edges[..., :-1]) / 2, rtol=1e-9)
    np.testing.assert_allclose(probs, np.full(4, 0.25))


def test_schemes_refuse():
    with pytest.raises(ValueError, match="normal_loc is a scalar"):
        D.quadrature_scheme_softmaxnormal_quantiles(0.0, [1.0], 4)
    with pytest.raises(NotImplementedError, match="bimixtures"):
        D.quadrature_scheme_softmaxnormal_gauss_hermite([0.0, 1.0], [1.0], 4)
    for size in (0, -1, 2.5, None):
        with pytest.raises(ValueError, match="quadrature_size"):
            D.quadrature_scheme_lognormal_quantiles(0.0, 1.0, size)
    placeholder = tf.placeholder(tf.float32, [])
    grid, _ = D.quadrature_scheme_lognormal_gauss_hermite(0.0, placeholder, 4, validate_args=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scale must be positive"):
        run(grid, {placeholder: -1.0})


# The compound of Poisson distributions.


def poisson(k, rate):
    return np.exp(k * np.log(rate) - rate - np.vectorize(math.lgamma)(k + 1.0))


SCHEMES = [D.quadrature_scheme_lognormal_gauss_hermite, D.quadrature_scheme_lognormal_quantiles]


def compound(scheme=SCHEMES[1], size=6, **kwargs):
    return D.PoissonLogNormalQuadratureCompound(tf.constant(LOC), tf.constant(SCALE), size, scheme, **kwargs)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_poisson_compound_probabilities_and_moments(scheme):
    d = compound(scheme)
    assert d.batch_shape.as_list() == [2] and d.event_shape.as_list() == [] and d.quadrature_size == 6
    counts = np.arange(600.0)[:, None]
    (log_rate, probs), got, log_prob, mean, variance, deviation, shape = run(
        [
            scheme(tf.constant(LOC), tf.constant(SCALE), 6),
            d.prob(counts),
            d.log_prob(counts[:9]),
            d.mean(),
            d.variance(),
            d.stddev(),
            d.batch_shape_tensor(),
        ]
    )
    want = (poisson(counts[..., None], np.exp(log_rate)) * probs).sum(-1)
    np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-300)
    np.testing.assert_allclose(log_prob, np.log(want[:9]), rtol=1e-8)
    np.testing.assert_allclose(want.sum(0), 1.0, rtol=1e-6)
    rate = np.exp(log_rate)
    np.testing.assert_allclose(mean, rate @ probs, rtol=1e-10)
    np.testing.assert_allclose(variance, rate @ probs + (rate**2) @ probs - (rate @ probs) ** 2, rtol=1e-9)
    np.testing.assert_allclose(deviation**2, variance, rtol=1e-12)
    assert shape.tolist() == [2]


def test_poisson_compound_samples():
    d = compound(SCHEMES[0])
    samples, mean, variance = run([d.sample(40000, seed=3), d.mean(), d.variance()])
    assert samples.shape == (40000, 2) and (samples == np.round(samples)).all()
    np.testing.assert_allclose(samples.mean(0), mean, atol=5 * np.sqrt(variance / 40000).max())
    np.testing.assert_allclose(samples.var(0), variance, rtol=0.15)
    assert run(d.sample([2, 3])).shape == (2, 3, 2)


def test_poisson_compound_with_probabilities_for_each_of_the_batch():
    points, weights = np.log([[1.0, 5.0], [2.0, 40.0]]), np.array([[0.2, 0.8], [1e-6, 1 - 1e-6]])
    d = compound(lambda *_: (tf.constant(points), tf.constant(weights)), 2)
    mean, samples = run([d.mean(), d.sample(20000, seed=1)])
    np.testing.assert_allclose(mean, (np.exp(points) * weights).sum(1))
    np.testing.assert_allclose(samples.mean(0), mean, rtol=0.05)


def test_poisson_compound_gradient():
    loc, scale = tf.constant(LOC), tf.constant(SCALE)
    value = tf.reduce_sum(D.PoissonLogNormalQuadratureCompound(loc, scale).log_prob([3.0, 1.0]))
    with tf.Session() as session:
        got = session.run(tf.gradients(value, [loc, scale]))
        for place, (tensor, at) in enumerate(((loc, LOC), (scale, SCALE))):
            for i in range(2):
                step = np.eye(2)[i] * 1e-6
                above, below = (session.run(value, {tensor: at + s}) for s in (step, -step))
                np.testing.assert_allclose(got[place][i], (above - below) / 2e-6, rtol=1e-5)


def test_poisson_compound_refuses():
    with pytest.raises(TypeError, match="does not match"):
        compound(lambda *_: (tf.zeros([2, 3], tf.float64), tf.ones([3], tf.float32)))
    with pytest.raises(ValueError, match="quadrature_size"):
        compound(size=0)
    count = tf.placeholder(tf.float64, [])
    log_prob = compound(validate_args=True).log_prob(count)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(log_prob, {count: -1.0})


# Diffeomixtures.

L = tf.linalg
DIAGONAL, MATRIX = np.array([0.7, 1.5]), np.array([[1.2, 0.0], [-0.4, 0.9]])
SHIFT = np.array([2.0, -1.0])


def operators(kind):
    known = {"is_positive_definite": True}
    identity, diagonal = L.LinearOperatorIdentity(2, dtype=tf.float64), L.LinearOperatorDiag(DIAGONAL, **known)
    return {
        "identity": [identity, L.LinearOperatorScaledIdentity(2, tf.constant(1.5, tf.float64), **known)],
        "diagonal": [identity, diagonal],
        "triangle": [diagonal, L.LinearOperatorLowerTriangular(MATRIX, **known)],
    }[kind]


MATRICES = {
    "identity": [np.eye(2), 1.5 * np.eye(2)],
    "diagonal": [np.eye(2), np.diag(DIAGONAL)],
    "triangle": [np.diag(DIAGONAL), MATRIX],
}


def mixture(kind="triangle", mix_loc=((0.2,), (-1.0,)), loc=(None, SHIFT), size=5, **kwargs):
    base = D.Normal(tf.constant(0.3, tf.float64), tf.constant(1.1, tf.float64))
    return D.VectorDiffeomixture(np.array(mix_loc), [1.3], base, loc, operators(kind), size, **kwargs)


def parts(kind, loc, mix_loc=((0.2,), (-1.0,)), size=5):
    """[batch, n] lists of (shift, matrix) by the definition."""
    edges = two_shares(np.array(mix_loc) / 1.3 + quantiles(size) / 1.3)
    grid = (edges[..., 1:] + edges[..., :-1]) / 2
    shifts = [np.zeros(2) if s is None else s for s in loc]

    def both(share, values):
        return share[0] * values[0] + share[1] * values[1]

    return [[(both(z, shifts), both(z, MATRICES[kind])) for z in row.T] for row in grid]


def normal_density(x):
    return np.prod(np.exp(-(((x - 0.3) / 1.1) ** 2) / 2) / (1.1 * np.sqrt(2 * np.pi)))


@pytest.mark.parametrize("kind", MATRICES)
@pytest.mark.parametrize("loc", [(None, SHIFT), (-SHIFT, None), (SHIFT, 2 * SHIFT), None])
def test_diffeomixture_density_and_moments(kind, loc):
    d = mixture(kind, loc=loc)
    x = np.array([[0.4, -0.7], [1.0, 0.2]])
    prob, log_prob, mean, covariance, variance = run([d.prob(x), d.log_prob(x), d.mean(), d.covariance(), d.variance()])
    assert d.batch_shape.as_list() == [2] and d.event_shape.as_list() == [2]
    for row, maps in enumerate(parts(kind, loc or (None, None))):
        density = [normal_density(np.linalg.solve(m, x[row] - s)) / abs(np.linalg.det(m)) for s, m in maps]
        np.testing.assert_allclose(prob[row], np.mean(density), rtol=1e-8)
        np.testing.assert_allclose(log_prob[row], np.log(np.mean(density)), rtol=1e-8)
        means = [m @ [0.3, 0.3] + s for s, m in maps]
        second = [1.1**2 * m @ m.T + np.outer(mu, mu) for (_, m), mu in zip(maps, means)]
        np.testing.assert_allclose(mean[row], np.mean(means, 0), rtol=1e-8)
        want = np.mean(second, 0) - np.outer(mean[row], mean[row])
        np.testing.assert_allclose(covariance[row], want, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(variance[row], np.diag(want), rtol=1e-7)


def test_diffeomixture_samples():
    d = mixture()
    samples, mean, covariance = run([d.sample(60000, seed=2), d.mean(), d.covariance()])
    assert samples.shape == (60000, 2, 2)
    np.testing.assert_allclose(samples.mean(0), mean, atol=0.04)
    for row in range(2):
        np.testing.assert_allclose(np.cov(samples[:, row].T), covariance[row], atol=0.08)
    assert run(mixture(mix_loc=(0.4,)).sample([3, 4])).shape == (3, 4, 2)


def test_diffeomixture_is_reparameterized():
    """The gradient of a mean of samples is near that of the mean."""
    assert mixture().reparameterization_type == D.FULLY_REPARAMETERIZED
    mix_loc, shift = tf.constant([[0.2]], tf.float64), tf.constant(SHIFT)
    base = D.Normal(tf.constant(0.0, tf.float64), tf.constant(1.0, tf.float64))
    d = D.VectorDiffeomixture(mix_loc, [1.0], base, [None, shift], operators("diagonal"))
    sampled = tf.gradients(tf.reduce_sum(tf.reduce_mean(d.sample(20000, seed=1), 0)), [mix_loc, shift])
    exact = tf.gradients(tf.reduce_sum(d.mean()), [mix_loc, shift])
    for got, want in zip(*run([sampled, exact])):
        np.testing.assert_allclose(got, want, atol=0.03)
        assert abs(want).max() > 0.05


def test_diffeomixture_parts():
    d = mixture(size=3)
    assert d.grid.shape.as_list() == [2, 2, 3] and len(d.interpolated_affine) == 3 and len(d.endpoint_affine) == 2
    np.testing.assert_allclose(run(d.mixture_distribution.probs), np.full(3, 1 / 3))
    np.testing.assert_array_equal(run(d.endpoint_affine[1].shift), SHIFT)


def test_diffeomixture_refuses():
    base = D.Normal(tf.constant(0.0, tf.float64), tf.constant(1.0, tf.float64))
    scale = operators("diagonal")

    def make(mix_loc=((0.0,),), base=base, loc=None, scale=scale, **kwargs):
        return D.VectorDiffeomixture(mix_loc, [1.0], base, loc, scale, **kwargs)

    with pytest.raises(ValueError, match="at least two"):
        make(scale=scale[:1])
    with pytest.raises(ValueError, match="same length"):
        make(loc=[None])
    with pytest.raises(NotImplementedError, match="bimixtures"):
        make(scale=scale + scale[:1])
    with pytest.raises(TypeError, match=r"scale\[1\]"):
        make(scale=[scale[0], L.LinearOperatorIdentity(2)])
    with pytest.raises(TypeError, match="distribution has float32"):
        make(base=D.Normal(0.0, 1.0))
    with pytest.raises(ValueError, match="scalar batch"):
        make(base=D.Normal(np.zeros(2), np.ones(2)))
    with pytest.raises(ValueError, match="is_positive_definite"):
        make(scale=[scale[0], L.LinearOperatorDiag(DIAGONAL, is_non_singular=True)], validate_args=True)
    with pytest.raises(ValueError, match="FULLY_REPARAMETERIZED"):
        make(base=D.Poisson(tf.constant(1.0, tf.float64)), validate_args=True)
    with pytest.raises(NotImplementedError, match="LinearOperatorFullMatrix"):
        make(scale=[scale[0], L.LinearOperatorFullMatrix(np.eye(2), is_non_singular=True)])
    with pytest.raises(NotImplementedError, match="must end in 1"):
        make(mix_loc=[[0.0, 1.0]])


# The head.


def normal_of(logits):
    return D.Normal(logits[:, 0], tf.exp(logits[:, 1]))


def head_ops(head, logits, labels=None, features=None, mode="eval"):
    logits = tf.constant(np.array(logits, np.float32))
    labels = None if labels is None else tf.constant(np.array(labels, np.float32))
    return head.create_model_fn_ops(features or {}, mode, labels, lambda loss: tf.no_op(), logits=logits)


LOGITS = np.array([[0.5, 0.1], [-1.0, -0.3], [2.0, 0.4]])
LABELS = np.array([0.0, -2.0, 1.0])
NLL = (LABELS - LOGITS[:, 0]) ** 2 / (2 * np.exp(2 * LOGITS[:, 1])) + LOGITS[:, 1] + math.log(2 * math.pi) / 2


@pytest.mark.parametrize("column", [False, True])
def test_head_loss_is_the_likelihood_and_scores_are_means(column):
    head = D.estimator_head_distribution_regression(normal_of, logits_dimension=2)
    assert head.logits_dimension == 2
    ops = head_ops(head, LOGITS, LABELS[:, None] if column else LABELS)
    loss, scores = run([ops.loss, ops.predictions["scores"]])
    np.testing.assert_allclose(loss, NLL.mean(), rtol=1e-5)
    np.testing.assert_allclose(scores, LOGITS[:, 0], rtol=1e-6)
    [(logits, distribution)] = head.distributions.items()
    assert isinstance(distribution, D.Normal) and head.distribution(logits) is distribution


def test_head_weights_examples():
    head = D.estimator_head_distribution_regression(
        normal_of, logits_dimension=2, weight_column_name="w", head_name="h"
    )
    weights = np.array([1.0, 0.0, 3.0], np.float32)
    ops = head_ops(head, LOGITS, LABELS, {"w": tf.constant(weights[:, None])})
    np.testing.assert_allclose(run(ops.loss), (NLL * weights).mean(), rtol=1e-5)
    assert "loss/h" in ops.eval_metric_ops


def test_head_with_one_parameter_and_with_vectors():
    head = D.estimator_head_distribution_regression(lambda logits: D.Poisson(log_rate=logits))
    ops = head_ops(head, LOGITS[:, :1], [1.0, 0.0, 4.0])
    loss, scores = run([ops.loss, ops.predictions["scores"]])
    rate = np.exp(LOGITS[:, 0])
    np.testing.assert_allclose(loss, -np.log(poisson(np.array([1.0, 0.0, 4.0]), rate)).mean(), rtol=1e-5)
    np.testing.assert_allclose(scores, rate, rtol=1e-5)
    head = D.estimator_head_distribution_regression(D.MultivariateNormalDiag, label_dimension=2)
    labels = np.array([[0.0, 1.0], [2.0, 3.0], [1.0, 1.0]])
    ops = head_ops(head, LOGITS, labels)
    want = ((labels - LOGITS) ** 2).sum(1) / 2 + math.log(2 * math.pi)
    np.testing.assert_allclose(run(ops.loss), want.mean(), rtol=1e-5)


def test_head_predicts_without_labels_and_refuses_wrong_ones():
    head = D.estimator_head_distribution_regression(normal_of, logits_dimension=2)
    assert head_ops(head, LOGITS, mode="infer").loss is None
    with pytest.raises(ValueError, match=r"labels must have shape \[batch, 1\]"):
        head_ops(head, LOGITS, np.zeros((3, 2)))


def test_head_in_an_estimator(tmp_path):
    x = np.linspace(-1, 1, 32).astype(np.float32)[:, None]
    y = (2 * x[:, 0] + 0.5).astype(np.float32)
    head = D.estimator_head_distribution_regression(normal_of, logits_dimension=2)
    columns = [tf.contrib.layers.real_valued_column("x")]
    config = tf.contrib.learn.RunConfig(model_dir=str(tmp_path))
    estimator = tf.contrib.learn.LinearEstimator(
        columns, head, optimizer=lambda: tf.train.AdamOptimizer(0.05), config=config
    )
    losses = []
    for steps in (1, 150):
        estimator.fit(input_fn=lambda: ({"x": tf.constant(x)}, tf.constant(y)), steps=steps)
        losses.append(estimator.evaluate(x={"x": x}, y=y, batch_size=32, steps=1)["loss"])
    assert losses[1] < losses[0]
