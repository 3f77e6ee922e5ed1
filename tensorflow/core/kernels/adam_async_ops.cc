// Kernels of ops/adam_async_ops.cc.

#include <utility>

#include "tensorflow/core/kernels/step_inputs.h"
#include "tensorflow/core/kernels/step_variables.h"

namespace tensorflow {
namespace {

using deeprec::sparse::Hyper;
using deeprec::sparse::Rule;
using deeprec::sparse::SparseStep;

class AdamAsyncOp : public OpKernel {
 public:
  explicit AdamAsyncOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("use_locking", &use_locking_));
    sparse_ = ctx->HasAttr("Tindices");
    if (sparse_) OP_REQUIRES_OK(ctx, ctx->GetAttr("apply_sparse_rmsprop", &rmsprop_));
  }

  void Compute(OpKernelContext* ctx) override {
    StepVariables variables;
    OP_REQUIRES_OK(ctx,
                   variables.Open(ctx, {{"var", dtype_}, {"m", dtype_}, {"v", dtype_}}, use_locking_, sparse_));
    const Tensor& var = variables.tensor(0);
    OP_REQUIRES_OK(ctx, CheckSameShape(var, "m", variables.tensor(1)));
    OP_REQUIRES_OK(ctx, CheckSameShape(var, "v", variables.tensor(2)));
    const Tensor *grad, *indices;
    OP_REQUIRES_OK(ctx, ReadGrad(ctx, var, sparse_, &grad, &indices));
    SparseStep step = StepOn(var, *grad);
    step.table.slot[0] = variables.tensor(1).data();
    step.table.slot[1] = variables.tensor(2).data();
    OP_REQUIRES_OK(ctx, ReadScalar(ctx, "lr", &step.hyper.lr));
    OP_REQUIRES_OK(ctx, ReadScalar(ctx, "beta1", &step.hyper.beta1));
    OP_REQUIRES_OK(ctx, ReadScalar(ctx, "beta2", &step.hyper.beta2));
    OP_REQUIRES_OK(ctx, ReadScalar(ctx, "epsilon", &step.hyper.epsilon));
    OP_REQUIRES_OK(ctx, TakeBetaPowers(ctx, /*advance=*/!rmsprop_, &step.hyper, variables.mutexes()));
    if (rmsprop_) {
      step.rule = Rule::kRmsProp;
      SetRmsPropOfAdamAsync(&step.hyper);
      std::swap(step.table.slot[0], step.table.slot[1]);
    } else {
      step.rule = Rule::kAdam;
    }
    RunStep(ctx, step, indices);
    if (ctx->input_dtype(0) != DT_RESOURCE) ctx->forward_ref_input_to_ref_output(0, 0);
  }

 private:
  DataType dtype_;
  bool use_locking_ = false;
  bool sparse_ = false;
  bool rmsprop_ = false;
};

REGISTER_KERNEL_BUILDER(Name("ApplyAdamAsync").Device(DEVICE_CPU), AdamAsyncOp);
REGISTER_KERNEL_BUILDER(Name("ResourceApplyAdamAsync").Device(DEVICE_CPU), AdamAsyncOp);
REGISTER_KERNEL_BUILDER(Name("SparseApplyAdamAsync").Device(DEVICE_CPU), AdamAsyncOp);
REGISTER_KERNEL_BUILDER(Name("ResourceSparseApplyAdamAsync").Device(DEVICE_CPU), AdamAsyncOp);

}  // namespace
}  // namespace tensorflow
