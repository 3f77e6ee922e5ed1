"""`tf.train.AdamAsyncOptimizer`: Adam for asynchronous training, with powers of beta for each variable."""

from tensorflow.deeprec import library
from tensorflow.deeprec.embedding import part_state, updates
from tensorflow.deeprec.embedding.variable import EmbeddingVariable
from tensorflow.deeprec.optimizers import fused_sparse
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, variable_scope
from tensorflow.python.training import optimizer


class AdamAsyncOptimizer(fused_sparse.OpSumsDuplicates, optimizer.Optimizer):
    """Adam (Kingma and Ba, 2015, https://arxiv.org/abs/1412.6980) whose step count is each variable's own.

    Adam's powers of beta are two variables that all workers write in every step. Here each variable has its own, beside it, and
    they advance only when it gets a gradient. For each element, with gradient g:

        alpha = learning_rate * sqrt(1 - beta2_power) / (1 - beta1_power)
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        variable -= alpha * m / (sqrt(v) + epsilon)
        beta1_power, beta2_power = beta1_power * beta1, beta2_power * beta2      # once per step of the variable

    A sparse gradient (`tf.IndexedSlices`: values of shape `[n, ...]`, int32 or int64 indices of shape `[n]`) changes only the
    rows it names; values of equal indices are summed first. EmbeddingVariables are trained the same way, key by key. With
    apply_sparse_rmsprop, a sparse gradient makes this step instead, and leaves the powers alone:

        v = beta2 * v + (1 - beta2) * g^2
        m = beta1 * m + learning_rate * g / sqrt(v + epsilon)
        variable -= m

    Each power is taken and advanced in one go, so two workers never make the same step number of a variable.

    Slots: `m`, `v`, `beta1_power` and `beta2_power`, variables `<variable>/AdamAsync`, `_1`, `_2` and `_3`. The powers are
    scalars of the variable's dtype, float32 for 16-bit ones; those of an EmbeddingVariable, and of each part of a partitioned one,
    are ordinary variables of shape `[1]`.

    Args:
      learning_rate: float, scalar tensor, or callable that returns one.
      beta1: float or scalar tensor, decay of the first moment.
      beta2: float or scalar tensor, decay of the second moment.
      epsilon: small float, keeps the denominator from zero.
      use_locking: whether updates hold the variable's lock.
      apply_sparse_rmsprop: whether sparse gradients make the step of RMSProp with momentum.
      name: prefix of the ops and slots.

    Raises:
      tf.errors.InvalidArgumentError: (when run) an index is outside the variable, or shapes do not match.
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        apply_sparse_rmsprop=False,
        name="AdamAsync",
    ):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._apply_sparse_rmsprop = apply_sparse_rmsprop
        # Made by _prepare().
        self._lr_t = None
        self._beta1_t = None
        self._beta2_t = None
        self._epsilon_t = None

    def _create_slots(self, var_list):
        for var in var_list:
            with ops.colocate_with(var):
                self._zeros_slot(var, "m", self._name)
                self._zeros_slot(var, "v", self._name)
                for slot, beta in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
                    power = fused_sparse.scalar(self._call_if_callable(beta), var)
                    if isinstance(var, EmbeddingVariable):
                        self._make_power(var, power, slot)
                    else:
                        self._get_or_make_slot(var, power, slot, self._name)

    def _make_power(self, var, value, slot):
        """A slot that is no column of the EmbeddingVariable's table but an ordinary variable."""
        slots = self._slot_dict(slot)
        key = optimizer._var_key(var)  # pylint: disable=protected-access
        if key in slots:
            return
        with variable_scope.variable_scope(None, f"{var.op.name}/{self._name}") as scope:
            # Where the scope partitions variables, this one is whole all the same.
            scope.set_partitioner(None)
            slots[key] = variable_scope.get_variable(
                "", initializer=array_ops.reshape(value, [1]), trainable=False, use_resource=True
            )
        part_state.mark(slots[key], var)

    def _prepare(self):
        def tensor(value, name):
            return ops.convert_to_tensor(self._call_if_callable(value), name=name)

        self._lr_t = tensor(self._lr, "learning_rate")
        self._beta1_t = tensor(self._beta1, "beta1")
        self._beta2_t = tensor(self._beta2, "beta2")
        self._epsilon_t = tensor(self._epsilon, "epsilon")

    def _inputs(self, var, grad):
        return {
            **{slot: self.get_slot(var, slot) for slot in ("m", "v", "beta1_power", "beta2_power")},
            "lr": fused_sparse.scalar(self._lr_t, var),
            "beta1": fused_sparse.scalar(self._beta1_t, var),
            "beta2": fused_sparse.scalar(self._beta2_t, var),
            "epsilon": fused_sparse.scalar(self._epsilon_t, var),
            "grad": grad,
        }

    def _apply_dense(self, grad, var):
        return library.ops().apply_adam_async(var, **self._inputs(var, grad), use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad, var):
        return library.ops().resource_apply_adam_async(
            var.handle, **fused_sparse.handles(self._inputs(var, grad)), use_locking=self._use_locking
        )

    def _apply_sparse(self, grad, var):
        return (
            library.ops()
            .sparse_apply_adam_async(
                var,
                **self._inputs(var, grad.values),
                indices=grad.indices,
                use_locking=self._use_locking,
                apply_sparse_rmsprop=self._apply_sparse_rmsprop,
            )
            .op
        )

    def _resource_apply_sparse(self, grad, var, indices):
        return library.ops().resource_sparse_apply_adam_async(
            var.handle,
            **fused_sparse.handles(self._inputs(var, grad)),
            indices=indices,
            use_locking=self._use_locking,
            apply_sparse_rmsprop=self._apply_sparse_rmsprop,
        )

    def _apply_to_embedding_variable(self, var, grad, indices):
        return updates.apply(
            "adam_async",
            var,
            indices,
            {**self._inputs(var, grad), "global_step": updates.global_step(self)},
            apply_sparse_rmsprop=self._apply_sparse_rmsprop,
        )
