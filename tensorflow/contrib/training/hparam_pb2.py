"""The `HParamDef` message: field names and numbers of TF 1.15, so that serialized hyperparameters load."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FILE = "tensorflow/contrib/training/python/training/hparam.proto"
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "Bytes": _Field.TYPE_BYTES,
    "Float": _Field.TYPE_FLOAT,
    "Int64": _Field.TYPE_INT64,
    "Bool": _Field.TYPE_BOOL,
}
# Field of the oneof -> number.
_KINDS = {
    "int64_value": 1,
    "float_value": 2,
    "bytes_value": 3,
    "int64_list": 4,
    "float_list": 5,
    "bytes_list": 6,
    "bool_value": 7,
    "bool_list": 8,
}


def _build() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name=_FILE, package="tensorflow", syntax="proto3")
    message = file.message_type.add(name="HParamDef")
    for name, field_type in _SCALARS.items():
        values = message.nested_type.add(name=f"{name}List")
        values.field.add(name="value", number=1, type=field_type, label=_Field.LABEL_REPEATED)
    kind = message.nested_type.add(name="HParamType")
    kind.oneof_decl.add(name="kind")
    for name, number in _KINDS.items():
        scalar, _, shape = name.partition("_")
        field = kind.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL, oneof_index=0)
        if shape == "value":
            field.type = _SCALARS[scalar.capitalize()]
        else:
            field.type, field.type_name = _Field.TYPE_MESSAGE, f".tensorflow.HParamDef.{scalar.capitalize()}List"
    entry = message.nested_type.add(name="HparamEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=_Field.TYPE_STRING, label=_Field.LABEL_OPTIONAL)
    entry.field.add(
        name="value",
        number=2,
        type=_Field.TYPE_MESSAGE,
        label=_Field.LABEL_OPTIONAL,
        type_name=".tensorflow.HParamDef.HParamType",
    )
    message.field.add(
        name="hparam",
        number=1,
        type=_Field.TYPE_MESSAGE,
        label=_Field.LABEL_REPEATED,
        type_name=".tensorflow.HParamDef.HparamEntry",
    )
    return file


_pool = descriptor_pool.Default()
try:
    DESCRIPTOR = _pool.FindFileByName(_FILE)
except KeyError:
    _pool.Add(_build())
    DESCRIPTOR = _pool.FindFileByName(_FILE)
HParamDef = message_factory.GetMessageClass(_pool.FindMessageTypeByName("tensorflow.HParamDef"))
