// Reports the instruction set in use, and logs at load if TF_DEEPREC_ISA could not be followed.

#include "absl/log/log.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/sparse/isa.h"

namespace tensorflow {
namespace {

class DeepRecKernelIsaOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    Tensor* isa = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({}), &isa));
    isa->scalar<tstring>()() = deeprec::sparse::IsaName(deeprec::sparse::ActiveIsa().isa);
  }
};

REGISTER_KERNEL_BUILDER(Name("DeepRecKernelIsa").Device(DEVICE_CPU), DeepRecKernelIsaOp);

const bool logged = [] {
  const std::string& warning = deeprec::sparse::ActiveIsa().warning;
  if (!warning.empty()) LOG(WARNING) << warning;
  return true;
}();

}  // namespace
}  // namespace tensorflow
