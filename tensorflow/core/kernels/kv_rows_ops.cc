// Kernels of ops/kv_rows_ops.cc that set and remove rows.

#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/kernels/kv_variable.h"

namespace tensorflow {
namespace {

class KvResourceInsertOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    KvRef ref;
    OP_REQUIRES_OK(ctx, GetKv(ctx, 0, &ref));
    const Tensor &indices = ctx->input(1), &values = ctx->input(2), &version = ctx->input(3);
    OP_REQUIRES_OK(ctx, CheckKvTypes(ref, values.dtype(), indices.dtype()));
    auto& table = ref.table();
    const int64_t dim = table.dim(ref.column);
    const TensorShape expected({indices.NumElements(), dim});
    OP_REQUIRES(ctx, indices.dims() == 1 && values.shape() == expected && version.NumElements() == 1,
                absl::InvalidArgumentError(absl::StrCat(
                    "EmbeddingVariable ", ref.name, ": indices, values and version must have shapes [n], [n,", dim,
                    "] and [], got ", indices.shape().DebugString(), ", ", values.shape().DebugString(), " and ",
                    version.shape().DebugString())));
    const KvKeys keys(indices);
    const std::vector<int64_t> versions(keys.size(), version.flat<int64_t>()(0));
    // Nobody must take the rows away meanwhile.
    const std::lock_guard<std::mutex> no_eviction(table.maintenance_mutex());
    OP_REQUIRES_OK(ctx, CatchTableErrors(ref.name, [&] {
      table.Insert(ref.column, keys.data(), keys.size(), values.data(), dim, nullptr,
                   versions.empty() || versions[0] < 0 ? nullptr : versions.data());
      return absl::OkStatus();
    }));
  }
};

class KvResourceRemoveOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    KvRef ref;
    OP_REQUIRES_OK(ctx, GetKv(ctx, 0, &ref));
    OP_REQUIRES_OK(ctx, CheckKvTypes(ref, ref.kv->dtype, ctx->input(1).dtype()));
    auto& table = ref.table();
    OP_REQUIRES(ctx, ref.column == 0,
                absl::InvalidArgumentError(absl::StrCat(ref.name, " is an optimizer slot: keys are removed of the variable")));
    OP_REQUIRES(ctx, table.options().tiers.lower.empty(),
                absl::UnimplementedError(
                    absl::StrCat("EmbeddingVariable ", ref.name, " has several storage tiers: keys are removed of one alone")));
    const KvKeys keys(ctx->input(1));
    Tensor* removed;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({}), &removed));
    const std::lock_guard<std::mutex> alone(table.maintenance_mutex());
    removed->scalar<int64_t>()() = table.Remove(keys.data(), keys.size());
  }
};

REGISTER_KERNEL_BUILDER(Name("KvResourceInsert").Device(DEVICE_CPU), KvResourceInsertOp);
REGISTER_KERNEL_BUILDER(Name("KvResourceRemove").Device(DEVICE_CPU), KvResourceRemoveOp);

}  // namespace
}  // namespace tensorflow
