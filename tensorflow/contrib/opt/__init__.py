"""Optimizers on the interface of `tf.train.Optimizer`."""

from tensorflow.contrib.opt.adam_gs_optimizer import (
    AdamGSOptimizer,
)
from tensorflow.contrib.opt.adamax import (
    AdaMaxOptimizer,
)
from tensorflow.contrib.opt.addsign import (
    AddSignOptimizer,
)
from tensorflow.contrib.opt.agn_optimizer import (
    AGNCustomGetter,
    AGNOptimizer,
)
from tensorflow.contrib.opt.drop_stale_gradient_optimizer import (
    DropStaleGradientOptimizer,
)
from tensorflow.contrib.opt.elastic_average_optimizer import (
    ElasticAverageCustomGetter,
    ElasticAverageOptimizer,
)
from tensorflow.contrib.opt.external_optimizer import (
    ExternalOptimizerInterface,
    ScipyOptimizerInterface,
)
from tensorflow.contrib.opt.ggt import (
    GGTOptimizer,
)
from tensorflow.contrib.opt.lars_optimizer import (
    LARSOptimizer,
)
from tensorflow.contrib.opt.lazy_adam_gs_optimizer import (
    LazyAdamGSOptimizer,
)
from tensorflow.contrib.opt.lazy_adam_optimizer import (
    LazyAdamOptimizer,
)
from tensorflow.contrib.opt.model_average_optimizer import (
    ModelAverageCustomGetter,
    ModelAverageOptimizer,
)
from tensorflow.contrib.opt.moving_average_optimizer import (
    MovingAverageOptimizer,
)
from tensorflow.contrib.opt.multitask_optimizer_wrapper import (
    MultitaskOptimizerWrapper,
    clip_gradients_by_global_norm,
)
from tensorflow.contrib.opt.nadam_optimizer import (
    NadamOptimizer,
)
from tensorflow.contrib.opt.powersign import (
    PowerSignOptimizer,
)
from tensorflow.contrib.opt.reg_adagrad_optimizer import (
    RegAdagradOptimizer,
)
from tensorflow.contrib.opt.shampoo import (
    ShampooOptimizer,
)
from tensorflow.contrib.opt.variable_clipping_optimizer import (
    VariableClippingOptimizer,
)
from tensorflow.contrib.opt.weight_decay_optimizers import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    MomentumWOptimizer,
    extend_with_decoupled_weight_decay,
)

__all__ = [
    "AGNCustomGetter",
    "AGNOptimizer",
    "AdaMaxOptimizer",
    "AdamGSOptimizer",
    "AdamWOptimizer",
    "AddSignOptimizer",
    "DecoupledWeightDecayExtension",
    "DropStaleGradientOptimizer",
    "ElasticAverageCustomGetter",
    "ElasticAverageOptimizer",
    "ExternalOptimizerInterface",
    "GGTOptimizer",
    "LARSOptimizer",
    "LazyAdamGSOptimizer",
    "LazyAdamOptimizer",
    "ModelAverageCustomGetter",
    "ModelAverageOptimizer",
    "MomentumWOptimizer",
    "MovingAverageOptimizer",
    "MultitaskOptimizerWrapper",
    "NadamOptimizer",
    "PowerSignOptimizer",
    "RegAdagradOptimizer",
    "ScipyOptimizerInterface",
    "ShampooOptimizer",
    "VariableClippingOptimizer",
    "clip_gradients_by_global_norm",
    "extend_with_decoupled_weight_decay",
]
