// Ops on the coordinates of SparseTensors and on lists of rows.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

// `rank` becomes the number of dimensions that indices (input 0) and dense_shape agree on.
absl::Status MergeRank(InferenceContext* c, int dense_shape, ShapeHandle* indices, DimensionHandle* rank) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, indices));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(dense_shape), 1, &shape));
  return c->Merge(c->Dim(*indices, 1), c->Dim(shape, 0), rank);
}

absl::Status CutoffShape(InferenceContext* c) {
  ShapeHandle indices, values;
  DimensionHandle rank;
  TF_RETURN_IF_ERROR(MergeRank(c, 2, &indices, &rank));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &values));
  const DimensionHandle count = c->UnknownDim();
  c->set_output(0, c->Matrix(count, rank));
  c->set_output(1, c->Vector(count));
  c->set_output(2, c->Vector(rank));
  return absl::OkStatus();
}

absl::Status ReverseShape(InferenceContext* c) {
  ShapeHandle indices, values;
  DimensionHandle rank, count;
  TF_RETURN_IF_ERROR(MergeRank(c, 2, &indices, &rank));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &values));
  TF_RETURN_IF_ERROR(c->Merge(c->Dim(indices, 0), c->Dim(values, 0), &count));
  c->set_output(0, c->Matrix(count, rank));
  c->set_output(1, c->Vector(count));
  c->set_output(2, c->Vector(rank));
  return absl::OkStatus();
}

absl::Status InnerFlattenShape(InferenceContext* c) {
  ShapeHandle indices;
  DimensionHandle rank, new_rank;
  TF_RETURN_IF_ERROR(MergeRank(c, 1, &indices, &rank));
  TF_RETURN_IF_ERROR(c->MakeDimForScalarInput(2, &new_rank));
  c->set_output(0, c->Matrix(c->Dim(indices, 0), new_rank));
  c->set_output(1, c->Vector(new_rank));
  return absl::OkStatus();
}

absl::Status StitchShape(InferenceContext* c) {
  int32_t n;
  TF_RETURN_IF_ERROR(c->GetAttr("N", &n));
  ShapeHandle row = c->UnknownShape();
  for (int i = 0; i < n; ++i) {
    const ShapeHandle indices = c->input(i), data = c->input(n + i);
    if (!c->RankKnown(indices)) continue;
    const int rank = c->Rank(indices);
    ShapeHandle prefix, rest;
    TF_RETURN_IF_ERROR(c->WithRankAtLeast(data, rank, &rest));
    if (!c->RankKnown(rest)) continue;
    TF_RETURN_IF_ERROR(c->Subshape(rest, 0, rank, &prefix));
    TF_RETURN_IF_ERROR(c->Merge(prefix, indices, &prefix));
    TF_RETURN_IF_ERROR(c->Subshape(rest, rank, &rest));
    TF_RETURN_IF_ERROR(c->Merge(row, rest, &row));
  }
  ShapeHandle merged;
  TF_RETURN_IF_ERROR(c->Concatenate(c->Vector(c->UnknownDim()), row, &merged));
  c->set_output(0, merged);
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("SparseValidCutoff")
    .Input("indices: int64")
    .Input("values: T")
    .Input("dense_shape: int64")
    .Output("output_indices: int64")
    .Output("output_values: T")
    .Output("output_dense_shape: int64")
    .Attr("T: type")
    .Attr("axis: int")
    .Attr("length: int >= 1")
    .Attr("side: {'left', 'right'} = 'right'")
    .SetShapeFn(CutoffShape)
    .Doc(R"doc(
Leaves at most `length` places along an axis of a SparseTensor.

axis: in [1, rank), or negative from the last.
side: where the cut is. On the left, it is made in each group of entries with equal coordinates before
  the axis: those that reach further than `length` lose what is too much and move to the front.
output_dense_shape: dense_shape with `length` at the axis.
)doc");

REGISTER_OP("SparseReverse")
    .Input("indices: int64")
    .Input("values: T")
    .Input("dense_shape: int64")
    .Output("output_indices: int64")
    .Output("output_values: T")
    .Output("output_dense_shape: int64")
    .Attr("T: type")
    .Attr("axis: int = 1")
    .SetShapeFn(ReverseShape)
    .Doc(R"doc(
Reverses each sequence of a SparseTensor along an axis.

A sequence is a group of entries with equal coordinates before the axis; it ends with its last entry, so
the first place of the result is the last that was filled.

axis: in [1, rank), or negative from the last.
)doc");

REGISTER_OP("SparseInnerFlatten")
    .Input("indices: int64")
    .Input("dense_shape: int64")
    .Input("new_rank: int64")
    .Output("output_indices: int64")
    .Output("output_shape: int64")
    .SetShapeFn(InnerFlattenShape)
    .Doc(R"doc(
Makes the dimensions of a SparseTensor from new_rank - 1 on one dimension. The values stay.

new_rank: in [1, rank].
)doc");

REGISTER_OP("DynamicStitchFast")
    .Input("indices: N * int32")
    .Input("data: N * T")
    .Output("merged: T")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .SetShapeFn(StitchShape)
    .Doc(R"doc(
DynamicStitch with rows copied by several threads.

Of several rows for one index the last counts; a row that no index names is zero or empty.
)doc");

}  // namespace tensorflow
