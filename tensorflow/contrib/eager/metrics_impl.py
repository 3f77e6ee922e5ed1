"""Metrics as objects, for eager execution and graphs alike."""

import tensorflow as tf
from tensorflow.python.trackable import autotrackable

from tensorflow.contrib.summary import summary


class Metric(autotrackable.AutoTrackable):
    """A metric: `build` makes variables with `add_variable`, `call` updates them, `result` reads the value.

    Eager: `metric(...)` updates, `metric.result()` is the value, `metric.init_variables()` starts anew. In graphs these are
    ops, the last one to be run once before.

    Args:
      name: of the metric, the class's by default.
      use_global_variables: whether variables are global ones, else local ones.
    """

    def __init__(self, name=None, use_global_variables=False):
        self._name = name or type(self).__name__
        self._built = False
        self._use_global_variables = use_global_variables
        self._metric_variables = []
        self._updates = []

    def __call__(self, *args, **kwargs):
        """Updates the variables; the first call makes them. Returns what `call` returns, in graphs once it has run."""
        if not self._built:
            with tf.variable_scope(None, self._name):
                self.build(*args, **kwargs)
            self._built = True
        return self.call(*args, **kwargs)

    @property
    def name(self):
        return self._name

    @property
    def variables(self):
        return list(self._metric_variables)

    def init_variables(self):
        """Sets the variables to their first values: at once if eager, else an op.

        Raises:
          RuntimeError: there are none yet.
        """
        if not self._built:
            raise RuntimeError("Metric.init_variables() must be called after the metric's first call")
        if tf.executing_eagerly():
            for variable, first in zip(self._metric_variables, self._firsts):
                variable.assign(first(variable.shape, variable.dtype))
            return None
        return tf.group(*[v.initializer for v in self._metric_variables])

    def value(self):
        """The value: a tensor in graphs, the method `result` if eager."""
        return self.result if tf.executing_eagerly() else self.result()

    def build(self, *args, **kwargs):
        """Makes variables; gets the arguments of the first call."""

    def call(self, *args, **kwargs):
        """Updates the variables."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self):
        """Computes the value from the variables."""
        raise NotImplementedError("Metrics must define a result() member function")

    def aggregate(self, metrics):
        """Adds the variables of other metrics of this class to this one's: at once if eager, else an op."""
        updates = [
            mine.assign_add(other)
            for metric in metrics
            for mine, other in zip(self._metric_variables, metric._metric_variables)
        ]
        return None if tf.executing_eagerly() else tf.group(*updates)

    def add_variable(self, name, shape=None, dtype=None, initializer=None):
        """Makes a variable; for `build`.

        Raises:
          RuntimeError: called elsewhere.
        """
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        collection = tf.GraphKeys.GLOBAL_VARIABLES if self._use_global_variables else tf.GraphKeys.LOCAL_VARIABLES
        collections = None if tf.executing_eagerly() else [collection, tf.GraphKeys.METRIC_VARIABLES]
        initializer = initializer or tf.zeros_initializer()
        variable = tf.get_variable(
            name, shape, dtype, initializer, trainable=False, collections=collections, use_resource=True
        )
        self._metric_variables.append(variable)
        self._firsts = getattr(self, "_firsts", []) + [initializer]
        return variable


class Mean(Metric):
    """The weighted mean of the values seen.

    Args:
      name: of the metric.
      dtype: of the sums, float64 by default.
      use_global_variables: see `Metric`.
    """

    def __init__(self, name=None, dtype=tf.float64, use_global_variables=False):
        super().__init__(name=name, use_global_variables=use_global_variables)
        self.dtype = tf.float64 if dtype is None else dtype

    def build(self, *args, **kwargs):
        del args, kwargs
        self.numer = self.add_variable(name="numer", shape=(), dtype=self.dtype)
        self.denom = self.add_variable(name="denom", shape=(), dtype=self.dtype)

    def call(self, values, weights=None):
        """Adds `values`, weighted by what broadcasts against them; returns the arguments."""
        as_sums = tf.cast(values, self.dtype)
        if weights is None:
            count, total = tf.cast(tf.size(as_sums), self.dtype), tf.reduce_sum(as_sums)
        else:
            broadcast = tf.cast(weights, self.dtype) * tf.ones_like(as_sums)
            count, total = tf.reduce_sum(broadcast), tf.reduce_sum(broadcast * as_sums)
        updates = [self.denom.assign_add(count), self.numer.assign_add(total)]
        given = values if weights is None else (values, weights)
        if tf.executing_eagerly():
            return given
        with tf.control_dependencies(updates):
            return tf.nest.map_structure(tf.identity, given)

    def result(self, write_summary=True):
        """The mean.

        Args:
          write_summary: whether the default `tf.contrib.summary` writer, if any, gets it by the name of the metric.
        """
        mean = self.numer / self.denom
        if write_summary:
            summary.scalar(name=self.name, tensor=mean)
        return mean


class _Matches(Mean):
    def __init__(self, name=None, dtype=tf.float64):
        super().__init__(name=name, dtype=dtype)

    def _matches(self, labels, predictions):
        raise NotImplementedError

    def call(self, labels, predictions, weights=None):
        """Adds a batch; returns the arguments.

        Raises:
          ValueError: shapes do not fit.
        """
        labels, predictions = tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions)
        weights = None if weights is None else tf.convert_to_tensor(weights)
        matches = tf.cast(self._matches(labels, predictions), self.dtype)
        updated = super().call(matches, weights=weights)
        if not tf.executing_eagerly():
            with tf.control_dependencies(tf.nest.flatten(updated)):
                labels, predictions = tf.identity(labels), tf.identity(predictions)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


def _same_shape(labels, predictions, message):
    if not labels.shape.is_compatible_with(predictions.shape):
        raise ValueError(f"{message}: labels {labels.shape}, predictions {predictions.shape}")


class Accuracy(_Matches):
    """How often predictions equal labels."""

    def _matches(self, labels, predictions):
        _same_shape(labels, predictions, "Shapes of labels and predictions are unequal")
        return tf.equal(labels, tf.cast(predictions, labels.dtype))


class CategoricalAccuracy(_Matches):
    """How often the greatest prediction is where the one-hot label is."""

    def _matches(self, labels, predictions):
        _same_shape(labels, predictions, "Shapes of labels and predictions are unequal")
        return tf.equal(tf.argmax(labels, axis=-1), tf.argmax(predictions, axis=-1))


class BinaryAccuracy(_Matches):
    """How often predictions are on the labels' side of `threshold`."""

    def __init__(self, threshold, name=None, dtype=tf.float64):
        super().__init__(name=name, dtype=dtype)
        self.threshold = threshold

    def _matches(self, labels, predictions):
        _same_shape(labels, predictions, "Shapes of labels and predictions are unequal")
        return tf.equal(tf.cast(labels, tf.bool), predictions > tf.cast(self.threshold, predictions.dtype))


class SparseAccuracy(_Matches):
    """How often the greatest prediction is at the label's number."""

    def _matches(self, labels, predictions):
        _same_shape(labels, predictions[..., 0], "First axis of labels and predictions is unequal")
        return tf.equal(tf.cast(tf.argmax(predictions, axis=-1), tf.int64), tf.cast(labels, tf.int64))
