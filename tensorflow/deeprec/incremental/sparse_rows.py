"""Ordinary variables of which only some rows change: which they are, the ops that record those rows, and how they are saved."""

import dataclasses
import re

from tensorflow.deeprec import library
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, control_flow_ops, resource_variable_ops, state_ops
from tensorflow.python.training.saving import saveable_object

# Ops that change the rows of a variable that their input `indices` names.
_SPARSE = re.compile(r"^(Resource)?(SparseApply\w+|Scatter(Add|Sub|Update|Mul|Div|Min|Max))$")
# Of a resource, no dtype tells whether an op changes it.
_READERS = frozenset(
    [
        "DisableCopyOnRead",
        "GroupEmbeddingLookup",
        "ReadVariableOp",
        "ResourceGather",
        "ResourceGatherNd",
        "VarIsInitializedOp",
        "VariableShape",
    ]
)
_RESTORES = frozenset(["IncrRestore", "KvRestoreState", "Restore", "RestoreSlice", "RestoreV2"])

# Attribute of a graph: (op that changes rows, recorder) of the ops that record already.
_RECORDED = "_deprec_recorded_updates"


@dataclasses.dataclass(frozen=True)
class SparseVariable:
    """A variable whose rows are recorded.

    Attributes:
      variable: the tf.Variable, whole or a part.
      recorder: name of what records its rows.
      updates: the ops that change it.
    """

    variable: object
    recorder: str
    updates: tuple


def _tensor_of(variable):
    """What ops that use the variable have as their input."""
    if isinstance(variable, resource_variable_ops.BaseResourceVariable):
        return variable.handle
    return variable.op.outputs[0]


def _is_restored(value) -> bool:
    while value.op.type in ("Identity", "Reshape"):
        value = value.op.inputs[0]
    return value.op.type in _RESTORES


def _changes(op: ops.Operation, position: int) -> bool:
    """Whether an op changes the variable that is its input `position`; initializers and restores do not count."""
    if op.type == "Assign" or op.type == "AssignVariableOp":
        return not _is_restored(op.inputs[1])
    if op.type in ("ScatterUpdate", "ResourceScatterUpdate") and _is_restored(op.inputs[1]):
        return False
    if op.inputs[position].dtype == dtypes.resource:
        return op.type not in _READERS
    return op._input_types[position]._is_ref_dtype and op.type != "IsVariableInitialized"  # pylint: disable=protected-access


def sparse_updates(variable) -> tuple:
    """The ops that change rows of a variable.

    Returns:
      The ops, in order of their names; none if anything else changes the variable too, or nothing does.
    """
    found = set()
    tensor = _tensor_of(variable)
    initializer = getattr(variable, "initializer", None)
    for op in set(tensor.consumers()):
        positions = [i for i, value in enumerate(op.inputs) if value is tensor]
        if op is initializer or not any(_changes(op, i) for i in positions):
            continue
        if (
            not _SPARSE.match(op.type)
            # Of a loop or branch: what waits for it can not be told from here.
            or op._get_control_flow_context() is not None  # pylint: disable=protected-access
            or ("decay_all_rows" in op.node_def.attr and op.get_attr("decay_all_rows"))
        ):
            return ()
        found.add(op)
    return tuple(sorted(found, key=lambda op: op.name))


def _first_row(variable) -> int | None:
    """Of a part of a variable, in the whole; None if it is cut in another way than by rows."""
    info = variable._save_slice_info  # pylint: disable=protected-access
    if info is None:
        return 0
    others_whole = list(info.var_shape[1:]) == list(info.full_shape[1:])
    return int(info.var_offset[0]) if others_whole else None


def find(variables) -> dict:
    """Makes the ops that record changed rows, for those of `variables` that change by rows alone.

    Variables that the same ops change, such as a variable and its slots, are recorded once. The ops run after what changes
    the rows, before what waits for that.

    Returns:
      {variable's op: SparseVariable}.
    """
    found, recorders = {}, {}
    for variable in variables:
        shape = variable.shape
        if not shape.is_fully_defined() or not shape.rank or _first_row(variable) is None:
            continue
        updates = sparse_updates(variable)
        if updates:
            recorder = recorders.setdefault((updates, int(shape[0]), _first_row(variable)), variable.op.name)
            found[variable.op] = SparseVariable(variable, recorder, updates)
    for sparse in found.values():
        for op in sparse.updates:
            _record(op, sparse.recorder, sparse.variable.op)
    return found


def _record(op: ops.Operation, recorder: str, place: ops.Operation) -> None:
    graph = op.graph
    if not hasattr(graph, _RECORDED):
        setattr(graph, _RECORDED, set())
    recorded = getattr(graph, _RECORDED)
    if (op, recorder) in recorded:
        return
    recorded.add((op, recorder))
    indices = op.inputs[[arg.name for arg in op.op_def.input_arg].index("indices")]
    waiting = {consumer for output in op.outputs for consumer in output.consumers()} | set(op._control_outputs)  # pylint: disable=protected-access
    # Afterwards: rows that change while all is saved must be recorded when their new values are there.
    with ops.colocate_with(place), ops.control_dependencies([op] if waiting else None):
        record = library.ops().record_sparse_indices(indices, table_name=recorder)
    for consumer in waiting or [op]:
        consumer._add_control_input(record)  # pylint: disable=protected-access


def recording_op(found: dict, forget_earlier: bool) -> list:
    """The ops that start recording, or forget what was recorded before the last start."""
    made = []
    for recorder, place in {sparse.recorder: sparse.variable.op for sparse in found.values()}.items():
        with ops.colocate_with(place):
            made.append(library.ops().activate_sparse_recorder([recorder], forget_earlier=forget_earlier))
    return made


class SparseRowsSaveable(saveable_object.SaveableObject):
    """The changed rows of a variable: P-sparse_incr_keys, `[n]` int64, counted in the whole variable, and P-sparse_incr_values."""

    def __init__(self, sparse: SparseVariable, name: str, whole_name: str):
        """`name`: P; `whole_name`: the same without the part."""
        variable = sparse.variable
        self._first_row = _first_row(variable)
        with ops.colocate_with(variable.op):
            indices = library.ops().collect_sparse_indices(sparse.recorder)
            if isinstance(variable, resource_variable_ops.BaseResourceVariable):
                rows = variable.sparse_read(indices)
            else:
                rows = array_ops.gather(variable._ref(), indices)  # pylint: disable=protected-access
            keys = indices + self._first_row
        device = variable.device
        specs = [
            saveable_object.SaveSpec(keys, "", f"{name}-sparse_incr_keys", device=device),
            saveable_object.SaveSpec(rows, "", f"{name}-sparse_incr_values", device=device),
        ]
        super().__init__(variable.op, specs, name)
        self._variable, self._whole_name = variable, whole_name

    def value_in(self, prefix):
        """Both are read by the restore itself."""
        return prefix

    def restore(self, restored_tensors, restored_shapes):
        del restored_shapes
        variable = self._variable
        with ops.colocate_with(variable.op):
            indices, rows = library.ops().incr_restore(
                restored_tensors[0],
                self._whole_name,
                dtype=variable.dtype.base_dtype,
                row_shape=variable.shape[1:],
                first_row=self._first_row,
                num_rows=int(variable.shape[0]),
            )
            if isinstance(variable, resource_variable_ops.BaseResourceVariable):
                return resource_variable_ops.resource_scatter_update(variable.handle, indices, rows)
            return control_flow_ops.group(state_ops.scatter_update(variable._ref(), indices, rows))  # pylint: disable=protected-access
