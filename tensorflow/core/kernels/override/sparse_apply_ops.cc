// The sparse training ops of TensorFlow on our kernels. A node without the private attribute
// `_sum_duplicates` gets the stock semantics: gradients of equal indices are applied one after the other.

#include "tensorflow/core/kernels/override/register.h"
#include "tensorflow/core/kernels/sparse_apply_op.h"

namespace tensorflow {
namespace {

using deeprec::sparse::Hyper;
using deeprec::sparse::Rule;

template <bool has_epsilon>
SparseApplySpec Adagrad() {
  SparseApplySpec spec;
  spec.rule = Rule::kAdagrad;
  spec.tables = {"var", "accum"};
  spec.scalars = {{"lr", &Hyper::lr}};
  if (has_epsilon) spec.scalars.push_back({"epsilon", &Hyper::epsilon});
  spec.empty_rows_allowed = false;
  return spec;
}

template <Rule rule>
SparseApplySpec Momentum() {
  SparseApplySpec spec;
  spec.rule = rule;
  spec.tables = {"var", "accum"};
  spec.scalars = {{"lr", &Hyper::lr}, {"momentum", &Hyper::momentum}};
  spec.scalars_before_grad = 1;
  return spec;
}

template <bool has_l2_shrinkage>
SparseApplySpec Ftrl() {
  SparseApplySpec spec;
  spec.rule = Rule::kFtrl;
  spec.tables = {"var", "accum", "linear"};
  spec.scalars = {
      {"lr", &Hyper::lr, ScalarCheck::kPositive},
      {"l1 regularization strength", &Hyper::l1, ScalarCheck::kNonNegative},
      {"l2 regularization strength", &Hyper::l2, ScalarCheck::kNonNegative},
  };
  if (has_l2_shrinkage) {
    spec.scalars.push_back(
        {"l2 shrinkage regularization strength", &Hyper::l2_shrinkage, ScalarCheck::kNonNegative});
  }
  spec.scalars.push_back({"lr_power", &Hyper::lr_power, ScalarCheck::kNonPositive});
  spec.scalars_before_grad = 0;
  spec.empty_rows_allowed = false;
  spec.has_l2_shrinkage = has_l2_shrinkage;
  return spec;
}

template <bool centered>
SparseApplySpec RmsProp() {
  SparseApplySpec spec;
  spec.rule = centered ? Rule::kCenteredRmsProp : Rule::kRmsProp;
  spec.tables = centered ? std::vector<const char*>{"var", "mg", "ms", "mom"}
                         : std::vector<const char*>{"var", "ms", "mom"};
  spec.scalars = {{"lr", &Hyper::lr},
                  {"rho", &Hyper::rho},
                  {"momentum", &Hyper::momentum},
                  {"epsilon", &Hyper::epsilon}};
  return spec;
}

// The description is kept for the life of the process.
template <SparseApplySpec (*describe)()>
OpKernel* MakeKernel(OpKernelConstruction* ctx) {
  static const SparseApplySpec* const spec = new SparseApplySpec(describe());
  return new SparseApplyOp(ctx, *spec);
}

template <SparseApplySpec (*describe)()>
void Register(const char* name) {
  for (DataType dtype : {DT_HALF, DT_BFLOAT16, DT_FLOAT, DT_DOUBLE}) {
    for (DataType index : {DT_INT32, DT_INT64}) {
      KernelDefBuilder constraints(name);
      constraints.TypeConstraint("T", dtype).TypeConstraint("Tindices", index);
      RegisterOverride(name, constraints, MakeKernel<describe>);
    }
  }
}

const bool registered = [] {
  Register<Adagrad<false>>("SparseApplyAdagrad");
  Register<Adagrad<false>>("ResourceSparseApplyAdagrad");
  Register<Adagrad<true>>("SparseApplyAdagradV2");
  Register<Adagrad<true>>("ResourceSparseApplyAdagradV2");
  Register<Momentum<Rule::kMomentum>>("SparseApplyMomentum");
  Register<Momentum<Rule::kMomentum>>("ResourceSparseApplyMomentum");
  Register<Momentum<Rule::kKerasMomentum>>("ResourceSparseApplyKerasMomentum");
  Register<Ftrl<false>>("SparseApplyFtrl");
  Register<Ftrl<false>>("ResourceSparseApplyFtrl");
  Register<Ftrl<true>>("SparseApplyFtrlV2");
  Register<Ftrl<true>>("ResourceSparseApplyFtrlV2");
  Register<RmsProp<false>>("SparseApplyRMSProp");
  Register<RmsProp<false>>("ResourceSparseApplyRMSProp");
  Register<RmsProp<true>>("SparseApplyCenteredRMSProp");
  Register<RmsProp<true>>("ResourceSparseApplyCenteredRMSProp");
  return true;
}();

}  // namespace
}  // namespace tensorflow
