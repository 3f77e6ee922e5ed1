// StringSplitAndPad, StringToHash and StringToHash64.

#include <limits>
#include <string>

#include "external/farmhash_archive/src/farmhash.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/lib/hash/hash.h"
#include "tensorflow/core/strings/split.h"

namespace tensorflow {
namespace {

class StringSplitAndPadOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    OP_REQUIRES(ctx, input.dims() == 1,
                errors::InvalidArgument("input must be a vector, got shape ",
                                        input.shape().DebugString()));
    static const char* const kNames[] = {"delimiter", "max_length", "default_value"};
    for (int i = 1; i < 4; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).dims() == 0,
                  errors::InvalidArgument(kNames[i - 1], " must be a scalar, got shape ",
                                          ctx->input(i).shape().DebugString()));
    }
    const tstring& delimiter = ctx->input(1).scalar<tstring>()();
    const int64_t length = ctx->input(2).scalar<int64_t>()();
    const tstring& filler = ctx->input(3).scalar<tstring>()();
    OP_REQUIRES(ctx, length >= 0,
                errors::InvalidArgument("max_length must not be negative, got ", length));
    const int64_t rows = input.NumElements();
    TensorShape shape({rows});
    OP_REQUIRES_OK(ctx, shape.AddDimWithStatus(length));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    const auto texts = input.vec<tstring>();
    auto fields = output->matrix<tstring>();
    ForRows(ctx, rows, 50 * (length + 1), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t count = deeprec::strings::FirstFields(
            texts(row), delimiter, length,
            [&](int64_t i, std::string_view field) { fields(row, i).assign(field.data(), field.size()); });
        for (; count < length; ++count) fields(row, count) = filler;
      }
    });
  }
};

// What tensorflow::Fingerprint64 is, whose header is not complete in the wheel.
uint64_t Farm(const tstring& text) { return util::Fingerprint64(text.data(), text.size()); }

class StringToHashOp : public OpKernel {
 public:
  explicit StringToHashOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string type;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("hash_type", &type));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("allow_neg", &allow_negative_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_buckets", &buckets_));
    farm_ = type == "farm";
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, input.shape(), &output));
    const auto texts = input.flat<tstring>();
    auto hashes = output->flat<int64_t>();
    ForRows(ctx, input.NumElements(), 50, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) hashes(i) = Hash(texts(i));
    });
  }

 private:
  int64_t Hash(const tstring& text) const {
    uint64_t hash = farm_ ? Farm(text) : Hash64(text.data(), text.size());
    if (buckets_ > 0) return hash % static_cast<uint64_t>(buckets_);
    if (!allow_negative_) hash &= std::numeric_limits<int64_t>::max();
    return static_cast<int64_t>(hash);
  }

  bool farm_, allow_negative_;
  int64_t buckets_;
};

class StringToHash64Op : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, input.shape(), &output));
    const auto texts = input.flat<tstring>();
    auto hashes = output->flat<int64_t>();
    ForRows(ctx, input.NumElements(), 50, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) hashes(i) = static_cast<int64_t>(Farm(texts(i)));
    });
  }
};

REGISTER_KERNEL_BUILDER(Name("StringSplitAndPad").Device(DEVICE_CPU), StringSplitAndPadOp);
REGISTER_KERNEL_BUILDER(Name("StringToHash").Device(DEVICE_CPU), StringToHashOp);
REGISTER_KERNEL_BUILDER(Name("StringToHash64").Device(DEVICE_CPU), StringToHash64Op);

}  // namespace
}  // namespace tensorflow
