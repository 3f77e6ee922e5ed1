// AdamAsync on ordinary variables. Names and inputs are DeepRec's. Scalars have a type of their own, for 16 bits do not
// hold Adam's usual beta2: 0.999 is 1 in bfloat16.

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/ops/dense_variable_shapes.h"

namespace tensorflow {
namespace {

absl::Status AdamAsyncShape(shape_inference::InferenceContext* c) {
  return StepShape(c, 3, {"lr", "beta1", "beta2", "epsilon"});
}

constexpr char kDoc[] = R"doc(
Adam with powers of beta that are the variable's own, and advance with each step that it takes.

With alpha = lr * sqrt(1 - beta2_power) / (1 - beta1_power): m = beta1 * m + (1 - beta1) * g;
v = beta2 * v + (1 - beta2) * g^2; var -= alpha * m / (sqrt(v) + epsilon); then beta1_power *= beta1 and
beta2_power *= beta2. With indices, g is the sum of a row's gradients, and other rows stay as they are.

m, v: Shape of var.
beta1_power, beta2_power: One element each.
)doc";

constexpr char kSparseDoc[] = R"doc(
ApplyAdamAsync on the rows that `indices` names; gradients of equal indices are summed first.

apply_sparse_rmsprop: If true, instead: v = beta2 * v + (1 - beta2) * g^2;
  m = beta1 * m + lr * g / sqrt(v + epsilon); var -= m, and the powers stay.
)doc";

}  // namespace

#define ADAM_ASYNC_REFS               \
      .Input("var: Ref(T)")           \
      .Input("m: Ref(T)")             \
      .Input("v: Ref(T)")             \
      .Input("beta1_power: Ref(Tscalar)")   \
      .Input("beta2_power: Ref(Tscalar)")
#define ADAM_ASYNC_HANDLES            \
      .Input("var: resource")         \
      .Input("m: resource")           \
      .Input("v: resource")           \
      .Input("beta1_power: resource") \
      .Input("beta2_power: resource")
#define ADAM_ASYNC_INPUTS             \
      .Input("lr: Tscalar")                 \
      .Input("beta1: Tscalar")              \
      .Input("beta2: Tscalar")              \
      .Input("epsilon: Tscalar")            \
      .Input("grad: T")
#define ADAM_ASYNC_INDICES            \
      .Input("indices: Tindices")     \
      .Attr("Tindices: {int32, int64}") \
      .Attr("apply_sparse_rmsprop: bool = false")
#define ADAM_ASYNC_ATTRS              \
      .Attr("T: {half, bfloat16, float, double}") \
      .Attr("Tscalar: {half, bfloat16, float, double} = DT_FLOAT") \
      .Attr("use_locking: bool = false") \
      .SetShapeFn(AdamAsyncShape)

// clang-format off
REGISTER_OP("ApplyAdamAsync")
    ADAM_ASYNC_REFS ADAM_ASYNC_INPUTS .Output("out: Ref(T)") ADAM_ASYNC_ATTRS .Doc(kDoc);
REGISTER_OP("SparseApplyAdamAsync")
    ADAM_ASYNC_REFS ADAM_ASYNC_INPUTS ADAM_ASYNC_INDICES .Output("out: Ref(T)") ADAM_ASYNC_ATTRS .Doc(kSparseDoc);
REGISTER_OP("ResourceApplyAdamAsync")
    ADAM_ASYNC_HANDLES ADAM_ASYNC_INPUTS ADAM_ASYNC_ATTRS .Doc(kDoc);
REGISTER_OP("ResourceSparseApplyAdamAsync")
    ADAM_ASYNC_HANDLES ADAM_ASYNC_INPUTS ADAM_ASYNC_INDICES ADAM_ASYNC_ATTRS .Doc(kSparseDoc);
// clang-format on

}  // namespace tensorflow
