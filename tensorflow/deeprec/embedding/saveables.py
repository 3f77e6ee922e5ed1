"""EmbeddingVariables in `tf.train.Saver`: saved with everything else of a device in one op, restored by an import.

What is stored, and how the parts of a variable are spread anew, is decided in the ops, see core/ops/kv_checkpoint_ops.cc.
"""

import functools
import os
import re

from tensorflow.core.protobuf import saver_pb2
from tensorflow.deeprec import library
from tensorflow.deeprec.embedding import part_state, tables
from tensorflow.deeprec.embedding.variable import EmbeddingVariable, is_embedding_variable
from tensorflow.python.framework import constant_op, device_spec, dtypes, errors_impl, ops
from tensorflow.python.ops import array_ops, control_flow_assert, control_flow_ops, math_ops, variables
from tensorflow.python.training import saver as saver_lib
from tensorflow.python.training import training_util
from tensorflow.python.training.saving import saveable_object, saveable_object_util

_PART = re.compile(r"^(?P<whole>.*)/part_(?P<number>\d+)$")


class EmbeddingVariableSaveable(saveable_object.SaveableObject):
    """An EmbeddingVariable, a part of one, or an optimizer slot of either, under its name in checkpoints.

    Its one spec is the handle, which is not saved: it tells the Saver the device. What it is restored from is the prefix
    of the checkpoint.
    """

    def __init__(self, variable: EmbeddingVariable, name: str):
        spec = saveable_object.SaveSpec(variable.handle, "", name, dtype=dtypes.resource, device=variable.handle.device)
        super().__init__(variable.handle.op, [spec], name)
        self.variable = variable
        # Ops that must have run; a Saver sets them. A slot is set for the keys that its variable has, so that goes first.
        self.restore_after = ()

    def restore(self, restored_tensors, restored_shapes):
        """The op that imports from the checkpoint whose prefix is the one restored tensor."""
        del restored_shapes
        prefix, name = restored_tensors[0], self.name
        source = self.variable.checkpoint_source
        if source is not None and source.always:
            prefix, name = constant_op.constant(source.prefix), source.name
        return import_op(self.variable, prefix, name, after=self.restore_after)


def import_op(variable: EmbeddingVariable, prefix, name: str, after=(), incremental: bool = False):
    """Makes the op that fills a variable, or a slot of one, from a checkpoint.

    Args:
      variable: to be filled; it is initialized first if it is not yet.
      prefix: scalar string tensor, the checkpoint.
      name: the name there. That of a part, `var/part_0`, stands for its share of all of `var`.
      after: ops that must have run.
      incremental: whether it is an incremental checkpoint, which is put over what the variable has.

    Returns:
      The op. It raises NotFoundError if the checkpoint does not hold the variable, DataLossError if it is damaged.
    """
    number, parts = part_of(variable)
    name = whole_name(name, number)
    with ops.colocate_with(variable.handle.op), ops.control_dependencies([variable._initializer_for_restore, *after]):
        make = library.ops().kv_resource_incr_import if incremental else library.ops().kv_resource_import_v3
        return make(
            prefix,
            variable.handle,
            [name],
            constant_op.constant(variable.invalid_key, variable.key_dtype),
            dtype=variable.dtype,
            partition_id=number or 0,
            partition_num=parts,
            reset_version=os.environ.get("TF_EV_RESET_VERSION", "0").lower() in ("1", "true"),
        )


def part_of(variable: EmbeddingVariable) -> tuple[int | None, int]:
    """Which part of a partitioned variable this, or the variable this is a slot of, is, and of how many.

    (None, 1) for a variable without parts.
    """
    variable = variable if variable.primary is None else variable.primary
    match = _PART.match(variable.op.name)
    if match is None or variable._save_slice_info is None:  # pylint: disable=protected-access
        return None, 1
    if variable.number_of_parts is None:
        # Of an imported graph.
        siblings = {
            v.op.name
            for v in variable.graph.get_collection(ops.GraphKeys.EMBEDDING_VARIABLES)
            if (sibling := _PART.match(v.op.name)) and sibling["whole"] == match["whole"]
        }
        variable.number_of_parts = max(len(siblings), 1)
    return int(match["number"]), variable.number_of_parts


