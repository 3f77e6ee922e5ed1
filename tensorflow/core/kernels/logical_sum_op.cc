#include <limits>
#include <type_traits>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/nn/sign_distance.h"

namespace tensorflow {
namespace {

template <class T>
class LogicalSumOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& q = ctx->input(0);
    const Tensor& k = ctx->input(1);
    const int64_t queries = q.dims() == 3 ? q.dim_size(1) : 0;
    const int64_t keys = k.dims() == 3 ? k.dim_size(1) : 0;
    OP_REQUIRES(ctx,
                q.dims() == 3 && k.dims() == 3 && q.dim_size(0) == k.dim_size(0) &&
                    q.dim_size(2) == k.dim_size(2) && (queries == keys || queries == 1 || keys == 1),
                errors::InvalidArgument("q_input and k_input must be [batch, length, dim] with equal "
                                        "batch and dim, and equal length or one of length 1, got shapes ",
                                        q.shape().DebugString(), " and ", k.shape().DebugString()));
    // As in broadcasting, length 1 fits itself to 0 too.
    const int64_t length = queries == 1 ? keys : queries;
    const int64_t batch = q.dim_size(0), dim = q.dim_size(2);
    OP_REQUIRES(ctx, !std::is_integral_v<T> || dim <= std::numeric_limits<T>::max(),
                errors::InvalidArgument("dim must be at most ", std::numeric_limits<T>::max(),
                                        " for values of this type, got ", dim));
    TensorShape shape({batch});
    OP_REQUIRES_OK(ctx, shape.AddDimWithStatus(length));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    const float *left = q.flat<float>().data(), *right = k.flat<float>().data();
    T* out = output->flat<T>().data();
    ForRows(ctx, batch * length, 2 * dim, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / length, place = i % length;
        const int64_t query = queries == 1 ? b : b * queries + place;
        const int64_t key = keys == 1 ? b : b * keys + place;
        out[i] = static_cast<T>(-deeprec::nn::SignDistance(left + query * dim, right + key * dim, dim));
      }
    });
  }
};

#define REGISTER(T) \
  REGISTER_KERNEL_BUILDER(Name("LogicalSum").Device(DEVICE_CPU).TypeConstraint<T>("T"), LogicalSumOp<T>)
REGISTER(int16_t);
REGISTER(int32_t);
REGISTER(float);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
