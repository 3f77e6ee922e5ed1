// BatchNormalization and BatchNormalizationGrad.

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/nn/batch_norm.h"

namespace tensorflow {
namespace {

using deeprec::nn::kBatchNormColumns;

absl::Status IsVectorOf(const char* name, const Tensor& tensor, int64_t size) {
  if (tensor.dims() == 1 && tensor.dim_size(0) == size) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " must be [", size, "], got shape ", tensor.shape().DebugString()));
}

const float* DataOf(const Tensor& tensor) { return tensor.flat<float>().data(); }

using deeprec::nn::BatchNormInput;

// work(begin, end) for strips of columns, each of which costs about `cost` cycles an element.
template <class Work>
void ForColumns(OpKernelContext* ctx, int64_t rows, int64_t size, int64_t cost, Work work) {
  const int64_t strips = (size + kBatchNormColumns - 1) / kBatchNormColumns;
  ForRows(ctx, strips, 1000 + cost * rows * kBatchNormColumns, [&](int64_t begin, int64_t end) {
    for (int64_t strip = begin; strip < end; ++strip) {
      work(strip * kBatchNormColumns, std::min(size, (strip + 1) * kBatchNormColumns));
    }
  });
}

// What both ops read: x, [gamma], [beta], [moving mean, moving variance, training], from input `first` on.
class BatchNormOp : public OpKernel {
 public:
  explicit BatchNormOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("epsilon", &epsilon_));
    for (const auto& [name, count, most] : {std::tuple("G", &scaled_, 1), std::tuple("B", &shifted_, 1), std::tuple("M", &moving_, 2)}) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr(name, count));
      OP_REQUIRES(ctx, *count == 0 || *count == most,
                  absl::InvalidArgumentError(absl::StrCat(name, " must be 0 or ", most, ", got ", *count)));
    }
    int flags;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("F", &flags));
    OP_REQUIRES(ctx, flags == moving_ / 2,
                absl::InvalidArgumentError(absl::StrCat("training must have ", moving_ / 2, " tensors beside ", moving_,
                                                        " of moving, got ", flags)));
  }

 protected:
  absl::Status ReadInput(OpKernelContext* ctx, int first, BatchNormInput<float>* in) const {
    const Tensor& x = ctx->input(first);
    if (x.dims() < 1) return absl::InvalidArgumentError("x must have a dimension, got a scalar");
    const int64_t size = x.dim_size(x.dims() - 1);
    *in = {DataOf(x), size == 0 ? 0 : x.NumElements() / size, size, nullptr, nullptr, nullptr, nullptr, epsilon_};
    int at = first + 1;
    const auto take = [&](const char* name, int count, const float** data) {
      if (count == 0) return absl::OkStatus();
      TF_RETURN_IF_ERROR(IsVectorOf(name, ctx->input(at), size));
      *data = DataOf(ctx->input(at++));
      return absl::OkStatus();
    };
    TF_RETURN_IF_ERROR(take("gamma", scaled_, &in->gamma));
    TF_RETURN_IF_ERROR(take("beta", shifted_, &in->beta));
    TF_RETURN_IF_ERROR(take("moving[0]", moving_, &in->given_mean));
    TF_RETURN_IF_ERROR(take("moving[1]", moving_, &in->given_variance));
    if (moving_ == 0) return absl::OkStatus();
    const Tensor& training = ctx->input(at);
    if (training.NumElements() != 1) {
      return absl::InvalidArgumentError(absl::StrCat("training must be a scalar, got shape ", training.shape().DebugString()));
    }
    if (training.flat<bool>()(0)) in->given_mean = in->given_variance = nullptr;
    return absl::OkStatus();
  }

  float epsilon_;
  int scaled_, shifted_, moving_;
};

class BatchNormalizationOp : public BatchNormOp {
 public:
  using BatchNormOp::BatchNormOp;

  void Compute(OpKernelContext* ctx) override {
    BatchNormInput<float> in;
    OP_REQUIRES_OK(ctx, ReadInput(ctx, 0, &in));
    Tensor *y = nullptr, *mean = nullptr, *variance = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, ctx->input(0).shape(), &y));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({in.size}), &mean));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, TensorShape({in.size}), &variance));
    float *out = y->flat<float>().data(), *means = mean->flat<float>().data(), *variances = variance->flat<float>().data();
    ForColumns(ctx, in.rows, in.size, 1, [&](int64_t begin, int64_t end) {
      deeprec::nn::BatchNorm(in, begin, end, out, means, variances);
    });
  }
};

class BatchNormalizationGradOp : public BatchNormOp {
 public:
  using BatchNormOp::BatchNormOp;

  void Compute(OpKernelContext* ctx) override {
    const Tensor &dy = ctx->input(0), &x = ctx->input(5);
    BatchNormInput<float> in;
    OP_REQUIRES_OK(ctx, ReadInput(ctx, 5, &in));
    OP_REQUIRES(ctx, dy.shape() == x.shape(),
                absl::InvalidArgumentError(absl::StrCat("y_grad must have the shape of x, ", x.shape().DebugString(), ", got ",
                                                        dy.shape().DebugString())));
    static const char* const kNames[] = {"mean_grad", "variance_grad", "mean", "variance"};
    for (int i = 0; i < 4; ++i) OP_REQUIRES_OK(ctx, IsVectorOf(kNames[i], ctx->input(i + 1), in.size));
    int made = 0;
    const auto make = [&](const TensorShape& shape, int count, float** data) {
      if (count == 0) return absl::OkStatus();
      Tensor* tensor = nullptr;
      TF_RETURN_IF_ERROR(ctx->allocate_output(made++, shape, &tensor));
      *data = tensor->flat<float>().data();
      return absl::OkStatus();
    };
    deeprec::nn::BatchNormInputGradients<float> to = {};
    const TensorShape columns({in.size});
    OP_REQUIRES_OK(ctx, make(x.shape(), 1, &to.dx));
    OP_REQUIRES_OK(ctx, make(columns, scaled_, &to.dgamma));
    OP_REQUIRES_OK(ctx, make(columns, shifted_, &to.dbeta));
    OP_REQUIRES_OK(ctx, make(columns, moving_, &to.dgiven_mean));
    OP_REQUIRES_OK(ctx, make(columns, moving_, &to.dgiven_variance));
    const deeprec::nn::BatchNormGradients<float> grads = {DataOf(dy), DataOf(ctx->input(1)), DataOf(ctx->input(2))};
    const float *mean = DataOf(ctx->input(3)), *variance = DataOf(ctx->input(4));
    ForColumns(ctx, in.rows, in.size, 1, [&](int64_t begin, int64_t end) {
      deeprec::nn::BatchNormGradient(in, mean, variance, grads, begin, end, to);
    });
  }
};

REGISTER_KERNEL_BUILDER(Name("BatchNormalization").Device(DEVICE_CPU), BatchNormalizationOp);
REGISTER_KERNEL_BUILDER(Name("BatchNormalizationGrad").Device(DEVICE_CPU), BatchNormalizationGradOp);

}  // namespace
}  // namespace tensorflow
