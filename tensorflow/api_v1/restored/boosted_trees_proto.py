"""The messages of 1.15's boosted_trees.proto, which the runtime has no more: 1.15's checkpoints hold a TreeEnsemble."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "tensorflow.boosted_trees"
_FILE = "tensorflow/core/kernels/boosted_trees/boosted_trees.proto"

# Message -> fields "name number type"; "*" after the type: repeated; "@oneof" at the end.
_MESSAGES = {
    "Node": (
        "leaf 1 Leaf @node",
        "bucketized_split 2 BucketizedSplit @node",
        "categorical_split 3 CategoricalSplit @node",
        "dense_split 4 DenseSplit @node",
        "metadata 777 NodeMetadata",
    ),
    "NodeMetadata": ("gain 1 float", "original_leaf 2 Leaf"),
    "Leaf": ("vector 1 Vector @leaf", "sparse_vector 2 SparseVector @leaf", "scalar 3 float"),
    "Vector": ("value 1 float*",),
    "SparseVector": ("index 1 int32*", "value 2 float*"),
    "BucketizedSplit": (
        "feature_id 1 int32",
        "threshold 2 int32",
        "left_id 3 int32",
        "right_id 4 int32",
        "dimension_id 5 int32",
        "default_direction 6 int32",
    ),
    "CategoricalSplit": ("feature_id 1 int32", "value 2 int32", "left_id 3 int32", "right_id 4 int32"),
    "DenseSplit": ("feature_id 1 int32", "threshold 2 float", "left_id 3 int32", "right_id 4 int32"),
    "Tree": ("nodes 1 Node*",),
    "PostPruneNodeUpdate": ("new_node_id 1 int32", "logit_change 2 float*"),
    "TreeMetadata": (
        "num_layers_grown 2 int32",
        "is_finalized 3 bool",
        "post_pruned_nodes_meta 4 PostPruneNodeUpdate*",
    ),
    "GrowingMetadata": (
        "num_trees_attempted 1 int64",
        "num_layers_attempted 2 int64",
        "last_layer_node_start 3 int32",
        "last_layer_node_end 4 int32",
    ),
    "TreeEnsemble": (
        "trees 1 Tree*",
        "tree_weights 2 float*",
        "tree_metadata 3 TreeMetadata*",
        "growing_metadata 4 GrowingMetadata",
    ),
    "DebugOutput": ("feature_ids 1 int32*", "logits_path 2 float*"),
}


def _field(message: descriptor_pb2.DescriptorProto, text: str) -> None:
    name, number, kind, *oneof = text.split()
    field = message.field.add(name=name, number=int(number), label=3 if kind.endswith("*") else 1)
    kind = kind.rstrip("*")
    if kind in _MESSAGES:
        field.type = field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"
    else:
        field.type = getattr(field, f"TYPE_{kind.upper()}")
    if oneof:
        if not message.oneof_decl:
            message.oneof_decl.add(name=oneof[0][1:])
        field.oneof_index = 0


def _build() -> dict[str, type]:
    file = descriptor_pb2.FileDescriptorProto(name=_FILE, package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for text in fields:
            _field(message, text)
    # A pool of its own: another library in the process may bring the file as well.
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
    }


globals().update(_build())
