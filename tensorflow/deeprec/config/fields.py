"""DeepRec's fields, messages and enums, as part of the real `config.proto`.

The generated module `config_pb2` hands its serialized file to the descriptor pool. While it loads, that file passes through
here, and what the tables below name is added. The fields are then fields like any other: in text format, in a message
that was sent to another process, in a copy. The runtime's C++ keeps them as unknown fields; `core/runtime/config_fields` reads them.

Numbers are DeepRec's where they are known and free here. Those from 2001 on are our own: DeepRec's `do_op_fusion` has the number of
the later `cpu_global_jit`. Imports nothing of TensorFlow but config_pb2, and must run before anything else has imported that.
"""

import sys

from google.protobuf import descriptor, descriptor_pb2, descriptor_pool

_FILE = "tensorflow/core/protobuf/config.proto"
_MODULE = "tensorflow.core.protobuf.config_pb2"

_ENUMS = {
    "ExecutorPolicy": (
        ("USE_NORMAL_EXECUTOR", 0),
        ("USE_COST_MODEL_EXECUTOR", 1),
        ("USE_INLINE_EXECUTOR", 2),
    ),
}

# Message: field, number, type; "repeated " before the type, a capital: an enum or message of the file. The runtime's own
# messages get fields more, the others are new.
_MESSAGES = {
    "AsyncEmbeddingOptions": (
        ("threads_num", 1, "int32"),
        ("capacity", 2, "int32"),
        ("use_stage_subgraph_thread_pool", 3, "bool"),
        ("stage_subgraph_thread_pool_id", 4, "int32"),
    ),
    "SmartStageOptions": (
        ("capacity", 1, "int32"),
        ("num_threads", 2, "int32"),
        ("num_clients", 3, "int32"),
        ("timeout_millis", 4, "int64"),
        ("closed_exception_types", 5, "repeated int32"),
        ("ignored_exception_types", 6, "repeated int32"),
        ("use_stage_subgraph_thread_pool", 7, "bool"),
        ("stage_subgraph_thread_pool_id", 8, "int32"),
        ("stage_subgraph_stream_id", 9, "int32"),
        ("name", 10, "string"),
    ),
    "StageSubgraphThreadPoolOptions": (
        ("inter_op_threads_num", 1, "int32"),
        ("intra_op_threads_num", 2, "int32"),
        ("global_name", 3, "string"),
    ),
    # How the runner threads of a stage stand in a MetaGraphDef.
    "PrefetchRunnerOptions": (
        ("name", 1, "string"),
        ("put_ops", 2, "repeated string"),
        ("take_op", 3, "string"),
        ("size_op", 4, "string"),
        ("cancel_op", 5, "string"),
        ("resume_op", 6, "string"),
        ("close_op", 7, "string"),
        ("fail_op", 8, "string"),
        ("fail_code", 9, "string"),
        ("fail_message", 10, "string"),
        ("capacity", 11, "int32"),
        ("closed_exception_types", 12, "repeated int32"),
        ("ignored_exception_types", 13, "repeated int32"),
        ("fed_tensors", 14, "repeated string"),
        ("fed_values", 15, "repeated string"),
        ("use_stage_subgraph_thread_pool", 16, "bool"),
        ("stage_subgraph_thread_pool_id", 17, "int32"),
    ),
    "OptimizerOptions": (
        ("micro_batch_num", 9, "int32"),
        ("do_smart_stage", 10, "bool"),
        ("do_smart_stage_gpu", 11, "bool"),
        ("do_op_fusion", 2001, "bool"),
        ("do_async_embedding", 2002, "bool"),
        ("async_embedding_options", 2003, "AsyncEmbeddingOptions"),
        ("smart_stage_options", 2004, "SmartStageOptions"),
        ("stage_subgraph_on_cpu", 2005, "bool"),
        ("stage_multi_stream", 2006, "bool"),
        ("device_placement_optimization", 2007, "bool"),
    ),
    "ConfigProto": (
        ("tensor_fuse", 201, "bool"),
        ("run_graph_mode", 203, "bool"),
        ("run_graph_mode_lite", 204, "bool"),
        ("executor_policy", 205, "ExecutorPolicy"),
        ("session_stage_subgraph_thread_pool", 2001, "repeated StageSubgraphThreadPoolOptions"),
    ),
}

