"""Scales of losses for training in half precision (Micikevicius et al. 2018, arXiv:1710.03740)."""

import abc

import tensorflow as tf


class LossScaleManager(metaclass=abc.ABCMeta):
    """Gives the factor of the loss, and learns from whether gradients were finite."""

    @abc.abstractmethod
    def get_loss_scale(self):
        """Scalar float32 tensor."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads):
        """Op that takes notice of a scalar bool: whether all gradients of the step were finite."""


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays.

    Args:
      loss_scale: number, at least 1.

    Raises:
      ValueError: `loss_scale` is less than 1.
    """

    def __init__(self, loss_scale):
        if loss_scale < 1:
            raise ValueError(f"loss scale must be at least 1, got {loss_scale}")
        self._loss_scale = tf.convert_to_tensor(loss_scale, dtype=tf.float32)

    def get_loss_scale(self):
        return self._loss_scale

    def update_loss_scale(self, finite_grads):
        del finite_grads
        return tf.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after some good steps and shrinks after some bad ones.

    Args:
      init_loss_scale: the first scale.
      incr_every_n_steps: the scale grows after as many good steps in a row.
      decr_every_n_nan_or_inf: it shrinks after as many bad steps.
      incr_ratio: factor of growth.
      decr_ratio: factor of shrinking; the scale never goes below 1.
    """

    def __init__(self, init_loss_scale, incr_every_n_steps, decr_every_n_nan_or_inf=2, incr_ratio=2, decr_ratio=0.8):
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        self._loss_scale = tf.Variable(
            name="loss_scale", initial_value=tf.cast(init_loss_scale, tf.float32), dtype=tf.float32, trainable=False
        )
        self._num_good_steps = tf.Variable(name="good_steps", initial_value=0, dtype=tf.int32, trainable=False)
        self._num_bad_steps = tf.Variable(name="bad_steps", initial_value=0, dtype=tf.int32, trainable=False)

    def get_loss_scale(self):
        return self._loss_scale

    def _reset(self):
        return tf.group(tf.assign(self._num_good_steps, 0), tf.assign(self._num_bad_steps, 0))

    def update_loss_scale(self, finite_grads):
        scale = self._loss_scale

        def good():
            def grow():
                grown = scale * self._incr_ratio
                # A scale that overflows stays.
                return tf.group(tf.assign(scale, tf.where(tf.is_finite(grown), grown, scale)), self._reset())

            full = self._num_good_steps + 1 >= self._incr_every_n_steps
            return tf.cond(full, grow, lambda: tf.group(tf.assign_add(self._num_good_steps, 1).op))

        def bad():
            def shrink():
                smaller = tf.maximum(1.0, scale * self._decr_ratio)
                return tf.group(tf.assign(scale, smaller), self._reset())

            def count():
                return tf.group(tf.assign_add(self._num_bad_steps, 1), tf.assign(self._num_good_steps, 0))

            return tf.cond(self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf, shrink, count)

        return tf.cond(finite_grads, good, bad)
