"""Optimizers' updates that count the ops of 1.15's: variables made after `minimize()` take their op seeds from that (`op_seeds`).

DeepRec's optimizers (`tensorflow.deeprec.optimizers`) update the rows of a sparse gradient in one op, where 1.15 summed equal
indices in the graph and composed some of the updates.
"""

import functools

from tensorflow.api_v1.restored.op_counts import add_missing, counting
from tensorflow.deeprec.optimizers import adagrad, adam, fused_sparse, ftrl, gradient_descent, momentum, rmsprop
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.training import ftrl as released_ftrl
from tensorflow.python.training import sync_replicas_optimizer

# Unique, the number of its rows (a shape, three bounds, a slice), and the sum.
_SUM_OF_EQUAL_INDICES = 7
# Ops of 1.15 less the one op.
_COMPOSED = {
    "SparseApplyGradientDescent": 1,
    "ResourceSparseApplyGradientDescent": 3,
    "SparseApplyAdam": 32,
    "ResourceSparseApplyAdam": 39,
}


def install() -> None:
    for cls in (
        adagrad.AdagradOptimizer,
        adam.AdamOptimizer,
        ftrl.FtrlOptimizer,
        gradient_descent.GradientDescentOptimizer,
        momentum.MomentumOptimizer,
        rmsprop.RMSPropOptimizer,
    ):
        for name in ("_apply_sparse_duplicate_indices", "_resource_apply_sparse_duplicate_indices"):
            setattr(cls, name, _sparse_update(getattr(cls, name)))
    sync = sync_replicas_optimizer.SyncReplicasOptimizer
    # A queue that was only there to be closed.
    sync.apply_gradients = counting(1)(sync.apply_gradients)
    released_ftrl.FtrlOptimizer._create_slots = _ftrl_slots(released_ftrl.FtrlOptimizer._create_slots)
    released_ftrl.FtrlOptimizer._prepare = _ftrl_prepare(released_ftrl.FtrlOptimizer._prepare)


def _sparse_update(made):
    @functools.wraps(made)
    def update(self, *args):
        result = made(self, *args)
        if not context.executing_eagerly():
            op = result if isinstance(result, ops.Operation) else result.op
            sums = fused_sparse._SUM_DUPLICATES in op.node_def.attr
            count = _COMPOSED.get(op.type, _SUM_OF_EQUAL_INDICES if sums else 0)
            if op.type in _COMPOSED and any(value.op.type == "Unique" for value in op.inputs):
                # A subclass got unique indices.
                count -= _SUM_OF_EQUAL_INDICES
            add_missing(ops.get_default_graph(), count)
        return result

    return update


def _ftrl_slots(released):
    """The accumulator's start was one constant for each call, not an initializer of three ops for each slot."""

    @functools.wraps(released)
    def create_slots(self, var_list):
        new = sum(self.get_slot(variable, "accum") is None for variable in var_list)
        released(self, var_list)
        if not context.executing_eagerly():
            add_missing(ops.get_default_graph(), len(var_list) - 3 * new)

    return create_slots


def _ftrl_prepare(released):
    """1.15 had no beta, whose share in the second penalty takes ops even where it is 0."""

    @functools.wraps(released)
    def prepare(self):
        if self._beta != 0.0 or context.executing_eagerly():
            return released(self)
        for name in ("learning_rate", "l1_regularization_strength", "l2_regularization_strength"):
            attribute = name.replace("l2_", "adjusted_l2_")
            setattr(self, f"_{attribute}_tensor", ops.convert_to_tensor(getattr(self, f"_{name}"), name=name))
        for name in ("l2_shrinkage_regularization_strength", "learning_rate_power"):
            setattr(self, f"_{name}_tensor", ops.convert_to_tensor(getattr(self, f"_{name}"), name=name))

    return prepare
