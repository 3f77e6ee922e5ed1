#include <algorithm>

#include "tensorflow/core/contrib/bipartite_match.h"
#include "tensorflow/core/contrib/connected_components.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

template <class T>
class ImageConnectedComponentsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& image = ctx->input(0);
    OP_REQUIRES(ctx, image.dims() == 3,
                errors::InvalidArgument("image must be [batch, height, width], got shape ",
                                        image.shape().DebugString()));
    Tensor* labels = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, image.shape(), &labels));
    if (image.NumElements() == 0) return;
    const int64_t height = image.dim_size(1), width = image.dim_size(2), pixels = height * width;
    const T* images = image.flat<T>().data();
    int64_t* out = labels->flat<int64_t>().data();
    auto* workers = ctx->device()->tensorflow_cpu_worker_threads();
    Shard(workers->num_threads, workers->workers, image.dim_size(0), 20 * pixels,
          [&](int64_t begin, int64_t end) {
            for (int64_t b = begin; b < end; ++b) {
              deeprec::contrib::ConnectedComponents(images + b * pixels, height, width, b * pixels,
                                                    out + b * pixels);
            }
          });
  }
};

#define REGISTER(T)                                                                   \
  REGISTER_KERNEL_BUILDER(                                                            \
      Name("ImageConnectedComponents").Device(DEVICE_CPU).TypeConstraint<T>("dtype"), \
      ImageConnectedComponentsOp<T>)
REGISTER(int64_t);
REGISTER(int32);
REGISTER(uint16);
REGISTER(int16);
REGISTER(uint8);
REGISTER(int8);
REGISTER(Eigen::half);
REGISTER(bfloat16);
REGISTER(float);
REGISTER(double);
REGISTER(bool);
REGISTER(tstring);
#undef REGISTER

class BipartiteMatchOp : public OpKernel {
 public:
  explicit BipartiteMatchOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("top_k", &top_k_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& distances = ctx->input(0);
    const Tensor& valid_rows = ctx->input(1);
    OP_REQUIRES(ctx, distances.dims() == 2,
                errors::InvalidArgument("distance_mat must be a matrix, got shape ",
                                        distances.shape().DebugString()));
    OP_REQUIRES(ctx, valid_rows.NumElements() == 1,
                errors::InvalidArgument("num_valid_rows must have one element, got shape ",
                                        valid_rows.shape().DebugString()));
    const int64_t rows = distances.dim_size(0), columns = distances.dim_size(1);
    const float wanted = valid_rows.flat<float>()(0);
    const int64_t valid =
        wanted < 0 || !(wanted < static_cast<float>(rows)) ? rows : static_cast<int64_t>(wanted);
    Tensor* row_match = nullptr;
    Tensor* column_match = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({rows}), &row_match));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({columns}), &column_match));
    const int64_t limit = top_k_ > 0 ? top_k_ : std::min(valid, columns);
    deeprec::contrib::BipartiteMatch(distances.flat<float>().data(), rows, columns, valid, limit,
                                     row_match->flat<int32>().data(),
                                     column_match->flat<int32>().data());
  }

 private:
  int top_k_;
};

REGISTER_KERNEL_BUILDER(Name("BipartiteMatch").Device(DEVICE_CPU), BipartiteMatchOp);

}  // namespace
}  // namespace tensorflow
