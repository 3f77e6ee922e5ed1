"""tf.contrib.distributions: densities that integrate to one, moments of samples, Jacobians by differences, statistics."""

import math

import numpy as np
import pytest
import tensorflow as tf

D = tf.contrib.distributions
B = D.bijectors
F64 = np.float64


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        tf.set_random_seed(5)
        yield own


def run(tensors, feed=None):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(tensors, feed)


def c(*values):
    return tf.constant(np.array(values, F64))


# Distributions of numbers: name -> (maker, grid of the support or None for counts)

CONTINUOUS = {
    "cauchy": (lambda: D.Cauchy(c(0.5, -1.0), c(1.0, 0.5)), np.tan(np.linspace(-1.5707, 1.5707, 200001))),
    "logistic": (lambda: D.Logistic(c(0.5, -1.0), c(1.0, 0.5)), np.linspace(-40, 40, 40001)),
    "half_normal": (lambda: D.HalfNormal(c(1.0, 2.0)), np.linspace(0, 30, 30001)),
    "inverse_gamma": (lambda: D.InverseGamma(c(3.0, 4.5), c(1.0, 2.0)), np.exp(np.linspace(-6, 9, 60001))),
    "kumaraswamy": (lambda: D.Kumaraswamy(c(2.0, 1.5), c(3.0, 2.5)), np.linspace(1e-9, 1 - 1e-9, 100001)),
    "chi2": (lambda: D.Chi2(c(3.0, 5.0)), np.linspace(1e-9, 80, 100001)),
    "sinh_arcsinh": (lambda: D.SinhArcsinh(c(0.0, 1.0), c(1.0, 2.0), skewness=c(0.3), tailweight=c(1.2)), np.linspace(-60, 80, 100001)),
    "lognormal": (
        lambda: D.TransformedDistribution(D.Normal(c(0.0, 0.3), c(0.5, 0.4)), B.Exp()),
        np.exp(np.linspace(-8, 8, 40001)),
    ),
    "relaxed_bernoulli": (lambda: D.RelaxedBernoulli(c(0.8), logits=c(0.5, -1.0)), 1 / (1 + np.exp(-np.linspace(-30, 30, 60001)))),
    "mixture_same_family": (
        lambda: D.MixtureSameFamily(D.Categorical(probs=c(0.3, 0.7)), D.Normal(c(-1.0, 2.0), c(0.5, 1.0))),
        np.linspace(-20, 20, 40001),
    ),
    "mixture": (
        lambda: D.Mixture(
            D.Categorical(probs=tf.constant([[0.3, 0.7], [0.5, 0.5]], tf.float64)),
            [D.Normal(c(-1.0, 0.0), c(0.5, 1.0)), D.Normal(c(2.0, 1.0), c(1.0, 0.5))],
        ),
        np.linspace(-20, 20, 40001),
    ),
    "absolute_value": (lambda: D.TransformedDistribution(D.Normal(c(0.5), c(1.0)), B.AbsoluteValue()), np.linspace(0, 20, 20001)),
    "batch_reshape": (lambda: D.BatchReshape(D.Normal(c(0.0, 1.0, 2.0, 3.0), c(1.0)), [2, -1]), np.linspace(-20, 20, 20001)),
}  # fmt: skip
COUNTS = {
    "binomial": lambda: D.Binomial(c(5.0, 7.0), probs=c(0.3, 0.6)),
    "negative_binomial": lambda: D.NegativeBinomial(c(3.0, 4.5), probs=c(0.3, 0.5)),
    "geometric": lambda: D.Geometric(probs=c(0.3, 0.6)),
    "poisson": lambda: D.Poisson(c(0.7, 3.0)),
    "quantized": lambda: D.QuantizedDistribution(D.Uniform(c(0.0), c(9.5)), low=2.0, high=7.0),
}


def optional(method):
    try:
        return method()
    except NotImplementedError:
        return None


