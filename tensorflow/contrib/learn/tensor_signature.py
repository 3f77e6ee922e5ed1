"""What an estimator remembers of its features: type and shape of each, for parsing them from `tf.Example`s."""

import collections

from tensorflow.python.framework import dtypes, sparse_tensor
from tensorflow.python.ops import array_ops, math_ops, parsing_ops

# Parsing knows fewer types.
_PARSED = {dtypes.int32: dtypes.int64, dtypes.float64: dtypes.float32}


class TensorSignature(collections.namedtuple("TensorSignature", ["dtype", "shape", "is_sparse"])):
    """Type and shape of a tensor or sparse tensor."""

    def __new__(cls, tensor):
        is_sparse = isinstance(tensor, sparse_tensor.SparseTensor)
        return super().__new__(cls, tensor.dtype, None if is_sparse else tensor.get_shape(), is_sparse)

    def is_compatible_with(self, other):
        """Whether a tensor of this signature can stand for one of the other: the first dimension is free."""
        if self.is_sparse != other.is_sparse or not self.dtype.is_compatible_with(other.dtype):
            return False
        if self.is_sparse or self.shape.rank is None or other.shape.rank is None:
            return True
        return self.shape.rank == other.shape.rank and self.shape[1:].is_compatible_with(other.shape[1:])

    def get_placeholder(self):
        """A placeholder of any number of such elements."""
        if self.is_sparse:
            return array_ops.sparse_placeholder(dtype=self.dtype)
        return array_ops.placeholder(dtype=self.dtype, shape=[None] + list(self.shape[1:]))

    def get_feature_spec(self):
        """The feature of an example: the tensor without the batch."""
        dtype = _PARSED.get(self.dtype, self.dtype)
        if self.is_sparse:
            return parsing_ops.VarLenFeature(dtype=dtype)
        return parsing_ops.FixedLenFeature(shape=self.shape[1:], dtype=dtype)


def create_signatures(tensors):
    """The signature of a tensor, or a dict of them for a dict."""
    if isinstance(tensors, dict):
        return {name: TensorSignature(tensor) for name, tensor in tensors.items()}
    return None if tensors is None else TensorSignature(tensors)


def tensors_compatible(tensors, signatures):
    """Whether tensors (one, or a dict) are compatible with signatures; a dict may have more keys than are signed."""
    if tensors is None or signatures is None:
        return tensors is signatures
    if isinstance(tensors, dict) != isinstance(signatures, dict):
        return False
    if not isinstance(tensors, dict):
        return TensorSignature(tensors).is_compatible_with(signatures)
    return all(
        name in tensors and TensorSignature(tensors[name]).is_compatible_with(signature)
        for name, signature in signatures.items()
    )


def create_placeholders_from_signatures(signatures):
    """A placeholder, or a dict of them, for what `create_signatures` returned."""
    if isinstance(signatures, dict):
        return {name: signature.get_placeholder() for name, signature in signatures.items()}
    return None if signatures is None else signatures.get_placeholder()


def create_example_parser_from_signatures(signatures, examples_batch, single_feature_name="feature"):
    """Parses serialized `tf.Example`s into what was signed.

    Args:
      signatures: from `create_signatures`.
      examples_batch: `[batch]` strings.
      single_feature_name: name in the examples of a feature that is no dict.
    """
    several = signatures if isinstance(signatures, dict) else {single_feature_name: signatures}
    parsed = parsing_ops.parse_example(examples_batch, {name: s.get_feature_spec() for name, s in several.items()})
    features = {name: math_ops.cast(parsed[name], signature.dtype) for name, signature in several.items()}
    return features if isinstance(signatures, dict) else features[single_feature_name]
