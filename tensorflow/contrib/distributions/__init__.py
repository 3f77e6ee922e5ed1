# ruff: noqa: F401
"""Probability distributions and bijectors."""

from tensorflow.python.ops.distributions.bernoulli import Bernoulli
from tensorflow.python.ops.distributions.beta import Beta, BetaWithSoftplusConcentration
from tensorflow.python.ops.distributions.categorical import Categorical
from tensorflow.python.ops.distributions.dirichlet import Dirichlet
from tensorflow.python.ops.distributions.dirichlet_multinomial import DirichletMultinomial
from tensorflow.python.ops.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    ReparameterizationType,
)
from tensorflow.python.ops.distributions.exponential import Exponential, ExponentialWithSoftplusRate
from tensorflow.python.ops.distributions.gamma import Gamma, GammaWithSoftplusConcentrationRate
from tensorflow.python.ops.distributions.kullback_leibler import RegisterKL, kl_divergence
from tensorflow.python.ops.distributions.laplace import Laplace, LaplaceWithSoftplusScale
from tensorflow.python.ops.distributions.multinomial import Multinomial
from tensorflow.python.ops.distributions.normal import Normal, NormalWithSoftplusScale
from tensorflow.python.ops.distributions.student_t import StudentT, StudentTWithAbsDfSoftplusScale
from tensorflow.python.ops.distributions.uniform import Uniform
from tensorflow.python.ops.distributions.util import (
    fill_triangular,
    fill_triangular_inverse,
    matrix_diag_transform,
    reduce_weighted_logsumexp,
    softplus_inverse,
    tridiag,
)

from tensorflow.contrib.distributions import bijectors
from tensorflow.contrib.distributions.compound import (
    Autoregressive,
    BatchReshape,
    Independent,
    Mixture,
    MixtureSameFamily,
)
from tensorflow.contrib.distributions.continuous import (
    Cauchy,
    Chi2,
    Chi2WithAbsDf,
    HalfNormal,
    InverseGamma,
    InverseGammaWithSoftplusConcentrationRate,
    Kumaraswamy,
    Logistic,
)
from tensorflow.contrib.distributions.discrete import (
    Binomial,
    Deterministic,
    Geometric,
    NegativeBinomial,
    OneHotCategorical,
    Poisson,
    QuantizedDistribution,
    VectorDeterministic,
)
from tensorflow.contrib.distributions.multivariate import (
    MultivariateNormalDiag,
    MultivariateNormalDiagPlusLowRank,
    MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance,
    MultivariateNormalTriL,
    SinhArcsinhDistribution as SinhArcsinh,
    VectorExponentialDiag,
    VectorLaplaceDiag,
    VectorSinhArcsinhDiag,
)
from tensorflow.contrib.distributions.estimator import estimator_head_distribution_regression
from tensorflow.contrib.distributions.poisson_lognormal import (
    PoissonLogNormalQuadratureCompound,
    quadrature_scheme_lognormal_gauss_hermite,
    quadrature_scheme_lognormal_quantiles,
)
from tensorflow.contrib.distributions.relaxed import (
    ExpRelaxedOneHotCategorical,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from tensorflow.contrib.distributions.statistics import (
    SeedStream,
    assign_log_moving_mean_exp,
    assign_moving_mean_variance,
    auto_correlation,
    moving_mean_variance,
    normal_conjugates_known_scale_posterior,
    normal_conjugates_known_scale_predictive,
    percentile,
)
from tensorflow.contrib.distributions.transformed_distribution import (
    ConditionalDistribution,
    ConditionalTransformedDistribution,
    TransformedDistribution,
)
from tensorflow.contrib.distributions.vector_diffeomixture import (
    VectorDiffeomixture,
    quadrature_scheme_softmaxnormal_gauss_hermite,
    quadrature_scheme_softmaxnormal_quantiles,
)
from tensorflow.contrib.distributions.wishart import WishartCholesky, WishartFull
