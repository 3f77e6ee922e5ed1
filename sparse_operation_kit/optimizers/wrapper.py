"""`sok.OptimizerWrapper`: any legacy Keras or `tf.train` optimizer, on tables found by key too."""

import tensorflow as tf
from tensorflow.python.ops import resource_variable_ops
from tensorflow.python.training import optimizer as train_optimizer

from sparse_operation_kit import local_lookup, table_access
from sparse_operation_kit.dynamic_variable import DynamicVariable


def _legacy_keras():
    from tf_keras.src.optimizers.legacy import optimizer_v2

    return optimizer_v2.OptimizerV2


class _Slot:
    """One slot of one table: the rows by key, and the variable that the optimizer sees."""

    def __init__(self, table, static):
        self.table, self.static = table, static


class OptimizerWrapper:
    """Trains DynamicVariables with an optimizer that knows ordinary variables.

    A step reads the rows that have gradients, and those of the optimizer's slots, into ordinary variables, lets the optimizer
    update these, and writes them back: other rows do not change. The slots are DynamicVariables; a row that is not there yet
    starts as the optimizer's slots start. Other variables go straight to the optimizer.
    """

    def __init__(self, optimizer):
        """Wraps an optimizer.

        Args:
          optimizer: a legacy Keras optimizer (`tf.keras.optimizers.legacy`), or a `tf.train` optimizer.

        Raises:
          TypeError: another.
        """
        if not isinstance(optimizer, (_legacy_keras(), train_optimizer.Optimizer)):
            raise TypeError(
                "optimizer must be of tf.keras.optimizers.legacy or tf.compat.v1.train, got "
                f"{type(optimizer).__module__}.{type(optimizer).__name__}"
            )
        self._optimizer = optimizer
        self._is_keras = isinstance(optimizer, _legacy_keras())
        # By the id of a table: {name of slot: _Slot}.
        self._table_slots = {}
        self._static = {}

    @property
    def optimizer(self):
        """The optimizer inside."""
        return self._optimizer

    @property
    def lr(self):
        """The learning rate of the optimizer inside; can be set."""
        return self._optimizer.lr if self._is_keras else self._optimizer._lr  # pylint: disable=protected-access

    @lr.setter
    def lr(self, value):
        if self._is_keras:
            self._optimizer.lr = value
        else:
            self._optimizer._lr = value  # pylint: disable=protected-access

    @property
    def iterations(self):
        """The number of steps, a variable; of `tf.train` optimizers None, as they count none."""
        return self._optimizer.iterations if self._is_keras else None

    @property
    def _slots(self):
        """`{unique id of table: {name of slot: DynamicVariable}}`."""
        return {key: {name: slot.table for name, slot in slots.items()} for key, slots in self._table_slots.items()}

    def get_slot_names(self):
        """Names of the slots that the optimizer keeps, sorted."""
        names = set(self._optimizer.get_slot_names())
        for slots in self._table_slots.values():
            names.update(slots)
        return sorted(names)

    def get_slot(self, var, slot_name):
        """The slot of a variable: a DynamicVariable for a DynamicVariable; None if there is none."""
        if not isinstance(var, DynamicVariable):
            try:
                return self._optimizer.get_slot(var, slot_name)
            except KeyError:  # of Keras, for a variable that has none yet
                return None
        slot = self._table_slots.get(_key(var), {}).get(slot_name)
        return None if slot is None else slot.table

    def create_slots(self, var_list):
        """Makes the slots of variables; `apply_gradients` does so by itself."""
        tables = [var for var in var_list if isinstance(var, DynamicVariable)]
        with tf.init_scope():
            for table in tables:
                self._prepare(table)
            others = [var for var in var_list if not isinstance(var, DynamicVariable)]
            if others:
                self._optimizer._create_slots(others)  # pylint: disable=protected-access

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Applies gradients; those that are None are left out.

        Args:
          grads_and_vars: pairs of tensor or tf.IndexedSlices, and variable. Of a DynamicVariable: IndexedSlices of keys; equal
            keys are summed.
          global_step: for `tf.train` optimizers, a variable to add 1 to.
          name: name of the op.

        Returns:
          What the optimizer inside returns; in a graph the op.

        Raises:
          ValueError: global_step with a Keras optimizer, which counts by itself; none, or several of one table.
          ValueError, tf.errors.InvalidArgumentError (where it shows when run): rows of a gradient have not the table's width.
          TypeError: the gradient of a DynamicVariable is dense.
        """
        if self._is_keras and global_step is not None:
            raise ValueError("global_step must be None with a Keras optimizer: it has iterations of its own")
        pairs = [(grad, var) for grad, var in grads_and_vars if grad is not None]
        if not pairs:
            raise ValueError("grads_and_vars has no gradient that is not None")
        seen = set()
        for _, var in pairs:
            if not isinstance(var, DynamicVariable):
                continue
            # It has one static copy, of the keys of one gradient.
            if _key(var) in seen:
                raise ValueError(f"grads_and_vars must have one gradient of {var.name}, got several: add them up")
            seen.add(_key(var))
        touched, copies, given = [], [], []
        for grad, var in pairs:
            if not isinstance(var, DynamicVariable):
                given.append((grad, var))
                continue
            if not isinstance(grad, tf.IndexedSlices):
                raise TypeError(f"the gradient of {var.name} must be tf.IndexedSlices, got {type(grad).__name__}")
            with tf.init_scope():
                static = self._prepare(var)
            keys, rows = var.cast_keys(grad.indices), table_access.checked_rows(grad.values, var, "gradient")
            if not local_lookup.is_distinct(grad):
                keys, index = tf.unique(keys)
                rows = tf.math.unsorted_segment_sum(rows, index, tf.size(keys))
            tables = [(var, static)] + [(slot.table, slot.static) for slot in self._table_slots[_key(var)].values()]
            copies += [of_rows.assign(_rows(table, keys), read_value=False) for table, of_rows in tables]
            touched.append((keys, tables))
            shape = tf.stack([tf.size(keys), var.dimension])
            given.append((tf.IndexedSlices(rows, tf.range(tf.size(keys)), shape), static))
        with tf.control_dependencies(_ops(copies)):
            options = {"name": name} if self._is_keras else {"name": name, "global_step": global_step}
            result = self._optimizer.apply_gradients(given, **options)
        with tf.control_dependencies(_ops([result])):
            written = [
                table.insert(keys, of_rows.read_value()) for keys, tables in touched for table, of_rows in tables
            ]
        if tf.executing_eagerly():
            return result
        return tf.group(*_ops([result, *written]))

    def _prepare(self, table):
        """The variable that stands for the rows of a table, with the slots that the optimizer keeps for it."""
        key = _key(table)
        if key in self._static:
            return self._static[key]
        base = table.name.split(":")[0]
        # What a slot starts from, the optimizer shows on a variable of one row.
        example = _example(table, f"{base}/DynamicSlot/example")
        self._optimizer._create_slots([example])  # pylint: disable=protected-access
        static = table.make_static(f"{base}/DynamicSlot/rows")
        slots = {}
        for slot_name in self._optimizer.get_slot_names():
            of_example = self._optimizer.get_slot(example, slot_name)
            if of_example is None:
                continue
            slot_table = DynamicVariable(
                table.dimension,
                initializer=of_example,
                var_type=table.backend_type,
                name=f"{base}/DynamicSlot/{slot_name}",
                trainable=False,
                key_type=table.key_dtype,
                dtype=table.dtype,
                mode=table.mode,
                **table.config_dict,
            )
            table.slot_tables.append(slot_table)
            of_rows = slot_table.make_static(f"{base}/DynamicSlot/{slot_name}/rows")
            self._give(static, slot_name, of_rows)
            slots[slot_name] = _Slot(slot_table, of_rows)
        self._table_slots[key] = slots
        self._static[key] = static
        return static

    def _give(self, variable, slot_name, slot):
        """Makes the optimizer take `slot` for the slot of a variable that it has not seen yet."""
        # pylint: disable=protected-access
        if self._is_keras:
            from tf_keras.src.optimizers.legacy import optimizer_v2

            self._optimizer._slots.setdefault(optimizer_v2._var_key(variable), {})[slot_name] = slot
        else:
            self._optimizer._slot_dict(slot_name)[train_optimizer._var_key(variable)] = slot


def _key(table):
    return table._unique_id  # pylint: disable=protected-access


def _example(table, name):
    return resource_variable_ops.ResourceVariable(
        lambda: tf.zeros([1, table.dimension], table.dtype), trainable=False, name=name
    )


def _rows(table, keys):
    return table.sparse_read_without_eviction(keys)


def _ops(values):
    """What can be waited for: eagerly nothing."""
    return [] if tf.executing_eagerly() else [value for value in values if value is not None]
