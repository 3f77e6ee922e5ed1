// Optimizer steps on EmbeddingVariables. Names and inputs are DeepRec's; each op has a form "...WithCounts" whose last
// input says how many occurrences each position stands for. Scalars have a type of their own, for 16 bits do not hold,
// say, Adam's usual beta2: 0.999 is 1 in bfloat16.

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

// grad is [n, dim], indices and indices_counts [n].
absl::Status KvSparseApplyShape(InferenceContext* c) {
  std::vector<ShapeHandle> inputs;
  ShapeHandle grad, indices, unused;
  TF_RETURN_IF_ERROR(c->input("grad", &inputs));
  TF_RETURN_IF_ERROR(c->WithRank(inputs[0], 2, &grad));
  TF_RETURN_IF_ERROR(c->input("indices", &inputs));
  TF_RETURN_IF_ERROR(c->WithRank(inputs[0], 1, &indices));
  DimensionHandle n;
  TF_RETURN_IF_ERROR(c->Merge(c->Dim(grad, 0), c->Dim(indices, 0), &n));
  if (c->input("indices_counts", &inputs).ok()) {
    TF_RETURN_IF_ERROR(c->Merge(inputs[0], c->Vector(n), &unused));
  }
  const auto* handle_data = c->input_handle_shapes_and_types(0);
  if (handle_data != nullptr && !handle_data->empty() && c->Rank((*handle_data)[0].shape) == 1) {
    DimensionHandle dim;
    TF_RETURN_IF_ERROR(c->Merge(c->Dim(grad, 1), c->Dim((*handle_data)[0].shape, 0), &dim));
  }
  return absl::OkStatus();
}

}  // namespace

// Inputs common to all, after var, slots and scalars in DeepRec's order.
#define KV_APPLY_OP(name) REGISTER_OP(name).Input("var: resource")
#define KV_APPLY_ATTRS                    \
  Attr("T: {half, bfloat16, float, double}") \
      .Attr("Tscalar: {half, bfloat16, float, double} = DT_FLOAT") \
      .Attr("Tindices: {int32, int64}")   \
      .Attr("Tstep: {int32, int64} = DT_INT64") \
      .Attr("use_locking: bool = false")  \
      .SetShapeFn(KvSparseApplyShape)
#define KV_GRAD Input("grad: T").Input("indices: Tindices")
#define KV_STEP Input("global_step: Tstep")
#define KV_COUNTS Input("indices_counts: int64")
#define KV_ADAM_SCALARS      \
  Input("beta1_power: Tscalar")    \
      .Input("beta2_power: Tscalar") \
      .Input("lr: Tscalar")        \
      .Input("beta1: Tscalar")     \
      .Input("beta2: Tscalar")     \
      .Input("epsilon: Tscalar")

// `inputs` without and with counts.
#define KV_REGISTER(name, inputs, doc)                                  \
  KV_APPLY_OP(name).inputs.KV_APPLY_ATTRS.Doc(doc);                     \
  KV_APPLY_OP(name "WithCounts").inputs.KV_COUNTS.KV_APPLY_ATTRS.Doc(doc)

KV_REGISTER("KvResourceSparseApplyGradientDescent", Input("alpha: Tscalar").KV_GRAD.KV_STEP, R"doc(
Gradient descent on an EmbeddingVariable; gradients of equal keys are summed.

global_step: Stamped on the keys if the variable records versions; negative: not.
)doc");

KV_REGISTER("KvResourceSparseApplyAdagrad", Input("accum: resource").Input("lr: Tscalar").KV_GRAD.KV_STEP, R"doc(
Adagrad on the keys that `indices` names; gradients of equal keys are summed first.
)doc");

KV_REGISTER("KvResourceSparseApplyAdagradDecay",
            Input("accum: resource")
                .Input("accum_decay_power: resource")
                .Input("lr: Tscalar")
                .Input("accum_decay_step: Tstep")
                .Input("accum_decay_rate: Tscalar")
                .Input("accum_baseline: Tscalar")
                .KV_STEP.KV_GRAD,
            R"doc(
Adagrad whose accumulator shrinks by accum_decay_rate, not below accum_baseline, every accum_decay_step global steps.

accum_decay_power: A slot, the decays that a key has seen; missed ones are made up for when it is next updated.
global_step: The number of steps made when this one is done: the variable plus one. It is stamped on the keys.
)doc");

