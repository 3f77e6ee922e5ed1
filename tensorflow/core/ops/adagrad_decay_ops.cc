// AdagradDecay on ordinary variables. Names and inputs are DeepRec's.

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/ops/dense_variable_shapes.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

absl::Status AdagradDecayShape(InferenceContext* c) {
  TF_RETURN_IF_ERROR(
      StepShape(c, 2, {"lr", "accum_decay_step", "accum_decay_rate", "accum_baseline", "global_step"}));
  // Of the powers, their number of rows is var's.
  const ShapeHandle var = VariableShape(c, 0), power = VariableShape(c, 2);
  if (!c->RankKnown(var) || !c->RankKnown(power)) return absl::OkStatus();
  shape_inference::DimensionHandle rows;
  ShapeHandle unused;
  if (c->Rank(power) == 1 && c->Rank(var) > 1) return c->Merge(c->Dim(var, 0), c->Dim(power, 0), &rows);
  return c->Merge(var, power, &unused);
}

constexpr char kDoc[] = R"doc(
Adagrad whose accumulator shrinks, by accum_decay_rate every accum_decay_step global steps, but not below accum_baseline.

With k = global_step div accum_decay_step - accum_decay_power, the periods not seen yet: if k > 0, accum becomes
max(accum * accum_decay_rate^k, accum_baseline) and accum_decay_power grows by k. Then accum += g^2 and
var -= lr * g / sqrt(accum). With indices, g is the sum of a row's gradients, and other rows stay as they are.

accum: Shape of var.
accum_decay_power: Shape of var, or of its first dimension: one power to each row.
accum_decay_step: Global steps of a period, positive.
global_step: The number of steps made when this one is done: the variable plus one.
)doc";

}  // namespace

#define ADAGRAD_DECAY_INPUTS                                 \
      .Input("lr: Tscalar")                                        \
      .Input("accum_decay_step: Tstep")                      \
      .Input("accum_decay_rate: Tscalar")                          \
      .Input("accum_baseline: Tscalar")                            \
      .Input("global_step: Tstep")                           \
      .Input("grad: T")
#define ADAGRAD_DECAY_ATTRS                                  \
      .Attr("T: {half, bfloat16, float, double}")            \
      .Attr("Tscalar: {half, bfloat16, float, double} = DT_FLOAT") \
      .Attr("Tstep: {int32, int64} = DT_INT64")              \
      .Attr("use_locking: bool = false")                     \
      .SetShapeFn(AdagradDecayShape)                         \
      .Doc(kDoc)
#define ADAGRAD_DECAY_REFS                                   \
      .Input("var: Ref(T)")                                  \
      .Input("accum: Ref(T)")                                \
      .Input("accum_decay_power: Ref(Tstep)")
#define ADAGRAD_DECAY_HANDLES                                \
      .Input("var: resource")                                \
      .Input("accum: resource")                              \
      .Input("accum_decay_power: resource")
#define ADAGRAD_DECAY_INDICES .Input("indices: Tindices").Attr("Tindices: {int32, int64}")

// clang-format off
REGISTER_OP("ApplyAdagradDecay")
    ADAGRAD_DECAY_REFS ADAGRAD_DECAY_INPUTS .Output("out: Ref(T)") ADAGRAD_DECAY_ATTRS;
REGISTER_OP("SparseApplyAdagradDecay")
    ADAGRAD_DECAY_REFS ADAGRAD_DECAY_INPUTS ADAGRAD_DECAY_INDICES .Output("out: Ref(T)") ADAGRAD_DECAY_ATTRS;
REGISTER_OP("ResourceApplyAdagradDecay")
    ADAGRAD_DECAY_HANDLES ADAGRAD_DECAY_INPUTS ADAGRAD_DECAY_ATTRS;
REGISTER_OP("ResourceSparseApplyAdagradDecay")
    ADAGRAD_DECAY_HANDLES ADAGRAD_DECAY_INPUTS ADAGRAD_DECAY_INDICES ADAGRAD_DECAY_ATTRS;
// clang-format on

}  // namespace tensorflow
