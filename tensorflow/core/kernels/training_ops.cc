// Kernels of the sparse optimizer ops that TensorFlow does not have; see core/ops/training_ops.cc.

#include "tensorflow/core/kernels/sparse_apply_op.h"

namespace tensorflow {
namespace {

using deeprec::sparse::Hyper;
using deeprec::sparse::Rule;

SparseApplySpec AdamSpec() {
  SparseApplySpec spec;
  spec.rule = Rule::kAdam;
  spec.tables = {"var", "m", "v"};
  spec.scalars = {{"beta1_power", &Hyper::beta1_power}, {"beta2_power", &Hyper::beta2_power},
                  {"lr", &Hyper::lr},                   {"beta1", &Hyper::beta1},
                  {"beta2", &Hyper::beta2},             {"epsilon", &Hyper::epsilon}};
  spec.sum_duplicates_always = true;
  spec.index_error = IndexError::kScatter;
  return spec;
}

SparseApplySpec GradientDescentSpec() {
  SparseApplySpec spec;
  spec.rule = Rule::kGradientDescent;
  spec.tables = {"var"};
  spec.scalars = {{"alpha", &Hyper::lr}};
  spec.sum_duplicates_always = true;
  spec.index_error = IndexError::kScatter;
  return spec;
}

template <SparseApplySpec (*describe)()>
class DescribedOp : public SparseApplyOp {
 public:
  explicit DescribedOp(OpKernelConstruction* ctx) : SparseApplyOp(ctx, Spec()) {}

 private:
  // Kept for the life of the process.
  static const SparseApplySpec& Spec() {
    static const SparseApplySpec* const spec = new SparseApplySpec(describe());
    return *spec;
  }
};

// The ops' own type lists bound T and Tindices; one kernel serves them all.
REGISTER_KERNEL_BUILDER(Name("SparseApplyAdam").Device(DEVICE_CPU), DescribedOp<AdamSpec>);
REGISTER_KERNEL_BUILDER(Name("ResourceSparseApplyAdam").Device(DEVICE_CPU), DescribedOp<AdamSpec>);
REGISTER_KERNEL_BUILDER(Name("SparseApplyGradientDescent").Device(DEVICE_CPU),
                        DescribedOp<GradientDescentSpec>);
REGISTER_KERNEL_BUILDER(Name("ResourceSparseApplyGradientDescent").Device(DEVICE_CPU),
                        DescribedOp<GradientDescentSpec>);

}  // namespace
}  // namespace tensorflow
