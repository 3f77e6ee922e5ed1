"""Helpers: where a decoder's next inputs come from."""

import abc

import tensorflow as tf
from tensorflow.python.ops.rnn import _transpose_batch_time
from tensorflow.python.util import nest

from tensorflow.contrib.seq2seq.sampler import bernoulli_sample, categorical_sample


class Helper(metaclass=abc.ABCMeta):
    """Samples ids from outputs and makes the next inputs of them. The decoder calls the methods in that order."""

    @property
    @abc.abstractmethod
    def batch_size(self):
        """Scalar int32: number of sequences."""
        raise NotImplementedError

    @property
    @abc.abstractmethod
    def sample_ids_shape(self):
        """Shape of the sampled ids of one sequence."""
        raise NotImplementedError

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self):
        """Type of the sampled ids."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name=None):
        """Returns (finished [batch] bool, first inputs)."""

    @abc.abstractmethod
    def sample(self, time, outputs, state, name=None):
        """Returns sampled ids."""

    @abc.abstractmethod
    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        """Returns (finished, next inputs, next state)."""


class CustomHelper(Helper):
    """A helper of three functions.

    Args:
      initialize_fn: () -> (finished, first inputs).
      sample_fn: (time, outputs, state) -> sampled ids.
      next_inputs_fn: (time, outputs, state, sample_ids) -> (finished, next inputs, next state).
      sample_ids_shape: shape of the ids of one sequence, scalar by default.
      sample_ids_dtype: type of the ids, int32 by default.
    """

    def __init__(self, initialize_fn, sample_fn, next_inputs_fn, sample_ids_shape=None, sample_ids_dtype=None):
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = None
        self._sample_ids_shape = tf.TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or tf.int32

    @property
    def batch_size(self):
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self):
        return self._sample_ids_dtype

    def initialize(self, name=None):
        with tf.name_scope(name, f"{type(self).__name__}Initialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = tf.size(finished)
        return finished, inputs

    def sample(self, time, outputs, state, name=None):
        with tf.name_scope(name, f"{type(self).__name__}Sample", (time, outputs, state)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with tf.name_scope(name, f"{type(self).__name__}NextInputs", (time, outputs, state)):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class _IdHelper(Helper):
    """A helper whose sampled ids are int32 scalars."""

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self):
        return tf.int32


class TrainingHelper(_IdHelper):
    """Reads the inputs from given sequences and samples the id of the greatest output.

    Args:
      inputs: structure of [batch, time, ...], or [time, batch, ...] if `time_major`.
      sequence_length: [batch] int32.
      time_major: whether time is the first dimension.
      name: name scope.

    Raises:
      ValueError: `sequence_length` is no vector.
    """

    def __init__(self, inputs, sequence_length, time_major=False, name=None):
        with tf.name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = nest.map_structure(lambda t: tf.convert_to_tensor(t, name="inputs"), inputs)
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(_transpose_batch_time, inputs)
            self._input_tas = nest.map_structure(_unstack_ta, inputs)
            self._sequence_length = tf.convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError(
                    f"Expected sequence_length to be a vector, but received shape: {self._sequence_length.shape}"
                )
            self._zero_inputs = nest.map_structure(lambda t: tf.zeros_like(t[0, :]), inputs)
            self._start_inputs = self._zero_inputs
            # Of what was given: of a list a constant is made again, as in 1.15, whose default seeds count ops.
            self._batch_size = tf.size(sequence_length)

    @property
    def inputs(self):
        return self._inputs

    @property
    def sequence_length(self):
        return self._sequence_length

    def _read(self, time, finished):
        """The inputs of step `time`, zeros once all are finished (there may be nothing to read)."""
        return tf.cond(
            tf.reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda array: array.read(time), self._input_tas),
        )

    def initialize(self, name=None):
        with tf.name_scope(name, "TrainingHelperInitialize"):
            finished = tf.equal(0, self._sequence_length)
            return finished, self._read(0, finished)

    def sample(self, time, outputs, state, name=None):
        del state
        with tf.name_scope(name, "TrainingHelperSample", [time, outputs]):
            return tf.cast(tf.argmax(outputs, axis=-1), tf.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        del outputs, sample_ids
        with tf.name_scope(name, "TrainingHelperNextInputs", [time, state]):
            following = time + 1
            finished = following >= self._sequence_length
            return finished, self._read(following, finished), state


def _unstack_ta(tensor):
    """A TensorArray of the slices of `tensor` along its first dimension."""
    return tf.TensorArray(dtype=tensor.dtype, size=tf.shape(tensor)[0], element_shape=tensor.shape[1:]).unstack(tensor)


def _embedding_function(embedding):
    return embedding if callable(embedding) else lambda ids: tf.nn.embedding_lookup(embedding, ids)


def _scatter_rows(new, sampled, not_sampled, base, shape):
    """Rows `sampled` of the result are `new`, rows `not_sampled` are `base`."""
    return tf.scatter_nd(indices=sampled, updates=new, shape=shape) + tf.scatter_nd(
        indices=not_sampled, updates=base, shape=shape
    )


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """A `TrainingHelper` that now and then feeds the embedding of an id drawn from the outputs (arXiv:1506.03099).

    Sampled ids are -1 where the given input is used.

    Args:
      inputs: [batch, time, ...], or [time, batch, ...] if `time_major`.
      sequence_length: [batch] int32.
      embedding: function of ids, or `params` of `tf.nn.embedding_lookup`.
      sampling_probability: scalar or [batch], the probability of drawing.
      time_major: whether time is the first dimension.
      seed: seed of the ids.
      scheduling_seed: seed of the choice.
      name: name scope.

    Raises:
      ValueError: `sampling_probability` is no scalar or vector.
    """

    def __init__(
        self,
        inputs,
        sequence_length,
        embedding,
        sampling_probability,
        time_major=False,
        seed=None,
        scheduling_seed=None,
        name=None,
    ):
        with tf.name_scope(name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]):
            self._embedding_fn = _embedding_function(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def initialize(self, name=None):
        return super().initialize(name=name)

    def sample(self, time, outputs, state, name=None):
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            chosen = bernoulli_sample(
                probs=self._sampling_probability,
                dtype=tf.bool,
                sample_shape=_choices(self._sampling_probability, self.batch_size),
                seed=self._scheduling_seed,
            )
            drawn = categorical_sample(logits=outputs, seed=self._seed)
            return tf.where(chosen, drawn, tf.fill([self.batch_size], -1))

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, base, state = super().next_inputs(time, outputs, state, sample_ids, name=name)

            def mix():
                sampled = tf.cast(tf.where(sample_ids > -1), tf.int32)
                kept = tf.cast(tf.where(sample_ids <= -1), tf.int32)
                embedded = self._embedding_fn(tf.gather_nd(sample_ids, sampled))
                return _scatter_rows(embedded, sampled, kept, tf.gather_nd(base, kept), tf.shape(base))

            next_inputs = tf.cond(tf.reduce_all(finished), lambda: base, mix)
            return finished, next_inputs, state


def _probability(value):
    value = tf.convert_to_tensor(value, name="sampling_probability")
    if value.shape.ndims not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {value.shape}")
    return value


def _choices(probability, batch_size):
    """The sample shape that gives one choice for each sequence."""
    return batch_size if probability.shape.ndims == 0 else ()


class ScheduledOutputTrainingHelper(TrainingHelper):
    """A `TrainingHelper` that now and then feeds the last outputs instead of the given inputs.

    Args:
      inputs: [batch, time, ...], or [time, batch, ...] if `time_major`.
      sequence_length: [batch] int32.
      sampling_probability: scalar or [batch], the probability of feeding outputs.
      time_major: whether time is the first dimension.
      seed: seed of the choice.
      next_inputs_fn: applied to the outputs before they are fed; none by default.
      auxiliary_inputs: further inputs that are appended to both, shaped like `inputs`.
      name: name scope.

    Raises:
      ValueError: `sampling_probability` is no scalar or vector.
    """

    def __init__(
        self,
        inputs,
        sequence_length,
        sampling_probability,
        time_major=False,
        seed=None,
        next_inputs_fn=None,
        auxiliary_inputs=None,
        name=None,
    ):
        with tf.name_scope(name, "ScheduledOutputTrainingHelper", [inputs, auxiliary_inputs, sampling_probability]):
            self._sampling_probability = _probability(sampling_probability)
            if auxiliary_inputs is None:
                joined = inputs
            else:
                inputs = tf.convert_to_tensor(inputs, name="inputs")
                auxiliary_inputs = tf.convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                joined = nest.map_structure(lambda a, b: tf.concat((a, b), -1), inputs, auxiliary_inputs)
                if not time_major:
                    auxiliary_inputs = nest.map_structure(_transpose_batch_time, auxiliary_inputs)
            self._auxiliary_input_tas = None
            if auxiliary_inputs is not None:
                self._auxiliary_input_tas = nest.map_structure(_unstack_ta, auxiliary_inputs)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs=joined, sequence_length=sequence_length, time_major=time_major, name=name)

    def initialize(self, name=None):
        return super().initialize(name=name)

    def sample(self, time, outputs, state, name=None):
        with tf.name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return bernoulli_sample(
                probs=self._sampling_probability,
                sample_shape=_choices(self._sampling_probability, self.batch_size),
                seed=self._seed,
            )

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with tf.name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, base, state = super().next_inputs(time, outputs, state, sample_ids, name=name)
            sample_ids = tf.cast(sample_ids, tf.bool)

            def with_auxiliary(fed, indices=None):
                if self._auxiliary_input_tas is None:
                    return fed
                more = nest.map_structure(lambda array: array.read(time + 1), self._auxiliary_input_tas)
                if indices is not None:
                    more = tf.gather_nd(more, indices)
                return nest.map_structure(lambda a, b: tf.concat((a, b), -1), fed, more)

            def mix():
                if self._next_inputs_fn is None:
                    return tf.where(sample_ids, with_auxiliary(outputs), base)
                sampled = tf.cast(tf.where(sample_ids), tf.int32)
                kept = tf.cast(tf.where(tf.logical_not(sample_ids)), tf.int32)
                fed = with_auxiliary(self._next_inputs_fn(tf.gather_nd(outputs, sampled)), sampled)
                return _scatter_rows(fed, sampled, kept, tf.gather_nd(base, kept), tf.shape(base))

            nothing_sampled = tf.logical_or(tf.reduce_all(finished), tf.logical_not(tf.reduce_any(sample_ids)))
            return finished, tf.cond(nothing_sampled, lambda: base, mix), state


class GreedyEmbeddingHelper(_IdHelper):
    """Feeds the embedding of the id with the greatest output.

    Args:
      embedding: function of ids, or `params` of `tf.nn.embedding_lookup`.
      start_tokens: [batch] int32.
      end_token: scalar int32, ends a sequence.

    Raises:
      ValueError: `start_tokens` is no vector or `end_token` no scalar.
    """

    def __init__(self, embedding, start_tokens, end_token):
        self._embedding_fn = _embedding_function(embedding)
        self._start_tokens = tf.convert_to_tensor(start_tokens, dtype=tf.int32, name="start_tokens")
        self._end_token = tf.convert_to_tensor(end_token, dtype=tf.int32, name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError(f"start_tokens must be a vector, got shape {self._start_tokens.shape}")
        self._batch_size = tf.size(start_tokens)
        if self._end_token.shape.ndims != 0:
            raise ValueError(f"end_token must be a scalar, got shape {self._end_token.shape}")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name=None):
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        del time, state
        if not isinstance(outputs, tf.Tensor):
            raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        del time, outputs
        finished = tf.equal(sample_ids, self._end_token)
        next_inputs = tf.cond(
            tf.reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids)
        )
        return finished, next_inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Feeds the embedding of an id drawn from softmax(outputs / temperature).

    Args:
      embedding: function of ids, or `params` of `tf.nn.embedding_lookup`.
      start_tokens: [batch] int32.
      end_token: scalar int32, ends a sequence.
      softmax_temperature: scalar; 1 by default, more is more random.
      seed: seed of the ids.
    """

    def __init__(self, embedding, start_tokens, end_token, softmax_temperature=None, seed=None):
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(self, time, outputs, state, name=None):
        del time, state
        if not isinstance(outputs, tf.Tensor):
            raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
        logits = outputs if self._softmax_temperature is None else outputs / self._softmax_temperature
        return categorical_sample(logits=logits, seed=self._seed)


class InferenceHelper(Helper):
    """Feeds what a function makes of the sample.

    Args:
      sample_fn: outputs -> sample.
      sample_shape: shape of the sample of one sequence.
      sample_dtype: type of the sample.
      start_inputs: [batch, ...] the first inputs.
      end_fn: sample -> [batch] bool, whether sequences end.
      next_inputs_fn: sample -> inputs; by default the sample itself.
    """

    def __init__(self, sample_fn, sample_shape, sample_dtype, start_inputs, end_fn, next_inputs_fn=None):
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._sample_shape = tf.TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = tf.shape(start_inputs)[0]
        self._start_inputs = tf.convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return self._sample_shape

    @property
    def sample_ids_dtype(self):
        return self._sample_dtype

    def initialize(self, name=None):
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        del time, state
        return self._sample_fn(outputs)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        del time, outputs
        next_inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), next_inputs, state