KV_REGISTER("KvResourceSparseApplyAdam", Input("m: resource").Input("v: resource").KV_ADAM_SCALARS.KV_GRAD.KV_STEP,
            R"doc(
Adam on the keys that `indices` names, and on no others; gradients of equal keys are summed first.
)doc");

KV_REGISTER("KvResourceSparseApplyAdamW",
            Input("m: resource").Input("v: resource").KV_ADAM_SCALARS.KV_GRAD.KV_STEP.Input("weight_decay: Tscalar"), R"doc(
As KvResourceSparseApplyAdam, after var -= weight_decay * var on the same keys.
)doc");

#define KV_ADAM_ASYNC_INPUTS         \
  Input("m: resource")               \
      .Input("v: resource")          \
      .Input("beta1_power: resource") \
      .Input("beta2_power: resource") \
      .Input("lr: Tscalar")                \
      .Input("beta1: Tscalar")             \
      .Input("beta2: Tscalar")             \
      .Input("epsilon: Tscalar")           \
      .KV_GRAD.KV_STEP
constexpr char kAdamAsyncDoc[] = R"doc(
Adam with powers of beta that are the variable's own and advance with each step it takes.

beta1_power, beta2_power: Ordinary resource variables, scalars.
apply_sparse_rmsprop: If true, v = beta2 * v + (1 - beta2) * g^2; m = beta1 * m + lr * g / sqrt(v + epsilon);
  var -= m, and the powers stay.
)doc";
KV_APPLY_OP("KvResourceSparseApplyAdamAsync")
    .KV_ADAM_ASYNC_INPUTS.Attr("apply_sparse_rmsprop: bool = false")
    .KV_APPLY_ATTRS.Doc(kAdamAsyncDoc);
KV_APPLY_OP("KvResourceSparseApplyAdamAsyncWithCounts")
    .KV_ADAM_ASYNC_INPUTS.KV_COUNTS.Attr("apply_sparse_rmsprop: bool = false")
    .KV_APPLY_ATTRS.Doc(kAdamAsyncDoc);

KV_REGISTER("KvResourceSparseApplyFtrl",
            Input("accum: resource")
                .Input("linear: resource")
                .KV_GRAD.Input("lr: Tscalar")
                .Input("l1: Tscalar")
                .Input("l2: Tscalar")
                .Input("lr_power: Tscalar"),
            R"doc(
FTRL-proximal with the l1 penalty on the norm of a row.
)doc");

KV_REGISTER("KvResourceSparseApplyFtrlV2",
            Input("accum: resource")
                .Input("linear: resource")
                .KV_GRAD.Input("lr: Tscalar")
                .Input("l1: Tscalar")
                .Input("l2: Tscalar")
                .Input("l2_shrinkage: Tscalar")
                .Input("lr_power: Tscalar"),
            R"doc(
As KvResourceSparseApplyFtrl, with 2 * l2_shrinkage * var added to the gradient.
)doc");

KV_APPLY_OP("KvResourceSparseApplyMomentum")
    .Input("accum: resource")
    .Input("lr: Tscalar")
    .KV_GRAD.Input("momentum: Tscalar")
    .KV_STEP.Attr("use_nesterov: bool = false")
    .KV_APPLY_ATTRS.Doc(R"doc(
Momentum on the keys that `indices` names.
)doc");
KV_APPLY_OP("KvResourceSparseApplyMomentumWithCounts")
    .Input("accum: resource")
    .Input("lr: Tscalar")
    .KV_GRAD.Input("momentum: Tscalar")
    .KV_STEP.KV_COUNTS.Attr("use_nesterov: bool = false")
    .KV_APPLY_ATTRS.Doc(R"doc(
Momentum on the keys that `indices` names.
)doc");

KV_REGISTER("KvResourceSparseApplyRMSProp",
            Input("ms: resource")
                .Input("mom: resource")
                .Input("lr: Tscalar")
                .Input("rho: Tscalar")
                .Input("momentum: Tscalar")
                .Input("epsilon: Tscalar")
                .KV_GRAD.KV_STEP,
            R"doc(
RMSProp on the keys that `indices` names.
)doc");

}  // namespace tensorflow
