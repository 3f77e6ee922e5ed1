"""Distributions made of distributions: independent events, mixtures, other batch shapes, autoregressive sampling."""

import tensorflow as tf
from tensorflow.python.ops.distributions import categorical, kullback_leibler, util

from tensorflow.contrib.distributions.base import NOT_REPARAMETERIZED, Distribution


def _parameters(arguments):
    return {k: v for k, v in arguments.items() if k not in ("self", "__class__")}


class Independent(Distribution):
    """Reads batch dimensions of a distribution as event dimensions: independent draws become one.

    Args:
      distribution: the distribution.
      reinterpreted_batch_ndims: number of the last batch dimensions, all but the first by default.
      validate_args: see `Distribution`.
      name: name scope.

    Raises:
      ValueError: the batch has fewer dimensions.
    """

    def __init__(self, distribution, reinterpreted_batch_ndims=None, validate_args=False, name=None):
        arguments = dict(locals())
        name = name or "Independent" + distribution.name
        self._distribution = distribution
        with tf.name_scope(name) as name:
            ndims = distribution.batch_shape.ndims
            if ndims is None:
                raise ValueError("Independent: the rank of the batch must be known")
            if reinterpreted_batch_ndims is None:
                reinterpreted_batch_ndims = max(0, ndims - 1)
            count = int(tf.get_static_value(tf.convert_to_tensor(reinterpreted_batch_ndims)))
            if count > ndims:
                raise ValueError(f"reinterpreted_batch_ndims({count}) cannot exceed distribution.batch_ndims({ndims})")
            self._count = count
            super().__init__(
                dtype=distribution.dtype,
                reparameterization_type=distribution.reparameterization_type,
                validate_args=validate_args,
                allow_nan_stats=distribution.allow_nan_stats,
                parameters=_parameters(arguments),
                graph_parents=distribution._graph_parents,
                name=name,
            )

    @property
    def distribution(self):
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self):
        return self._count

    def _split(self, shape):
        cut = self.distribution.batch_shape.ndims - self._count
        return shape[:cut], shape[cut:]

    def _batch_shape_tensor(self):
        return self._split(self.distribution.batch_shape_tensor())[0]

    def _batch_shape(self):
        return self._split(self.distribution.batch_shape)[0]

    def _event_shape_tensor(self):
        return tf.concat(
            [self._split(self.distribution.batch_shape_tensor())[1], self.distribution.event_shape_tensor()], 0
        )

    def _event_shape(self):
        return self._split(self.distribution.batch_shape)[1].concatenate(self.distribution.event_shape)

    def _sum(self, values):
        return tf.reduce_sum(values, axis=list(range(-self._count, 0))) if self._count else values

    def _sample_n(self, n, seed=None):
        return self.distribution.sample(sample_shape=n, seed=seed)

    def _log_prob(self, x):
        return self._sum(self.distribution.log_prob(x))

    def _entropy(self):
        return self._sum(self.distribution.entropy())

    def _mean(self):
        return self.distribution.mean()

    def _variance(self):
        return self.distribution.variance()

    def _stddev(self):
        return self.distribution.stddev()

    def _mode(self):
        return self.distribution.mode()


@kullback_leibler.RegisterKL(Independent, Independent)
def _kl_independent(a, b, name="kl_independent"):
    if a.event_shape.ndims != b.event_shape.ndims or a._count != b._count:
        raise ValueError("KL between Independents of different event shapes is not defined")
    with tf.name_scope(name):
        return a._sum(kullback_leibler.kl_divergence(a.distribution, b.distribution))


