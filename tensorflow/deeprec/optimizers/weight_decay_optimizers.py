"""Decoupled weight decay for any optimizer (Loshchilov and Hutter, https://arxiv.org/abs/1711.05101)."""

import numbers

from tensorflow.api_v1.restored import op_counts
from tensorflow.deeprec.optimizers import adam, fused_sparse
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, control_flow_ops, math_ops, state_ops, variables
from tensorflow.python.training import optimizer


class DecoupledWeightDecayExtension:
    """Base class that stands before an optimizer's, and makes variables decay before each update.

        class AdamWOptimizer(DecoupledWeightDecayExtension, tf.train.AdamOptimizer): ...

    The optimizer must not read the variable in its update. Of a sparse gradient, the rows that it names decay, each once.

    EmbeddingVariables decay, key by key, under AdamW and other extensions of `tf.train.AdamOptimizer`; with other optimizers,
    training one that is to decay raises NotImplementedError.

    Args:
      weight_decay: float, tensor or function: a variable loses this part of itself in each step. It is not multiplied by the learning
        rate: decay it likewise.
      **kwargs: arguments of the optimizer.
    """

    def __init__(self, weight_decay, **kwargs):
        self._decay_var_list = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor = None
        super().__init__(**kwargs)

    def minimize(
        self,
        loss,
        global_step=None,
        var_list=None,
        gate_gradients=optimizer.Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        name=None,
        grad_loss=None,
        decay_var_list=None,
    ):
        """`tf.train.Optimizer.minimize`; `decay_var_list` are the variables that decay, all if None or empty."""
        self._pending_decay_list = decay_var_list
        try:
            return super().minimize(
                loss,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            )
        finally:
            self._pending_decay_list = None

    # What minimize() got, for the apply_gradients() that it calls.
    _pending_decay_list = None

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, decay_var_list=None):
        """`tf.train.Optimizer.apply_gradients`; `decay_var_list` are the variables that decay, all if None or empty."""
        chosen = decay_var_list or self._pending_decay_list
        # Variables compare by identity here, whatever == means.
        self._decay_var_list = {id(v) for v in _parts(chosen)} if chosen else None
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _prepare(self):
        weight_decay = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        self._weight_decay_tensor = ops.convert_to_tensor(weight_decay, name="weight_decay")
        super()._prepare()

    def _decays(self, var):
        return self._decay_var_list is None or id(var) in self._decay_var_list

    def _factor(self, var):
        if isinstance(self._weight_decay, numbers.Real):
            # A constant for each variable, as in 1.15, whose default seeds count ops.
            return self._weight_decay
        return math_ops.cast(self._weight_decay_tensor, var.dtype.base_dtype)

    def _decay_weights_op(self, var, grad):
        if not self._decays(var):
            return control_flow_ops.no_op()
        with _after(grad):
            return var.assign_sub(self._factor(var) * var, self._use_locking)

    def _decay_weights_sparse_op(self, var, grad, indices):
        if not self._decays(var):
            return control_flow_ops.no_op()
        with _after(grad):
            indices, _ = array_ops.unique(indices)
            # 1.15 took the indices that it had made unique for the update.
            _count(-1)
            update = -self._factor(var) * array_ops.gather(var, indices)
            return state_ops.scatter_add(var, indices, update, use_locking=self._use_locking)

    def _apply_dense(self, grad, var):
        with ops.control_dependencies([self._decay_weights_op(var, grad)]):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad, var):
        with ops.control_dependencies([self._decay_weights_op(var, grad)]):
            return super()._resource_apply_dense(grad, var)

    # Where indices are as the gradient has them: some optimizers make their whole sparse step there.

    def _apply_sparse_duplicate_indices(self, grad, var):
        with ops.control_dependencies([self._decay_weights_sparse_op(var, grad.values, grad.indices)]):
            return super()._apply_sparse_duplicate_indices(grad, var)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        with ops.control_dependencies([self._decay_weights_sparse_op(handle, grad, indices)]):
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)

    def _apply_to_embedding_variable(self, var, grad, indices):
        if not self._decays(var):
            return super()._apply_to_embedding_variable(var, grad, indices)
        if not isinstance(self, adam.AdamOptimizer):
            raise NotImplementedError(
                f"{type(self).__name__} does not decay EmbeddingVariables (here: {var.name}): AdamWOptimizer and other "
                "extensions of AdamOptimizer do. Or leave it out of decay_var_list."
            )
        return super()._apply_to_embedding_variable(
            var, grad, indices, weight_decay=fused_sparse.scalar(self._weight_decay_tensor, var)
        )


def _after(grad):
    """Lets what is made inside wait for the value of a gradient: it is made of the variable before it decays.

    A control dependency on the gradient itself would run the op that makes it where the value is fed; of the ops that pass a value
    on, the graph optimizer leaves alone only this one. 1.15 had no such op: the default seeds do not count it.
    """
    _count(-1)
    return ops.control_dependencies([array_ops.placeholder_with_default(grad, grad.shape)])


def _count(missing: int) -> None:
    if not context.executing_eagerly():
        op_counts.add_missing(ops.get_default_graph(), missing)


def _parts(var_list):
    """The variables of a list, with the parts in place of partitioned ones."""
    for var in var_list:
        if isinstance(var, variables.PartitionedVariable):
            yield from var
        else:
            yield var


def extend_with_decoupled_weight_decay(base_optimizer):
    """A class like `base_optimizer` with decoupled weight decay.

    Its constructor takes `weight_decay` first, then keyword arguments of `base_optimizer`; `minimize` and `apply_gradients` take
    `decay_var_list`.

    Args:
      base_optimizer: a subclass of `tf.train.Optimizer`.
    """

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """`base_optimizer` with decoupled weight decay."""

        def __init__(self, weight_decay, *args, **kwargs):
            super().__init__(weight_decay, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class AdamWOptimizer(DecoupledWeightDecayExtension, adam.AdamOptimizer):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019, https://arxiv.org/abs/1711.05101).

    In each step, before that of `tf.train.AdamOptimizer`:

        variable -= weight_decay * variable

    Unlike in the paper's algorithm 2, and as in `tf.contrib.opt.AdamWOptimizer` and DeepRec, the decay is not multiplied by the
    learning rate. Dense gradients decay the whole variable, sparse ones the rows that they name, each once. The step of the
    other rows is Adam's: their moments decay and they go on moving, unless `lazy`. EmbeddingVariables decay and step in the keys
    that have gradients.

    Variables are named as Adam's: `<variable>/AdamW`, `<variable>/AdamW_1`, `beta1_power`, `beta2_power`.

    Args:
      weight_decay: float, scalar tensor, or callable that returns one: the part of itself that a variable loses in each step.
      learning_rate, beta1, beta2, epsilon, use_locking: as for `tf.train.AdamOptimizer`.
      name: prefix of the ops and slots.
      lazy: as for `tf.train.AdamOptimizer`.

    `minimize` and `apply_gradients` take `decay_var_list`, the variables that decay: all, if None or empty.
    """

    def __init__(
        self,
        weight_decay,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="AdamW",
        *,
        lazy=None,
    ):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
            lazy=lazy,
        )
