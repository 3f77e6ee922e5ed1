#include "tensorflow/core/contrib/resampler.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

using deeprec::contrib::ImageSize;

absl::Status CheckInputs(const Tensor& data, const Tensor& warp) {
  if (data.dims() != 4) {
    return errors::InvalidArgument("data must be [batch, height, width, channels], got shape ",
                                   data.shape().DebugString());
  }
  if (warp.dims() < 2 || warp.dim_size(warp.dims() - 1) != 2) {
    return errors::InvalidArgument("warp must be [batch, ..., 2], got shape ",
                                   warp.shape().DebugString());
  }
  if (warp.dim_size(0) != data.dim_size(0)) {
    return errors::InvalidArgument("Batch size of data and warp must be equal, got ",
                                   data.dim_size(0), " and ", warp.dim_size(0));
  }
  return absl::OkStatus();
}

ImageSize SizeOf(const Tensor& data) {
  return {data.dim_size(1), data.dim_size(2), data.dim_size(3)};
}

// Images of the batch are independent; a point costs about 8 operations for each channel.
template <class Work>
void ForEachImage(OpKernelContext* ctx, int64_t batch, int64_t points, int64_t channels,
                  Work work) {
  auto* workers = ctx->device()->tensorflow_cpu_worker_threads();
  Shard(workers->num_threads, workers->workers, batch, 8 * points * channels,
        [&](int64_t begin, int64_t end) {
          for (int64_t image = begin; image < end; ++image) work(image);
        });
}

template <class T>
class ResamplerOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& data = ctx->input(0);
    const Tensor& warp = ctx->input(1);
    OP_REQUIRES_OK(ctx, CheckInputs(data, warp));
    const ImageSize size = SizeOf(data);
    TensorShape shape = warp.shape();
    shape.set_dim(shape.dims() - 1, size.channels);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    if (output->NumElements() == 0) return;
    const int64_t batch = data.dim_size(0), points = warp.NumElements() / 2 / batch;
    const T* images = data.flat<T>().data();
    const T* warps = warp.flat<T>().data();
    T* out = output->flat<T>().data();
    ForEachImage(ctx, batch, points, size.channels, [&](int64_t b) {
      deeprec::contrib::Resample(images + b * size.height * size.width * size.channels, size,
                                 warps + b * points * 2, points, out + b * points * size.channels);
    });
  }
};

template <class T>
class ResamplerGradOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& data = ctx->input(0);
    const Tensor& warp = ctx->input(1);
    const Tensor& grad = ctx->input(2);
    OP_REQUIRES_OK(ctx, CheckInputs(data, warp));
    const ImageSize size = SizeOf(data);
    TensorShape shape = warp.shape();
    shape.set_dim(shape.dims() - 1, size.channels);
    OP_REQUIRES(ctx, grad.shape() == shape,
                errors::InvalidArgument("grad_output must have shape ", shape.DebugString(),
                                        ", got ", grad.shape().DebugString()));
    Tensor* grad_data = nullptr;
    Tensor* grad_warp = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, data.shape(), &grad_data));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, warp.shape(), &grad_warp));
    grad_data->flat<T>().setZero();
    grad_warp->flat<T>().setZero();
    if (grad.NumElements() == 0) return;
    const int64_t batch = data.dim_size(0), points = warp.NumElements() / 2 / batch;
    const int64_t image = size.height * size.width * size.channels;
    const T* images = data.flat<T>().data();
    const T* warps = warp.flat<T>().data();
    const T* grads = grad.flat<T>().data();
    T* image_grads = grad_data->flat<T>().data();
    T* warp_grads = grad_warp->flat<T>().data();
    ForEachImage(ctx, batch, 3 * points, size.channels, [&](int64_t b) {
      deeprec::contrib::ResampleGradient(images + b * image, size, warps + b * points * 2,
                                         grads + b * points * size.channels, points,
                                         image_grads + b * image, warp_grads + b * points * 2);
    });
  }
};

#define REGISTER(T)                                                                        \
  REGISTER_KERNEL_BUILDER(Name("Resampler").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
                          ResamplerOp<T>);                                                 \
  REGISTER_KERNEL_BUILDER(Name("ResamplerGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          ResamplerGradOp<T>)
REGISTER(Eigen::half);
REGISTER(bfloat16);
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
