// KvResourceGatherAndCount of ops/kv_variable_ops.cc.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/kernels/kv_variable.h"
#include "tensorflow/core/kernels/pool_threads.h"

namespace tensorflow {
namespace {

class KvResourceGatherAndCountOp : public OpKernel {
 public:
  explicit KvResourceGatherAndCountOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tkeys", &key_dtype_));
    serves_only_ = ServesOnly();
  }
  void Compute(OpKernelContext* ctx) override {
    KvRef ref;
    TensorShape shape;
    OP_REQUIRES_OK(ctx, OpenLookup(ctx, dtype_, key_dtype_, &ref, &shape));
    const Tensor &indices = ctx->input(1), &counts = ctx->input(2), &step = ctx->input(3);
    OP_REQUIRES(ctx, counts.NumElements() == 0 || counts.shape() == indices.shape(),
                absl::InvalidArgumentError(absl::StrCat("counts must be empty or of the shape of indices, ",
                                                        indices.shape().DebugString(), ", got ",
                                                        counts.shape().DebugString())));
    OP_REQUIRES(ctx, step.NumElements() == 1,
                absl::InvalidArgumentError(absl::StrCat("global_step must be a scalar, got shape ", step.shape().DebugString())));
    const auto of_positions = counts.flat<int64_t>();
    for (int64_t i = 0; i < of_positions.size(); ++i) {
      OP_REQUIRES(ctx, of_positions(i) >= 0,
                  absl::InvalidArgumentError(
                      absl::StrCat("counts must not be negative, got counts[", i, "] = ", of_positions(i))));
    }
    Tensor *output, *admitted;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, indices.shape(), &admitted));
    const KvKeys keys(indices);
    auto found = admitted->flat<bool>();
    OP_REQUIRES_OK(ctx, CatchTableErrors(ref.name, [&] {
      if (serves_only_) {
        ref.table().Lookup(keys.data(), keys.size(), nullptr, output->data(), PoolThreads(ctx), false);
        std::fill_n(found.data(), found.size(), false);
      } else {
        ref.table().LookupAndCount(keys.data(), keys.size(), of_positions.size() == 0 ? nullptr : of_positions.data(),
                                   std::max(step.flat<int64_t>()(0), deeprec::embedding::kNoVersion), output->data(),
                                   found.data(), PoolThreads(ctx));
      }
      return absl::OkStatus();
    }));
  }

 private:
  DataType dtype_, key_dtype_;
  bool serves_only_;
};

REGISTER_KERNEL_BUILDER(Name("KvResourceGatherAndCount").Device(DEVICE_CPU), KvResourceGatherAndCountOp);

}  // namespace
}  // namespace tensorflow
