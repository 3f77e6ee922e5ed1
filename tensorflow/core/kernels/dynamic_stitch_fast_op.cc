#include <algorithm>
#include <limits>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/sparse_ops/stitch.h"

namespace tensorflow {
namespace {

using deeprec::sparse_ops::Source;
using deeprec::sparse_ops::StitchList;

int32_t FirstNegative(const Tensor& indices) {
  const auto values = indices.flat<int32_t>();
  return *std::find_if(values.data(), values.data() + values.size(), [](int32_t index) { return index < 0; });
}

template <class T>
class DynamicStitchFastOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    OpInputList indices, data;
    OP_REQUIRES_OK(ctx, ctx->input_list("indices", &indices));
    OP_REQUIRES_OK(ctx, ctx->input_list("data", &data));
    // The shape of a row: what is left of the first data behind its indices.
    TensorShape row;
    OP_REQUIRES(ctx, TensorShapeUtils::StartsWith(data[0].shape(), indices[0].shape()),
                errors::InvalidArgument("data[0] must begin with the shape of indices[0], ",
                                        indices[0].shape().DebugString(), ", got ",
                                        data[0].shape().DebugString()));
    OP_REQUIRES_OK(ctx, AppendDims(data[0].shape(), indices[0].dims(), data[0].dims(), &row));
    std::vector<StitchList> lists;
    std::vector<const T*> rows_of;
    for (int n = 0; n < indices.size(); ++n) {
      TensorShape expected = indices[n].shape();
      OP_REQUIRES_OK(ctx, AppendDims(row, 0, row.dims(), &expected));
      OP_REQUIRES(ctx, data[n].shape() == expected,
                  errors::InvalidArgument("data[", n, "] must have shape ", expected.DebugString(),
                                          ", that of indices[", n, "] and a row, got ",
                                          data[n].shape().DebugString()));
      OP_REQUIRES(ctx, indices[n].NumElements() <= std::numeric_limits<int32_t>::max(),
                  errors::InvalidArgument("indices[", n, "] must have fewer than 2^31 elements"));
      lists.push_back({indices[n].flat<int32_t>().data(), indices[n].NumElements()});
      rows_of.push_back(data[n].flat<T>().data());
    }
    int negative;
    const int64_t rows = deeprec::sparse_ops::StitchedRows(lists, &negative);
    OP_REQUIRES(ctx, negative < 0,
                errors::InvalidArgument("indices[", negative, "] must not be negative, got ",
                                        FirstNegative(indices[negative])));
    const int64_t size = row.num_elements();
    TensorShape shape({rows});
    OP_REQUIRES_OK(ctx, AppendDims(row, 0, row.dims(), &shape));
    Tensor* merged = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &merged));
    // One index says how many rows there are: the memory for them may not be there.
    Tensor source_of_row;
    static_assert(sizeof(Source) == sizeof(int64_t), "a Source fits into an element");
    OP_REQUIRES_OK(ctx, ctx->allocate_temp(DT_INT64, TensorShape({rows}), &source_of_row));
    auto* const sources = reinterpret_cast<Source*>(source_of_row.flat<int64_t>().data());
    deeprec::sparse_ops::StitchSources(lists, rows, sources);
    T* out = merged->flat<T>().data();
    ForRows(ctx, rows, 10 + size * sizeof(T) / 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Source& source = sources[i];
        T* to = out + i * size;
        if (source.list < 0) {
          std::fill(to, to + size, T());
        } else {
          const T* from = rows_of[source.list] + source.row * size;
          std::copy(from, from + size, to);
        }
      }
    });
  }
};

#define REGISTER(T)                                                                      \
  REGISTER_KERNEL_BUILDER(Name("DynamicStitchFast").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          DynamicStitchFastOp<T>);
TF_CALL_POD_STRING_TYPES(REGISTER)
#undef REGISTER

}  // namespace
}  // namespace tensorflow