class Mixture(Distribution):
    """One of several distributions, chosen by a `Categorical`.

    Args:
      cat: `Categorical`, with the batch shape of the components.
      components: list of distributions of one batch and event shape and type.
      validate_args: see `Distribution`.
      allow_nan_stats: see `Distribution`.
      use_static_graph: whether samples draw from all components and select; else only what is needed is drawn.
      name: name scope.

    Raises:
      TypeError: wrong types.
      ValueError: no components, or they do not fit one another or `cat`.
    """

    def __init__(
        self, cat, components, validate_args=False, allow_nan_stats=True, use_static_graph=False, name="Mixture"
    ):
        arguments = dict(locals())
        if not isinstance(cat, categorical.Categorical):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
        components = list(components or ())
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        for component in components:
            if not isinstance(component, Distribution):
                raise TypeError(f"all entries in components must be Distribution instances but saw: {component}")
            if component.dtype != components[0].dtype:
                raise TypeError(f"All components must have the same dtype, but saw: {[d.dtype for d in components]}")
            if not component.event_shape.is_compatible_with(components[0].event_shape):
                raise ValueError(f"components have different event shapes: {[d.event_shape for d in components]}")
            cat.batch_shape.assert_is_compatible_with(component.batch_shape)
        classes = tf.get_static_value(cat.event_size)
        if classes is not None and classes != len(components):
            raise ValueError(f"cat.num_classes != len(components): {classes} vs. {len(components)}")
        self._cat = cat
        self._components = components
        self._num_components = len(components)
        self._use_static_graph = use_static_graph
        with tf.name_scope(name, values=[cat.logits]) as name:
            super().__init__(
                dtype=components[0].dtype,
                reparameterization_type=NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=_parameters(arguments),
                graph_parents=list(cat._graph_parents) + [t for c in components for t in c._graph_parents],
                name=name,
            )

    @property
    def cat(self):
        return self._cat

    @property
    def components(self):
        return self._components

    @property
    def num_components(self):
        return self._num_components

    def _batch_shape_tensor(self):
        return self._cat.batch_shape_tensor()

    def _batch_shape(self):
        return self._cat.batch_shape

    def _event_shape_tensor(self):
        return self._components[0].event_shape_tensor()

    def _event_shape(self):
        return self._components[0].event_shape

    def _weights(self, rank_of_event):
        probs = tf.unstack(self._cat.probs, num=self._num_components, axis=-1)
        return [p[(...,) + (tf.newaxis,) * rank_of_event] for p in probs]

    def _event_rank(self):
        return self._components[0].event_shape.ndims or 0

    def _mean(self):
        weights = self._weights(self._event_rank())
        return tf.add_n([w * c.mean() for w, c in zip(weights, self._components)])

    def _variance(self):
        weights = self._weights(self._event_rank())
        mean = self._mean()
        return tf.add_n([w * (c.variance() + tf.square(c.mean() - mean)) for w, c in zip(weights, self._components)])

    def _stddev(self):
        return tf.sqrt(self._variance())

    def _log_parts(self, method, x):
        logs = tf.unstack(tf.nn.log_softmax(self._cat.logits), num=self._num_components, axis=-1)
        return tf.reduce_logsumexp(tf.stack([w + getattr(c, method)(x) for w, c in zip(logs, self._components)]), 0)

    def _log_prob(self, x):
        return self._log_parts("log_prob", x)

    def _log_cdf(self, x):
        return self._log_parts("log_cdf", x)

    def _sample_n(self, n, seed=None):
        seeds = iter(range(self._num_components + 1))
        stream = seed

        def following():
            nonlocal stream
            next(seeds)
            stream = util.gen_new_seed(stream, "mixture")
            return stream

        chosen = self._cat.sample(n, seed=seed)
        samples = tf.stack([c.sample(n, seed=following()) for c in self._components])
        pick = tf.one_hot(chosen, self._num_components, axis=0, dtype=tf.bool, on_value=True, off_value=False)
        pick = pick[(...,) + (tf.newaxis,) * self._event_rank()]
        pick = tf.logical_and(pick, tf.ones_like(samples, dtype=tf.bool))
        # By selection, so that a NaN or inf of another component does no harm.
        return tf.reduce_sum(tf.where(pick, samples, tf.zeros_like(samples)), 0)

    def entropy_lower_bound(self, name="entropy_lower_bound"):
        """The weighted mean of the components' entropies, a lower bound of the entropy."""
        with self._name_scope(name):
            return tf.add_n([w * c.entropy() for w, c in zip(self._weights(0), self._components)])


