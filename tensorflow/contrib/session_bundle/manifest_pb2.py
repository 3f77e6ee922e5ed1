"""Messages that a session bundle has in its collections; the definitions are built here, not by protoc."""

import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FILE = "tensorflow/contrib/session_bundle/manifest.proto"
_PACKAGE = "tensorflow.serving"
# message -> its fields in the order of their numbers, each with its type; "map:T" is a map of strings to T.
_MESSAGES = {
    "Signatures": {"default_signature": "Signature", "named_signatures": "map:Signature"},
    "TensorBinding": {"tensor_name": "string"},
    "AssetFile": {"tensor_binding": "TensorBinding", "filename": "string"},
    "Signature": {
        "regression_signature": "RegressionSignature",
        "classification_signature": "ClassificationSignature",
        "generic_signature": "GenericSignature",
    },
    "RegressionSignature": {"input": "TensorBinding", "output": "TensorBinding"},
    "ClassificationSignature": {"input": "TensorBinding", "classes": "TensorBinding", "scores": "TensorBinding"},
    "GenericSignature": {"map": "map:TensorBinding"},
}
_ONEOF = {"Signature": "type"}
_Field = descriptor_pb2.FieldDescriptorProto


def _set_type(field, kind):
    if kind == "string":
        field.type = _Field.TYPE_STRING
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"


def _add_map(message, field, value_kind):
    entry = message.nested_type.add(name="".join(part.title() for part in field.name.split("_")) + "Entry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=_Field.LABEL_OPTIONAL, type=_Field.TYPE_STRING)
    _set_type(entry.field.add(name="value", number=2, label=_Field.LABEL_OPTIONAL), value_kind)
    field.label = _Field.LABEL_REPEATED
    field.type = _Field.TYPE_MESSAGE
    field.type_name = f".{_PACKAGE}.{message.name}.{entry.name}"


def _file():
    proto = descriptor_pb2.FileDescriptorProto(name=_FILE, package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = proto.message_type.add(name=name)
        if name in _ONEOF:
            message.oneof_decl.add(name=_ONEOF[name])
        for number, (field_name, kind) in enumerate(fields.items(), start=1):
            field = message.field.add(name=field_name, number=number, label=_Field.LABEL_OPTIONAL)
            if kind.startswith("map:"):
                _add_map(message, field, kind[len("map:") :])
            else:
                _set_type(field, kind)
            if name in _ONEOF:
                field.oneof_index = 0
    return proto


_pool = descriptor_pool.Default()
DESCRIPTOR = _pool.AddSerializedFile(_file().SerializeToString()) or _pool.FindFileByName(_FILE)
for _name in _MESSAGES:
    setattr(sys.modules[__name__], _name, message_factory.GetMessageClass(DESCRIPTOR.message_types_by_name[_name]))
