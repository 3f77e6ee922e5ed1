// Unique and UniqueWithCounts of integers: a table of numbers that fits the cache, fetched ahead. The stock kernel's map holds keys
// and positions, and waits for each.

#include <algorithm>
#include <limits>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/override/register.h"
#include "tensorflow/core/sparse/distinct.h"

namespace tensorflow {
namespace {

template <class Key, class Index>
class UniqueOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    OP_REQUIRES(ctx, TensorShapeUtils::IsVector(x.shape()), absl::InvalidArgumentError("unique expects a 1D vector."));
    const int64_t n = x.NumElements();
    OP_REQUIRES(ctx, n <= std::numeric_limits<int32_t>::max(),
                absl::InvalidArgumentError(absl::StrCat("unique does not support input tensors larger than ",
                                                        std::numeric_limits<int32_t>::max(), " elements")));
    Tensor *y, *index_output;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, x.shape(), &index_output));
    Index* const index = index_output->flat<Index>().data();
    deeprec::sparse::DistinctKeys<Key> distinct;
    distinct.Find(x.flat<Key>().data(), n, [&](int64_t i, uint32_t number) { index[i] = Index(number); });
    const int64_t found = int64_t(distinct.keys().size());
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({found}), &y));
    std::copy_n(distinct.keys().data(), found, y->flat<Key>().data());
    if (num_outputs() == 2) return;
    Tensor* count_output;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, TensorShape({found}), &count_output));
    Index* const counts = count_output->flat<Index>().data();
    std::fill_n(counts, found, Index(0));
    for (int64_t i = 0; i < n; ++i) ++counts[index[i]];
  }
};

template <class Key, class Index>
void Register(const char* op, DataType key, DataType index) {
  KernelDefBuilder constraints(op);
  constraints.TypeConstraint("T", key).TypeConstraint("out_idx", index);
  RegisterOverride(op, constraints, [](OpKernelConstruction* ctx) -> OpKernel* { return new UniqueOp<Key, Index>(ctx); });
}

const bool registered = [] {
  for (const char* op : {"Unique", "UniqueWithCounts"}) {
    Register<int32_t, int32_t>(op, DT_INT32, DT_INT32);
    Register<int32_t, int64_t>(op, DT_INT32, DT_INT64);
    Register<int64_t, int32_t>(op, DT_INT64, DT_INT32);
    Register<int64_t, int64_t>(op, DT_INT64, DT_INT64);
  }
  return true;
}();

}  // namespace
}  // namespace tensorflow
