// Gelu, FusedL2Normalize, FusedLayerNorm, their gradients, and Dice.

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/nn/dice.h"
#include "tensorflow/core/nn/gelu.h"
#include "tensorflow/core/nn/l2_normalize.h"
#include "tensorflow/core/nn/layer_norm.h"

namespace tensorflow {
namespace {

absl::Status SameShape(const char* name, const Tensor& tensor, const char* other_name,
                       const Tensor& other) {
  if (tensor.shape() == other.shape()) return absl::OkStatus();
  return errors::InvalidArgument(name, " must have the shape of ", other_name, ", ",
                                 other.shape().DebugString(), ", got ", tensor.shape().DebugString());
}

// That `tensor` is a vector of `size` numbers.
absl::Status IsVectorOf(const char* name, const Tensor& tensor, int64_t size) {
  if (tensor.dims() == 1 && tensor.dim_size(0) == size) return absl::OkStatus();
  return errors::InvalidArgument(name, " must be [", size, "], got shape ",
                                 tensor.shape().DebugString());
}

// A tensor as rows of its last dimension.
absl::Status Rows(const Tensor& x, int64_t* rows, int64_t* size) {
  if (x.dims() < 1) return errors::InvalidArgument("x must have a dimension, got a scalar");
  *size = x.dim_size(x.dims() - 1);
  *rows = *size == 0 ? 0 : x.NumElements() / *size;
  return absl::OkStatus();
}

constexpr int64_t kGeluCost = 20;  // cycles for a number

template <class T>
class GeluOp : public OpKernel {
 public:
  explicit GeluOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("approximate", &approximate_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    const T* in = x.flat<T>().data();
    T* out = y->flat<T>().data();
    ForRows(ctx, x.NumElements(), kGeluCost, [&](int64_t begin, int64_t end) {
      deeprec::nn::Gelu(in + begin, end - begin, approximate_, out + begin);
    });
  }

 private:
  bool approximate_;
};

template <class T>
class GeluGradOp : public OpKernel {
 public:
  explicit GeluGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("approximate", &approximate_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& dy = ctx->input(0);
    const Tensor& x = ctx->input(1);
    OP_REQUIRES_OK(ctx, SameShape("gradients", dy, "features", x));
    Tensor* dx = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &dx));
    const T *grad = dy.flat<T>().data(), *in = x.flat<T>().data();
    T* out = dx->flat<T>().data();
    ForRows(ctx, x.NumElements(), kGeluCost, [&](int64_t begin, int64_t end) {
      deeprec::nn::GeluGradient(grad + begin, in + begin, end - begin, approximate_, out + begin);
    });
  }

 private:
  bool approximate_;
};

// Attributes of both L2 normalization ops.
class L2NormalizeBase : public OpKernel {
 public:
  explicit L2NormalizeBase(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("epsilon", &epsilon_));
    OP_REQUIRES(ctx, epsilon_ > 0,
                errors::InvalidArgument("epsilon must be positive, got ", epsilon_));
  }

 protected:
  // How the vectors lie in x, and how many there are.
  absl::Status Locate(const Tensor& x, deeprec::nn::Vectors* vectors, int64_t* count) const {
    const int axis = axis_ < 0 ? axis_ + x.dims() : axis_;
    if (axis < 0 || axis >= x.dims()) {
      return errors::InvalidArgument("axis must be in [", -x.dims(), ", ", x.dims(), "), got ", axis_,
                                     " for x of shape ", x.shape().DebugString());
    }
    vectors->size = x.dim_size(axis);
    vectors->inner = 1;
    *count = 0;
    // The dimensions of an empty tensor may be any numbers, and their product none.
    if (x.NumElements() == 0) return absl::OkStatus();
    for (int d = axis + 1; d < x.dims(); ++d) vectors->inner *= x.dim_size(d);
    *count = x.NumElements() / vectors->size;
    return absl::OkStatus();
  }

  int axis_;
  float epsilon_;
};

template <class T>
class FusedL2NormalizeOp : public L2NormalizeBase {
 public:
  using L2NormalizeBase::L2NormalizeBase;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    deeprec::nn::Vectors vectors;
    int64_t count;
    OP_REQUIRES_OK(ctx, Locate(x, &vectors, &count));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    const T* in = x.flat<T>().data();
    T* out = y->flat<T>().data();
    ForRows(ctx, count, 20 + 2 * vectors.size, [&](int64_t begin, int64_t end) {
      deeprec::nn::L2Normalize(in, vectors, T(epsilon_), begin, end, out);
    });
  }
};

template <class T>
class FusedL2NormalizeGradOp : public L2NormalizeBase {
 public:
  using L2NormalizeBase::L2NormalizeBase;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& dy = ctx->input(0);
    const Tensor& x = ctx->input(1);
    OP_REQUIRES_OK(ctx, SameShape("y_grad", dy, "x", x));
    deeprec::nn::Vectors vectors;
    int64_t count;
    OP_REQUIRES_OK(ctx, Locate(x, &vectors, &count));
    Tensor* dx = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &dx));
    const T *grad = dy.flat<T>().data(), *in = x.flat<T>().data();
    T* out = dx->flat<T>().data();
    ForRows(ctx, count, 20 + 4 * vectors.size, [&](int64_t begin, int64_t end) {
      deeprec::nn::L2NormalizeGradient(grad, in, vectors, T(epsilon_), begin, end, out);
    });
  }
};

