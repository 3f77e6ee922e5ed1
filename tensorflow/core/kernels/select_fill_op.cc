// FusedSelectFill.

#include <cstring>
#include <string>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.pb.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/nn/select_fill.h"
#include "tensorflow/core/util/bcast.h"
#include "tensorflow/core/util/overflow.h"

namespace tensorflow {
namespace {

struct Pair {  // an element of 16 bytes
  uint64_t low, high;
  explicit Pair(uint64_t both = 0) : low(both), high(both) {}
  Pair(uint64_t a, uint64_t b) : low(a), high(b) {}
  Pair operator~() const { return Pair(~low, ~high); }
  Pair operator-() const { return low == 0 ? Pair(0) : Pair(~uint64_t{0}); }  // of 0 and 1, as all bits
  Pair operator^(const Pair& o) const { return Pair(low ^ o.low, high ^ o.high); }
  Pair operator&(const Pair& o) const { return Pair(low & o.low, high & o.high); }
  Pair operator|(const Pair& o) const { return Pair(low | o.low, high | o.high); }
};

class SelectFillOp : public OpKernel {
 public:
  explicit SelectFillOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("fill", &fill_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("fill_where", &fill_where_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("fill_shape", &fill_shape_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("broadcast", &broadcast_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("N", &tiled_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("M", &has_like_));
    DataType type;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &type));
    OP_REQUIRES(ctx, tiled_ <= 1 && has_like_ <= 1,
                absl::InvalidArgumentError("multiples and like must each be one tensor or none"));
    OP_REQUIRES(ctx, fill_.dtype() == type && fill_.dims() == 0,
                absl::InvalidArgumentError(absl::StrCat("fill must be a scalar of type ", DataTypeString(type), ", got ",
                                                        DataTypeString(fill_.dtype()), " of shape ",
                                                        fill_.shape().DebugString())));
    size_ = DataTypeSize(type);
    OP_REQUIRES(ctx, size_ == 1 || size_ == 2 || size_ == 4 || size_ == 8 || size_ == 16,
                absl::InvalidArgumentError(absl::StrCat("T must be a number type, got ", DataTypeString(type))));
  }

  void Compute(OpKernelContext* ctx) override {
    Tensor condition = ctx->input(0);
    const Tensor& x = ctx->input(1);
    TensorShape shape = condition.shape();  // of the condition, tiled
    if (tiled_ > 0) OP_REQUIRES_OK(ctx, TiledShape(ctx->input(2), &shape));
    TensorShape fill_shape = x.shape();
    if (has_like_ > 0) {
      fill_shape = ctx->input(2 + tiled_).shape();
    } else if (!fill_shape_.unknown_rank()) {
      OP_REQUIRES(ctx, fill_shape_.AsTensorShape(&fill_shape),
                  absl::InvalidArgumentError("fill_shape must be known, or of unknown rank"));
    }
    TensorShape out_shape = x.shape();
    if (broadcast_) {
      OP_REQUIRES_OK(ctx, Widen(shape, &out_shape));
      OP_REQUIRES_OK(ctx, Widen(fill_shape, &out_shape));
    } else {
      OP_REQUIRES_OK(ctx, CheckSelect(shape, x.shape(), fill_shape));
    }
    if (tiled_ > 0 && (shape.dim_size(0) != condition.dim_size(0) || shape != out_shape)) {
      OP_REQUIRES_OK(ctx, Tile(ctx, shape, &condition));
    }
    Tensor* y = nullptr;
    if (x.shape() == out_shape) {
      OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output({1}, 0, out_shape, &y));
    } else {
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, out_shape, &y));
    }
    if (out_shape.num_elements() == 0) return;
    switch (size_) {
      case 1:
        return Select<uint8_t>(ctx, condition, x, y);
      case 2:
        return Select<uint16_t>(ctx, condition, x, y);
      case 4:
        return Select<uint32_t>(ctx, condition, x, y);
      case 8:
        return Select<uint64_t>(ctx, condition, x, y);
      default:
        return Select<Pair>(ctx, condition, x, y);
    }
  }

