"""Reading checkpoints: core's functions under contrib's argument names."""

from tensorflow.python.training import checkpoint_utils as core

__all__ = ["load_checkpoint", "load_variable", "list_variables", "init_from_checkpoint"]


def load_checkpoint(filepattern):
    """A `CheckpointReader` of a checkpoint, or of a folder's latest one.

    Raises:
      ValueError: if the folder has no checkpoint.
    """
    return core.load_checkpoint(filepattern)


def load_variable(checkpoint_dir, name):
    """The value of a tensor in a checkpoint, a NumPy array; `checkpoint_dir` may be a folder or a checkpoint."""
    return core.load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir):
    """`(name, shape)` of all tensors in a checkpoint, sorted; `checkpoint_dir` may be a folder or a checkpoint."""
    return core.list_variables(checkpoint_dir)


def init_from_checkpoint(checkpoint_dir, assignment_map):
    """Makes variables of the graph start from tensors in a checkpoint.

    Args:
      checkpoint_dir: a checkpoint, or a folder with some.
      assignment_map: dict: name, or scope with a slash at its end, in the checkpoint -> variable, list of a variable's parts,
        name of a variable, or scope.

    Raises:
      ValueError: if a tensor or variable is missing, or shapes differ.
    """
    core.init_from_checkpoint(checkpoint_dir, assignment_map)
