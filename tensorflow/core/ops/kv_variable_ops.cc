// Ops of EmbeddingVariables: handle, initialisation, lookup, queries. Names and inputs are DeepRec's.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeAndType;
using shape_inference::ShapeHandle;

// A row's shape, [dim], as the handle tells; unknown if it does not.
ShapeHandle RowShape(InferenceContext* c) {
  const auto* handle_data = c->input_handle_shapes_and_types(0);
  if (handle_data == nullptr || handle_data->empty()) return c->UnknownShapeOfRank(1);
  return (*handle_data)[0].shape;
}

absl::Status HandleShape(InferenceContext* c) {
  c->set_output(0, c->Scalar());
  DataType dtype;
  TF_RETURN_IF_ERROR(c->GetAttr("dtype", &dtype));
  PartialTensorShape row;
  TF_RETURN_IF_ERROR(c->GetAttr("shape", &row));
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(row, &shape));
  c->set_output_handle_shapes_and_types(0, std::vector<ShapeAndType>{{shape, dtype}});
  return absl::OkStatus();
}

absl::Status GatherShape(InferenceContext* c) {
  ShapeHandle row, out;
  TF_RETURN_IF_ERROR(c->WithRank(RowShape(c), 1, &row));
  TF_RETURN_IF_ERROR(c->Concatenate(c->input(1), row, &out));
  c->set_output(0, out);
  return absl::OkStatus();
}

// One value per id.
absl::Status PerIdShape(InferenceContext* c) {
  c->set_output(0, c->input(1));
  return absl::OkStatus();
}

absl::Status PerIdShape0(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return absl::OkStatus();
}

absl::Status ExportShape(InferenceContext* c) {
  const ShapeHandle per_key = c->Vector(InferenceContext::kUnknownDim);
  ShapeHandle row, values;
  TF_RETURN_IF_ERROR(c->WithRank(RowShape(c), 1, &row));
  TF_RETURN_IF_ERROR(c->Concatenate(per_key, row, &values));
  c->set_output(0, per_key);
  c->set_output(1, values);
  c->set_output(2, c->Vector(InferenceContext::kUnknownDim));
  c->set_output(3, c->Vector(InferenceContext::kUnknownDim));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("KvVarHandleOp")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("dtype: {half, bfloat16, float, double}")
    .Attr("shape: shape")
    .Attr("Tkeys: {int32, int64} = DT_INT64")
    .Output("resource: resource")
    .SetIsStateful()
    .SetShapeFn(HandleShape)
    .Doc(R"doc(
Handle of an EmbeddingVariable or of one of its optimizer slots.

shape: Shape of a row, `[dim]`.
Tkeys: Dtype of the keys.
)doc");

REGISTER_OP("InitializeKvVariableV2Op")
    .Input("resource_self: resource")
    .Input("resource_primary: resource")
    .Input("value: dtype")
    .Input("empty_key: Tkeys")
    .Attr("dtype: {half, bfloat16, float, double}")
    .Attr("Tkeys: {int32, int64} = DT_INT64")
    .Attr("filter_freq: int = 0")
    .Attr("max_element_size: int = 0")
    .Attr("false_positive_probability: float = -1.0")
    .Attr("counter_type: {uint8, uint16, uint32, uint64} = DT_UINT64")
    .Attr("steps_to_live: int = 0")
    .Attr("l2_weight_threshold: float = -1.0")
    .Attr("default_value_no_permission: float = 0.0")
    .Attr("record_freq: bool = false")
    .Attr("record_version: bool = false")
    .Attr("storage_type: int = 0")
    .Attr("storage_path: string = ''")
    .Attr("storage_size: list(int) = []")
    .Attr("cache_strategy: int = 1")
    .Attr("for_restore: bool = false")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused;
      return c->WithRankAtMost(c->input(2), 2, &unused);
    })
    .Doc(R"doc(
Gives an EmbeddingVariable an empty table, or its table a slot.

resource_self: The variable or the slot.
resource_primary: The variable itself; the same as resource_self unless that is a slot.
value: Rows that new keys start from, `[rows, dim]` or `[dim]`; key k takes row k mod rows.
empty_key: Not used; every key is legal.
filter_freq: Occurrences before a key gets a row; 0 or 1: from the first on.
max_element_size, false_positive_probability, counter_type: With a probability, occurrences are counted by a counting
  Bloom filter made for so many keys.
steps_to_live: If positive, saving evicts keys not trained for more steps than this.
l2_weight_threshold: If positive, saving evicts keys with half the squared norm of their row below it.
default_value_no_permission: Elements of the row of a key that has not been admitted.
record_freq, record_version: Whether to keep how often, and at which global step, a key was trained.
storage_type: A StorageType: 0 and 1, rows in memory; DRAM_PMEM, DRAM_SSDHASH, DRAM_LEVELDB, DRAM_PMEM_SSDHASH, rows that memory
  has no room for in tiers below it. Frequencies are recorded then.
storage_path: Folder of those tiers' files.
storage_size: Bytes of rows that each tier but the last holds.
cache_strategy: Which rows stay up: 0, those used last; 1, those used most.
for_restore: Only make ready what KvResourceImportV3 fills: the variable counts as initialized when it has. A table that is
  there already, with these options, stays as it is until then.
)doc");