_Field = descriptor_pb2.FieldDescriptorProto


def _add_field(message, name: str, number: int, kind: str) -> None:
    field = message.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
    if kind.startswith("repeated "):
        field.label, kind = _Field.LABEL_REPEATED, kind.removeprefix("repeated ")
    if kind[0].isupper():
        field.type = _Field.TYPE_ENUM if kind in _ENUMS else _Field.TYPE_MESSAGE
        field.type_name = f".tensorflow.{kind}"
    else:
        field.type = getattr(_Field, f"TYPE_{kind.upper()}")


def extended(serialized: bytes) -> bytes:
    """The serialized FileDescriptorProto of config.proto with what the tables name.

    Raises:
      ImportError: this TensorFlow's config.proto has a field of such a name or number already.
    """
    file = descriptor_pb2.FileDescriptorProto.FromString(serialized)
    for name, values in _ENUMS.items():
        enum = file.enum_type.add(name=name)
        for value, number in values:
            enum.value.add(name=value, number=number)
    present = {message.name: message for message in file.message_type}
    for name, fields in _MESSAGES.items():
        message = present.get(name) or file.message_type.add(name=name)
        taken = {key for field in message.field for key in (field.name, field.number)}
        for field, number, kind in fields:
            if field in taken or number in taken:
                raise ImportError(f"config.proto of this TensorFlow has its own field {field!r} or {number} in {name}.")
            _add_field(message, field, number, kind)
    return file.SerializeToString(deterministic=True)


class _Pool:
    """The default descriptor pool, but for the file that is extended."""

    def __init__(self, pool):
        self._pool = pool

    def __getattr__(self, name):
        return getattr(self._pool, name)

    def AddSerializedFile(self, serialized):  # noqa: N802 (the pool's name)
        if _FILE.encode() in serialized[: len(_FILE) + 8]:
            serialized = extended(serialized)
        return self._pool.AddSerializedFile(serialized)


class _Offsets:
    """Where a descriptor lies in its file; protobuf's Python implementation alone keeps it, as numbers of the old file."""

    def __init__(self, serialized: bytes):
        self._serialized = serialized

    def correct(self, descriptors, protos) -> None:
        by_name = {found.name: found for found in descriptors}
        for proto in protos:
            found, part = by_name[proto.name], proto.SerializeToString(deterministic=True)
            start = self._serialized.find(part)
            if start >= 0:
                found._serialized_start, found._serialized_end = start, start + len(part)
            if isinstance(proto, descriptor_pb2.DescriptorProto):
                self.correct(found.nested_types, proto.nested_type)
                self.correct(found.enum_types, proto.enum_type)


def install() -> None:
    """Loads config_pb2 with the added fields.

    Raises:
      ImportError: config_pb2 was loaded before, or has fields of these names itself.
    """
    if _MODULE in sys.modules:
        raise ImportError(f"{_MODULE} was imported before DeepRec's fields could be added: import tensorflow first.")
    find = descriptor_pool.Default
    descriptor_pool.Default = lambda: _Pool(find())
    try:
        from tensorflow.core.protobuf import config_pb2
    finally:
        descriptor_pool.Default = find
    file = config_pb2.DESCRIPTOR
    if not descriptor._USE_C_DESCRIPTORS:
        proto = descriptor_pb2.FileDescriptorProto.FromString(file.serialized_pb)
        offsets = _Offsets(file.serialized_pb)
        offsets.correct(file.message_types_by_name.values(), proto.message_type)
        offsets.correct(file.enum_types_by_name.values(), proto.enum_type)
