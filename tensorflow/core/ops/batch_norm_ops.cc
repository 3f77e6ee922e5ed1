// Batch normalization in one op, and its gradients in one.

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

// Vectors of the size of the last dimension of x from output 1 on; output 0 is as x.
absl::Status ShapesFromX(InferenceContext* c, int input) {
  ShapeHandle x, columns;
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(input), 1, &x));
  columns = c->Vector(c->RankKnown(x) ? c->Dim(x, -1) : c->UnknownDim());
  c->set_output(0, x);
  for (int i = 1; i < c->num_outputs(); ++i) c->set_output(i, columns);
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("BatchNormalization")
    .Input("x: float")
    .Input("gamma: G * float")
    .Input("beta: B * float")
    .Input("moving: M * float")
    .Input("training: F * bool")
    .Output("y: float")
    .Output("mean: float")
    .Output("variance: float")
    .Attr("G: int >= 0")
    .Attr("B: int >= 0")
    .Attr("M: int >= 0")
    .Attr("F: int >= 0")
    .Attr("epsilon: float")
    .SetShapeFn([](InferenceContext* c) { return ShapesFromX(c, 0); })
    .Doc(R"doc(
Batch normalization over all dimensions but the last, by the batch's own moments or by moving ones.

x: [..., size].
gamma: [size] factors; left out: 1.
beta: [size] summands; left out: 0.
moving: [size] mean and variance to normalize by if training is false; left out: never.
training: a scalar beside `moving`.
y: (x - mean) gamma / sqrt(variance + epsilon) + beta.
mean: [size], of the batch.
variance: [size], of the batch: mean of (x - mean)^2.
)doc");

REGISTER_OP("BatchNormalizationGrad")
    .Input("y_grad: float")
    .Input("mean_grad: float")
    .Input("variance_grad: float")
    .Input("mean: float")
    .Input("variance: float")
    .Input("x: float")
    .Input("gamma: G * float")
    .Input("beta: B * float")
    .Input("moving: M * float")
    .Input("training: F * bool")
    .Output("x_grad: float")
    .Output("gamma_grad: G * float")
    .Output("beta_grad: B * float")
    .Output("moving_grad: M * float")
    .Attr("G: int >= 0")
    .Attr("B: int >= 0")
    .Attr("M: int >= 0")
    .Attr("F: int >= 0")
    .Attr("epsilon: float")
    .SetShapeFn([](InferenceContext* c) { return ShapesFromX(c, 5); })
    .Doc("Gradients of BatchNormalization.");

}  // namespace tensorflow
