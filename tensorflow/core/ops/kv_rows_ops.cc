// Ops that set and remove rows of an EmbeddingVariable by key, and ops that number keys.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("KvResourceInsert")
    .Input("resource: resource")
    .Input("indices: Tkeys")
    .Input("values: dtype")
    .Input("version: int64")
    .Attr("dtype: {half, bfloat16, float, double}")
    .Attr("Tkeys: {int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle indices, values, unused;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &indices));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 2, &values));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &unused));
      shape_inference::DimensionHandle n;
      return c->Merge(c->Dim(indices, 0), c->Dim(values, 0), &n);
    })
    .Doc(R"doc(
Sets the rows of keys, which get rows if they have none. Of equal keys the last one counts.

resource: An EmbeddingVariable, or a slot: there, keys that the variable has no row for are left out.
indices: Keys, `[n]`.
values: `[n, dim]`.
version: Stamped on the keys, where versions are recorded; -1: none.
)doc");

REGISTER_OP("KvResourceRemove")
    .Input("resource: resource")
    .Input("indices: Tkeys")
    .Output("removed: int64")
    .Attr("Tkeys: {int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape)
    .Doc(R"doc(
Removes keys and their rows, with those of the slots, from an EmbeddingVariable of one tier.

indices: Keys, any shape; those that are not there are passed over.
removed: How many were there.
)doc");

REGISTER_OP("KeyNumbersHandle")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Output("resource: resource")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape)
    .Doc(R"doc(
Handle of a map that numbers keys 0, 1, 2, ... as they are first seen. It is made, empty, when it is first used.
)doc");

REGISTER_OP("KeyNumbersFind")
    .Input("resource: resource")
    .Input("keys: int64")
    .Input("insert: bool")
    .Output("numbers: int64")
    .Attr("capacity: int >= 0")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &unused));
      c->set_output(0, c->input(1));
      return absl::OkStatus();
    })
    .Doc(R"doc(
The numbers of keys.

keys: Any shape, any values.
insert: Whether keys without a number get one. ResourceExhausted if the next is not below `capacity`.
numbers: Of the shape of keys; -1 for a key without a number.
)doc");

REGISTER_OP("KeyNumbersAssign")
    .Input("resource: resource")
    .Input("keys: int64")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused;
      return c->WithRank(c->input(1), 1, &unused);
    })
    .Doc(R"doc(
Replaces the content of the map.

keys: `[n]`, all different: keys[i] gets number i.
)doc");

REGISTER_OP("KeyNumbersExport")
    .Input("resource: resource")
    .Output("keys: int64")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->Vector(InferenceContext::kUnknownDim));
      return absl::OkStatus();
    })
    .Doc(R"doc(
All keys, in the order of their numbers, `[n]`.
)doc");

}  // namespace tensorflow
