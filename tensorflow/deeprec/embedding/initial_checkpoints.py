"""EmbeddingVariables that start from a checkpoint: `tf.CheckpointOption` and `tf.train.init_from_checkpoint`."""

import dataclasses
import functools

from tensorflow.deeprec.embedding import saveables
from tensorflow.deeprec.embedding.variable import EmbeddingVariable
from tensorflow.python.framework import constant_op, ops
from tensorflow.python.ops import control_flow_ops, variable_scope, variables
from tensorflow.python.training import checkpoint_utils


@dataclasses.dataclass(frozen=True)
class CheckpointSource:
    """Where an EmbeddingVariable starts from.

    Attributes:
      prefix: the checkpoint.
      name: the variable's name in it, without the part.
      always: whether this goes before the checkpoint that a Saver restores.
      tensors: names of all tensors of the checkpoint.
    """

    prefix: str
    name: str
    always: bool
    tensors: frozenset

    def holds(self, name: str) -> bool:
        """Whether the checkpoint has the variable or slot of this name, or partitions of it."""
        variable, _, slot = name.rpartition("/")
        keys = (f"{name}-keys", f"{name}/part_0-keys", f"{variable}/part_0/{slot}-keys")
        return any(key in self.tensors for key in keys)


def source_in(checkpoint: str, name: str, always: bool = False) -> CheckpointSource:
    """What is called `name` in a checkpoint, given by its prefix or folder. The index is read here, once."""
    prefix = checkpoint_utils._get_checkpoint_filename(checkpoint)
    tensors = checkpoint_utils.load_checkpoint(prefix).get_variable_to_shape_map()
    return CheckpointSource(prefix, name, always, frozenset(tensors))


def start_from(variable: EmbeddingVariable, source: CheckpointSource) -> None:
    """Makes the initializer of `variable`, and of the slots it has or will get, import from a checkpoint.

    Raises:
      ValueError: the checkpoint does not hold the variable.
    """
    if not source.holds(source.name):
        raise ValueError(f"Tensor {source.name}-keys is not found in checkpoint {source.prefix}, for {variable.name}.")
    variable.checkpoint_source = source
    empty = variable.initializer
    # A slot is set for the keys that its variable has.
    first = [empty] if variable.primary is None else [empty, variable.primary.initializer]
    with ops.control_dependencies(first):
        imported = saveables.import_op(variable, constant_op.constant(source.prefix), source.name)
    variable._initializer_op = control_flow_ops.group(
        empty, imported, name=f"{variable.op.name}/InitializeFromCheckpoint"
    )
    for slot in variable.slots:
        start_slot(slot, slot.op.name[len(variable.op.name) + 1 :])


def start_slot(slot: EmbeddingVariable, slot_name: str) -> None:
    """Does the same for a new slot, if the checkpoint of its variable has it."""
    source = slot.primary.checkpoint_source
    if source is not None and source.holds(f"{source.name}/{slot_name}"):
        start_from(slot, dataclasses.replace(source, name=f"{source.name}/{slot_name}"))


def _init_from_checkpoint(released):
    @functools.wraps(released)
    def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
        pairs = assignment_map.items() if hasattr(assignment_map, "items") else assignment_map
        store = variable_scope._get_default_variable_store()._vars
        of_store = {name: var for name, var in store.items() if isinstance(var, EmbeddingVariable)}
        others, found = [], []
        for source, target in pairs:
            parts = _parts(target, of_store)
            if parts:
                found += [(part, source) for part in parts]
            elif isinstance(target, str) and target.endswith("/"):
                prefix = "" if target == "/" else target
                inside = [name for name in store if name.startswith(prefix)]
                for name in inside:
                    if name in of_store:
                        whole = saveables.whole_name(name, saveables.part_of(of_store[name])[0])
                        found.append((of_store[name], _in_scope(source, whole[len(prefix) :])))
                if not inside or any(name not in of_store for name in inside):
                    others.append((source, target))
            else:
                others.append((source, target))
        if found:
            checkpoint = source_in(ckpt_dir_or_file, "")
            for variable, name in found:
                start_from(variable, dataclasses.replace(checkpoint, name=name))
        for name in of_store:
            del store[name]
        try:
            if others:
                released(ckpt_dir_or_file, others)
        finally:
            store.update(of_store)

    return init_from_checkpoint


def _in_scope(scope: str, name: str) -> str:
    """As the released function does: "/" is no scope, and a scope may stand for the variable of its name."""
    return name if scope == "/" else (scope + name).removesuffix("/")


def _parts(target, of_store) -> list[EmbeddingVariable]:
    """The EmbeddingVariables that an entry of an assignment map names."""
    if isinstance(target, str):
        if target in of_store:
            return [of_store[target]]
        parts = []
        while (name := f"{target}/part_{len(parts)}") in of_store:
            parts.append(of_store[name])
        return parts
    targets = list(target) if isinstance(target, (list, tuple, variables.PartitionedVariable)) else [target]
    return targets if targets and all(isinstance(t, EmbeddingVariable) for t in targets) else []


def install() -> None:
    """Teaches `tf.train.init_from_checkpoint` about EmbeddingVariables."""
    checkpoint_utils._init_from_checkpoint = _init_from_checkpoint(checkpoint_utils._init_from_checkpoint)