@pytest.mark.parametrize("name", CONTINUOUS)
def test_density_distribution_function_and_entropy_agree(name):
    make, grid = CONTINUOUS[name]
    d = make()
    shape = (-1,) + (1,) * d.batch_shape.ndims
    x = grid.reshape(shape) * np.ones(d.batch_shape.as_list())
    fetches = {"log_p": d.log_prob(x)}
    for what in ("cdf", "survival_function"):
        value = optional(lambda: getattr(d, what)(tf.constant(x)))  # noqa: B023
        if value is not None:
            fetches[what] = value
    entropy = optional(d.entropy)
    if entropy is not None:
        fetches["entropy"] = entropy
    got = run(fetches)
    p = np.exp(got["log_p"])
    mass = np.trapz(p, x, axis=0)
    np.testing.assert_allclose(mass, 1, atol=2e-3 if name == "cauchy" else 1e-4)
    if "cdf" in got and name != "cauchy":
        steps = 0.5 * (p[1:] + p[:-1]) * np.diff(x, axis=0)
        np.testing.assert_allclose(got["cdf"][1:] - got["cdf"][:1], np.cumsum(steps, 0), atol=1e-3)
    if "survival_function" in got and "cdf" in got:
        np.testing.assert_allclose(got["survival_function"], 1 - got["cdf"], atol=1e-8)
    if "entropy" in got and name != "cauchy":
        want = np.trapz(np.where(p > 0, -p * np.log(np.maximum(p, 1e-300)), 0), x, axis=0)
        np.testing.assert_allclose(got["entropy"], want, atol=2e-3)


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if n != "cauchy"] + list(COUNTS))
def test_samples_have_the_stated_moments(name):
    d = CONTINUOUS[name][0]() if name in CONTINUOUS else COUNTS[name]()
    moments = {k: v for k, v in (("mean", optional(d.mean)), ("variance", optional(d.variance))) if v is not None}
    samples, log_p, moments = run([d.sample(40000, seed=3), d.log_prob(d.sample(10, seed=1)), moments])
    assert samples.shape == (40000, *d.batch_shape.as_list()) and np.isfinite(log_p).all()
    deviation = samples.std(0)
    if "mean" in moments:
        np.testing.assert_allclose(samples.mean(0), moments["mean"], atol=0.03 * deviation.max() + 1e-6)
    if "variance" in moments:
        np.testing.assert_allclose(samples.var(0), moments["variance"], rtol=0.25 if name == "inverse_gamma" else 0.08)


def test_cauchy_has_quartiles_and_no_mean():
    d = D.Cauchy(c(1.0), c(2.0))
    samples, mean = run([d.sample(40000, seed=1), d.mean()])
    np.testing.assert_allclose(np.percentile(samples, [25, 50, 75]), [-1, 1, 3], atol=0.1)
    assert np.isnan(mean).all()
    with pytest.raises(ValueError, match="undefined"):
        D.Cauchy(1.0, 2.0, allow_nan_stats=False).mean()


@pytest.mark.parametrize("name", COUNTS)
def test_counts_sum_to_one_and_to_the_distribution_function(name):
    d = COUNTS[name]()
    k = np.arange(300.0)[:, None] * np.ones(d.batch_shape.as_list() or [1])
    if name == "binomial":
        k = k[:6]
    p, cdf = run([d.prob(k), d.cdf(k)])
    if name == "binomial":
        assert p[:, 0].sum() == pytest.approx(1, abs=1e-6)
        p, cdf = p[:, :1], cdf[:, :1]
    else:
        np.testing.assert_allclose(p.sum(0), 1, atol=1e-6)
    np.testing.assert_allclose(np.cumsum(p, 0), cdf, atol=1e-6)


def test_modes():
    got = run([D.Poisson(c(3.7)).mode(), D.Binomial(c(5.0), probs=c(0.3)).mode(), D.Kumaraswamy(c(2.0), c(3.0)).mode(),
               D.InverseGamma(c(3.0), c(2.0)).mode(), D.Logistic(c(1.0), c(2.0)).mode(), D.Geometric(probs=c(0.3)).mode()])  # fmt: skip
    np.testing.assert_allclose(np.ravel(got), [3, 1, math.sqrt(1 / 5), 0.5, 1, 0], atol=1e-12)


