// FusedSparseReshape and FusedSparseOuterFlatten.

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/util/overflow.h"

namespace tensorflow {
namespace {

using Sizes = std::vector<int64_t>;

std::string Text(const Sizes& sizes) { return absl::StrCat("[", absl::StrJoin(sizes, ", "), "]"); }

absl::Status TooLarge(const Sizes& sizes) {
  return absl::InvalidArgumentError(absl::StrCat("A shape must have at most 2^63 - 1 places, got ", Text(sizes)));
}

// The product, or an error if one of the sizes is negative or it is too large.
absl::Status Places(const char* name, const Sizes& sizes, int64_t* places) {
  *places = 1;
  for (int64_t size : sizes) {
    if (size < 0) {
      return absl::InvalidArgumentError(absl::StrCat(name, " must not be negative, got ", Text(sizes)));
    }
    *places = MultiplyWithoutOverflow(*places, size);
    if (*places < 0) return TooLarge(sizes);
  }
  return absl::OkStatus();
}

// The shape that `asked` means for a tensor of `places` places: one -1 is what is left.
absl::Status Complete(const Sizes& asked, int64_t places, Sizes* sizes) {
  *sizes = asked;
  int64_t unknown = -1, known = 1;
  for (size_t d = 0; d < asked.size(); ++d) {
    if (asked[d] == -1) {
      if (unknown >= 0) {
        return absl::InvalidArgumentError(absl::StrCat("only one size of a new shape may be -1, got ", Text(asked)));
      }
      unknown = int64_t(d);
    } else if (asked[d] < 0) {
      return absl::InvalidArgumentError(absl::StrCat("sizes of a new shape must not be negative, got ", Text(asked)));
    } else {
      known = MultiplyWithoutOverflow(known, asked[d]);
      if (known < 0) return TooLarge(asked);
    }
  }
  if (unknown >= 0) {
    if (known == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a new shape cannot have -1 where another size is 0, got ", Text(asked)));
    }
    (*sizes)[unknown] = places / known;
    known *= (*sizes)[unknown];
  }
  if (known != places) {
    return absl::InvalidArgumentError(
        absl::StrCat("a new shape must have the ", places, " places of the tensor, got ", Text(asked)));
  }
  return absl::OkStatus();
}

absl::Status ReadSizes(const char* name, const Tensor& tensor, Sizes* sizes) {
  if (tensor.dims() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(name, " must be a vector, got shape ", tensor.shape().DebugString()));
  }
  const auto values = tensor.vec<int64_t>();
  sizes->assign(values.data(), values.data() + values.size());
  return absl::OkStatus();
}

absl::Status CheckIndices(const Tensor& indices, const Sizes& shape) {
  if (indices.dims() == 2 && indices.dim_size(1) == int64_t(shape.size())) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("indices must be [entries, ", shape.size(),
                                                 "], as dense_shape says, got shape ", indices.shape().DebugString()));
}

// Writes both outputs: the entries of `from` at their places of `to`.
void Reshape(OpKernelContext* ctx, const Sizes& from, const Sizes& to) {
  const Tensor& indices = ctx->input(0);
  Tensor *new_indices = nullptr, *new_shape = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({int64_t(to.size())}), &new_shape));
  std::copy(to.begin(), to.end(), new_shape->vec<int64_t>().data());
  if (from == to) {
    ctx->set_output(0, indices);
    return;
  }
  const int64_t entries = indices.dim_size(0);
  OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({entries, int64_t(to.size())}), &new_indices));
  const int64_t* const in = indices.flat<int64_t>().data();
  int64_t* const out = new_indices->flat<int64_t>().data();
  ForRows(ctx, entries, 20 * int64_t(to.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      // As numbers without a sign: what lies outside of the shape gives some place, as in the stock op, and no overflow.
      uint64_t place = 0;
      for (size_t d = 0; d < from.size(); ++d) place = place * uint64_t(from[d]) + uint64_t(in[i * from.size() + d]);
      for (size_t d = to.size(); d-- > 1;) {
        const uint64_t size = to[d] == 0 ? 1 : uint64_t(to[d]);
        out[i * to.size() + d] = int64_t(place % size);
        place /= size;
      }
      if (!to.empty()) out[i * to.size()] = int64_t(place);
    }
  });
}

class FusedSparseReshapeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    Sizes first, asked, shape;
    int64_t places;
    OP_REQUIRES_OK(ctx, ReadSizes("dense_shape", ctx->input(1), &first));
    OP_REQUIRES_OK(ctx, CheckIndices(ctx->input(0), first));
    OP_REQUIRES_OK(ctx, Places("dense_shape", first, &places));
    for (int i = 2; i < ctx->num_inputs(); ++i) {
      OP_REQUIRES_OK(ctx, ReadSizes("new_shapes", ctx->input(i), &asked));
      OP_REQUIRES_OK(ctx, Complete(asked, places, &shape));
    }
    Reshape(ctx, first, shape);
  }
};

class FusedSparseOuterFlattenOp : public OpKernel {
 public:
  explicit FusedSparseOuterFlattenOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("outer", &outer_));
  }

  void Compute(OpKernelContext* ctx) override {
    Sizes shape;
    int64_t places, rows;
    OP_REQUIRES_OK(ctx, ReadSizes("dense_shape", ctx->input(1), &shape));
    OP_REQUIRES_OK(ctx, CheckIndices(ctx->input(0), shape));
    OP_REQUIRES(ctx, int64_t(shape.size()) > outer_,
                absl::InvalidArgumentError(absl::StrCat("dense_shape must have more than ", outer_, " dimensions, got ",
                                                        Text(shape))));
    OP_REQUIRES_OK(ctx, Places("dense_shape", shape, &places));
    OP_REQUIRES_OK(ctx, Places("dense_shape", Sizes(shape.begin(), shape.begin() + outer_), &rows));
    Sizes flat;
    OP_REQUIRES_OK(ctx, Complete({rows, shape[outer_]}, places, &flat));
    Reshape(ctx, shape, flat);
  }

 private:
  int outer_;
};

REGISTER_KERNEL_BUILDER(Name("FusedSparseReshape").Device(DEVICE_CPU), FusedSparseReshapeOp);
REGISTER_KERNEL_BUILDER(Name("FusedSparseOuterFlatten").Device(DEVICE_CPU), FusedSparseOuterFlattenOp);

}  // namespace
}  // namespace tensorflow