def whole_name(name: str, number: int | None) -> str:
    """`var` or `var/Adagrad` for `var/part_0` or `var/part_0/Adagrad` and part number 0."""
    if number is None:
        return name
    part = f"/part_{number}"
    if name.endswith(part):
        return name[: -len(part)]
    head, found, tail = name.rpartition(f"{part}/")
    return f"{head}/{tail}" if found else name


def _saveables_of(released):
    @functools.wraps(released)
    def saveable_objects_for_op(op, name):
        if isinstance(op, EmbeddingVariable):
            return iter([EmbeddingVariableSaveable(op, name)])
        if part_state.is_state(op):
            return iter([part_state.PartStateSaveable(op, name)])
        if isinstance(op, (list, tuple, variables.PartitionedVariable)):
            parts = list(op)
            if parts and all(isinstance(part, EmbeddingVariable) for part in parts):
                return iter([EmbeddingVariableSaveable(part, f"{name}/part_{i}") for i, part in enumerate(parts)])
        return released(op, name)

    return saveable_objects_for_op


def _names_of(released):
    @functools.wraps(released)
    def op_list_to_dict(op_list, convert_variable_to_tensor=True):
        if isinstance(op_list, (list, tuple, set)) and any(is_embedding_variable(v) for v in op_list):
            flat = []
            for item in op_list:
                if part_state.is_state(item):
                    flat.append(part_state.PartStateSaveable(item, item.op.name))
                    continue
                if not is_embedding_variable(item):
                    flat.append(item)
                    continue
                for part in item if isinstance(item, variables.PartitionedVariable) else [item]:
                    flat.append(EmbeddingVariableSaveable(part, part.op.name))
            op_list = flat
        return released(op_list, convert_variable_to_tensor)

    return op_list_to_dict


def _split(saveables):
    embedding = [s for s in saveables if isinstance(s, EmbeddingVariableSaveable)]
    return embedding, [s for s in saveables if not isinstance(s, EmbeddingVariableSaveable)]


def _save_op(released):
    @functools.wraps(released)
    def save_op(self, filename_tensor, saveables):
        embedding, others = _split(saveables)
        if not embedding:
            return released(self, filename_tensor, saveables)
        if self._write_version != saver_pb2.SaverDef.V2:
            # When it runs: a Saver that only restores, such as contrib's, may say V1 as well.
            refused = "write_version must be tf.train.SaverDef.V2 for EmbeddingVariables, got V1"
            return control_flow_assert.Assert(False, [refused])
        specs = [spec for saveable in others for spec in saveable.specs]
        step = training_util.get_global_step(embedding[0].variable.graph)
        return library.ops().save_v3(
            filename_tensor,
            [spec.name for spec in specs],
            [spec.slice_spec for spec in specs],
            [saveable.name for saveable in embedding],
            [saveable.variable.handle for saveable in embedding],
            tensors=[spec.tensor for spec in specs],
            global_step=-1 if step is None else math_ops.cast(array_ops.identity(step), dtypes.int64),
            ev_key_types=[saveable.variable.key_dtype for saveable in embedding],
            has_ev=True,
        )

    return save_op


def _add_save_ops(released):
    @functools.wraps(released)
    def add_save_ops(self, filename_tensor, saveables):
        embedding, _ = _split(saveables)
        # Tables are written where they are, so those of several tasks can not go through one op.
        tasks = {_task_of(saveable.variable.handle.device) for saveable in embedding}
        if len(tasks) > 1 and self._write_version == saver_pb2.SaverDef.V2:
            return self._AddShardedSaveOps(filename_tensor, self._GroupByDevices(saveables))
        return released(self, filename_tensor, saveables)

    return add_save_ops


def _task_of(device_name: str) -> tuple:
    spec = device_spec.DeviceSpecV2.from_string(device_name or "")
    return spec.job, spec.replica, spec.task


