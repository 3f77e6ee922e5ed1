// TransCsvID2Sparse and its like: text to tensors.

#include <string>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/id_rows.h"
#include "tensorflow/core/strings/number_lists.h"

namespace tensorflow {
namespace {

// The attribute all of them have.
class TransCsvOp : public OpKernel {
 public:
  explicit TransCsvOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string delimiter;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("field_delim", &delimiter));
    OP_REQUIRES(ctx, deeprec::strings::IsDelimiter(delimiter),
                errors::InvalidArgument("field_delim must be one character that is no part of a number "
                                        "and no colon, got \"",
                                        absl::CHexEscape(delimiter), "\""));
    delimiter_ = delimiter[0];
  }

 protected:
  char delimiter_;
};

// Text of ids. The value of a place is its id, or default_value.
template <class T, bool kDense>
class TransCsvIdOp : public TransCsvOp {
 public:
  explicit TransCsvIdOp(OpKernelConstruction* ctx) : TransCsvOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("id_as_value", &id_as_value_));
  }

  void Compute(OpKernelContext* ctx) override {
    int64_t max_id;
    OP_REQUIRES_OK(ctx, ReadMaxId(ctx->input(1), &max_id));
    OP_REQUIRES(ctx, ctx->input(2).dims() == 0,
                errors::InvalidArgument("default_value must be a scalar, got shape ",
                                        ctx->input(2).shape().DebugString()));
    const T value = ctx->input(2).scalar<T>()();
    IdRows<T> rows;
    using Row = typename IdRows<T>::value_type;
    OP_REQUIRES_OK(ctx, ReadRows<Row>(
                            ctx, "records", ctx->input(0), "a list of ids",
                            [&](const tstring& text, Row* row) {
                              std::vector<int64_t> ids;
                              if (!deeprec::strings::ParseNumbers(text, delimiter_, &ids)) return false;
                              for (const int64_t id : ids) row->emplace_back(id, id_as_value_ ? T(id) : value);
                              return true;
                            },
                            &rows));
    OP_REQUIRES_OK(ctx, OrderAndWrite<kDense>(ctx, &rows, max_id));
  }

 private:
  bool id_as_value_;
};

// Text of pairs id:value.
template <class T, bool kDense>
class TransCsvKvOp : public TransCsvOp {
 public:
  using TransCsvOp::TransCsvOp;
  void Compute(OpKernelContext* ctx) override {
    int64_t max_id;
    OP_REQUIRES_OK(ctx, ReadMaxId(ctx->input(1), &max_id));
    IdRows<T> rows;
    using Row = typename IdRows<T>::value_type;
    OP_REQUIRES_OK(ctx, ReadRows<Row>(
                            ctx, "records", ctx->input(0), "a list of pairs id:value",
                            [&](const tstring& text, Row* row) {
                              return deeprec::strings::ParsePairs(text, delimiter_, row);
                            },
                            &rows));
    OP_REQUIRES_OK(ctx, OrderAndWrite<kDense>(ctx, &rows, max_id));
  }
};

// Text of numbers, which fill the columns from the left.
template <class T>
class TransCsvToDenseOp : public TransCsvOp {
 public:
  using TransCsvOp::TransCsvOp;
  void Compute(OpKernelContext* ctx) override {
    int64_t max_id;
    OP_REQUIRES_OK(ctx, ReadMaxId(ctx->input(1), &max_id));
    IdRows<T> rows;
    using Row = typename IdRows<T>::value_type;
    OP_REQUIRES_OK(ctx, ReadRows<Row>(
                            ctx, "records", ctx->input(0), "a list of numbers",
                            [&](const tstring& text, Row* row) {
                              std::vector<T> numbers;
                              if (!deeprec::strings::ParseNumbers(text, delimiter_, &numbers)) return false;
                              for (size_t i = 0; i < numbers.size(); ++i) row->emplace_back(i, numbers[i]);
                              return true;
                            },
                            &rows));
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t count = rows[i].size();
      OP_REQUIRES(ctx, max_id < 0 || count <= max_id,
                  errors::InvalidArgument("records[", i, "] must have at most max_id = ", max_id,
                                          " numbers, got ", count));
    }
    OP_REQUIRES_OK(ctx, OrderAndWrite<true>(ctx, &rows, max_id));
  }
};

#define REGISTER_ONE(NAME, T, ...) \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(DEVICE_CPU).TypeConstraint<T>("T"), __VA_ARGS__)
#define REGISTER(T)                                                 \
  REGISTER_ONE("TransCsvID2Sparse", T, TransCsvIdOp<T, false>);     \
  REGISTER_ONE("TransCsvID2Dense", T, TransCsvIdOp<T, true>);       \
  REGISTER_ONE("TransCsvKV2Sparse", T, TransCsvKvOp<T, false>);     \
  REGISTER_ONE("TransCsvKV2Dense", T, TransCsvKvOp<T, true>);       \
  REGISTER_ONE("TransCsvToDense", T, TransCsvToDenseOp<T>)
REGISTER(int32_t);
REGISTER(int64_t);
REGISTER(float);
REGISTER(double);
#undef REGISTER
#undef REGISTER_ONE

}  // namespace
}  // namespace tensorflow
