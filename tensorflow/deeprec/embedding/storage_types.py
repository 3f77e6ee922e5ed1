"""The enums of DeepRec's `tensorflow.core.framework.embedding.config_pb2`, as protocol buffer enums."""

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.internal import enum_type_wrapper

_ENUMS = {
    "StorageType": {
        "DEFAULT": 0,
        "DRAM": 1,
        "PMEM_MEMKIND": 2,
        "PMEM_LIBPMEM": 3,
        "SSDHASH": 4,
        "LEVELDB": 5,
        "HBM": 6,
        "DRAM_PMEM": 11,
        "DRAM_SSDHASH": 12,
        "HBM_DRAM": 13,
        "DRAM_LEVELDB": 14,
        "DRAM_PMEM_SSDHASH": 101,
        "HBM_DRAM_SSDHASH": 102,
    },
    "CacheStrategy": {"LRU": 0, "LFU": 1},
    "EmbeddingVariableType": {"IMMUTABLE": 0, "MUTABLE": 1},
    "SlotType": {"EMBEDDING_VARIABLE": 0, "VARIABLE": 1},
}


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="tensorflow/core/framework/embedding/config.proto", package="tensorflow.embedding", syntax="proto3"
    )
    for enum, values in _ENUMS.items():
        described = file.enum_type.add(name=enum)
        for name, number in values.items():
            described.value.add(name=name, number=number)
    return file


# A pool of its own: the default one may hold another file of this name, from a program that brings DeepRec's protos.
_pool = descriptor_pool.DescriptorPool()
_pool.AddSerializedFile(_file().SerializeToString())

StorageType, CacheStrategy, EmbeddingVariableType, SlotType = (
    enum_type_wrapper.EnumTypeWrapper(_pool.FindEnumTypeByName(f"tensorflow.embedding.{name}")) for name in _ENUMS
)
CacheType = CacheStrategy  # the older name
# Before release 2212.
INVALID = StorageType.DEFAULT

for _values in _ENUMS.values():
    globals().update(_values)

# Memory, and below it one or two tiers. The others need a GPU, or leave out the tier in memory.
MULTI_TIER = tuple(
    StorageType.Value(name) for name in ("DRAM_PMEM", "DRAM_SSDHASH", "DRAM_LEVELDB", "DRAM_PMEM_SSDHASH")
)
