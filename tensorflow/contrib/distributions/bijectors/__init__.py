# ruff: noqa: F401
"""Invertible functions with the logarithm of their Jacobian's determinant."""

from tensorflow.python.ops.distributions.bijector import Bijector
from tensorflow.python.ops.distributions.identity_bijector import Identity

from tensorflow.contrib.distributions.bijectors import jacobians as _jacobians
from tensorflow.contrib.distributions.bijectors.affine import Affine, AffineLinearOperator
from tensorflow.contrib.distributions.bijectors.elementwise import (
    AbsoluteValue,
    AffineScalar,
    Exp,
    Gumbel,
    Kumaraswamy,
    PowerTransform,
    Sigmoid,
    SinhArcsinh,
    Softplus,
    Softsign,
    Square,
)
from tensorflow.contrib.distributions.bijectors.flows import (
    BatchNormalization,
    MaskedAutoregressiveFlow,
    RealNVP,
    masked_autoregressive_default_template,
    masked_dense,
    real_nvp_default_template,
)
from tensorflow.contrib.distributions.bijectors.structural import (
    Chain,
    CholeskyOuterProduct,
    ConditionalBijector,
    FillTriangular,
    Inline,
    Invert,
    MatrixInverseTriL,
    Ordered,
    Permute,
    Reshape,
    ScaleTriL,
    SoftmaxCentered,
    TransformDiagonal,
)

__all__ = [name for name in dir() if name[0].isupper()] + [
    "masked_autoregressive_default_template",
    "masked_dense",
    "real_nvp_default_template",
]
