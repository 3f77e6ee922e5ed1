"""Learning rate schedules that tf.keras lost: linear cosine decay, plain and noisy (Bello et al. 2017)."""

import math

import tensorflow as tf
from tf_keras.src.optimizers.schedules import learning_rate_schedule


class LinearCosineDecay(learning_rate_schedule.LearningRateSchedule):
    """initial * ((alpha + 1 - t) * (1 + cos(2 pi num_periods t)) / 2 + beta) with t = min(step, decay_steps) / decay_steps.

    Args:
      initial_learning_rate: a float or a float scalar tensor.
      decay_steps: an int or an int scalar tensor, > 0.
      num_periods, alpha, beta: floats of the formula.
      name: scope of the ops.
    """

    _NOISE = False

    def __init__(self, initial_learning_rate, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
        super().__init__()
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.num_periods = num_periods
        self.alpha = alpha
        self.beta = beta
        self.name = name

    def _noise(self, step, dtype):
        return tf.zeros([], dtype)

    def __call__(self, step):
        with tf.name_scope(self.name or type(self).__name__):
            rate = tf.convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            dtype = rate.dtype
            steps = tf.cast(self.decay_steps, dtype)
            step = tf.minimum(tf.cast(step, dtype), steps)
            done = step / steps
            fraction = tf.cast(self.num_periods, dtype) * done
            cosine = 0.5 * (1.0 + tf.cos(tf.constant(2 * math.pi, dtype) * fraction))
            linear = (steps - step) / steps + self._noise(step, dtype)
            decayed = (tf.cast(self.alpha, dtype) + linear) * cosine + tf.cast(self.beta, dtype)
            return tf.multiply(rate, decayed)

    def get_config(self):
        names = ("initial_learning_rate", "decay_steps", "num_periods", "alpha", "beta", "name")
        return {name: getattr(self, name) for name in names}


class NoisyLinearCosineDecay(LinearCosineDecay):
    """LinearCosineDecay whose linear part gets normal noise of variance initial_variance / (1 + step)^variance_decay."""

    def __init__(
        self,
        initial_learning_rate,
        decay_steps,
        initial_variance=1.0,
        variance_decay=0.55,
        num_periods=0.5,
        alpha=0.0,
        beta=0.001,
        name=None,
    ):
        super().__init__(initial_learning_rate, decay_steps, num_periods, alpha, beta, name)
        self.initial_variance = initial_variance
        self.variance_decay = variance_decay

    def _noise(self, step, dtype):
        variance = tf.cast(self.initial_variance, dtype) / tf.pow(1.0 + step, tf.cast(self.variance_decay, dtype))
        return tf.random_normal(tf.shape(step), stddev=tf.sqrt(variance), dtype=dtype)

    def get_config(self):
        config = {"initial_variance": self.initial_variance, "variance_decay": self.variance_decay}
        return {**super().get_config(), **config}
