#include <string>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/runtime/config_fields.h"

namespace tensorflow {
namespace {

class DeepRecConfigFieldsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES(ctx, ctx->session_config() != nullptr, absl::FailedPreconditionError("This run has no ConfigProto"));
    const deeprec::runtime::ConfigFields fields = deeprec::runtime::ReadConfigFields(*ctx->session_config());
    std::string text = absl::StrCat(
        "tensor_fuse=", fields.tensor_fuse, " run_graph_mode=", fields.run_graph_mode,
        " run_graph_mode_lite=", fields.run_graph_mode_lite, " executor_policy=", int(fields.executor_policy),
        " micro_batch_num=", fields.micro_batch_num, " do_op_fusion=", fields.do_op_fusion,
        " do_smart_stage=", fields.do_smart_stage, " do_async_embedding=", fields.do_async_embedding);
    for (const auto& pool : fields.stage_thread_pools) {
      absl::StrAppend(&text, " pool=", pool.inter_op_threads, "/", pool.intra_op_threads, "/", pool.global_name);
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({}), &output));
    output->scalar<tstring>()() = text;
  }
};

REGISTER_KERNEL_BUILDER(Name("DeepRecConfigFields").Device(DEVICE_CPU), DeepRecConfigFieldsOp);

}  // namespace
}  // namespace tensorflow
