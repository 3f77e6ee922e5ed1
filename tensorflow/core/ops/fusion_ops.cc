// Ops that graph fusion puts in the place of several stock ones, see core/fusion. A program can use them too.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

absl::Status SelectFillShape(InferenceContext* c) {
  bool broadcast;
  TF_RETURN_IF_ERROR(c->GetAttr("broadcast", &broadcast));
  c->set_output(0, broadcast ? c->UnknownShape() : c->input(1));
  return absl::OkStatus();
}

absl::Status SparseReshapeShape(InferenceContext* c) {
  ShapeHandle indices, last;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &indices));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(c->num_inputs() - 1), 1, &last));
  c->set_output(0, c->Matrix(c->Dim(indices, 0), c->Dim(last, 0)));
  c->set_output(1, c->Vector(c->Dim(last, 0)));
  return absl::OkStatus();
}

absl::Status SparseOuterFlattenShape(InferenceContext* c) {
  ShapeHandle indices;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &indices));
  c->set_output(0, c->Matrix(c->Dim(indices, 0), 2));
  c->set_output(1, c->Vector(2));
  return absl::OkStatus();
}

absl::Status OneHotSumShape(InferenceContext* c) {
  ShapeHandle indices, rows;
  DimensionHandle depth;
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &indices));
  if (!c->RankKnown(indices)) {
    c->set_output(0, c->UnknownShape());
    return absl::OkStatus();
  }
  TF_RETURN_IF_ERROR(c->Subshape(indices, 0, -1, &rows));
  TF_RETURN_IF_ERROR(c->MakeDimForScalarInput(1, &depth));
  TF_RETURN_IF_ERROR(c->Concatenate(rows, c->Vector(depth), &rows));
  c->set_output(0, rows);
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("DeepRecFusedOps")
    .Output("fused: string")
    .Attr("session: string")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->Matrix(c->UnknownDim(), 4));
      return absl::OkStatus();
    })
    .Doc(R"doc(
What graph fusion did in the graphs of a session of this process, since the last time this was asked.

session: `experimental.session_metadata.name` of its ConfigProto; it must begin with "deeprec_fused_ops/".
fused: [fusions, 4]: the template, the new node, its op, and the nodes it replaced, separated by ";".
)doc");

REGISTER_OP("FusedSelectFill")
    .Input("condition: bool")
    .Input("x: T")
    .Input("multiples: N * Tmultiples")
    .Input("like: M * Tlike")
    .Output("y: T")
    .Attr("T: type")
    .Attr("fill: tensor")
    .Attr("fill_where: bool")
    .Attr("fill_shape: shape = {unknown_rank: true}")
    .Attr("broadcast: bool = false")
    .Attr("N: int >= 0 = 0")
    .Attr("Tmultiples: {int32, int64} = DT_INT32")
    .Attr("M: int >= 0 = 0")
    .Attr("Tlike: type = DT_FLOAT")
    .SetShapeFn(SelectFillShape)
    .Doc(R"doc(
Select or SelectV2 of x and a tensor all of whose elements are `fill`, which is not made.

condition: as for Select; with `multiples`, it is first tiled, and must be [rows, 1].
x: the other branch.
multiples: none, or one [2].
like: none, or one tensor of the shape of the filled branch.
fill: scalar of type T.
fill_where: the value of condition that chooses `fill`.
fill_shape: of the filled branch; if it is unknown and there is no `like`, that of x.
broadcast: whether it is SelectV2.
)doc");

REGISTER_OP("FusedSparseReshape")
    .Input("indices: int64")
    .Input("dense_shape: int64")
    .Input("new_shapes: N * int64")
    .Output("output_indices: int64")
    .Output("output_shape: int64")
    .Attr("N: int >= 1")
    .SetShapeFn(SparseReshapeShape)
    .Doc("SparseReshape to each of new_shapes in turn; the indices are computed once.");

REGISTER_OP("FusedSparseOuterFlatten")
    .Input("indices: int64")
    .Input("dense_shape: int64")
    .Output("output_indices: int64")
    .Output("output_shape: int64")
    .Attr("outer: int >= 1")
    .SetShapeFn(SparseOuterFlattenShape)
    .Doc(R"doc(
SparseReshape to a matrix: the first `outer` dimensions become one, and the next is the other.

The number of places must stay the same, so that dimensions behind these must be 1.
)doc");

REGISTER_OP("FusedOneHotSum")
    .Input("indices: TI")
    .Input("depth: int32")
    .Input("on_value: T")
    .Output("y: T")
    .Attr("TI: {uint8, int8, int32, int64} = DT_INT64")
    .Attr("T: {float, double, int32, int64}")
    .SetShapeFn(OneHotSumShape)
    .Doc(R"doc(
The sum of OneHot(indices, depth, on_value, 0) over the last dimension of indices.

indices: [..., length]; those outside of [0, depth) count nothing.
depth: scalar.
on_value: scalar.
y: [..., depth].
)doc");

REGISTER_OP("FusedConcatCast")
    .Input("values: N * SrcT")
    .Input("axis: Tidx")
    .Output("y: DstT")
    .Attr("N: int >= 1")
    .Attr("SrcT: {float, double, bfloat16, int32, int64}")
    .Attr("DstT: {float, double, bfloat16}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->UnknownShape());
      return absl::OkStatus();
    })
    .Doc("Cast(ConcatV2(values, axis), DstT), in one pass: of float to and from bfloat16 and double, and of integers to float.");

REGISTER_OP("FusedBiasActivation")
    .Input("value: float")
    .Input("bias: float")
    .Output("y: float")
    .Attr("activation: {'Sigmoid', 'Tanh'}")
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->input(0));
      return absl::OkStatus();
    })
    .Doc("activation(BiasAdd(value, bias)), in one pass; the last dimension of value is that of bias.");

}  // namespace tensorflow
