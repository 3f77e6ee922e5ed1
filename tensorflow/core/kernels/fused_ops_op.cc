#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/graph/fused_ops.h"

namespace tensorflow {
namespace {

class DeepRecFusedOpsOp : public OpKernel {
 public:
  explicit DeepRecFusedOpsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("session", &session_));
  }

  void Compute(OpKernelContext* ctx) override {
    const std::vector<deeprec::fusion::Fused> fused = deeprec::graph::TakeFused(session_);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({int64_t(fused.size()), 4}), &output));
    for (size_t i = 0; i < fused.size(); ++i) {
      output->matrix<tstring>()(i, 0) = fused[i].template_name;
      output->matrix<tstring>()(i, 1) = fused[i].node;
      output->matrix<tstring>()(i, 2) = fused[i].op;
      output->matrix<tstring>()(i, 3) = absl::StrJoin(fused[i].replaced, ";");
    }
  }

 private:
  std::string session_;
};

REGISTER_KERNEL_BUILDER(Name("DeepRecFusedOps").Device(DEVICE_CPU), DeepRecFusedOpsOp);

}  // namespace
}  // namespace tensorflow