 private:
  // The shape of the condition, [rows, 1], after Tile.
  static absl::Status TiledShape(const Tensor& multiples, TensorShape* shape) {
    if (shape->dims() != 2 || shape->dim_size(1) != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("condition must be [rows, 1] with multiples, got shape ", shape->DebugString()));
    }
    if (multiples.dims() != 1 || multiples.NumElements() != 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("multiples must be [2], one for each dimension, got shape ", multiples.shape().DebugString()));
    }
    int64_t sizes[2];
    for (int d = 0; d < 2; ++d) {
      const int64_t times =
          multiples.dtype() == DT_INT32 ? multiples.vec<int32_t>()(d) : multiples.vec<int64_t>()(d);
      if (times < 0) {
        return absl::InvalidArgumentError(absl::StrCat("multiples must not be negative, got ", times, " at ", d));
      }
      sizes[d] = MultiplyWithoutOverflow(shape->dim_size(d), times);
    }
    return TensorShape::BuildTensorShape({sizes[0], sizes[1]}, shape);
  }

  // What Select asks for: branches of one shape, and a condition that is a scalar, has that shape, or one element a row.
  static absl::Status CheckSelect(const TensorShape& condition, const TensorShape& x, const TensorShape& fill) {
    if (fill != x) {
      return absl::InvalidArgumentError(absl::StrCat("'then' and 'else' must have the same size, but got ",
                                                     x.DebugString(), " and the filled branch ", fill.DebugString()));
    }
    if (condition.dims() == 0 || condition == x) return absl::OkStatus();
    if (condition.dims() == 1 && x.dims() >= 1 && condition.dim_size(0) == x.dim_size(0)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("condition must be a scalar, of the shape of the branches ", x.DebugString(),
                     " or a vector of their first size, got shape ", condition.DebugString()));
  }

  // `shape` becomes what it and `other` broadcast to.
  static absl::Status Widen(const TensorShape& other, TensorShape* shape) {
    if (other == *shape || other.dims() == 0) return absl::OkStatus();
    BCast bcast(BCast::FromShape(*shape), BCast::FromShape(other));
    if (!bcast.IsValid()) {
      return absl::InvalidArgumentError(absl::StrCat("condition, then and else must be broadcastable, got shapes ",
                                                     shape->DebugString(), " and ", other.DebugString()));
    }
    return TensorShape::BuildTensorShape(bcast.output_shape(), shape);
  }

  // The condition [rows, 1], tiled to `shape`.
  static absl::Status Tile(OpKernelContext* ctx, const TensorShape& shape, Tensor* condition) {
    Tensor tiled;
    TF_RETURN_IF_ERROR(ctx->allocate_temp(DT_BOOL, shape, &tiled));
    const int64_t rows = condition->dim_size(0), width = shape.dim_size(1);
    bool* const to = tiled.flat<bool>().data();
    for (int64_t r = 0; r < shape.dim_size(0); ++r) {
      std::fill_n(to + r * width, width, condition->flat<bool>()(r % rows));
    }
    *condition = tiled;
    return absl::OkStatus();
  }

  template <class Word>
  void Select(OpKernelContext* ctx, const Tensor& condition, const Tensor& x, Tensor* y) const {
    deeprec::nn::Fill<Word> fill;
    std::memcpy(&fill.value, fill_.data(), sizeof(Word));
    fill.where = fill_where_;
    const bool* const chosen = condition.flat<bool>().data();
    const Word* const from = static_cast<const Word*>(x.data());
    Word* const to = static_cast<Word*>(y->data());
    const int64_t count = y->NumElements(), rows = condition.NumElements();
    if (x.shape() == y->shape() && condition.shape() == y->shape()) {
      ForRows(ctx, count, 1, [&](int64_t begin, int64_t end) {
        deeprec::nn::SelectFill(chosen + begin, from + begin, fill, end - begin, to + begin);
      });
    } else if (x.shape() == y->shape() && ForWholeRows(condition.shape(), y->shape())) {
      const int64_t width = count / rows;
      ForRows(ctx, rows, 10 + width / 4, [&](int64_t begin, int64_t end) {
        deeprec::nn::SelectFillRows(chosen, from, fill, width, begin, end, to);
      });
    } else {
      const deeprec::nn::Broadcast shape = deeprec::nn::Merged(
          {Sizes(y->shape()), Strides(condition.shape(), y->shape()), Strides(x.shape(), y->shape())});
      const int64_t width = shape.sizes.back();
      ForRows(ctx, count / width, 10 + width, [&](int64_t begin, int64_t end) {
        deeprec::nn::SelectFillBroadcast(chosen, from, fill, shape, begin, end, to);
      });
    }
  }

  // Whether each element of the condition stands for one run of elements of y: its sizes are those of y, then ones.
  bool ForWholeRows(const TensorShape& condition, const TensorShape& y) const {
    if (condition.num_elements() == 1) return true;
    // Of Select: a vector is one of rows.
    if (!broadcast_ && condition.dims() == 1) return true;
    if (condition.dims() != y.dims()) return false;
    int d = 0;
    while (d < y.dims() && condition.dim_size(d) == y.dim_size(d)) ++d;
    for (; d < y.dims(); ++d) {
      if (condition.dim_size(d) != 1) return false;
    }
    return true;
  }

  static std::vector<int64_t> Sizes(const TensorShape& shape) {
    const auto sizes = shape.dim_sizes();
    return std::vector<int64_t>(sizes.begin(), sizes.end());
  }

  // Of an operand along the dimensions of what it broadcasts to.
  static std::vector<int64_t> Strides(const TensorShape& operand, const TensorShape& y) {
    std::vector<int64_t> strides(y.dims(), 0);
    int64_t stride = 1;
    for (int d = 1; d <= operand.dims(); ++d) {
      const int64_t size = operand.dim_size(operand.dims() - d);
      if (size != 1) strides[y.dims() - d] = stride;
      stride *= size;
    }
    return strides;
  }

  Tensor fill_;
  bool fill_where_, broadcast_;
  PartialTensorShape fill_shape_;
  int tiled_, has_like_, size_;
};

REGISTER_KERNEL_BUILDER(Name("FusedSelectFill").Device(DEVICE_CPU), SelectFillOp);

}  // namespace
}  // namespace tensorflow