def test_one_hot_is_a_categorical():
    logits = tf.constant([[0.0, 1.0, 2.0], [1.0, 0.0, -1.0]], tf.float64)
    d, k = D.OneHotCategorical(logits=logits), D.Categorical(logits=logits)
    e, other = D.OneHotCategorical(logits=logits * 0.5), D.Categorical(logits=logits * 0.5)
    x = np.eye(3)[[2, 0]]
    got = run(
        [d.log_prob(x), k.log_prob([2, 0]), d.entropy(), k.entropy(), D.kl_divergence(d, e), D.kl_divergence(k, other)]
    )
    for ours, core in zip(got[::2], got[1::2]):
        np.testing.assert_allclose(ours, core, rtol=1e-6)
    samples, mean, covariance = run([d.sample(20000, seed=1), d.mean(), d.covariance()])
    np.testing.assert_allclose(samples.mean(0), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(samples[:, 0].T), covariance[0], atol=0.02)
    np.testing.assert_array_equal(run(d.mode()), [[0, 0, 1], [1, 0, 0]])


def test_points():
    d = D.Deterministic(c(1.0, 2.0), atol=0.1)
    v = D.VectorDeterministic(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    prob, cdf, vector, sample, entropy = run(
        [d.prob(c(1.05, 2.2)), d.cdf(c(0.5, 3.0)), v.prob([[1.0, 2.0], [3.0, 5.0]]), v.sample(3), d.entropy()]
    )
    assert prob.tolist() == [1, 0] and cdf.tolist() == [0, 1] and vector.tolist() == [1, 0]
    assert sample.shape == (3, 2, 2) and entropy.tolist() == [0, 0]


def test_relaxed_one_hot_lies_on_the_simplex_with_the_density_of_its_logarithm():
    d = D.RelaxedOneHotCategorical(0.7, logits=c(0.0, 1.0, -1.0))
    e = D.ExpRelaxedOneHotCategorical(0.7, logits=c(0.0, 1.0, -1.0))
    y, log_p = run([d.sample(50, seed=2), d.log_prob(d.sample(50, seed=2))])
    np.testing.assert_allclose(y.sum(-1), 1)
    x = np.log(y)
    np.testing.assert_allclose(run(e.log_prob(x)) - x.sum(-1), log_p, rtol=1e-6)
    # In two dimensions the density of the first entry integrates to one.
    two = D.RelaxedOneHotCategorical(0.7, logits=c(0.5, -0.2))
    t = 1 / (1 + np.exp(-np.linspace(-30, 30, 40001)))
    log_p = run(two.log_prob(np.stack([t, 1 - t], -1)))
    np.testing.assert_allclose(np.trapz(np.exp(log_p), t), 1, atol=1e-3)


def normal_density(x, mean, covariance):
    d = x - mean
    return -0.5 * (d @ np.linalg.solve(covariance, d) + len(x) * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1])


