"""`tf.train.AdagradDecayOptimizer`: Adagrad whose accumulator shrinks with the global step."""

from tensorflow.deeprec import library
from tensorflow.deeprec.embedding import updates
from tensorflow.deeprec.embedding.variable import EmbeddingVariable
from tensorflow.deeprec.optimizers import fused_sparse
from tensorflow.python.framework import ops, tensor_shape
from tensorflow.python.ops import array_ops, init_ops, math_ops
from tensorflow.python.training import optimizer


class AdagradDecayOptimizer(fused_sparse.OpSumsDuplicates, optimizer.Optimizer):
    """Adagrad that forgets: every `accumulator_decay_step` global steps the accumulator is multiplied by a rate.

    So the learning rate of an element does not fall for ever, and a model that is trained for months still learns. For each
    element, with gradient g at the step that makes global_step s, and period p = s div accumulator_decay_step:

        k = p - power                                          # periods not seen yet
        if k > 0:
            accumulator = max(accumulator * accumulator_decay_rate^k, initial_accumulator_value)
            power = p
        accumulator += g^2
        variable -= learning_rate * g / sqrt(accumulator)

    A sparse gradient (`tf.IndexedSlices`: values of shape `[n, ...]`, int32 or int64 indices of shape `[n]`) changes only the
    rows it names; values of equal indices are summed first. EmbeddingVariables are trained the same way, key by key.

    Unlike DeepRec, which decays a row once per touch however many periods have passed, a row that was not touched for k periods
    catches up with all of them: its state does not depend on when it was touched. Rows touched in every period get the same
    values from both.

    Slots: `accumulator`, and `accumulator_decay_power` of the dtype of global_step and the shape of the variable; variables
    `<variable>/AdagradDecay` and `<variable>/AdagradDecay_1`. On an EmbeddingVariable the power is one element per key, of the
    value dtype; a bfloat16 or float16 one stands for the nearest number of periods that it can hold.

    Args:
      learning_rate: float, scalar tensor, or callable that returns one.
      global_step: the int32 or int64 variable that `minimize` or `apply_gradients` increments.
      initial_accumulator_value: positive float: the accumulator before the first step, and the least it decays to.
      accumulator_decay_step: positive integer, the global steps of a period.
      accumulator_decay_rate: float in (0, 1).
      use_locking: whether updates hold the variable's lock.
      name: prefix of the ops and slots.

    Raises:
      ValueError: an argument is out of its range, or global_step is None.
      tf.errors.InvalidArgumentError: (when run) an index is outside the variable, or shapes do not match.
    """

    def __init__(
        self,
        learning_rate,
        global_step,
        initial_accumulator_value=0.1,
        accumulator_decay_step=100000,
        accumulator_decay_rate=0.9,
        use_locking=False,
        name="AdagradDecay",
    ):
        if global_step is None:
            raise ValueError("global_step must be the variable that counts the steps, got None")
        if initial_accumulator_value <= 0:
            raise ValueError(f"initial_accumulator_value must be positive, got {initial_accumulator_value!r}")
        if accumulator_decay_step <= 0:
            raise ValueError(f"accumulator_decay_step must be positive, got {accumulator_decay_step!r}")
        if not 0 < accumulator_decay_rate < 1:
            raise ValueError(f"accumulator_decay_rate must be in (0, 1), got {accumulator_decay_rate!r}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._global_step = global_step
        self._initial_accumulator_value = initial_accumulator_value
        self._accumulator_decay_step = accumulator_decay_step
        self._accumulator_decay_rate = accumulator_decay_rate
        # Made by _prepare().
        self._learning_rate_tensor = None
        self._accumulator_decay_step_tensor = None
        self._accumulator_decay_rate_tensor = None
        self._accumulator_baseline_tensor = None
        self._global_step_on_worker = None

    def _power_dims(self, shape):
        """How many of the first dimensions of a variable its powers have."""
        return shape.rank

    def _create_slots(self, var_list):
        for var in var_list:
            with ops.colocate_with(var):
                self._create_slots_of(var)

    def _create_slots_of(self, var):
        dtype, shape = var.dtype.base_dtype, var.get_shape()
        power_dtype = self._global_step.dtype.base_dtype
        initial = init_ops.constant_initializer(self._initial_accumulator_value, dtype=dtype)
        zero = init_ops.zeros_initializer(power_dtype)
        if isinstance(var, EmbeddingVariable):
            power_shape, power_dtype = tensor_shape.TensorShape([1]), dtype
        else:
            power_shape = shape[: self._power_dims(shape)]
            if not shape.is_fully_defined():
                # Of a variable whose shape is known when it runs, so are those of its slots.
                dims = array_ops.shape(var)
                initial = array_ops.fill(dims, math_ops.cast(self._initial_accumulator_value, dtype))
                zero = array_ops.zeros(dims[: self._power_dims(shape)], power_dtype)
        self._get_or_make_slot_with_initializer(var, initial, shape, dtype, "accumulator", self._name)
        self._get_or_make_slot_with_initializer(
            var, zero, power_shape, power_dtype, "accumulator_decay_power", self._name
        )

    def _prepare(self):
        def tensor(value, name):
            return ops.convert_to_tensor(self._call_if_callable(value), name=name)

        step_dtype = self._global_step.dtype.base_dtype
        self._learning_rate_tensor = tensor(self._learning_rate, "learning_rate")
        self._accumulator_decay_step_tensor = math_ops.cast(
            tensor(self._accumulator_decay_step, "accumulator_decay_step"), step_dtype
        )
        self._accumulator_decay_rate_tensor = tensor(self._accumulator_decay_rate, "accumulator_decay_rate")
        self._accumulator_baseline_tensor = tensor(self._initial_accumulator_value, "accumulator_baseline")
        # Read once for all variables: the global step may live on another task.
        with ops.colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = array_ops.identity(self._global_step) + 1

    def _inputs(self, var, grad):
        return {
            "accum": self.get_slot(var, "accumulator"),
            "accum_decay_power": self.get_slot(var, "accumulator_decay_power"),
            "lr": fused_sparse.scalar(self._learning_rate_tensor, var),
            "accum_decay_step": self._accumulator_decay_step_tensor,
            "accum_decay_rate": fused_sparse.scalar(self._accumulator_decay_rate_tensor, var),
            "accum_baseline": fused_sparse.scalar(self._accumulator_baseline_tensor, var),
            "global_step": self._global_step_on_worker,
            "grad": grad,
        }

    def _apply_dense(self, grad, var):
        return library.ops().apply_adagrad_decay(var, **self._inputs(var, grad), use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad, var):
        return library.ops().resource_apply_adagrad_decay(
            var.handle, **fused_sparse.handles(self._inputs(var, grad)), use_locking=self._use_locking
        )

    def _apply_sparse(self, grad, var):
        return (
            library.ops()
            .sparse_apply_adagrad_decay(
                var, **self._inputs(var, grad.values), indices=grad.indices, use_locking=self._use_locking
            )
            .op
        )

    def _resource_apply_sparse(self, grad, var, indices):
        return library.ops().resource_sparse_apply_adagrad_decay(
            var.handle,
            **fused_sparse.handles(self._inputs(var, grad)),
            indices=indices,
            use_locking=self._use_locking,
        )

    def _apply_to_embedding_variable(self, var, grad, indices):
        return updates.apply("adagrad_decay", var, indices, self._inputs(var, grad))