def _restored_together(released):
    """For `bulk_restore`: an EmbeddingVariable is restored from the file name itself; state of parts and work queues, whose tensors
    may have other names or be missing, say by `value_in` what they are restored from."""

    @functools.wraps(released)
    def bulk_restore(self, filename_tensor, saveables, preferred_shard, restore_sequentially):
        others = [s for s in saveables if not isinstance(s, EmbeddingVariableSaveable) and not hasattr(s, "value_in")]
        if len(others) == len(saveables):
            return released(self, filename_tensor, saveables, preferred_shard, restore_sequentially)
        tensors = iter(released(self, filename_tensor, others, preferred_shard, restore_sequentially) if others else [])
        filename = array_ops.identity(filename_tensor)

        def restored(saveable):
            if isinstance(saveable, EmbeddingVariableSaveable):
                return filename
            if hasattr(saveable, "value_in"):
                return saveable.value_in(filename)
            return next(tensors)

        return [restored(saveable) for saveable in saveables for _ in saveable.specs]

    return bulk_restore


def _add_restore_ops(released):
    @functools.wraps(released)
    def add_restore_ops(self, filename_tensor, saveables, *args, **kwargs):
        embedding, _ = _split(saveables)
        imports = {saveable.op: [] for saveable in embedding}
        slots = {}
        for saveable in embedding:
            if saveable.variable.primary is not None:
                slots.setdefault(saveable.variable.primary.op, []).append(saveable.variable)
        for saveable in embedding:
            primary = saveable.variable.primary
            if primary is not None:
                # Filled by the time the slot's restore is made, which is after the variable's.
                saveable.restore_after = imports.get(primary.handle.op, ())
            else:
                # The table gets its slots while it is empty.
                saveable.restore_after = [slot._initializer_for_restore for slot in slots.get(saveable.op, ())]
            saveable.restore = _remembering(saveable.restore, imports[saveable.op])
        ordered = sorted(
            saveables, key=lambda s: isinstance(s, EmbeddingVariableSaveable) and s.variable.primary is not None
        )
        return released(self, filename_tensor, ordered, *args, **kwargs)

    return add_restore_ops


def _build_internal(released):
    """Graphs are saved with their collections, where a partitioned variable stands by its name: shared embedding columns put one
    there. The released form makes an op of this name that has the value as a whole, which tables do not have."""

    @functools.wraps(released)
    def build_internal(self, *args, **kwargs):
        graph = ops.get_default_graph()
        elements = [element for key in graph.get_all_collection_keys() for element in graph.get_collection(key)]
        for element in elements:
            if isinstance(element, variables.PartitionedVariable) and tables.is_table(element):
                try:
                    graph.get_operation_by_name(element.name)
                except KeyError:
                    with ops.name_scope(None), ops.control_dependencies(None):
                        control_flow_ops.no_op(name=element.name)
        return released(self, *args, **kwargs)

    return build_internal


def _remembering(restore, made: list):
    def restore_and_remember(restored_tensors, restored_shapes):
        made.append(restore(restored_tensors, restored_shapes))
        return made[-1]

    return restore_and_remember


def _restore(released):
    """The runtime does not always say which checkpoint is damaged."""

    @functools.wraps(released)
    def restore(self, sess, save_path):
        try:
            released(self, sess, save_path)
        except (errors_impl.DataLossError, errors_impl.OutOfRangeError) as error:
            if save_path is None or os.fspath(save_path) in error.message:
                raise
            message = f"{error.message}\nwhile restoring the checkpoint {os.fspath(save_path)}"
            raise type(error)(error.node_def, error.op, message) from error

    return restore


def install() -> None:
    """Teaches Savers of the `tf.train.Saver` kind about EmbeddingVariables."""
    util = saveable_object_util
    saver_lib.Saver.restore = _restore(saver_lib.Saver.restore)
    util.op_list_to_dict = _names_of(util.op_list_to_dict)
    util.saveable_objects_for_op = _saveables_of(util.saveable_objects_for_op)
    base, bulk = saver_lib.BaseSaverBuilder, saver_lib.BulkSaverBuilder
    base.save_op = _save_op(base.save_op)
    base._AddSaveOps = _add_save_ops(base._AddSaveOps)
    base._build_internal = _build_internal(base._build_internal)
    base.bulk_restore = _restored_together(base.bulk_restore)
    bulk.bulk_restore = _restored_together(bulk.bulk_restore)
    base._AddRestoreOps = _add_restore_ops(base._AddRestoreOps)
