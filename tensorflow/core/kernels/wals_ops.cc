#include <vector>

#include "tensorflow/core/contrib/wals.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

using deeprec::contrib::WalsEntry;

class WalsComputePartialLhsAndRhsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& factors = ctx->input(0);
    const Tensor& factor_weights = ctx->input(1);
    const Tensor& unobserved = ctx->input(2);
    const Tensor& input_weights = ctx->input(3);
    const Tensor& indices = ctx->input(4);
    const Tensor& values = ctx->input(5);
    const Tensor& entry_weights = ctx->input(6);
    const Tensor& block_size = ctx->input(7);
    const Tensor& is_transpose = ctx->input(8);
    auto require = [ctx](bool good, const char* what, const Tensor& got) {
      if (!good)
        ctx->CtxFailure(errors::InvalidArgument(what, ", got shape ", got.shape().DebugString()));
      return good;
    };
    if (!require(factors.dims() == 2, "factors must be a matrix", factors) ||
        !require(factor_weights.dims() == 1 && factor_weights.dim_size(0) == factors.dim_size(0),
                 "factor_weights must be a vector with a weight for each row of factors",
                 factor_weights) ||
        !require(unobserved.dims() == 0, "unobserved_weights must be a scalar", unobserved) ||
        !require(block_size.dims() == 0, "input_block_size must be a scalar", block_size) ||
        !require(is_transpose.dims() == 0, "input_is_transpose must be a scalar", is_transpose) ||
        !require(indices.dims() == 2 && indices.dim_size(1) == 2,
                 "input_indices must be [entries, 2]", indices) ||
        !require(values.dims() == 1 && values.dim_size(0) == indices.dim_size(0),
                 "input_values must be a vector with a value for each index", values) ||
        !require(
            entry_weights.NumElements() == 0 || entry_weights.NumElements() == values.NumElements(),
            "entry_weights must be empty or a vector with a weight for each value",
            entry_weights)) {
      return;
    }
    const int64_t rows = block_size.scalar<int64_t>()(), k = factors.dim_size(1);
    OP_REQUIRES(ctx, rows >= 0,
                errors::InvalidArgument("input_block_size must not be negative, got ", rows));
    const bool by_entry = entry_weights.NumElements() > 0;
    const bool one_weight = input_weights.dims() == 0;
    if (!by_entry &&
        !require(one_weight || input_weights.NumElements() == rows,
                 "input_weights must be a scalar or a vector of length input_block_size",
                 input_weights)) {
      return;
    }

    const bool transpose = is_transpose.scalar<bool>()();
    const auto index = indices.matrix<int64_t>();
    std::vector<WalsEntry> entries(values.NumElements());
    for (int64_t i = 0; i < values.NumElements(); ++i) {
      WalsEntry& entry = entries[i];
      entry.row = index(i, transpose ? 1 : 0);
      entry.factor = index(i, transpose ? 0 : 1);
      OP_REQUIRES(
          ctx,
          entry.row >= 0 && entry.row < rows && entry.factor >= 0 &&
              entry.factor < factors.dim_size(0),
          errors::InvalidArgument("input_indices[", i, "] = (", index(i, 0), ", ", index(i, 1),
                                  ") is out of range for a block of ", rows, " rows and ",
                                  factors.dim_size(0), " factors (transposed: ", transpose, ")"));
      entry.value = values.flat<float>()(i);
      entry.weight = by_entry ? entry_weights.flat<float>()(i)
                              : input_weights.flat<float>()(one_weight ? 0 : entry.row) *
                                    factor_weights.flat<float>()(entry.factor);
    }

    Tensor* lhs = nullptr;
    Tensor* rhs = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({rows, k, k}), &lhs));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({rows, k}), &rhs));
    lhs->flat<float>().setZero();
    rhs->flat<float>().setZero();
    if (rows == 0) return;
    auto* workers = ctx->device()->tensorflow_cpu_worker_threads();
    const int64_t cost = 2 * k * (k + 1) * (1 + values.NumElements() / rows);
    Shard(workers->num_threads, workers->workers, rows, cost, [&](int64_t begin, int64_t end) {
      deeprec::contrib::WalsAccumulate(entries, factors.flat<float>().data(), k,
                                       unobserved.scalar<float>()(), begin, end,
                                       lhs->flat<float>().data(), rhs->flat<float>().data());
    });
  }
};

REGISTER_KERNEL_BUILDER(Name("WALSComputePartialLhsAndRhs").Device(DEVICE_CPU),
                        WalsComputePartialLhsAndRhsOp);

}  // namespace
}  // namespace tensorflow
