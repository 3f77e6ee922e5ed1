// Sparse optimizer ops that TensorFlow 2 does not have: Adam and gradient descent in one op each, on ref
// and on resource variables. Names and inputs are DeepRec's where DeepRec has the op.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

// Shape of the table at `input`: of the tensor behind it for a resource handle, unknown if that is.
ShapeHandle TableShape(InferenceContext* c, int input, bool resource) {
  if (!resource) return c->input(input);
  const auto* handle_data = c->input_handle_shapes_and_types(input);
  if (handle_data == nullptr || handle_data->empty()) return c->UnknownShape();
  return (*handle_data)[0].shape;
}

// Inputs: `tables` tables of one shape [rows, ...], `scalars` scalars, grad [n, ...], indices [n].
template <int tables, int scalars, bool resource>
absl::Status SparseApplyShape(InferenceContext* c) {
  ShapeHandle table = TableShape(c, 0, resource);
  for (int i = 1; i < tables; ++i) {
    TF_RETURN_IF_ERROR(c->Merge(table, TableShape(c, i, resource), &table));
  }
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(table, 1, &table));
  ShapeHandle unused;
  for (int i = tables; i < tables + scalars; ++i) {
    TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  const int grad_input = tables + scalars;
  ShapeHandle indices;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(grad_input + 1), 1, &indices));
  // Expected shape of grad: the table's with the number of indices in front.
  ShapeHandle expected;
  if (c->RankKnown(table)) {
    TF_RETURN_IF_ERROR(c->ReplaceDim(table, 0, c->Dim(indices, 0), &expected));
  } else {
    expected = c->UnknownShape();
  }
  TF_RETURN_IF_ERROR(c->Merge(c->input(grad_input), expected, &unused));
  if (c->num_outputs() > 0) c->set_output(0, table);
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("SparseApplyAdam")
    .Input("var: Ref(T)")
    .Input("m: Ref(T)")
    .Input("v: Ref(T)")
    .Input("beta1_power: T")
    .Input("beta2_power: T")
    .Input("lr: T")
    .Input("beta1: T")
    .Input("beta2: T")
    .Input("epsilon: T")
    .Input("grad: T")
    .Input("indices: Tindices")
    .Output("out: Ref(T)")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("Tindices: {int32, int64}")
    .Attr("use_locking: bool = false")
    .Attr("decay_all_rows: bool = false")
    .SetShapeFn(SparseApplyShape<3, 6, false>)
    .Doc(R"doc(
One step of Adam on the rows that `indices` names; gradients of equal indices are summed first.

With alpha = lr * sqrt(1 - beta2_power) / (1 - beta1_power) and g the sum of a row's gradients:
m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g^2;
var -= alpha * m / (sqrt(v) + epsilon).

var, m, v: Tables of one shape `[rows, ...]`.
grad: Shape `[n, ...]`.
indices: Shape `[n]`, values in `[0, rows)`, in any order, not necessarily unique.
decay_all_rows: If true, rows without gradient take the step too, with g = 0.
use_locking: Whether to hold the variables' locks during the update. Resource variables are always locked
  exclusively if decay_all_rows is set.
out: Same as "var".
)doc");

REGISTER_OP("ResourceSparseApplyAdam")
    .Input("var: resource")
    .Input("m: resource")
    .Input("v: resource")
    .Input("beta1_power: T")
    .Input("beta2_power: T")
    .Input("lr: T")
    .Input("beta1: T")
    .Input("beta2: T")
    .Input("epsilon: T")
    .Input("grad: T")
    .Input("indices: Tindices")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("Tindices: {int32, int64}")
    .Attr("use_locking: bool = false")
    .Attr("decay_all_rows: bool = false")
    .SetShapeFn(SparseApplyShape<3, 6, true>)
    .Doc(R"doc(
SparseApplyAdam on resource variables.
)doc");

REGISTER_OP("SparseApplyGradientDescent")
    .Input("var: Ref(T)")
    .Input("alpha: T")
    .Input("grad: T")
    .Input("indices: Tindices")
    .Output("out: Ref(T)")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("Tindices: {int32, int64}")
    .Attr("use_locking: bool = false")
    .SetShapeFn(SparseApplyShape<1, 1, false>)
    .Doc(R"doc(
Subtracts alpha times the sum of a row's gradients from each row that `indices` names.

var: Table of shape `[rows, ...]`.
alpha: Learning rate, a scalar.
grad: Shape `[n, ...]`.
indices: Shape `[n]`, values in `[0, rows)`, in any order, not necessarily unique.
use_locking: Whether to hold the variable's lock during the update.
out: Same as "var".
)doc");

REGISTER_OP("ResourceSparseApplyGradientDescent")
    .Input("var: resource")
    .Input("alpha: T")
    .Input("grad: T")
    .Input("indices: Tindices")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("Tindices: {int32, int64}")
    .Attr("use_locking: bool = false")
    .SetShapeFn(SparseApplyShape<1, 1, true>)
    .Doc(R"doc(
SparseApplyGradientDescent on a resource variable.
)doc");

REGISTER_OP("DeepRecKernelIsa")
    .Output("isa: string")
    .SetShapeFn(shape_inference::ScalarShape)
    .Doc(R"doc(
The instruction set the kernels of this library use in this process: scalar, avx2 or avx512.
)doc");

}  // namespace tensorflow
