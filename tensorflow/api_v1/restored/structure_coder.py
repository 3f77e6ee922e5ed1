"""StructureCoder: nested structures of specs to protos and back."""

from tensorflow.python.saved_model import nested_structure_coder


class StructureCoder:
    """Encodes a structure as StructuredValue and decodes it; the functions of the module do the work."""

    def can_encode(self, nested):
        return nested_structure_coder.can_encode(nested)

    def encode_structure(self, nested):
        return nested_structure_coder.encode_structure(nested)

    def decode_proto(self, proto):
        return nested_structure_coder.decode_proto(proto)
