"""Attention mechanisms: scores of a memory's entries for a query, and the distribution over entries that follows."""

import functools
import math

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.rnn_cell_impl import _zero_state_tensors
from tensorflow.python.util import nest


class AttentionMechanism:
    """What `AttentionWrapper` asks of a mechanism: sizes, first state, and a call (query, state)."""

    @property
    def alignments_size(self):
        raise NotImplementedError

    @property
    def state_size(self):
        raise NotImplementedError


def _known(tensor, axis):
    """A dimension as a number, or as a tensor where it is unknown."""
    size = tensor.shape.dims[axis].value
    return tf.shape(tensor)[axis] if size is None else size


def _prepare_memory(memory, memory_sequence_length, check_inner_dims_defined):
    """The memory as tensors, zero past each sequence's end.

    Raises:
      ValueError: `check_inner_dims_defined`, and a dimension behind batch and time is unknown.
    """
    memory = nest.map_structure(lambda m: tf.convert_to_tensor(m, name="memory"), memory)
    if memory_sequence_length is not None:
        memory_sequence_length = tf.convert_to_tensor(memory_sequence_length, name="memory_sequence_length")
    if check_inner_dims_defined:
        for m in nest.flatten(memory):
            if not m.shape[2:].is_fully_defined():
                raise ValueError(f"Expected memory {m.name} to have fully defined inner dims, but saw shape: {m.shape}")
    if memory_sequence_length is None:
        return memory
    first = nest.flatten(memory)[0]
    mask = tf.sequence_mask(memory_sequence_length, maxlen=tf.shape(first)[1], dtype=first.dtype)
    lengths = memory_sequence_length.shape[:1]

    def masked(m):
        rank = tf.rank(m) if m.shape.ndims is None else m.shape.ndims
        more_dims = tf.ones(rank - 2, dtype=tf.int32)
        # Sizes that are not static are not compared: the product fails, and default seeds count ops.
        if not lengths.is_compatible_with(m.shape[:1]):
            raise ValueError(
                f"memory_sequence_length and memory tensor batch sizes do not match. Got {lengths} and {m.shape[:1]}."
            )
        return m * tf.reshape(mask, tf.concat((tf.shape(mask), more_dims), 0))

    return nest.map_structure(masked, memory)


def _maybe_mask_score(score, memory_sequence_length, score_mask_value):
    """Scores with `score_mask_value` past each sequence's end."""
    if memory_sequence_length is None:
        return score
    check = tf.assert_positive(
        memory_sequence_length, message="All values in memory_sequence_length must greater than zero."
    )
    with tf.control_dependencies([check]):
        mask = tf.sequence_mask(memory_sequence_length, maxlen=tf.shape(score)[1])
        return tf.where(mask, score, score_mask_value * tf.ones_like(score))


class _BaseAttentionMechanism(AttentionMechanism):
    """Keys and values of a memory.

    Args:
      query_layer: layer of queries, or None. Subclasses apply it.
      memory: structure of [batch, time, ...].
      probability_fn: (scores, last state) -> probabilities.
      memory_sequence_length: [batch], entries past it get no attention.
      memory_layer: layer that makes keys of the values, or None for keys that are the values.
      check_inner_dims_defined: whether the memory's inner dimensions must be known.
      score_mask_value: score of entries past the end, minus infinity by default.
      custom_key_value_fn: (keys, values) -> (keys, values), applied last.
      name: name scope.

    Raises:
      TypeError: `probability_fn` is no function, or a layer is none.
    """

    def __init__(
        self,
        query_layer,
        memory,
        probability_fn,
        memory_sequence_length=None,
        memory_layer=None,
        check_inner_dims_defined=True,
        score_mask_value=None,
        custom_key_value_fn=None,
        name=None,
    ):
        layers = (tf.layers.Layer, tf.keras.layers.Layer)
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, layers):
                raise TypeError(f"{what} is not a Layer: {type(layer)}")
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn)}")
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = memory_layer.dtype if memory_layer is not None else nest.flatten(memory)[0].dtype
        if score_mask_value is None:
            score_mask_value = tf.as_dtype(self.dtype or nest.flatten(memory)[0].dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, previous: probability_fn(
            _maybe_mask_score(score, memory_sequence_length=memory_sequence_length, score_mask_value=score_mask_value),
            previous,
        )
        with tf.name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = _prepare_memory(
                memory,
                memory_sequence_length=memory_sequence_length,
                check_inner_dims_defined=check_inner_dims_defined,
            )
            self._keys = self._values if memory_layer is None else memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = _known(self._keys, 0)
            self._alignments_size = _known(self._keys, 1)

    @property
    def memory_layer(self):
        return self._memory_layer

    @property
    def query_layer(self):
        return self._query_layer

    @property
    def values(self):
        return self._values

    @property
    def keys(self):
        return self._keys

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def alignments_size(self):
        return self._alignments_size

    @property
    def state_size(self):
        return self._alignments_size

    def initial_alignments(self, batch_size, dtype):
        """[batch, memory time] zeros."""
        return _zero_state_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size, dtype):
        """The state before the first step: the initial alignments."""
        return self.initial_alignments(batch_size, dtype)


