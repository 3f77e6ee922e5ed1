// FusedBiasActivation.

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/recurrent/loop.h"
#include "tensorflow/core/sparse/isa.h"

namespace tensorflow {
namespace {

namespace recurrent = deeprec::recurrent;

class BiasActivationOp : public OpKernel {
 public:
  explicit BiasActivationOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string activation;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("activation", &activation));
    function_ = activation == "Tanh" ? recurrent::Function::kTanh : recurrent::Function::kSigmoid;
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &x = ctx->input(0), &bias = ctx->input(1);
    OP_REQUIRES(ctx, x.dims() >= 2,
                absl::InvalidArgumentError(absl::StrCat("Input tensor must be at least 2D: ", x.shape().DebugString())));
    OP_REQUIRES(ctx, bias.dims() == 1, absl::InvalidArgumentError(absl::StrCat("Biases must be 1D: ", bias.shape().DebugString())));
    const int64_t width = bias.dim_size(0);
    OP_REQUIRES(ctx, x.dim_size(x.dims() - 1) == width,
                absl::InvalidArgumentError(absl::StrCat("Must provide as many biases as the last dimension of the input tensor: ",
                                                        bias.shape().DebugString(), " vs. ", x.shape().DebugString())));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    if (x.NumElements() == 0) return;
    const recurrent::KernelTable& kernels = recurrent::BlockKernels(deeprec::sparse::ActiveIsa().isa);
    const float *from = x.flat<float>().data(), *added = bias.flat<float>().data();
    float* const to = y->flat<float>().data();
    // A piece that is still in the first cache when the function is applied.
    const int64_t piece = std::max<int64_t>(1, 4096 / width);
    ForRows(ctx, x.NumElements() / width, 1 + 2 * width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; row += piece) {
        const int64_t rows = std::min(piece, end - row);
        const recurrent::Rows out = {to + row * width, width};
        kernels.binary[static_cast<int>(recurrent::Operation::kAdd)]({from + row * width, width, 1}, {added, 0, 1}, out, rows, width);
        kernels.function[static_cast<int>(function_)](out, out, rows, width);
      }
    });
  }

 private:
  recurrent::Function function_;
};

REGISTER_KERNEL_BUILDER(Name("FusedBiasActivation").Device(DEVICE_CPU), BiasActivationOp);

}  // namespace
}  // namespace tensorflow
