"""State that an optimizer has once for each part of an EmbeddingVariable, in an ordinary variable.

A checkpoint has it under the names of the parts that there were; with other parts, what is restored is that of the part with the
same number, else of the first. The parts of a variable are trained in the same steps, so their states are equal.
"""

from tensorflow.deeprec import library
from tensorflow.python.framework import ops
from tensorflow.python.training.saving import saveable_object_util

# Attribute of such a variable: the EmbeddingVariable that it belongs to.
_OWNER = "_deprec_state_of"


def mark(variable, owner) -> None:
    """Says that `variable` is state of the EmbeddingVariable `owner`."""
    setattr(variable, _OWNER, owner)


def is_state(variable) -> bool:
    return getattr(variable, _OWNER, None) is not None


class PartStateSaveable(saveable_object_util.ResourceVariableSaveable):
    """Saved as an ordinary variable, restored from whatever parts the checkpoint has."""

    def __init__(self, variable, name: str):
        super().__init__(variable, "", name)
        self.variable = variable

    def value_in(self, prefix):
        """The tensor that a checkpoint has for the variable; NotFoundError if it has none."""
        from tensorflow.deeprec.embedding import saveables

        owner = getattr(self.variable, _OWNER)
        whole = saveables.whole_name(self.name, saveables.part_of(owner)[0])
        of_owner, _, state = whole.rpartition("/")
        names = list(dict.fromkeys([self.name, whole, f"{of_owner}/part_0/{state}"]))
        with ops.colocate_with(self.variable.handle.op):
            value = library.ops().kv_restore_state(prefix, names, dtype=self.variable.dtype)
        value.set_shape(self.variable.shape)
        return value
