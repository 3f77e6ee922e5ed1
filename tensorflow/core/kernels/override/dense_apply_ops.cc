// ApplyAdam, ApplyAdagrad, ApplyAdagradV2 and their resource forms on the row updates of core/sparse. The stock kernels wake
// threads for a few thousand numbers, and have no wider vectors than AVX.

#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/override/register.h"
#include "tensorflow/core/kernels/step_inputs.h"
#include "tensorflow/core/kernels/step_variables.h"

namespace tensorflow {
namespace {

using deeprec::sparse::Hyper;
using deeprec::sparse::Rule;
using deeprec::sparse::SparseStep;

struct Scalar {
  const char* name;
  double Hyper::*field;
};

struct Spec {
  Rule rule;
  std::vector<const char*> variables;  // var and slots
  std::vector<Scalar> scalars;         // in the order of the inputs, between which and the variables there is nothing
  bool has_update_slots;
};

class DenseApplyOp : public OpKernel {
 public:
  DenseApplyOp(OpKernelConstruction* ctx, const Spec& spec) : OpKernel(ctx), spec_(spec) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("use_locking", &use_locking_));
    if (spec_.has_update_slots) OP_REQUIRES_OK(ctx, ctx->GetAttr("update_slots", &update_slots_));
  }

  void Compute(OpKernelContext* ctx) override {
    std::vector<StepVariable> opened;
    for (const char* name : spec_.variables) opened.push_back({name, dtype_});
    StepVariables variables;
    OP_REQUIRES_OK(ctx, variables.Open(ctx, opened, use_locking_, /*sparse=*/false));
    const Tensor& var = variables.tensor(0);
    for (const Scalar& scalar : spec_.scalars) {
      const Tensor* value = nullptr;
      OP_REQUIRES_OK(ctx, ctx->input(scalar.name, &value));
      OP_REQUIRES(ctx, value->dims() == 0,
                  absl::InvalidArgumentError(absl::StrCat(scalar.name, " is not a scalar: ", value->shape().DebugString())));
    }
    for (size_t i = 1; i < spec_.variables.size(); ++i) OP_REQUIRES_OK(ctx, SameShape(var, spec_.variables[i], variables.tensor(static_cast<int>(i))));
    const Tensor* grad = nullptr;
    OP_REQUIRES_OK(ctx, ctx->input("grad", &grad));
    OP_REQUIRES_OK(ctx, SameShape(var, "grad", *grad));
    SparseStep step = StepOn(var, *grad);
    step.rule = spec_.rule;
    for (size_t i = 1; i < spec_.variables.size(); ++i) step.table.slot[i - 1] = variables.tensor(static_cast<int>(i)).data();
    for (const Scalar& scalar : spec_.scalars) OP_REQUIRES_OK(ctx, ReadScalar(ctx, scalar.name, &(step.hyper.*scalar.field)));
    step.hyper.update_slots = update_slots_;
    RunStep(ctx, step, nullptr);
    if (ctx->input_dtype(0) != DT_RESOURCE) ctx->forward_ref_input_to_ref_output(0, 0);
  }

 private:
  static absl::Status SameShape(const Tensor& var, const char* name, const Tensor& other) {
    if (var.shape() == other.shape()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("var and ", name, " do not have the same shape", var.shape().DebugString(), " ",
                                                   other.shape().DebugString()));
  }

  const Spec& spec_;
  DataType dtype_;
  bool use_locking_ = false;
  bool update_slots_ = true;
};

Spec Adam() {
  return {Rule::kAdam,
          {"var", "m", "v"},
          {{"beta1_power", &Hyper::beta1_power},
           {"beta2_power", &Hyper::beta2_power},
           {"lr", &Hyper::lr},
           {"beta1", &Hyper::beta1},
           {"beta2", &Hyper::beta2},
           {"epsilon", &Hyper::epsilon}},
          false};
}

Spec Adagrad() { return {Rule::kAdagrad, {"var", "accum"}, {{"lr", &Hyper::lr}}, true}; }

Spec AdagradV2() { return {Rule::kAdagrad, {"var", "accum"}, {{"lr", &Hyper::lr}, {"epsilon", &Hyper::epsilon}}, true}; }

// The description is kept for the life of the process.
template <Spec (*describe)()>
OpKernel* MakeKernel(OpKernelConstruction* ctx) {
  static const Spec* const spec = new Spec(describe());
  return new DenseApplyOp(ctx, *spec);
}

template <Spec (*describe)()>
void Register(const char* name, bool has_nesterov) {
  for (DataType type : {DT_FLOAT, DT_DOUBLE}) {
    KernelDefBuilder constraints(name);
    constraints.TypeConstraint("T", type);
    // Nesterov's form stays with the stock kernel.
    if (has_nesterov) constraints.AttrConstraint("use_nesterov", false);
    RegisterOverride(name, constraints, MakeKernel<describe>);
  }
}

const bool registered = [] {
  Register<Adam>("ApplyAdam", true);
  Register<Adam>("ResourceApplyAdam", true);
  Register<Adagrad>("ApplyAdagrad", false);
  Register<Adagrad>("ResourceApplyAdagrad", false);
  Register<AdagradV2>("ApplyAdagradV2", false);
  Register<AdagradV2>("ResourceApplyAdagradV2", false);
  return true;
}();

}  // namespace
}  // namespace tensorflow
