// SparseValidCutoff, SparseReverse and SparseInnerFlatten.

#include <algorithm>
#include <string>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/sparse_ops/coordinates.h"

namespace tensorflow {
namespace {

using deeprec::sparse_ops::Chosen;
using deeprec::sparse_ops::Coordinates;
using deeprec::sparse_ops::Side;

// The entries of a SparseTensor, all of them within its shape.
absl::Status Entries(const Tensor& indices, const Tensor& shape, Coordinates* entries) {
  if (shape.dims() != 1 || shape.NumElements() == 0) {
    return errors::InvalidArgument("dense_shape must be a vector, not empty, got shape ",
                                   shape.shape().DebugString());
  }
  if (indices.dims() != 2 || indices.dim_size(1) != shape.NumElements()) {
    return errors::InvalidArgument("indices must be [entries, ", shape.NumElements(),
                                   "], as dense_shape says, got shape ",
                                   indices.shape().DebugString());
  }
  for (int64_t d = 0; d < shape.NumElements(); ++d) {
    if (shape.vec<int64_t>()(d) < 0) {
      return errors::InvalidArgument("dense_shape must not be negative, got ",
                                     shape.SummarizeValue(10));
    }
  }
  *entries = {indices.matrix<int64_t>().data(), indices.dim_size(0),
              static_cast<int>(indices.dim_size(1))};
  const int64_t outside =
      deeprec::sparse_ops::FirstOutside(*entries, shape.vec<int64_t>().data());
  if (outside >= 0) {
    return errors::InvalidArgument("indices must lie within dense_shape ", shape.SummarizeValue(10),
                                   ", got ", indices.SubSlice(outside).SummarizeValue(10), " at entry ",
                                   outside);
  }
  return absl::OkStatus();
}

// What SparseValidCutoff and SparseReverse have in common: they choose entries.
template <class T>
class ChoosingOp : public OpKernel {
 public:
  explicit ChoosingOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& values = ctx->input(1);
    const Tensor& shape = ctx->input(2);
    Coordinates entries;
    OP_REQUIRES_OK(ctx, Entries(ctx->input(0), shape, &entries));
    OP_REQUIRES(ctx, values.dims() == 1 && values.NumElements() == entries.count,
                errors::InvalidArgument("values must be [", entries.count, "], one for each of indices, ",
                                        "got shape ", values.shape().DebugString()));
    const int axis = axis_ < 0 ? axis_ + entries.rank : axis_;
    OP_REQUIRES(ctx, axis >= 1 && axis < entries.rank,
                errors::InvalidArgument("axis must be in [1, ", entries.rank,
                                        "), or negative from the last, got ", axis_));
    const Chosen chosen = Choose(entries, axis);
    const int64_t count = chosen.positions.size();
    Tensor *indices_out = nullptr, *values_out = nullptr, *shape_out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({count, entries.rank}), &indices_out));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({count}), &values_out));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, shape.shape(), &shape_out));
    std::copy(chosen.coordinates.begin(), chosen.coordinates.end(),
              indices_out->flat<int64_t>().data());
    const auto from = values.vec<T>();
    auto to = values_out->vec<T>();
    for (int64_t i = 0; i < count; ++i) to(i) = from(chosen.positions[i]);
    auto sizes = shape_out->vec<int64_t>();
    sizes = shape.vec<int64_t>();
    sizes(axis) = SizeOf(sizes(axis));
  }

 protected:
  virtual Chosen Choose(const Coordinates& entries, int axis) const = 0;
  // Of the axis, in the result.
  virtual int64_t SizeOf(int64_t size) const { return size; }

 private:
  int axis_;
};

template <class T>
class SparseValidCutoffOp : public ChoosingOp<T> {
 public:
  explicit SparseValidCutoffOp(OpKernelConstruction* ctx) : ChoosingOp<T>(ctx) {
    std::string side;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("length", &length_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("side", &side));
    side_ = side == "left" ? Side::kLeft : Side::kRight;
  }

 private:
  Chosen Choose(const Coordinates& entries, int axis) const override {
    return deeprec::sparse_ops::Cutoff(entries, axis, length_, side_);
  }
  int64_t SizeOf(int64_t) const override { return length_; }

  int64_t length_;
  Side side_;
};

template <class T>
class SparseReverseOp : public ChoosingOp<T> {
 public:
  using ChoosingOp<T>::ChoosingOp;

 private:
  Chosen Choose(const Coordinates& entries, int axis) const override {
    return deeprec::sparse_ops::Reverse(entries, axis);
  }
};

class SparseInnerFlattenOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& shape = ctx->input(1);
    Coordinates entries;
    OP_REQUIRES_OK(ctx, Entries(ctx->input(0), shape, &entries));
    OP_REQUIRES(ctx, ctx->input(2).dims() == 0,
                errors::InvalidArgument("new_rank must be a scalar, got shape ",
                                        ctx->input(2).shape().DebugString()));
    const int64_t new_rank = ctx->input(2).scalar<int64_t>()();
    OP_REQUIRES(ctx, new_rank >= 1 && new_rank <= entries.rank,
                errors::InvalidArgument("new_rank must be in [1, ", entries.rank,
                                        "], the rank there is, got ", new_rank));
    Tensor *flat = nullptr, *flat_shape = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({entries.count, new_rank}), &flat));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({new_rank}), &flat_shape));
    OP_REQUIRES(ctx,
                deeprec::sparse_ops::InnerFlatten(entries, shape.vec<int64_t>().data(),
                                                  static_cast<int>(new_rank),
                                                  flat->flat<int64_t>().data(),
                                                  flat_shape->flat<int64_t>().data()),
                errors::InvalidArgument("The inner dimensions of dense_shape ", shape.SummarizeValue(10),
                                        " are more than 2^63 - 1 places together"));
  }
};

#define REGISTER(T)                                                                                  \
  REGISTER_KERNEL_BUILDER(Name("SparseValidCutoff").Device(DEVICE_CPU).TypeConstraint<T>("T"),       \
                          SparseValidCutoffOp<T>);                                                   \
  REGISTER_KERNEL_BUILDER(Name("SparseReverse").Device(DEVICE_CPU).TypeConstraint<T>("T"),           \
                          SparseReverseOp<T>);
TF_CALL_POD_STRING_TYPES(REGISTER)
#undef REGISTER
REGISTER_KERNEL_BUILDER(Name("SparseInnerFlatten").Device(DEVICE_CPU), SparseInnerFlattenOp);

}  // namespace
}  // namespace tensorflow