TRIL = np.array([[1.0, 0.0], [0.5, 0.8]])
NORMALS = {
    "diag": (lambda: D.MultivariateNormalDiag(c(1.0, -1.0), c(0.5, 2.0)), np.diag([0.25, 4.0])),
    "identity": (lambda: D.MultivariateNormalDiag(c(1.0, -1.0), scale_identity_multiplier=tf.constant(0.5, tf.float64)), 0.25 * np.eye(2)),
    "softplus": (lambda: D.MultivariateNormalDiagWithSoftplusScale(c(1.0, -1.0), c(0.0, 1.0)),
                 np.diag(np.log1p(np.exp([0.0, 1.0])) ** 2)),
    "tril": (lambda: D.MultivariateNormalTriL(c(1.0, -1.0), TRIL), TRIL @ TRIL.T),
    "full": (lambda: D.MultivariateNormalFullCovariance(c(1.0, -1.0), TRIL @ TRIL.T), TRIL @ TRIL.T),
    "low_rank": (
        lambda: D.MultivariateNormalDiagPlusLowRank(c(1.0, -1.0), c(1.0, 0.5), scale_perturb_factor=np.array([[0.3], [0.2]])),
        np.linalg.matrix_power(np.diag([1.0, 0.5]) + np.outer([0.3, 0.2], [0.3, 0.2]), 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NORMALS)
def test_multivariate_normals(name):
    make, covariance = NORMALS[name]
    d = make()
    x = np.array([[0.3, 0.4], [1.0, -2.0]])
    log_p, mean, cov, variance, stddev, entropy, samples = run(
        [d.log_prob(x), d.mean(), d.covariance(), d.variance(), d.stddev(), d.entropy(), d.sample(30000, seed=1)]
    )
    np.testing.assert_allclose(log_p, [normal_density(v, [1, -1], covariance) for v in x], rtol=1e-6)
    np.testing.assert_allclose(mean, [1, -1])
    np.testing.assert_allclose(cov, covariance, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(variance, np.diag(covariance), rtol=1e-6)
    np.testing.assert_allclose(stddev, np.sqrt(np.diag(covariance)), rtol=1e-6)
    np.testing.assert_allclose(entropy, 0.5 * np.linalg.slogdet(2 * np.pi * np.e * covariance)[1], rtol=1e-6)
    np.testing.assert_allclose(np.cov(samples.T), covariance, atol=0.1)
    other = D.MultivariateNormalDiag(c(0.0, 0.0), c(1.0, 2.0))
    kl = run(D.kl_divergence(d, other))
    b, m = np.diag([1.0, 4.0]), np.array([1, -1])
    want = 0.5 * (np.trace(np.linalg.solve(b, covariance)) + m @ np.linalg.solve(b, m) - 2
                  + np.linalg.slogdet(b)[1] - np.linalg.slogdet(covariance)[1])  # fmt: skip
    np.testing.assert_allclose(kl, want, rtol=1e-6)


def test_batches_of_multivariate_normals():
    d = D.MultivariateNormalDiag(np.zeros([3, 2]), np.ones([3, 2]))
    assert d.batch_shape.as_list() == [3] and d.event_shape.as_list() == [2]
    assert run(d.sample([4, 5], seed=1)).shape == (4, 5, 3, 2) and run(d.log_prob(np.zeros([5, 3, 2]))).shape == (5, 3)
    with pytest.raises(ValueError, match="Missing arguments"):
        D.MultivariateNormalDiag()


@pytest.mark.parametrize("kind, base", [(D.VectorExponentialDiag, "e"), (D.VectorLaplaceDiag, "l"), (D.VectorSinhArcsinhDiag, "s")])  # fmt: skip
def test_vectors_of_independent_entries(kind, base):
    loc, scale = np.array([1.0, -1.0]), np.array([0.5, 2.0])
    d = kind(loc, scale)
    x = loc + scale * np.array([0.3, 1.2])
    z = (x - loc) / scale
    log = {"e": -z, "l": -np.abs(z) - np.log(2), "s": -0.5 * z**2 - 0.5 * np.log(2 * np.pi)}[base]
    got, samples = run([d.log_prob(x), d.sample(20000, seed=1)])
    np.testing.assert_allclose(got, (log - np.log(scale)).sum(), rtol=1e-6)
    if base != "s":
        mean, variance = run([d.mean(), d.variance()])
        np.testing.assert_allclose(samples.mean(0), mean, atol=0.08)
        np.testing.assert_allclose(samples.var(0), variance, rtol=0.08)


def test_independent_sums_over_its_batch():
    d = D.Independent(D.Normal(np.zeros([2, 3]), np.ones([2, 3])), reinterpreted_batch_ndims=1)
    x = np.arange(6.0).reshape(2, 3)
    log_p, entropy, kl = run(
        [d.log_prob(x), d.entropy(), D.kl_divergence(d, D.Independent(D.Normal(np.ones([2, 3]), np.ones([2, 3])), 1))]
    )
    np.testing.assert_allclose(log_p, (-0.5 * x**2 - 0.5 * np.log(2 * np.pi)).sum(1))
    np.testing.assert_allclose(entropy, 1.5 * np.log(2 * np.pi * np.e) * np.ones(2))
    np.testing.assert_allclose(kl, 1.5 * np.ones(2))
    with pytest.raises(ValueError, match="cannot exceed"):
        D.Independent(D.Normal(0.0, 1.0), 1)


def test_mixtures_refuse_what_does_not_fit():
    with pytest.raises(TypeError, match="Categorical"):
        D.Mixture("cat", [D.Normal(0.0, 1.0)])
    with pytest.raises(ValueError, match="non-empty"):
        D.Mixture(D.Categorical(probs=[1.0]), [])
    with pytest.raises(ValueError, match="num_classes"):
        D.Mixture(D.Categorical(probs=[0.5, 0.5]), [D.Normal(0.0, 1.0)])
    with pytest.raises(ValueError, match="components"):
        D.MixtureSameFamily(D.Categorical(probs=[0.5, 0.5]), D.Normal([0.0] * 3, [1.0] * 3))


def test_mixture_entropy_bound():
    d = CONTINUOUS["mixture"][0]()
    bound = run(d.entropy_lower_bound())
    np.testing.assert_allclose(bound, 0.5 * np.log(2 * np.pi * np.e) + [0.3 * np.log(0.5), 0.5 * np.log(0.5)])


@pytest.mark.parametrize("factor", [False, True])
def test_wishart(factor):
    scale = TRIL @ TRIL.T
    d = D.WishartCholesky(5.0, TRIL, factor) if factor else D.WishartFull(5.0, scale)
    samples, mean, log_norm = run([d.sample(20000, seed=1), d.mean(), d.log_normalization()])
    if factor:
        samples = samples @ np.swapaxes(samples, -1, -2)
    else:
        variance, entropy, log_p = run([d.variance(), d.entropy(), d.log_prob(samples)])
        np.testing.assert_allclose(mean, 5 * scale)
        np.testing.assert_allclose(samples.var(0), variance, rtol=0.1)
        np.testing.assert_allclose(-log_p.mean(), entropy, atol=0.05)
    np.testing.assert_allclose(samples.mean(0), 5 * scale, atol=0.15)
    want = 5 / 2 * 2 * np.log(2) + 5 / 2 * np.linalg.slogdet(scale)[1]
    want += 0.5 * np.log(np.pi) + math.lgamma(2.5) + math.lgamma(2.0)
    np.testing.assert_allclose(log_norm, want, rtol=1e-6)
    with pytest.raises(ValueError, match="Degrees of freedom"):
        D.WishartFull(1.0, scale)


def test_autoregressive_samples_settle_one_entry_at_a_time():
    def make(sample=None):
        sample = tf.zeros([3], tf.float64) if sample is None else sample
        before = tf.concat([tf.zeros_like(sample[..., :1]), sample[..., :-1]], -1)
        return D.Independent(D.Normal(before + 10.0, tf.ones([3], tf.float64) * 1e-3), 1)

    d = D.Autoregressive(make, num_steps=3)
    sample, log_p, want = run(
        [d.sample(seed=1), d.log_prob(c(10.0, 20.0, 30.0)), make(c(10.0, 20.0, 30.0)).log_prob(c(10.0, 20.0, 30.0))]
    )
    np.testing.assert_allclose(sample, [10, 20, 30], atol=0.02)
    assert log_p == want


def test_conditional_transformed_distribution():
    class Shift(B.ConditionalBijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True)

        def _forward(self, x, by):
            return x + by

        def _inverse(self, y, by):
            return y - by

        def _forward_log_det_jacobian(self, x, by):
            return tf.zeros([], x.dtype)

    d = D.ConditionalTransformedDistribution(D.Normal(c(0.0), c(1.0)), Shift())
    log_p, sample = run(
        [d.log_prob(c(3.0), bijector_kwargs={"by": 3.0}), d.sample(2000, bijector_kwargs={"by": 7.0}, seed=1)]
    )
    np.testing.assert_allclose(log_p, -0.5 * np.log(2 * np.pi))
    np.testing.assert_allclose(sample.mean(), 7, atol=0.1)


# Bijectors

SPD = np.array([[2.0, 0.3], [0.3, 1.0]])
BIJECTORS = {
    "affine_scalar": (lambda: B.AffineScalar(c(1.0), c(-2.0)), [0.3, 1.2], 0),
    "exp": (lambda: B.Exp(), [0.3, -1.2], 0),
    "power": (lambda: B.PowerTransform(0.5), [0.3, 1.2], 0),
    "gumbel": (lambda: B.Gumbel(c(0.5), c(2.0)), [0.3, 1.2], 0),
    "kumaraswamy": (lambda: B.Kumaraswamy(c(2.0), c(3.0)), [0.3, 0.7], 0),
    "sigmoid": (lambda: B.Sigmoid(), [0.3, -1.2], 0),
    "softplus": (lambda: B.Softplus(), [0.3, -1.2], 0),
    "softplus_hinge": (lambda: B.Softplus(hinge_softness=0.5), [0.3, -1.2], 0),
    "softsign": (lambda: B.Softsign(), [0.3, -1.2], 0),
    "square": (lambda: B.Square(), [0.3, 1.2], 0),
    "sinh_arcsinh": (lambda: B.SinhArcsinh(c(0.3), c(1.2)), [0.3, -1.2], 0),
    "chain": (lambda: B.Chain([B.AffineScalar(c(1.0), c(2.0)), B.Sigmoid()]), [0.3, -1.2], 0),
    "invert": (lambda: B.Invert(B.Exp()), [0.3, 1.2], 0),
    "inline": (lambda: B.Inline(tf.exp, tf.log, inverse_log_det_jacobian_fn=lambda y: -tf.log(y), forward_min_event_ndims=0), [0.3], 0),
    "affine_tril": (lambda: B.Affine(c(1.0, 2.0), scale_tril=TRIL), [0.3, -1.2], 1),
    "affine_sum": (lambda: B.Affine(c(1.0, 2.0), tf.constant(0.5, tf.float64), c(1.0, 2.0), scale_perturb_factor=np.array([[0.3], [0.2]])), [0.3, -1.2], 1),
    "affine_multiplier": (lambda: B.Affine(c(1.0, 2.0), tf.constant(0.5, tf.float64)), [0.3, -1.2], 1),
    "affine_operator": (lambda: B.AffineLinearOperator(c(1.0, 2.0), tf.linalg.LinearOperatorLowerTriangular(TRIL, is_non_singular=True)), [0.3, -1.2], 1),
    "permute": (lambda: B.Permute([2, 0, 1]), [0.3, -1.2, 2.0], 1),
    "ordered": (lambda: B.Ordered(), [-0.3, 0.2, 2.0], 1),
    "scale_of_vectors": (lambda: B.Chain([B.Affine(scale_tril=TRIL), B.Exp()]), [0.3, -1.2], 1),
    "real_nvp": (lambda: B.RealNVP(1, lambda x, n: (tf.concat([2 * x] * n, -1), tf.concat([tf.sin(x), x], -1))), [0.3, -1.2, 0.5], 1),
    "maf": (lambda: B.MaskedAutoregressiveFlow(lambda y: (tf.cumsum(y, exclusive=True), tf.sin(tf.cumsum(y, exclusive=True)))), [0.3, -1.2, 0.5], 1),
}  # fmt: skip


def log_det(function, x, outputs=None):
    step = 1e-6
    columns = []
    for i in range(x.size):
        moved = []
        for sign in (1, -1):
            z = x.copy().ravel()
            z[i] += sign * step
            moved.append(function(z.reshape(x.shape)).ravel())
        columns.append((moved[0] - moved[1]) / (2 * step))
    jacobian = np.stack(columns, 1)
    if outputs is not None:
        jacobian = jacobian[outputs]
    return np.linalg.slogdet(jacobian)[1]


@pytest.mark.parametrize("name", BIJECTORS)
def test_bijector_inverts_and_knows_its_jacobian(name):
    make, x, ndims = BIJECTORS[name]
    x = np.array(x)
    b = make()
    at = tf.placeholder(tf.float64, x.shape)
    y = b.forward(at)
    with tf.Session() as session:
        forward = lambda v: session.run(y, {at: v})  # noqa: E731
        value = forward(x)
        there = tf.placeholder(tf.float64, x.shape)
        back, fldj, ildj = session.run(
            [b.inverse(there), b.forward_log_det_jacobian(at, ndims), b.inverse_log_det_jacobian(there, ndims)],
            {at: x, there: value},
        )
        np.testing.assert_allclose(back, x, rtol=1e-6, atol=1e-9)
        want = log_det(forward, x)
        np.testing.assert_allclose(np.sum(fldj * np.ones(x.shape)) if ndims == 0 else fldj, want, atol=1e-5)
        np.testing.assert_allclose(np.sum(ildj * np.ones(x.shape)) if ndims == 0 else ildj, -want, atol=1e-5)


def test_matrix_bijectors():
    tril = np.array([[0.7, 0.0], [0.5, 0.8]])
    keep = [0, 2, 3]

    def check(b, x, read):
        at = tf.placeholder(tf.float64, x.shape)
        y = b.forward(at)
        with tf.Session() as session:
            value, fldj = session.run([y, b.forward_log_det_jacobian(at, event_ndims=x.ndim)], {at: x})
            back = session.run(b.inverse(tf.constant(value)))
            np.testing.assert_allclose(back, x, atol=1e-6)
            inner = keep if x.ndim == 2 else list(range(x.size))
            columns = []
            for i in inner:
                moved = []
                for sign in (1e-6, -1e-6):
                    z = x.copy().ravel()
                    z[i] += sign
                    moved.append(session.run(y, {at: z.reshape(x.shape)}).ravel()[read])
                columns.append((moved[0] - moved[1]) / 2e-6)
            np.testing.assert_allclose(fldj, np.linalg.slogdet(np.stack(columns, 1))[1], atol=1e-5)

    check(B.CholeskyOuterProduct(), tril, [0, 2, 3])
    check(B.MatrixInverseTriL(), tril, [0, 2, 3])
    check(B.TransformDiagonal(B.Exp()), tril, [0, 2, 3])
    check(B.FillTriangular(), np.array([0.3, 0.4, 0.5]), [0, 2, 3])
    check(B.ScaleTriL(diag_shift=tf.constant(1e-5, tf.float64)), np.array([0.3, 0.4, 0.5]), [0, 2, 3])


def test_softmax_centered():
    x = np.array([0.3, -1.0])
    b = B.SoftmaxCentered()
    y, fldj = run([b.forward(c(*x)), b.forward_log_det_jacobian(c(*x), 1)])
    e = np.exp(np.append(x, 0))
    np.testing.assert_allclose(y, e / e.sum())
    back, ildj = run([b.inverse(tf.constant(y)), b.inverse_log_det_jacobian(tf.constant(y), 1)])
    np.testing.assert_allclose(back, x)
    np.testing.assert_allclose([fldj, ildj], [np.log(y).sum(), -np.log(y).sum()], rtol=1e-6)
    assert b.forward_event_shape([2]).as_list() == [3] and b.inverse_event_shape([3]).as_list() == [2]


def test_reshape():
    b = B.Reshape([2, -1], [6])
    x = np.arange(12.0).reshape(2, 6)
    y = run(b.forward(tf.constant(x)))
    np.testing.assert_array_equal(y, x.reshape(2, 2, 3))
    np.testing.assert_array_equal(run(b.inverse(tf.constant(y))), x)
    assert b.forward_event_shape([6]).as_list() == [2, 3]
    with pytest.raises(ValueError, match="at most one -1"):
        B.Reshape([-1, -1])


def test_absolute_value_has_two_inverses():
    assert [v.tolist() for v in run(B.AbsoluteValue().inverse(c(2.0)))] == [[-2.0], [2.0]]
    with pytest.raises(NotImplementedError):
        B.Invert(B.AbsoluteValue())


def test_masked_layers_see_earlier_entries_only():
    template = B.masked_autoregressive_default_template([8, 8])
    x = tf.constant(np.random.RandomState(1).normal(size=[2, 4]).astype(np.float32))
    shift, log_scale = template(x)
    for i in range(4):
        gradient = run(tf.gradients(shift[:, i], x)[0])
        assert not gradient[:, i:].any()
    assert run(log_scale).shape == (2, 4)
    flow = B.MaskedAutoregressiveFlow(template)
    y = flow.forward(x)
    back, want = run([flow.inverse(tf.identity(y)), x])
    np.testing.assert_allclose(back, want, atol=1e-4)


def test_real_nvp_template():
    b = B.RealNVP(2, B.real_nvp_default_template([8]))
    x = tf.constant(np.random.RandomState(1).normal(size=[3, 4]).astype(np.float32))
    y = b.forward(x)
    back, want, got = run([b.inverse(tf.identity(y)), x, y])
    np.testing.assert_allclose(back, want, atol=1e-5)
    np.testing.assert_array_equal(got[:, :2], want[:, :2])


def test_batch_normalization_normalizes_backward():
    b = B.BatchNormalization(training=True)
    y = tf.constant(np.random.RandomState(1).normal(3.0, 2.0, size=[500, 2]).astype(np.float32))
    x, ildj = run([b.inverse(y), b.inverse_log_det_jacobian(y, event_ndims=1)])
    np.testing.assert_allclose([x.mean(), x.std()], [0, 1], atol=1e-2)
    np.testing.assert_allclose(ildj, -2 * np.log(2.0), atol=0.15)


def test_bijectors_refuse_bad_arguments():
    with pytest.raises(ValueError, match="power"):
        B.PowerTransform(-1.0)
    with pytest.raises(ValueError, match="exactly one"):
        B.Permute([0, 0])
    with pytest.raises(ValueError, match="num_masked"):
        B.RealNVP(0, None)
    with pytest.raises(TypeError, match="LinearOperator"):
        B.AffineLinearOperator(scale=np.eye(2))


# Statistics


@pytest.mark.parametrize("interpolation", ["lower", "higher", "nearest"])
@pytest.mark.parametrize("axis", [None, 0, [0, -1]])
def test_percentile(interpolation, axis):
    x = np.random.RandomState(1).permutation(60).reshape(3, 4, 5).astype(F64)
    got = run(D.percentile(tf.constant(x), 37.0, axis=axis, interpolation=interpolation, keep_dims=True))
    want = np.percentile(
        x, 37, axis=None if axis is None else tuple(np.ravel(axis)), method=interpolation, keepdims=True
    )
    np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match="interpolation"):
        D.percentile(x, 30.0, interpolation="cubic")


def test_auto_correlation():
    x = np.random.RandomState(1).normal(size=[2, 50])
    got = run(D.auto_correlation(tf.constant(x), axis=1, max_lags=5, normalize=False))
    z = x - x.mean(1, keepdims=True)
    want = [[(z[b, : 50 - m] * z[b, m:]).mean() for m in range(6)] for b in range(2)]
    np.testing.assert_allclose(got, want, atol=1e-6)
    np.testing.assert_allclose(run(D.auto_correlation(tf.constant(x)))[:, 0], 1)


def test_moving_moments():
    value = tf.placeholder(tf.float64, [])
    mean, variance = D.moving_mean_variance(value, 0.9)
    m = v = 0.0
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for x in [1.0, 3.0, -2.0]:
            delta = x - m
            v = v - 0.1 * (v - 0.9 * delta**2)
            m = m + 0.1 * delta
            np.testing.assert_allclose(session.run([mean, variance], {value: x}), [m, v])


def test_log_moving_mean_exp():
    variable = tf.Variable(tf.constant(0.5, tf.float64))
    got = run(D.assign_log_moving_mean_exp(variable, tf.constant(1.5, tf.float64), 0.9))
    np.testing.assert_allclose(got, np.log(0.9 * np.exp(0.5) + 0.1 * np.exp(1.5)))


def test_conjugate_normals():
    prior = D.Normal(c(1.0), c(2.0))
    posterior = D.normal_conjugates_known_scale_posterior(prior, c(3.0), c(10.0), 4)
    predictive = D.normal_conjugates_known_scale_predictive(prior, c(3.0), c(10.0), 4)
    precision = 1 / 4 + 4 / 9
    loc, scale, wide = run([posterior.mean(), posterior.variance(), predictive.variance()])
    np.testing.assert_allclose(
        [loc[0], scale[0], wide[0]], [(1 / 4 + 10 / 9) / precision, 1 / precision, 1 / precision + 9]
    )
    with pytest.raises(TypeError, match="Normal"):
        D.normal_conjugates_known_scale_posterior("prior", 1.0, c(1.0), 1)


def test_seed_streams():
    a, b = D.SeedStream(1, "a"), D.SeedStream(1, "a")
    seeds = [a() for _ in range(5)]
    assert seeds == [b() for _ in range(5)] and len(set(seeds)) == 5 and D.SeedStream(1, "b")() != seeds[0]
    assert D.SeedStream(None, "a")() is None


def test_monte_carlo_expectations():
    M = tf.contrib.bayesflow.monte_carlo
    p, q = D.Normal(c(1.0), c(1.0)), D.Normal(c(0.5), c(1.5))
    direct = M.expectation_importance_sampler(tf.square, p.log_prob, q, n=100000, seed=1)
    logs = M.expectation_importance_sampler_logspace(lambda z: 2 * tf.log(tf.abs(z)), p.log_prob, q, n=100000, seed=1)
    mean = tf.constant(1.0, tf.float64)
    d = D.Normal(mean, tf.constant(1.0, tf.float64))
    score = M.expectation(tf.square, d.sample(200000, seed=2), d.log_prob, use_reparametrization=False)
    path = M.expectation(tf.square, d.sample(200000, seed=2))
    got = run([direct[0], logs[0], score, path, tf.gradients(score, mean)[0], tf.gradients(path, mean)[0]])
    np.testing.assert_allclose(got[:4], [2, np.log(2), 2, 2], rtol=0.03)
    np.testing.assert_allclose(got[4:], [2, 2], rtol=0.05)
    with pytest.raises(ValueError, match="exactly one"):
        M.expectation_importance_sampler(tf.square, p.log_prob, q)