class MixtureSameFamily(Distribution):
    """A mixture whose components are the last batch dimension of one distribution.

    Args:
      mixture_distribution: `Categorical`, its batch scalar or that of the components without the last dimension.
      components_distribution: the components.
      validate_args: see `Distribution`.
      allow_nan_stats: see `Distribution`.
      name: name scope.

    Raises:
      ValueError: the numbers of components differ.
    """

    def __init__(
        self,
        mixture_distribution,
        components_distribution,
        validate_args=False,
        allow_nan_stats=True,
        name="MixtureSameFamily",
    ):
        arguments = dict(locals())
        with tf.name_scope(name) as name:
            self._mixture_distribution = mixture_distribution
            self._components_distribution = components_distribution
            count = mixture_distribution.logits.shape.dims[-1].value
            batch = components_distribution.batch_shape
            if batch.ndims is None or batch.ndims < 1:
                raise ValueError("components_distribution must have a batch dimension of known rank")
            if count is not None and batch.dims[-1].value not in (None, count):
                raise ValueError(
                    f"`mixture_distribution` has {count} components, `components_distribution` {batch.dims[-1].value}"
                )
            self._event_ndims = components_distribution.event_shape.ndims
            super().__init__(
                dtype=components_distribution.dtype,
                reparameterization_type=NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=_parameters(arguments),
                graph_parents=mixture_distribution._graph_parents + components_distribution._graph_parents,
                name=name,
            )

    @property
    def mixture_distribution(self):
        return self._mixture_distribution

    @property
    def components_distribution(self):
        return self._components_distribution

    def _batch_shape_tensor(self):
        return self.components_distribution.batch_shape_tensor()[:-1]

    def _batch_shape(self):
        return self.components_distribution.batch_shape[:-1]

    def _event_shape_tensor(self):
        return self.components_distribution.event_shape_tensor()

    def _event_shape(self):
        return self.components_distribution.event_shape

    def _axis(self):
        return -1 - self._event_ndims

    def _to_components(self, x):
        return tf.expand_dims(x, self._axis())

    def _for_events(self, weights):
        return weights[(...,) + (tf.newaxis,) * self._event_ndims]

    def _sample_n(self, n, seed=None):
        samples = self.components_distribution.sample(n, seed=seed)
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        mixture = self.mixture_distribution
        own = mixture.sample(n, seed=util.gen_new_seed(seed, "mixture_same_family"))
        if mixture.batch_shape.ndims == 0 and self.batch_shape.ndims != 0:
            own = mixture.sample(shape, seed=util.gen_new_seed(seed, "mixture_same_family"))
        mask = tf.one_hot(own, mixture.event_size, on_value=True, off_value=False, dtype=tf.bool)
        mask = tf.logical_and(self._for_events(mask), tf.ones_like(samples, dtype=tf.bool))
        return tf.reduce_sum(tf.where(mask, samples, tf.zeros_like(samples)), axis=self._axis())

    def _log_prob(self, x):
        log_p = self.components_distribution.log_prob(self._to_components(x))
        return tf.reduce_logsumexp(log_p + tf.nn.log_softmax(self.mixture_distribution.logits), axis=-1)

    def _cdf(self, x):
        cdf = self.components_distribution.cdf(self._to_components(x))
        return tf.reduce_sum(cdf * self.mixture_distribution.probs, axis=-1)

    def _log_cdf(self, x):
        log_cdf = self.components_distribution.log_cdf(self._to_components(x))
        return tf.reduce_logsumexp(log_cdf + tf.nn.log_softmax(self.mixture_distribution.logits), axis=-1)

    def _mean(self):
        probs = self._for_events(self.mixture_distribution.probs)
        return tf.reduce_sum(probs * self.components_distribution.mean(), axis=self._axis())

    def _variance(self):
        # The mean of the variances and the variance of the means.
        probs = self._for_events(self.mixture_distribution.probs)
        difference = self.components_distribution.mean() - self._to_components(self._mean())
        return tf.reduce_sum(
            probs * (self.components_distribution.variance() + tf.square(difference)), axis=self._axis()
        )

    def _covariance(self):
        probs = self.mixture_distribution.probs[..., tf.newaxis, tf.newaxis]
        difference = self.components_distribution.mean() - self._to_components(self._mean())
        outer = difference[..., tf.newaxis] * difference[..., tf.newaxis, :]
        return tf.reduce_sum(probs * (self.components_distribution.covariance() + outer), axis=-3)


