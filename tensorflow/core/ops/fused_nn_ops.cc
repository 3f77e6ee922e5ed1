// Layers in one op: names and attributes as DeepRec has them.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;
using shape_inference::UnchangedShape;

// The first two inputs have one shape, which is the output's.
absl::Status GradientShape(InferenceContext* c) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &shape));
  c->set_output(0, shape);
  return absl::OkStatus();
}

// Inputs [first, last) are vectors of the size of the last dimension of `x`.
absl::Status MergeColumns(InferenceContext* c, ShapeHandle* x, int first, int last) {
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(*x, 1, x));
  DimensionHandle size = c->RankKnown(*x) ? c->Dim(*x, -1) : c->UnknownDim();
  for (int i = first; i < last; ++i) {
    ShapeHandle vector;
    TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &vector));
    TF_RETURN_IF_ERROR(c->Merge(size, c->Dim(vector, 0), &size));
  }
  if (c->RankKnown(*x)) TF_RETURN_IF_ERROR(c->ReplaceDim(*x, -1, size, x));
  return absl::OkStatus();
}

absl::Status LayerNormShape(InferenceContext* c) {
  ShapeHandle x = c->input(0), per_row = c->UnknownShape();
  TF_RETURN_IF_ERROR(MergeColumns(c, &x, 1, 3));
  if (c->RankKnown(x)) TF_RETURN_IF_ERROR(c->Subshape(x, 0, -1, &per_row));
  c->set_output(0, x);
  c->set_output(1, per_row);
  c->set_output(2, per_row);
  return absl::OkStatus();
}

absl::Status LayerNormGradShape(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &x));
  TF_RETURN_IF_ERROR(MergeColumns(c, &x, 4, 5));
  c->set_output(0, x);
  c->set_output(1, c->input(4));
  c->set_output(2, c->input(4));
  return absl::OkStatus();
}

absl::Status DiceShape(InferenceContext* c) {
  ShapeHandle x = c->input(0);
  TF_RETURN_IF_ERROR(MergeColumns(c, &x, 1, 4));
  c->set_output(0, x);
  return absl::OkStatus();
}

absl::Status LogicalSumShape(InferenceContext* c) {
  ShapeHandle q, k;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 3, &q));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 3, &k));
  DimensionHandle batch, dim, length = c->UnknownDim();
  TF_RETURN_IF_ERROR(c->Merge(c->Dim(q, 0), c->Dim(k, 0), &batch));
  TF_RETURN_IF_ERROR(c->Merge(c->Dim(q, 2), c->Dim(k, 2), &dim));
  const DimensionHandle queries = c->Dim(q, 1), keys = c->Dim(k, 1);
  if (c->ValueKnown(queries) && c->ValueKnown(keys)) {
    if (c->Value(queries) == 1) {
      length = keys;
    } else if (c->Value(keys) == 1) {
      length = queries;
    } else {
      TF_RETURN_IF_ERROR(c->Merge(queries, keys, &length));
    }
  }
  c->set_output(0, c->Matrix(batch, length));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("Gelu")
    .Input("features: T")
    .Output("activations: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("approximate: bool = true")
    .SetShapeFn(UnchangedShape)
    .Doc(R"doc(
The Gaussian error linear unit, x Phi(x).

approximate: whether Phi comes from a tanh, and not from erf.
)doc");

REGISTER_OP("GeluGrad")
    .Input("gradients: T")
    .Input("features: T")
    .Output("backprops: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("approximate: bool = true")
    .SetShapeFn(GradientShape)
    .Doc("Gradient of Gelu.");

REGISTER_OP("FusedL2Normalize")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {float, double}")
    .Attr("axis: int = 1")
    .Attr("epsilon: float = 1e-12")
    .SetShapeFn(UnchangedShape)
    .Doc(R"doc(
x / sqrt(max(sum(x^2), epsilon)), summed along axis.

axis: one dimension; negative ones count from the last.
)doc");

REGISTER_OP("FusedL2NormalizeGrad")
    .Input("y_grad: T")
    .Input("x: T")
    .Output("x_grad: T")
    .Attr("T: {float, double}")
    .Attr("axis: int = 1")
    .Attr("epsilon: float = 1e-12")
    .SetShapeFn(GradientShape)
    .Doc("Gradient of FusedL2Normalize.");

REGISTER_OP("FusedLayerNorm")
    .Input("x: T")
    .Input("gamma: T")
    .Input("beta: T")
    .Output("y: T")
    .Output("mean: T")
    .Output("rvariance: T")
    .Attr("T: {float, double}")
    .Attr("epsilon: float = 1e-12")
    .SetShapeFn(LayerNormShape)
    .Doc(R"doc(
Layer normalization over the last dimension.

x: [..., size].
gamma: [size] factors.
beta: [size] summands.
y: (x - mean) rvariance gamma + beta.
mean: [...].
rvariance: [...]; 1 / sqrt(variance + epsilon).
)doc");

REGISTER_OP("FusedLayerNormGrad")
    .Input("y_grad: T")
    .Input("x: T")
    .Input("mean: T")
    .Input("rvariance: T")
    .Input("gamma: T")
    .Output("x_grad: T")
    .Output("gamma_grad: T")
    .Output("beta_grad: T")
    .Attr("T: {float, double}")
    .SetShapeFn(LayerNormGradShape)
    .Doc("Gradients of FusedLayerNorm.");

REGISTER_OP("Dice")
    .Input("x: T")
    .Input("mean: T")
    .Input("rvar: T")
    .Input("gamma: T")
    .Output("y: T")
    .Attr("T: {float, double}")
    .SetShapeFn(DiceShape)
    .Doc(R"doc(
The activation Dice: x (p + (1 - p) gamma) with p = sigmoid((x - mean) rvar).

x: [..., size].
mean: [size].
rvar: [size]; 1 / standard deviation.
gamma: [size].
)doc");

REGISTER_OP("LogicalSum")
    .Input("q_input: float")
    .Input("k_input: float")
    .Output("values: T")
    .Attr("T: {int16, int32, float} = DT_FLOAT")
    .SetShapeFn(LogicalSumShape)
    .Doc(R"doc(
Minus the number of places with unequal signs.

q_input: [batch, length, dim].
k_input: [batch, length, dim]; either length may be 1.
values: [batch, length].
)doc");

}  // namespace tensorflow
