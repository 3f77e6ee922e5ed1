#include "tensorflow/core/contrib/beam_search.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace tensorflow {
namespace {

class GatherTreeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& ids = ctx->input(0);
    const Tensor& parents = ctx->input(1);
    const Tensor& lengths = ctx->input(2);
    const Tensor& end_token = ctx->input(3);
    OP_REQUIRES(ctx, ids.dims() == 3,
                errors::InvalidArgument("step_ids must be a 3-tensor, saw shape: ",
                                        ids.shape().DebugString()));
    OP_REQUIRES(ctx, parents.shape() == ids.shape(),
                errors::InvalidArgument("parent_ids must have the shape of step_ids ",
                                        ids.shape().DebugString(),
                                        ", saw shape: ", parents.shape().DebugString()));
    OP_REQUIRES(
        ctx, lengths.dims() == 1 && lengths.dim_size(0) == ids.dim_size(1),
        errors::InvalidArgument("max_sequence_lengths must be a vector of length ", ids.dim_size(1),
                                ", saw shape: ", lengths.shape().DebugString()));
    OP_REQUIRES(ctx, TensorShapeUtils::IsScalar(end_token.shape()),
                errors::InvalidArgument("end_token must be a scalar, saw shape: ",
                                        end_token.shape().DebugString()));
    Tensor* beams = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, ids.shape(), &beams));
    int32_t bad_parent = 0;
    const bool good = deeprec::contrib::GatherTree(
        ids.flat<int32>().data(), parents.flat<int32>().data(), lengths.flat<int32>().data(),
        ids.dim_size(0), ids.dim_size(1), ids.dim_size(2), end_token.scalar<int32>()(),
        beams->flat<int32>().data(), &bad_parent);
    OP_REQUIRES(ctx, good,
                errors::InvalidArgument("Saw invalid parent id ", bad_parent,
                                        ", expected 0 <= id < ", ids.dim_size(2)));
  }
};

REGISTER_KERNEL_BUILDER(Name("GatherTree").Device(DEVICE_CPU).TypeConstraint<int32>("T"),
                        GatherTreeOp);

}  // namespace
}  // namespace tensorflow