def _luong_score(query, keys, scale):
    """query [batch, units] times keys [batch, time, units], times `scale` unless that is None.

    Raises:
      ValueError: query and keys differ in units.
    """
    depth, units = query.shape[-1], keys.shape[-1]
    if depth != units:
        raise ValueError(
            f"Incompatible or unknown inner dimensions between query and keys. Query ({query}) has units: {depth}. "
            f"Keys ({keys}) have units: {units}. Perhaps you need to set num_units to the keys' dimension ({units})?"
        )
    score = tf.squeeze(tf.matmul(tf.expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if scale is None else scale * score


def _bahdanau_score(processed_query, keys, attention_v, attention_g=None, attention_b=None):
    """sum(v tanh(keys + query)), or with a normed v: sum(g v / |v| tanh(keys + query + b))."""
    query = tf.expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return tf.reduce_sum(attention_v * tf.tanh(keys + query), [2])
    normed = attention_g * attention_v * tf.rsqrt(tf.reduce_sum(tf.square(attention_v)))
    return tf.reduce_sum(normed * tf.tanh(keys + query + attention_b), [2])


class _SoftAttention(_BaseAttentionMechanism):
    """Attention whose state is its last alignments."""

    _scope = None

    def _score(self, query):
        raise NotImplementedError

    def __call__(self, query, state):
        """Attends.

        Args:
          query: [batch, query size].
          state: [batch, memory time], the last alignments.

        Returns:
          (alignments [batch, memory time], next state).
        """
        with tf.variable_scope(None, self._scope, [query]):
            alignments = self._probability_fn(self._score(query), state)
        return alignments, alignments


class _LuongScores:
    def _init_luong(self, num_units, scale, name, dtype):
        self._num_units = num_units
        self._scale = scale
        self._name = name
        return tf.layers.Dense(num_units, name="memory_layer", use_bias=False, dtype=dtype or tf.float32)

    def _score(self, query):
        scale = None
        if self._scale:
            scale = tf.get_variable("attention_g", dtype=query.dtype, initializer=tf.ones_initializer, shape=())
        return _luong_score(query, self._keys, scale)


class _BahdanauScores:
    def _init_bahdanau(self, num_units, normalize, name, dtype):
        self._num_units = num_units
        self._normalize = normalize
        self._name = name
        dtype = dtype or tf.float32
        return (
            tf.layers.Dense(num_units, name="query_layer", use_bias=False, dtype=dtype),
            tf.layers.Dense(num_units, name="memory_layer", use_bias=False, dtype=dtype),
        )

    def _score(self, query):
        processed = self.query_layer(query) if self.query_layer else query
        units = self._num_units
        v = tf.get_variable("attention_v", [units], dtype=query.dtype)
        g = b = None
        if self._normalize:
            start = tf.constant_initializer(math.sqrt(1.0 / units))
            g = tf.get_variable("attention_g", dtype=query.dtype, initializer=start, shape=())
            b = tf.get_variable("attention_b", [units], dtype=query.dtype, initializer=tf.zeros_initializer())
        return _bahdanau_score(processed, self._keys, v, attention_g=g, attention_b=b)


class LuongAttention(_LuongScores, _SoftAttention):
    """Multiplicative attention (Luong et al. 2015, arXiv:1508.04025).

    Args:
      num_units: size of keys and queries.
      memory: [batch, time, size].
      memory_sequence_length: [batch], entries past it get no attention.
      scale: whether scores are multiplied by a learnt "attention_g".
      probability_fn: scores -> probabilities, softmax by default.
      score_mask_value: score of entries past the end, minus infinity by default.
      dtype: of the memory layer.
      custom_key_value_fn: (keys, values) -> (keys, values), applied last.
      name: name scope.
    """

    _scope = "luong_attention"

    def __init__(
        self,
        num_units,
        memory,
        memory_sequence_length=None,
        scale=False,
        probability_fn=None,
        score_mask_value=None,
        dtype=None,
        custom_key_value_fn=None,
        name="LuongAttention",
    ):
        probability_fn = probability_fn or tf.nn.softmax
        super().__init__(
            query_layer=None,
            memory_layer=self._init_luong(num_units, scale, name, dtype),
            memory=memory,
            probability_fn=lambda score, _: probability_fn(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )


class BahdanauAttention(_BahdanauScores, _SoftAttention):
    """Additive attention (Bahdanau et al. 2015, arXiv:1409.0473).

    Args:
      num_units: size of the hidden layer.
      memory: [batch, time, size].
      memory_sequence_length: [batch], entries past it get no attention.
      normalize: weight normalization of the score (arXiv:1602.07868), with "attention_g" and "attention_b".
      probability_fn: scores -> probabilities, softmax by default.
      score_mask_value: score of entries past the end, minus infinity by default.
      dtype: of the layers.
      custom_key_value_fn: (keys, values) -> (keys, values), applied last.
      name: name scope.
    """

    _scope = "bahdanau_attention"

    def __init__(
        self,
        num_units,
        memory,
        memory_sequence_length=None,
        normalize=False,
        probability_fn=None,
        score_mask_value=None,
        dtype=None,
        custom_key_value_fn=None,
        name="BahdanauAttention",
    ):
        probability_fn = probability_fn or tf.nn.softmax
        query_layer, memory_layer = self._init_bahdanau(num_units, normalize, name, dtype)
        super().__init__(
            query_layer=query_layer,
            memory_layer=memory_layer,
            memory=memory,
            probability_fn=lambda score, _: probability_fn(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )


def safe_cumprod(x, *args, **kwargs):
    """The cumulative product by logarithms, of values between the least positive number and 1.

    Args:
      x: the factors.
      *args: as in `tf.cumsum`.
      **kwargs: as in `tf.cumsum`.
    """
    with tf.name_scope(None, "SafeCumprod", [x]):
        x = tf.convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return tf.exp(tf.cumsum(tf.log(tf.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i, previous_attention, mode):
    """The distribution over memory entries when attention may only move forward (Raffel et al., arXiv:1704.00784).

    Args:
      p_choose_i: [batch, time], the probability of stopping at an entry that is reached.
      previous_attention: [batch, time], the distribution of the step before.
      mode: "recursive" (exact, slow), "parallel" (by cumulative sums and products; may lose digits), or "hard"
        (`p_choose_i` and `previous_attention` are 0 or 1).

    Returns:
      [batch, time].

    Raises:
      ValueError: another mode.
    """
    p = tf.convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = tf.convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        batch = _known(p, 0)
        reached = tf.concat([tf.ones((batch, 1), p.dtype), 1 - p[:, :-1]], 1)
        mass = tf.scan(
            lambda x, pair: tf.reshape(pair[0] * x + pair[1], (batch,)),
            [tf.transpose(reached), tf.transpose(previous)],
            tf.zeros((batch,), p.dtype),
        )
        return p * tf.transpose(mass)
    if mode == "parallel":
        passed = safe_cumprod(1 - p, axis=1, exclusive=True)
        return p * passed * tf.cumsum(previous / tf.clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        # Entries before the last one attended to are out of reach.
        p = p * tf.cumsum(previous, axis=1)
        return p * tf.cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError(f"mode must be 'recursive', 'parallel', or 'hard', got {mode!r}.")


def _monotonic_probability_fn(score, previous_alignments, sigmoid_noise, mode, seed=None):
    """Monotonic attention on scores, with normal noise of deviation `sigmoid_noise`; "hard" takes their signs."""
    if sigmoid_noise > 0:
        score += sigmoid_noise * tf.random_normal(tf.shape(score), dtype=score.dtype, seed=seed)
    p = tf.cast(score > 0, score.dtype) if mode == "hard" else tf.sigmoid(score)
    return monotonic_attention(p, previous_alignments, mode)


class _BaseMonotonicAttentionMechanism(_BaseAttentionMechanism):
    """Monotonic attention starts at the first entry."""

    def initial_alignments(self, batch_size, dtype):
        return tf.one_hot(tf.zeros((batch_size,), dtype=tf.int32), self._alignments_size, dtype=dtype)


class _MonotonicScores:
    def _init_monotonic(self, score_bias_init, sigmoid_noise, sigmoid_noise_seed, mode):
        self._score_bias_init = score_bias_init
        return functools.partial(
            _monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed
        )

    def _score(self, query):
        score = super()._score(query)
        return score + tf.get_variable("attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init)


class BahdanauMonotonicAttention(_MonotonicScores, _BahdanauScores, _BaseMonotonicAttentionMechanism, _SoftAttention):
    """Monotonic attention with additive scores and a learnt bias, "attention_score_bias".

    Args:
      num_units: size of the hidden layer.
      memory: [batch, time, size].
      memory_sequence_length: [batch], entries past it get no attention.
      normalize: as in `BahdanauAttention`.
      score_mask_value: score of entries past the end, minus infinity by default.
      sigmoid_noise: deviation of the noise on scores while training.
      sigmoid_noise_seed: seed of the noise.
      score_bias_init: initial bias; negative values make attention stay less.
      mode: as in `monotonic_attention`.
      dtype: of the layers.
      name: name scope.
    """

    _scope = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units,
        memory,
        memory_sequence_length=None,
        normalize=False,
        score_mask_value=None,
        sigmoid_noise=0.0,
        sigmoid_noise_seed=None,
        score_bias_init=0.0,
        mode="parallel",
        dtype=None,
        name="BahdanauMonotonicAttention",
    ):
        query_layer, memory_layer = self._init_bahdanau(num_units, normalize, name, dtype)
        super().__init__(
            query_layer=query_layer,
            memory_layer=memory_layer,
            memory=memory,
            probability_fn=self._init_monotonic(score_bias_init, sigmoid_noise, sigmoid_noise_seed, mode),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )


class LuongMonotonicAttention(_MonotonicScores, _LuongScores, _BaseMonotonicAttentionMechanism, _SoftAttention):
    """Monotonic attention with multiplicative scores and a learnt bias, "attention_score_bias".

    Args:
      num_units: size of keys and queries.
      memory: [batch, time, size].
      memory_sequence_length: [batch], entries past it get no attention.
      scale: as in `LuongAttention`.
      score_mask_value: score of entries past the end, minus infinity by default.
      sigmoid_noise: deviation of the noise on scores while training.
      sigmoid_noise_seed: seed of the noise.
      score_bias_init: initial bias.
      mode: as in `monotonic_attention`.
      dtype: of the layers.
      name: name scope.
    """

    _scope = "luong_monotonic_attention"

    def __init__(
        self,
        num_units,
        memory,
        memory_sequence_length=None,
        scale=False,
        score_mask_value=None,
        sigmoid_noise=0.0,
        sigmoid_noise_seed=None,
        score_bias_init=0.0,
        mode="parallel",
        dtype=None,
        name="LuongMonotonicAttention",
    ):
        super().__init__(
            query_layer=None,
            memory_layer=self._init_luong(num_units, scale, name, dtype),
            memory=memory,
            probability_fn=self._init_monotonic(score_bias_init, sigmoid_noise, sigmoid_noise_seed, mode),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )


def hardmax(logits, name=None):
    """1 at the greatest logit of the last dimension, 0 elsewhere, in the type of `logits`."""
    with tf.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        return tf.one_hot(tf.argmax(logits, -1), _known(logits, -1), dtype=logits.dtype)
