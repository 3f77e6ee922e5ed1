// FusedOneHotSum.

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/row_shards.h"

namespace tensorflow {
namespace {

template <class T, class Index>
class OneHotSumOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& indices = ctx->input(0);
    const Tensor& depth_input = ctx->input(1);
    const Tensor& on = ctx->input(2);
    OP_REQUIRES(ctx, indices.dims() >= 1,
                absl::InvalidArgumentError("indices must have a dimension to sum over, got a scalar"));
    OP_REQUIRES(ctx, depth_input.dims() == 0,
                absl::InvalidArgumentError(
                    absl::StrCat("depth must be a scalar, got shape ", depth_input.shape().DebugString())));
    OP_REQUIRES(ctx, on.dims() == 0,
                absl::InvalidArgumentError(absl::StrCat("on_value must be a scalar, got shape ", on.shape().DebugString())));
    const int64_t depth = depth_input.scalar<int32_t>()();
    OP_REQUIRES(ctx, depth >= 0, absl::InvalidArgumentError(absl::StrCat("depth must not be negative, got ", depth)));
    TensorShape shape;
    OP_REQUIRES_OK(ctx, AppendDims(indices.shape(), 0, indices.dims() - 1, &shape));
    const int64_t length = indices.dim_size(indices.dims() - 1), rows = shape.num_elements();
    OP_REQUIRES_OK(ctx, shape.AddDimWithStatus(depth));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &y));
    const Index* const in = indices.flat<Index>().data();
    const T value = on.scalar<T>()();
    T* const out = y->flat<T>().data();
    ForRows(ctx, rows, depth / 4 + 4 * length, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        T* const row = out + r * depth;
        std::fill_n(row, depth, T(0));
        for (int64_t i = 0; i < length; ++i) {
          const int64_t id = int64_t(in[r * length + i]);
          if (id >= 0 && id < depth) row[id] += value;
        }
      }
    });
  }
};

#define REGISTER(T, Index)                                            \
  REGISTER_KERNEL_BUILDER(Name("FusedOneHotSum")                      \
                              .Device(DEVICE_CPU)                     \
                              .HostMemory("depth")                    \
                              .TypeConstraint<T>("T")                 \
                              .TypeConstraint<Index>("TI"),           \
                          OneHotSumOp<T, Index>)
#define REGISTER_ALL(T) \
  REGISTER(T, uint8_t); \
  REGISTER(T, int8_t);  \
  REGISTER(T, int32_t); \
  REGISTER(T, int64_t)
REGISTER_ALL(float);
REGISTER_ALL(double);
REGISTER_ALL(int32_t);
REGISTER_ALL(int64_t);
#undef REGISTER_ALL
#undef REGISTER

}  // namespace
}  // namespace tensorflow