class BatchReshape(Distribution):
    """A distribution with another batch shape of the same size.

    Args:
      distribution: the distribution.
      batch_shape: the new shape; one entry may be -1.
      validate_args: see `Distribution`.
      allow_nan_stats: see `Distribution`.
      name: name scope.

    Raises:
      ValueError: the sizes differ.
    """

    def __init__(self, distribution, batch_shape, validate_args=False, allow_nan_stats=True, name=None):
        arguments = dict(locals())
        name = name or "BatchReshape" + distribution.name
        with tf.name_scope(name, values=[batch_shape]) as name:
            self._distribution = distribution
            wanted = tf.convert_to_tensor(batch_shape, dtype=tf.int32)
            static = tf.get_static_value(wanted)
            size = distribution.batch_shape.num_elements()
            if static is not None and size is not None:
                static = static.tolist()
                known = 1
                for entry in static:
                    known *= entry if entry != -1 else 1
                if -1 in static and known and size % known == 0:
                    static[static.index(-1)] = size // known
                elif -1 in static or known != size:
                    raise ValueError(f"batch_shape size ({static}) must match that of the distribution ({size})")
                wanted = tf.constant(static, dtype=tf.int32)
            self._new_batch = wanted
            super().__init__(
                dtype=distribution.dtype,
                reparameterization_type=distribution.reparameterization_type,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=_parameters(arguments),
                graph_parents=[wanted] + distribution._graph_parents,
                name=name,
            )

    @property
    def distribution(self):
        return self._distribution

    def _batch_shape_tensor(self):
        return self._new_batch

    def _batch_shape(self):
        return tf.TensorShape(tf.get_static_value(self._new_batch))

    def _event_shape_tensor(self):
        return self.distribution.event_shape_tensor()

    def _event_shape(self):
        return self.distribution.event_shape

    def _sample_n(self, n, seed=None):
        x = self.distribution.sample(sample_shape=n, seed=seed)
        return tf.reshape(x, tf.concat([[n], self._new_batch, self.event_shape_tensor()], 0))

    def _of_values(self, method, x):
        event = self.event_shape.ndims
        rank = tf.rank(x) - event - tf.size(self._new_batch)
        sample = tf.shape(x)[:rank]
        old = tf.concat([sample, self.distribution.batch_shape_tensor(), self.event_shape_tensor()], 0)
        values = method(tf.reshape(x, old))
        return tf.reshape(values, tf.concat([sample, self._new_batch], 0))

    def _log_prob(self, x):
        return self._of_values(self.distribution.log_prob, x)

    def _prob(self, x):
        return self._of_values(self.distribution.prob, x)

    def _log_cdf(self, x):
        return self._of_values(self.distribution.log_cdf, x)

    def _cdf(self, x):
        return self._of_values(self.distribution.cdf, x)

    def _of_batch(self, values, event_dims=None):
        event = self.event_shape_tensor() if event_dims is None else event_dims
        return tf.reshape(values, tf.concat([self._new_batch, event], 0))

    def _entropy(self):
        return self._of_batch(self.distribution.entropy(), tf.constant([], tf.int32))

    def _mean(self):
        return self._of_batch(self.distribution.mean())

    def _mode(self):
        return self._of_batch(self.distribution.mode())

    def _stddev(self):
        return self._of_batch(self.distribution.stddev())

    def _variance(self):
        return self._of_batch(self.distribution.variance())

    def _covariance(self):
        event = self.event_shape_tensor()
        return self._of_batch(self.distribution.covariance(), tf.concat([event, event], 0))


class Autoregressive(Distribution):
    """Samples by feeding a distribution's samples back to the function that makes it.

    Args:
      distribution_fn: sample -> distribution, over all entries; entry i may depend on earlier entries only.
      sample0: the first argument; `distribution_fn()` is called without one by default.
      num_steps: number of times that samples are fed back; the size of the event by default.
      validate_args: see `Distribution`.
      allow_nan_stats: see `Distribution`.
      name: name scope.

    Raises:
      ValueError: `num_steps` is less than 1.
    """

    def __init__(
        self,
        distribution_fn,
        sample0=None,
        num_steps=None,
        validate_args=False,
        allow_nan_stats=True,
        name="Autoregressive",
    ):
        arguments = dict(locals())
        with tf.name_scope(name) as name:
            self._distribution_fn = distribution_fn
            self._sample0 = sample0
            self._distribution0 = distribution_fn() if sample0 is None else distribution_fn(sample0)
            if num_steps is None:
                num_steps = self._distribution0.event_shape.num_elements()
                if num_steps is None:
                    raise ValueError("num_steps is needed: the event's size is unknown.")
            self._num_steps = int(num_steps)
            if self._num_steps < 1:
                raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
            super().__init__(
                dtype=self._distribution0.dtype,
                reparameterization_type=self._distribution0.reparameterization_type,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=_parameters(arguments),
                graph_parents=self._distribution0._graph_parents,
                name=name,
            )

    @property
    def distribution_fn(self):
        return self._distribution_fn

    @property
    def sample0(self):
        return self._sample0

    @property
    def num_steps(self):
        return self._num_steps

    @property
    def distribution0(self):
        return self._distribution0

    def _batch_shape(self):
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self):
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self):
        return self.distribution0.event_shape

    def _event_shape_tensor(self):
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n, seed=None):
        seed = util.gen_new_seed(seed, "Autoregressive")
        samples = self.distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            # The same seed each time: entries that are settled stay.
            samples = self.distribution_fn(samples).sample(seed=seed)
        return samples

    def _log_prob(self, value):
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value):
        return self.distribution_fn(value).prob(value)
