#include <algorithm>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/lib/random/simple_philox.h"
#include "tensorflow/core/util/guarded_philox_random.h"

namespace tensorflow {
namespace {

template <class T>
class SkipGramGenerateCandidatesOp : public OpKernel {
 public:
  explicit SkipGramGenerateCandidatesOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, generator_.Init(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    OP_REQUIRES(ctx, input.dims() == 1,
                errors::InvalidArgument("input_tensor must be a vector, got shape ",
                                        input.shape().DebugString()));
    static const char* const kNames[] = {"min_skips", "max_skips", "start", "limit",
                                         "emit_self_as_target"};
    for (int i = 1; i < 6; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).dims() == 0,
                  errors::InvalidArgument(kNames[i - 1], " must be a scalar, got shape ",
                                          ctx->input(i).shape().DebugString()));
    }
    const int64_t min_skips = ctx->input(1).scalar<int32_t>()();
    const int64_t max_skips = ctx->input(2).scalar<int32_t>()();
    const int64_t start = ctx->input(3).scalar<int32_t>()();
    const int64_t limit = ctx->input(4).scalar<int32_t>()();
    const bool emit_self = ctx->input(5).scalar<bool>()();
    OP_REQUIRES(ctx, min_skips >= 0 && max_skips >= 0,
                errors::InvalidArgument("min_skips and max_skips must be >= 0, got ", min_skips,
                                        " and ", max_skips));
    OP_REQUIRES(ctx, min_skips <= max_skips,
                errors::InvalidArgument("min_skips must be <= max_skips, got ", min_skips, " and ",
                                        max_skips));
    const int64_t size = input.dim_size(0);
    // A filter may have left no token: that is no error.
    OP_REQUIRES(ctx, start >= 0 && (start < size || size == 0),
                errors::InvalidArgument("start must be >= 0 and < the number of tokens, ", size,
                                        ", got ", start));
    const int64_t end = limit < 0 ? size : std::min(start + limit, size);
    const int64_t num_tokens = std::max<int64_t>(end - start, 0);

    // One number for each token and one more: the state that is left decides what the op's next
    // run draws, so the reservation is part of the stream.
    random::PhiloxRandom philox = generator_.ReserveSamples32(num_tokens + 1);
    random::SimplePhilox random(&philox);
    std::vector<int64_t> tokens, labels;
    for (int64_t i = start; i < end; ++i) {
      const int64_t skips =
          min_skips + random.Uniform(static_cast<uint32_t>(max_skips - min_skips + 1));
      for (int64_t j = std::max(start, i - skips); j < std::min(end, i + skips + 1); ++j) {
        if (j == i && !emit_self) continue;
        tokens.push_back(i);
        labels.push_back(j);
      }
    }

    const auto values = input.vec<T>();
    const std::vector<int64_t>* positions[] = {&tokens, &labels};
    for (int output = 0; output < 2; ++output) {
      Tensor* result = nullptr;
      const int64_t count = positions[output]->size();
      OP_REQUIRES_OK(ctx, ctx->allocate_output(output, TensorShape({count}), &result));
      auto out = result->vec<T>();
      for (int64_t k = 0; k < count; ++k) out(k) = values((*positions[output])[k]);
    }
  }

 private:
  GuardedPhiloxRandom generator_;
};

#define REGISTER(T)                                                                 \
  REGISTER_KERNEL_BUILDER(                                                          \
      Name("SkipGramGenerateCandidates").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SkipGramGenerateCandidatesOp<T>);
TF_CALL_POD_STRING_TYPES(REGISTER)
#undef REGISTER

}  // namespace
}  // namespace tensorflow
