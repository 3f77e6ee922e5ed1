"""Messages of the embedding projector's configuration, made from their description."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_STRING = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
_UINT32 = descriptor_pb2.FieldDescriptorProto.TYPE_UINT32
_MESSAGE = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE
_ONE = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
_MANY = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED

_PACKAGE = "tensorflow.contrib.tensorboard"
# message -> fields in the order of their numbers: name, type (or the message it is), how many
_MESSAGES = {
    "SpriteMetadata": [("image_path", _STRING, _ONE), ("single_image_dim", _UINT32, _MANY)],
    "EmbeddingInfo": [
        ("tensor_name", _STRING, _ONE),
        ("metadata_path", _STRING, _ONE),
        ("bookmarks_path", _STRING, _ONE),
        ("tensor_shape", _UINT32, _MANY),
        ("sprite", "SpriteMetadata", _ONE),
        ("tensor_path", _STRING, _ONE),
    ],
    "ProjectorConfig": [
        ("model_checkpoint_path", _STRING, _ONE),
        ("embeddings", "EmbeddingInfo", _MANY),
        ("model_checkpoint_dir", _STRING, _ONE),
    ],
}


def _file():
    proto = descriptor_pb2.FileDescriptorProto(
        name="tensorflow/contrib/tensorboard/plugins/projector/projector_config.proto",
        package=_PACKAGE,
        syntax="proto3",
    )
    for message, fields in _MESSAGES.items():
        made = proto.message_type.add(name=message)
        for number, (name, kind, label) in enumerate(fields, start=1):
            field = made.field.add(name=name, number=number, label=label)
            if isinstance(kind, str):
                field.type, field.type_name = _MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                field.type = kind
    return proto


DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(_file().SerializeToString()) or (
    descriptor_pool.Default().FindFileByName(_file().name)
)
SpriteMetadata, EmbeddingInfo, ProjectorConfig = (
    message_factory.GetMessageClass(DESCRIPTOR.message_types_by_name[name]) for name in _MESSAGES
)