template <class T>
class FusedLayerNormOp : public OpKernel {
 public:
  explicit FusedLayerNormOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("epsilon", &epsilon_));
    OP_REQUIRES(ctx, epsilon_ >= 0,
                errors::InvalidArgument("epsilon must not be negative, got ", epsilon_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    int64_t rows, size;
    OP_REQUIRES_OK(ctx, Rows(x, &rows, &size));
    OP_REQUIRES_OK(ctx, IsVectorOf("gamma", ctx->input(1), size));
    OP_REQUIRES_OK(ctx, IsVectorOf("beta", ctx->input(2), size));
    TensorShape per_row;
    OP_REQUIRES_OK(ctx, AppendDims(x.shape(), 0, x.dims() - 1, &per_row));
    Tensor *y = nullptr, *mean = nullptr, *rvariance = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, per_row, &mean));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, per_row, &rvariance));
    if (size == 0) {
      mean->flat<T>().setZero();
      rvariance->flat<T>().setZero();
      return;
    }
    const T *in = x.flat<T>().data(), *gamma = ctx->input(1).flat<T>().data(),
            *beta = ctx->input(2).flat<T>().data();
    T *out = y->flat<T>().data(), *means = mean->flat<T>().data(),
      *rvariances = rvariance->flat<T>().data();
    ForRows(ctx, rows, 30 + 4 * size, [&](int64_t begin, int64_t end) {
      deeprec::nn::LayerNorm(in, gamma, beta, size, T(epsilon_), begin, end, out, means, rvariances);
    });
  }

 private:
  float epsilon_;
};

template <class T>
class FusedLayerNormGradOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& dy = ctx->input(0);
    const Tensor& x = ctx->input(1);
    int64_t rows, size;
    OP_REQUIRES_OK(ctx, Rows(x, &rows, &size));
    OP_REQUIRES_OK(ctx, SameShape("y_grad", dy, "x", x));
    static const char* const kNames[] = {"mean", "rvariance"};
    for (int i = 2; i < 4; ++i) {
      OP_REQUIRES(ctx, size == 0 || ctx->input(i).NumElements() == rows,
                  errors::InvalidArgument(kNames[i - 2], " must have ", rows, " elements, got shape ",
                                          ctx->input(i).shape().DebugString()));
    }
    OP_REQUIRES_OK(ctx, IsVectorOf("gamma", ctx->input(4), size));
    Tensor *dx = nullptr, *dgamma = nullptr, *dbeta = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &dx));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({size}), &dgamma));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, TensorShape({size}), &dbeta));
    if (size == 0) return;
    const T *grad = dy.flat<T>().data(), *in = x.flat<T>().data(),
            *mean = ctx->input(2).flat<T>().data(), *rvariance = ctx->input(3).flat<T>().data(),
            *gamma = ctx->input(4).flat<T>().data();
    T *out = dx->flat<T>().data(), *scale = dgamma->flat<T>().data(), *shift = dbeta->flat<T>().data();
    ForRows(ctx, rows, 30 + 6 * size, [&](int64_t begin, int64_t end) {
      deeprec::nn::LayerNormGradient(grad, in, mean, rvariance, gamma, size, begin, end, out);
    });
    // Columns in whole cache lines.
    const int64_t width = 64 / sizeof(T), blocks = (size + width - 1) / width;
    ForRows(ctx, blocks, 4 * width * std::max<int64_t>(rows, 1), [&](int64_t begin, int64_t end) {
      deeprec::nn::LayerNormParameterGradients(grad, in, mean, rvariance, rows, size, begin * width,
                                               std::min(end * width, size), scale, shift);
    });
  }
};

template <class T>
class DiceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    int64_t rows, size;
    OP_REQUIRES_OK(ctx, Rows(x, &rows, &size));
    static const char* const kNames[] = {"mean", "rvar", "gamma"};
    for (int i = 1; i < 4; ++i) OP_REQUIRES_OK(ctx, IsVectorOf(kNames[i - 1], ctx->input(i), size));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    const T *in = x.flat<T>().data(), *mean = ctx->input(1).flat<T>().data(),
            *rvar = ctx->input(2).flat<T>().data(), *gamma = ctx->input(3).flat<T>().data();
    T* out = y->flat<T>().data();
    ForRows(ctx, rows, 10 * size, [&](int64_t begin, int64_t end) {
      deeprec::nn::Dice(in, mean, rvar, gamma, size, begin, end, out);
    });
  }
};

#define REGISTER_GELU(T)                                                                    \
  REGISTER_KERNEL_BUILDER(Name("Gelu").Device(DEVICE_CPU).TypeConstraint<T>("T"), GeluOp<T>); \
  REGISTER_KERNEL_BUILDER(Name("GeluGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), GeluGradOp<T>)
REGISTER_GELU(Eigen::half);
REGISTER_GELU(bfloat16);
REGISTER_GELU(float);
REGISTER_GELU(double);
#undef REGISTER_GELU

#define REGISTER_FUSED(NAME, T) \
  REGISTER_KERNEL_BUILDER(Name(#NAME).Device(DEVICE_CPU).TypeConstraint<T>("T"), NAME##Op<T>)
#define REGISTER_ALL(T)                 \
  REGISTER_FUSED(FusedL2Normalize, T);     \
  REGISTER_FUSED(FusedL2NormalizeGrad, T); \
  REGISTER_FUSED(FusedLayerNorm, T);       \
  REGISTER_FUSED(FusedLayerNormGrad, T);   \
  REGISTER_FUSED(Dice, T)
REGISTER_ALL(float);
REGISTER_ALL(double);
#undef REGISTER_ALL
#undef REGISTER_FUSED

}  // namespace
}  // namespace tensorflow
