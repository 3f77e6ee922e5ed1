"""Optimizers of both APIs: `OptimizerWrapper` and `SGD` of the newer, `Adam` of the older."""

from sparse_operation_kit.optimizers.adam import Adam
from sparse_operation_kit.optimizers.sgd import SGD
from sparse_operation_kit.optimizers.wrapper import OptimizerWrapper

__all__ = ["SGD", "Adam", "OptimizerWrapper"]