REGISTER_OP("KvVarIsInitializedOp")
    .Input("resource: resource")
    .Output("is_initialized: bool")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape)
    .Doc(R"doc(
Whether an EmbeddingVariable or a slot has been initialized.
)doc");

REGISTER_OP("DestroyKvResourceOp")
    .Input("resource: resource")
    .Attr("ignore_lookup_error: bool = true")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs)
    .Doc(R"doc(
Deletes an EmbeddingVariable. Its memory is freed when no step and no slot uses it any more.
)doc");

REGISTER_OP("KvVariableShape")
    .Input("resource: resource")
    .Output("output: out_type")
    .Attr("out_type: {int32, int64} = DT_INT32")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->Vector(2));
      return absl::OkStatus();
    })
    .Doc(R"doc(
`[number of keys, dim]`. Keys that wait for admission count.
)doc");

REGISTER_OP("KvResourceGather")
    .Input("resource: resource")
    .Input("indices: Tkeys")
    .Input("default_value: dtype")
    .Output("output: dtype")
    .Attr("dtype: {half, bfloat16, float, double}")
    .Attr("Tkeys: {int32, int64} = DT_INT64")
    .Attr("is_use_default_value_tensor: bool = false")
    .Attr("is_inference: bool = false")
    .SetIsStateful()
    .SetShapeFn(GatherShape)
    .Doc(R"doc(
Rows of an EmbeddingVariable by key.

A key without a row gives its default, or the no-permission value if the variable has a filter; it is not inserted.

indices: Keys, any shape, any value.
default_value: Used if is_use_default_value_tensor is set: `indices.shape + [dim]`, what keys without a row read as, and,
  unless is_inference is set, are inserted with. Otherwise anything.
output: `indices.shape + [dim]`.
)doc");

REGISTER_OP("KvResourceGatherAndCount")
    .Input("resource: resource")
    .Input("indices: Tkeys")
    .Input("counts: int64")
    .Input("global_step: int64")
    .Output("output: dtype")
    .Output("admitted: bool")
    .Attr("dtype: {half, bfloat16, float, double}")
    .Attr("Tkeys: {int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      TF_RETURN_IF_ERROR(GatherShape(c));
      c->set_output(1, c->input(1));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Rows of an EmbeddingVariable by key, counted and inserted as they are read: the lookup of TF_EMBEDDING_FBJ_OPT.

Each position is counted, in order; a key that has no row gets one if the filter, if any, admits it by then.

indices: Keys, any shape, any value.
counts: Of the shape of indices: the occurrences that each position stands for; or empty: one each.
global_step: Stamped on the keys, where versions are recorded; -1: no stamp.
output: `indices.shape + [dim]`; the no-permission value for a key that is not admitted yet.
admitted: Of the shape of indices: whether the key had a row.
)doc");

REGISTER_OP("EVGetFrequency")
    .Input("resource: resource")
    .Input("ids: Tkeys")
    .Output("output: int64")
    .Attr("Tkeys: {int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn(PerIdShape)
    .Doc(R"doc(
How often each key has been trained; 0 for keys not known, and if the variable does not record it.
)doc");

REGISTER_OP("EVGetVersion")
    .Input("resource: resource")
    .Input("ids: Tkeys")
    .Output("output: int64")
    .Attr("Tkeys: {int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn(PerIdShape)
    .Doc(R"doc(
The global step at which each key was last trained; -1 for keys not known, and if the variable does not record it.
)doc");

REGISTER_OP("KvResourceLookupTier")
    .Input("resource: resource")
    .Input("ids: Tkeys")
    .Output("output: int32")
    .Attr("Tkeys: {int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn(PerIdShape)
    .Doc(R"doc(
The storage tier that holds each key's row, once the first is within its budget: 0 the first; -1 for keys without a row.
)doc");

REGISTER_OP("KvResourceExport")
    .Input("resource: resource")
    .Output("keys: Tkeys")
    .Output("values: dtype")
    .Output("versions: int64")
    .Output("freqs: int64")
    .Attr("dtype: {half, bfloat16, float, double}")
    .Attr("Tkeys: {int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn(ExportShape)
    .Doc(R"doc(
All keys that have rows, with their rows, the steps they were last trained at and how often they were.

versions, freqs: Empty if not recorded.
)doc");

REGISTER_OP("KvAlignCounts")
    .Input("indices: Tkeys")
    .Input("keys: Tkeys")
    .Input("counts: int64")
    .Output("indices_counts: int64")
    .Attr("Tkeys: {int32, int64} = DT_INT64")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused;
      TF_RETURN_IF_ERROR(c->Merge(c->input(1), c->input(2), &unused));
      return PerIdShape0(c);
    })
    .Doc(R"doc(
The number of occurrences of each key, where its gradient is.

indices: Keys of gradients, `[n]`.
keys, counts: Keys that were looked up and how often, `[m]` each; the counts of equal keys are added.
indices_counts: `[n]`: at the first position of a key its sum, at the others 0.
)doc");

}  // namespace tensorflow
