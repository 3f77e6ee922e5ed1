"""Distributions of a function of a random variable."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import identity_bijector

from tensorflow.contrib.distributions.base import Distribution


class TransformedDistribution(Distribution):
    """The distribution of bijector(X).

    Args:
      distribution: of X.
      bijector: the function, the identity by default.
      batch_shape: batch of samples of a distribution whose batch is scalar; its own by default.
      event_shape: the same for events: they are independent draws.
      validate_args: see `Distribution`.
      name: name scope; the bijector's and the distribution's names by default.

    Raises:
      ValueError: a shape is given and the distribution has one already.
    """

    def __init__(self, distribution, bijector=None, batch_shape=None, event_shape=None, validate_args=False, name=None):
        parameters = dict(locals())
        bijector = bijector or identity_bijector.Identity(validate_args=validate_args)
        name = name or (("" if bijector is None else bijector.name) + distribution.name)
        with tf.name_scope(name, values=[event_shape, batch_shape]) as name:
            for what, shape, own in (
                ("batch", batch_shape, distribution.batch_shape),
                ("event", event_shape, distribution.event_shape),
            ):
                if shape is not None and own.ndims not in (0, None):
                    raise ValueError(f"base distribution {what} shape must be scalar to be overridden, is {own}")
            self._batch_override = _shape_vector(batch_shape)
            self._event_override = _shape_vector(event_shape)
            self._distribution = distribution
            self._bijector = bijector
            parents = list(distribution._graph_parents) + list(bijector.graph_parents)
            super().__init__(
                dtype=distribution.dtype,
                reparameterization_type=distribution.reparameterization_type,
                validate_args=validate_args,
                allow_nan_stats=distribution.allow_nan_stats,
                parameters={k: v for k, v in parameters.items() if k not in ("self", "__class__")},
                # Arrays of bijectors are no tensors.
                graph_parents=[p for p in parents if isinstance(p, tf.Tensor)],
                name=name,
            )

    @property
    def distribution(self):
        return self._distribution

    @property
    def bijector(self):
        return self._bijector

    # Shapes of X, with what overrides them.

    def _x_event_shape(self):
        if self._event_override is None:
            return self.distribution.event_shape
        return tf.TensorShape(tf.get_static_value(self._event_override, partial=True))

    def _x_event_shape_tensor(self):
        return self.distribution.event_shape_tensor() if self._event_override is None else self._event_override

    def _event_shape_tensor(self):
        return self.bijector.forward_event_shape_tensor(self._x_event_shape_tensor())

    def _event_shape(self):
        shape = self._x_event_shape()
        return shape if shape.ndims is None else self.bijector.forward_event_shape(shape)

    def _batch_shape_tensor(self):
        return self.distribution.batch_shape_tensor() if self._batch_override is None else self._batch_override

    def _batch_shape(self):
        if self._batch_override is None:
            return self.distribution.batch_shape
        return tf.TensorShape(tf.get_static_value(self._batch_override, partial=True))

    def _extra_shape(self):
        """Draws of X for one sample: batch and event overrides."""
        parts = [part for part in (self._batch_override, self._event_override) if part is not None]
        return tf.concat(parts, 0) if parts else None

    def _sample_n(self, n, seed=None):
        extra = self._extra_shape()
        if extra is None:
            return self.distribution.sample(sample_shape=n, seed=seed)
        if self._batch_override is None and self.distribution.batch_shape.ndims != 0:
            # Draws come first: [event, n, batch] becomes [n, batch, event].
            x = self.distribution.sample(sample_shape=tf.concat([self._event_override, [n]], 0), seed=seed)
            rank, event = tf.rank(x), tf.size(self._event_override)
            return tf.transpose(x, tf.concat([tf.range(event, rank), tf.range(event)], 0))
        return self.distribution.sample(sample_shape=tf.concat([[n], extra], 0), seed=seed)

    def _call_sample_n(self, sample_shape, seed, name, **kwargs):
        with self._name_scope(name, values=[sample_shape]):
            sample_shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32, name="sample_shape")
            sample_shape, n = self._expand_sample_shape_to_vector(sample_shape, "sample_shape")
            # What the bijector remembers of a sample makes log_prob of it exact: it must see x as it is returned.
            x = self._sample_n(n, seed)
            x = tf.reshape(x, tf.concat([sample_shape, tf.shape(x)[1:]], 0))
            y = self.bijector.forward(x, **kwargs)
            return self._set_sample_static_shape(y, sample_shape)

    def _event_ndims(self):
        ndims = self.event_shape.ndims
        return tf.size(self.event_shape_tensor()) if ndims is None else ndims

    def _over_event(self, values, reduce):
        if self._event_override is None:
            return values
        count = self._event_override.shape.dims[0].value
        axes = list(range(-count, 0)) if count is not None else tf.range(-tf.size(self._event_override), 0)
        return reduce(values, axes) if count != 0 else values

    def _branches(self, y, kwargs, of_x):
        """log values of each preimage of y, with their determinants."""
        x = self.bijector.inverse(y, **kwargs)
        determinant = self.bijector.inverse_log_det_jacobian(y, event_ndims=self._event_ndims(), **kwargs)
        if self.bijector._is_injective:
            return [of_x(x) + determinant]
        return [of_x(xi) + di for xi, di in zip(x, determinant)]

    def _log_prob(self, y, **kwargs):
        parts = self._branches(y, kwargs, lambda x: self._over_event(self.distribution.log_prob(x), tf.reduce_sum))
        return parts[0] if len(parts) == 1 else tf.reduce_logsumexp(tf.stack(parts), 0)

    def _prob(self, y, **kwargs):
        return tf.exp(self._log_prob(y, **kwargs))

    def _monotone(self, what):
        if self._event_override is not None:
            raise NotImplementedError(f"{what} is not implemented when overriding event_shape")
        if not self.bijector._is_injective:
            raise NotImplementedError(f"{what} is not implemented when bijector is not injective.")

    def _log_cdf(self, y, **kwargs):
        self._monotone("log_cdf")
        return self.distribution.log_cdf(self.bijector.inverse(y, **kwargs))

    def _cdf(self, y, **kwargs):
        self._monotone("cdf")
        return self.distribution.cdf(self.bijector.inverse(y, **kwargs))

    def _log_survival_function(self, y, **kwargs):
        self._monotone("log_survival_function")
        return self.distribution.log_survival_function(self.bijector.inverse(y, **kwargs))

    def _survival_function(self, y, **kwargs):
        self._monotone("survival_function")
        return self.distribution.survival_function(self.bijector.inverse(y, **kwargs))

    def _quantile(self, value, **kwargs):
        self._monotone("quantile")
        return self.bijector.forward(self.distribution.quantile(value), **kwargs)

    def _mean(self, **kwargs):
        if not self.bijector.is_constant_jacobian or not self.bijector._is_injective:
            raise NotImplementedError("mean is not implemented for non-affine bijectors")
        x = self.distribution.mean()
        extra = self._extra_shape()
        if extra is not None:
            x = tf.zeros(tf.concat([self.batch_shape_tensor(), self._x_event_shape_tensor()], 0), self.dtype) + (
                x if self._event_override is None or x.shape.ndims == 0 else x[..., tf.newaxis]
            )
        y = self.bijector.forward(x, **kwargs)
        y.set_shape(self.batch_shape.concatenate(self.event_shape))
        return y

    def _entropy(self, **kwargs):
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self.bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        # H(Y) = H(X) + E log |J|, and J is constant.
        entropy = self.distribution.entropy()
        if self._event_override is not None:
            entropy *= tf.cast(tf.reduce_prod(self._event_override), entropy.dtype.base_dtype)
        if self._batch_override is not None:
            entropy += tf.zeros(self._batch_override, entropy.dtype)
        anywhere = tf.zeros(
            tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), dtype=self.dtype.base_dtype
        )
        entropy -= self.bijector.inverse_log_det_jacobian(anywhere, event_ndims=self._event_ndims(), **kwargs)
        entropy.set_shape(self.batch_shape)
        return entropy


def _shape_vector(shape):
    if shape is None:
        return None
    shape = tf.convert_to_tensor(np.asarray(shape, np.int32) if isinstance(shape, (list, tuple)) else shape, tf.int32)
    return shape[tf.newaxis] if shape.shape.ndims == 0 else shape


class ConditionalDistribution(Distribution):
    """A distribution whose methods take `condition_kwargs`, given to them as keywords."""


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A `TransformedDistribution` whose methods take keywords `bijector_kwargs` and `distribution_kwargs`."""

    def _sample_n(self, n, seed=None, distribution_kwargs=None):
        if distribution_kwargs:
            return self.distribution.sample(sample_shape=n, seed=seed, **distribution_kwargs)
        return super()._sample_n(n, seed)

    def _call_sample_n(self, sample_shape, seed, name, bijector_kwargs=None, distribution_kwargs=None):
        with self._name_scope(name, values=[sample_shape]):
            sample_shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32, name="sample_shape")
            sample_shape, n = self._expand_sample_shape_to_vector(sample_shape, "sample_shape")
            x = self._sample_n(n, seed, distribution_kwargs)
            x = tf.reshape(x, tf.concat([sample_shape, tf.shape(x)[1:]], 0))
            y = self.bijector.forward(x, **(bijector_kwargs or {}))
            return self._set_sample_static_shape(y, sample_shape)

    def _log_prob(self, y, bijector_kwargs=None, distribution_kwargs=None):
        distribution_kwargs = distribution_kwargs or {}
        parts = self._branches(
            y,
            bijector_kwargs or {},
            lambda x: self._over_event(self.distribution.log_prob(x, **distribution_kwargs), tf.reduce_sum),
        )
        return parts[0] if len(parts) == 1 else tf.reduce_logsumexp(tf.stack(parts), 0)

    def _prob(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return tf.exp(self._log_prob(y, bijector_kwargs, distribution_kwargs))


def _conditional(method):
    def call(self, value, name=method, **condition_kwargs):
        return getattr(self, f"_call_{method}")(value, name, **condition_kwargs)

    call.__name__ = method
    call.__doc__ = f"`Distribution.{method}` with conditions as keywords."
    return call


for _method in "log_prob prob log_cdf cdf log_survival_function survival_function".split():
    setattr(ConditionalDistribution, _method, _conditional(_method))


def _conditional_sample(self, sample_shape=(), seed=None, name="sample", **condition_kwargs):
    """`Distribution.sample` with conditions as keywords."""
    return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)


ConditionalDistribution.sample = _conditional_sample
