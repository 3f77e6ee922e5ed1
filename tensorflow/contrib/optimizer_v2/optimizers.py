"""The second optimizer API of 1.15's contrib, over the optimizers of `tf.train`, which compute the same."""

import tensorflow as tf

OptimizerV2 = tf.train.Optimizer


class AdadeltaOptimizer(tf.train.AdadeltaOptimizer):
    """`tf.train.AdadeltaOptimizer`."""


class AdagradOptimizer(tf.train.AdagradOptimizer):
    """`tf.train.AdagradOptimizer`."""


class AdamOptimizer(tf.train.AdamOptimizer):
    """`tf.train.AdamOptimizer`."""


class GradientDescentOptimizer(tf.train.GradientDescentOptimizer):
    """`tf.train.GradientDescentOptimizer`."""


class MomentumOptimizer(tf.train.MomentumOptimizer):
    """`tf.train.MomentumOptimizer`."""


class RMSPropOptimizer(tf.train.RMSPropOptimizer):
    """`tf.train.RMSPropOptimizer`, with `centered` before `name`."""

    def __init__(
        self,
        learning_rate,
        decay=0.9,
        momentum=0.0,
        epsilon=1e-10,
        use_locking=False,
        centered=False,
        name="RMSProp",
    ):
        super().__init__(learning_rate, decay, momentum, epsilon, use_locking, centered, name)
