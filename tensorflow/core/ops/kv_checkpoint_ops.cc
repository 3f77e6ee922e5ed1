// Ops that save and restore EmbeddingVariables.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

// The prefix is a scalar; names of tensors, their slices and names of EmbeddingVariables are vectors.
static absl::Status SaveShapes(InferenceContext* c) {
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
  for (int i = 1; i <= 3; ++i) TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &unused));
  return absl::OkStatus();
}

REGISTER_OP("SaveV3")
    .Input("prefix: string")
    .Input("tensor_names: string")
    .Input("shape_and_slices: string")
    .Input("ev_names: string")
    .Input("ev_resources: num_ev * resource")
    .Input("global_step: int64")
    .Input("tensors: dtypes")
    .Attr("num_ev: int >= 0")
    .Attr("dtypes: list(type) >= 0")
    .Attr("ev_key_types: list({int32, int64}) >= 0 = []")
    .Attr("has_ev: bool = false")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      TF_RETURN_IF_ERROR(SaveShapes(c));
      ShapeHandle unused;
      int num_ev;
      TF_RETURN_IF_ERROR(c->GetAttr("num_ev", &num_ev));
      return c->WithRank(c->input(4 + num_ev), 0, &unused);
    })
    .Doc(R"doc(
Saves tensors and EmbeddingVariables in one checkpoint of the V2 format.

First keys are evicted as the options of each EmbeddingVariable say. Then its keys are listed, and variable and slots,
as far as they are in ev_resources, are written in one pass: those of a key are of one moment. Training goes on meanwhile.
The checkpoint appears as a whole: a process killed at any moment leaves an earlier one with this prefix as it was.

prefix: Of the checkpoint's files; the directory is made.
tensor_names: `[number of tensors]`.
shape_and_slices: `[number of tensors]`: empty to save the tensor whole, else the shape of the whole and the slice of it that
  the tensor is, as for SaveV2.
ev_names: `[num_ev]`, the names P of the tensors P-keys, P-values and so on.
ev_resources: EmbeddingVariables and slots.
global_step: For eviction by age; -1 if not known, which leaves that out.
ev_key_types: Dtypes of the keys of ev_resources, or empty.
has_ev: Whether there are ev_resources.
)doc");

// An import's inputs and attributes: of a whole checkpoint, or of an incremental one.
#define KV_IMPORT                                              \
  Input("prefix: string")                                      \
      .Input("resource: resource")                             \
      .Input("tensor_names: string")                           \
      .Input("empty_key: Tkeys")                               \
      .Attr("Tkeys: {int32, int64} = DT_INT64")                \
      .Attr("dtype: {half, bfloat16, float, double}")          \
      .Attr("partition_id: int >= 0 = 0")                      \
      .Attr("partition_num: int >= 1 = 1")                     \
      .Attr("reset_version: bool = false")                     \
      .SetIsStateful()                                         \
      .SetShapeFn([](InferenceContext* c) {                    \
        ShapeHandle unused;                                    \
        TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused)); \
        return c->WithRankAtMost(c->input(2), 1, &unused);     \
      })

REGISTER_OP("KvResourceImportV3")
    .KV_IMPORT
    .Doc(R"doc(
Restores an EmbeddingVariable or one of its slots from a checkpoint.

Before it, the variable and all slots must have been initialized, for_restore or otherwise. The variable comes first: its
content is replaced, the rows of its slots are defaults. Then, one by one, the slots: their rows of keys that the variable
has are set. All tensors are verified before anything is changed; if the checkpoint lacks, or has altered, what is needed, the
variable stays as it was.

resource: The EmbeddingVariable or the slot.
tensor_names: One name, `var` or `var/Adagrad` (or `[1]`): that of a plain variable in the checkpoint, or of one with
  partitions, `var/part_0`, ... or `var/part_0/Adagrad`, ..., which are found in it. Or all sources, each by its name.
empty_key: Not used; every key is legal.
partition_id, partition_num: Of the target: it takes keys with (key mod 1000) mod partition_num = partition_id.
reset_version: Whether all versions become 0.
)doc");

REGISTER_OP("IncrSave")
    .Input("prefix: string")
    .Input("tensor_names: string")
    .Input("shape_and_slices: string")
    .Input("ev_names: string")
    .Input("ev_resources: num_ev * resource")
    .Input("tensors: dtypes")
    .Attr("num_ev: int >= 0")
    .Attr("dtypes: list(type) >= 0")
    .Attr("ev_key_types: list({int32, int64}) >= 0 = []")
    .SetIsStateful()
    .SetShapeFn(SaveShapes)
    .Doc(R"doc(
Saves tensors and, of EmbeddingVariables, the keys that changed since the last full checkpoint, see KvResourceRecord.

As SaveV3, but nothing is evicted, and keys that wait for admission are left out. FailedPrecondition if changes of one of
the EmbeddingVariables are not being recorded.

prefix: Of the checkpoint's files; the directory is made.
tensor_names: `[number of tensors]`.
shape_and_slices: `[number of tensors]`, as for SaveV3.
ev_names: `[num_ev]`, the names P of the tensors P-sparse_incr_keys and so on.
ev_resources: EmbeddingVariables and slots.
ev_key_types: Dtypes of the keys of ev_resources, or empty.
)doc");

REGISTER_OP("KvResourceRecord")
    .Input("resource: resource")
    .Attr("forget_earlier: bool = false")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) { return absl::OkStatus(); })
    .Doc(R"doc(
Starts to record which keys of an EmbeddingVariable change, or begins another generation: to be run before all is saved.

Nothing is recorded any more after the variable was restored or initialized.

resource: The EmbeddingVariable.
forget_earlier: Instead, after all has been saved, forgets what was recorded before the last generation began.
)doc");

REGISTER_OP("KvResourceIncrImport")
    .KV_IMPORT
    .Doc(R"doc(
Puts the keys of an incremental checkpoint into an EmbeddingVariable, or the rows of these keys into a slot, that has been
restored from the full checkpoint before it. Inputs and attributes are those of KvResourceImportV3; it may have been saved
with other partitions.
)doc");

REGISTER_OP("KvRestoreState")
    .Input("prefix: string")
    .Input("tensor_names: string")
    .Output("value: dtype")
    .Attr("dtype: type")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &unused));
      c->set_output(0, c->UnknownShape());
      return absl::OkStatus();
    })
    .Doc(R"doc(
Reads a tensor that a checkpoint may have under one of several names.

tensor_names: `[n]`, n > 0: the first that the checkpoint has is read.
)doc");

}  // namespace tensorflow
