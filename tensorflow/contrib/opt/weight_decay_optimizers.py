"""Decoupled weight decay for any optimizer; `tf.train` has it too."""

from tensorflow.deeprec.optimizers.weight_decay_optimizers import (
    AdamWOptimizer as AdamWOptimizer,
    DecoupledWeightDecayExtension,
    extend_with_decoupled_weight_decay as extend_with_decoupled_weight_decay,
)
from tensorflow.python.training import momentum as momentum_lib


class MomentumWOptimizer(DecoupledWeightDecayExtension, momentum_lib.MomentumOptimizer):
    """Momentum with decoupled weight decay (SGDW).

    Args:
      weight_decay: as for `DecoupledWeightDecayExtension`.
      learning_rate, momentum, use_locking, name, use_nesterov: as for `tf.train.MomentumOptimizer`.
    """

    def __init__(self, weight_decay, learning_rate, momentum, use_locking=False, name="MomentumW", use_nesterov=False):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )
