"""A nest of tensors as the flat record that goes through the buffer, and back."""

from tensorflow.python.framework import ops
from tensorflow.python.util import nest


class Structure:
    """The nest `features`: tensors, SparseTensors, RaggedTensors and None.

    Raises:
      ValueError: there is no tensor in it.
      TypeError: something in it is neither a tensor nor made one easily.
    """

    def __init__(self, features):
        self._features = features
        self._leaves = [_tensor(leaf) for leaf in nest.flatten(features, expand_composites=True)]
        self.tensors = [leaf for leaf in self._leaves if leaf is not None]
        if not self.tensors:
            raise ValueError(f"features must hold a tensor, got {features!r}")

    def pack(self, tensors: list):
        """The nest with other tensors, in the order of `self.tensors`."""
        left = iter(tensors)
        leaves = [None if leaf is None else next(left) for leaf in self._leaves]
        return nest.pack_sequence_as(self._features, leaves, expand_composites=True)

    def check_like(self, other: "Structure", name: str) -> None:
        """Raises ValueError unless the tensors of `other` have the same dtypes, and the nests the same form."""
        try:
            nest.assert_same_structure(self._features, other._features, expand_composites=True)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must have the structure of the first entry: {error}") from None
        mine, theirs = ([tensor.dtype.base_dtype.name for tensor in part.tensors] for part in (self, other))
        if mine != theirs:
            raise ValueError(f"{name} must have the dtypes of the first entry, {mine}, got {theirs}")


def _tensor(leaf):
    if leaf is None:
        return None
    try:
        return ops.convert_to_tensor(leaf)
    except (TypeError, ValueError) as error:
        raise TypeError(f"features must hold tensors, SparseTensors and None, got {leaf!r}: {error}") from None
