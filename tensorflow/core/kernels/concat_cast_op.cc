// FusedConcatCast.

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/nn/concat_cast.h"

namespace tensorflow {
namespace {

template <class From, class To>
class ConcatCastOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const int count = ctx->num_inputs() - 1;
    const Tensor& axis_input = ctx->input(count);
    OP_REQUIRES(ctx, axis_input.NumElements() == 1,
                absl::InvalidArgumentError(
                    absl::StrCat("axis must be one number, got shape ", axis_input.shape().DebugString())));
    const TensorShape& first = ctx->input(0).shape();
    const int64_t asked =
        axis_input.dtype() == DT_INT32 ? axis_input.flat<int32_t>()(0) : axis_input.flat<int64_t>()(0);
    const int64_t axis = asked < 0 ? asked + first.dims() : asked;
    OP_REQUIRES(ctx, axis >= 0 && axis < first.dims(),
                absl::InvalidArgumentError(absl::StrCat("axis must be in [", -first.dims(), ", ", first.dims(),
                                                        "), got ", asked)));
    TensorShape shape = first;
    shape.set_dim(axis, 0);
    int64_t along = 0;
    for (int i = 0; i < count; ++i) {
      const TensorShape& other = ctx->input(i).shape();
      bool fits = other.dims() == first.dims();
      for (int d = 0; fits && d < first.dims(); ++d) fits = d == axis || other.dim_size(d) == first.dim_size(d);
      OP_REQUIRES(ctx, fits,
                  absl::InvalidArgumentError(absl::StrCat(
                      "values must have the dimensions of the first, ", first.DebugString(), ", but for axis ", axis,
                      ", got shape ", other.DebugString(), " at ", i)));
      along += other.dim_size(axis);
    }
    OP_REQUIRES_OK(ctx, shape.SetDimWithStatus(axis, along));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &y));
    if (shape.num_elements() == 0) return;
    int64_t rows = 1;
    for (int d = 0; d < axis; ++d) rows *= first.dim_size(d);
    const int64_t width = shape.num_elements() / rows;
    To* const out = y->flat<To>().data();
    if (rows == 1) {
      int64_t at = 0;
      for (int i = 0; i < count; ++i) {
        const From* const in = ctx->input(i).flat<From>().data();
        ForRows(ctx, ctx->input(i).NumElements(), 1, [&](int64_t begin, int64_t end) {
          deeprec::nn::Convert(in + begin, end - begin, out + at + begin);
        });
        at += ctx->input(i).NumElements();
      }
      return;
    }
    std::vector<const From*> in(count);
    std::vector<int64_t> widths(count);
    for (int i = 0; i < count; ++i) {
      in[i] = ctx->input(i).flat<From>().data();
      widths[i] = ctx->input(i).NumElements() / rows;
    }
    ForRows(ctx, rows, 10 * count + width, [&](int64_t begin, int64_t end) {
      To* to = out + begin * width;
      for (int64_t r = begin; r < end; ++r) {
        for (int i = 0; i < count; ++i) {
          deeprec::nn::Convert(in[i] + r * widths[i], widths[i], to);
          to += widths[i];
        }
      }
    });
  }
};

#define REGISTER(From, To)                                           \
  REGISTER_KERNEL_BUILDER(Name("FusedConcatCast")                    \
                              .Device(DEVICE_CPU)                    \
                              .HostMemory("axis")                    \
                              .TypeConstraint<From>("SrcT")          \
                              .TypeConstraint<To>("DstT"),           \
                          ConcatCastOp<From, To>)
REGISTER(float, bfloat16);
REGISTER(bfloat16, float);
REGISTER(float, double);
REGISTER(double, float);
REGISTER(int32_t, float);
REGISTER(int64_t, float);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
