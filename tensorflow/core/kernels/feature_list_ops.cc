// SparseDecode, DenseDecode and their KV forms: serialized lists to tensors.

#include <utility>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/id_rows.h"
#include "tensorflow/core/strings/feature_lists.h"

namespace tensorflow {
namespace {

class SparseDecodeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    int64_t max_id;
    OP_REQUIRES_OK(ctx, ReadMaxId(ctx->input(1), &max_id));
    IdRows<int64_t> rows;
    using Row = IdRows<int64_t>::value_type;
    OP_REQUIRES_OK(ctx, ReadRows<Row>(
                            ctx, "input", ctx->input(0), "a serialized Int64List",
                            [](const tstring& bytes, Row* row) {
                              std::vector<int64_t> ids;
                              if (!deeprec::strings::ReadInt64List(bytes, &ids)) return false;
                              for (const int64_t id : ids) row->emplace_back(id, id);
                              return true;
                            },
                            &rows));
    OP_REQUIRES_OK(ctx, OrderAndWrite<false>(ctx, &rows, max_id));
  }
};

template <bool kDense>
class KvDecodeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    int64_t max_id;
    OP_REQUIRES_OK(ctx, ReadMaxId(ctx->input(1), &max_id));
    IdRows<float> rows;
    using Row = IdRows<float>::value_type;
    OP_REQUIRES_OK(ctx, ReadRows<Row>(
                            ctx, "input", ctx->input(0), "a serialized KvList",
                            [](const tstring& bytes, Row* row) {
                              return deeprec::strings::ReadKvList(bytes, row);
                            },
                            &rows));
    OP_REQUIRES_OK(ctx, OrderAndWrite<kDense>(ctx, &rows, max_id, /*flat=*/true));
  }
};

template <class T>
class DenseDecodeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    using Row = std::vector<T>;
    std::vector<Row> rows;
    OP_REQUIRES_OK(ctx, ReadRows<Row>(
                            ctx, "input", ctx->input(0),
                            std::is_same_v<T, float> ? "a serialized FloatList" : "a serialized Int32List",
                            [](const tstring& bytes, Row* row) { return Read(bytes, row); }, &rows));
    const int64_t size = rows.empty() ? 0 : rows[0].size();
    for (size_t i = 0; i < rows.size(); ++i) {
      OP_REQUIRES(ctx, static_cast<int64_t>(rows[i].size()) == size,
                  errors::InvalidArgument("input[", i, "] must have as many numbers as input[0], ", size,
                                          ", got ", rows[i].size()));
    }
    Tensor* values = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, TensorShape({static_cast<int64_t>(rows.size()) * size}), &values));
    T* out = values->flat<T>().data();
    for (const Row& row : rows) out = std::copy(row.begin(), row.end(), out);
  }

 private:
  static bool Read(const tstring& bytes, std::vector<float>* row) {
    return deeprec::strings::ReadFloatList(bytes, row);
  }
  static bool Read(const tstring& bytes, std::vector<int32_t>* row) {
    return deeprec::strings::ReadInt32List(bytes, row);
  }
};

REGISTER_KERNEL_BUILDER(Name("SparseDecode").Device(DEVICE_CPU), SparseDecodeOp);
REGISTER_KERNEL_BUILDER(Name("KV2SparseDecode").Device(DEVICE_CPU), KvDecodeOp<false>);
REGISTER_KERNEL_BUILDER(Name("KV2DenseDecode").Device(DEVICE_CPU), KvDecodeOp<true>);
REGISTER_KERNEL_BUILDER(Name("DenseDecode").Device(DEVICE_CPU).TypeConstraint<float>("T"),
                        DenseDecodeOp<float>);
REGISTER_KERNEL_BUILDER(Name("DenseDecode").Device(DEVICE_CPU).TypeConstraint<int32_t>("T"),
                        DenseDecodeOp<int32_t>);

}  // namespace
}  // namespace tensorflow
