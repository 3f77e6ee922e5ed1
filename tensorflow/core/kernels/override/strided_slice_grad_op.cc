// StridedSliceGrad: zeros and copies of runs, in one pass on all threads. The stock kernel writes zeros first, on one thread, and
// then the slice, element by element.

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/kernels/override/register.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/nn/slice_region.h"
#include "tensorflow/core/util/strided_slice_op.h"

namespace tensorflow {
namespace {

class StridedSliceGradOp : public OpKernel {
 public:
  explicit StridedSliceGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("begin_mask", &begin_mask_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("end_mask", &end_mask_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("ellipsis_mask", &ellipsis_mask_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("new_axis_mask", &new_axis_mask_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shrink_axis_mask", &shrink_axis_mask_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &shape = ctx->input(0), &dy = ctx->input(4);
    OP_REQUIRES(ctx, shape.dims() == 1,
                absl::InvalidArgumentError(absl::StrCat("shape must be 1-D, got shape.shape = ", shape.shape().DebugString())));
    TensorShape x_shape;
    if (shape.dtype() == DT_INT32) {
      OP_REQUIRES_OK(ctx, TensorShapeUtils::MakeShape(shape.vec<int32>(), &x_shape));
    } else {
      OP_REQUIRES_OK(ctx, TensorShapeUtils::MakeShape(shape.vec<int64_t>(), &x_shape));
    }
    TensorShape processing, final_shape;
    bool is_identity, is_simple, slices_first;
    absl::InlinedVector<int64_t, 4> begin, end, strides;
    OP_REQUIRES_OK(ctx, ValidateStridedSliceOp(&ctx->input(1), &ctx->input(2), ctx->input(3), x_shape, begin_mask_, end_mask_,
                                               ellipsis_mask_, new_axis_mask_, shrink_axis_mask_, &processing, &final_shape,
                                               &is_identity, &is_simple, &slices_first, &begin, &end, &strides));
    OP_REQUIRES(ctx, final_shape == dy.shape(),
                absl::InvalidArgumentError(absl::StrCat("shape of dy was ", dy.shape().DebugString(), " instead of ",
                                                        final_shape.DebugString())));
    Tensor* dx = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x_shape, &dx));
    if (dx->NumElements() == 0) return;
    char* const to = static_cast<char*>(dx->data());
    const int64_t size = DataTypeSize(dx->dtype());
    std::vector<deeprec::nn::SliceDimension> dimensions;
    for (int d = 0; d < processing.dims(); ++d) {
      dimensions.push_back({x_shape.dim_size(d), begin[d], strides[d], processing.dim_size(d)});
    }
    if (dy.NumElements() == 0) {
      std::memset(to, 0, dx->NumElements() * size);
      return;
    }
    const deeprec::nn::SliceRegion region(std::move(dimensions), size);
    const char* const from = static_cast<const char*>(dy.data());
    ForRows(ctx, region.rows(), 10 + region.row_bytes() / 4,
            [&](int64_t first, int64_t last) { region.Fill(from, first, last, to); });
  }

 private:
  int begin_mask_, end_mask_, ellipsis_mask_, new_axis_mask_, shrink_axis_mask_;
};

const bool registered = [] {
  for (DataType type : {DT_HALF, DT_BFLOAT16, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}) {
    for (DataType index : {DT_INT32, DT_INT64}) {
      KernelDefBuilder constraints("StridedSliceGrad");
      constraints.TypeConstraint("T", type).TypeConstraint("Index", index);
      RegisterOverride("StridedSliceGrad", constraints,
                       [](OpKernelConstruction* ctx) -> OpKernel* { return new StridedSliceGradOp(ctx); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace tensorflow
