"""`tf.train.AdagradDecayOptimizerV2`: AdagradDecay with one power per row."""

from tensorflow.deeprec.optimizers import adagrad_decay


class AdagradDecayOptimizerV2(adagrad_decay.AdagradDecayOptimizer):
    """`tf.train.AdagradDecayOptimizer` that keeps one `accumulator_decay_power` per row of a variable, not per element.

    The formula, arguments, errors and variable names are the same. The power of a variable of shape `[rows, ...]` has shape
    `[rows]`, that of a scalar is a scalar; so checkpoints of the two do not restore into each other.
    """

    def _power_dims(self, shape):
        return 1
