// SparseSegmentSumGradV2, SparseSegmentMeanGradV2 and SparseSegmentSqrtNGradV2: the gradients of what tf.nn.embedding_lookup_sparse
// is made of.
//
// The stock kernel finds the distinct indices in a tree; here they are sorted by their digits, and the rows are summed on all
// threads. Sums have the order of the input, as there.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/override/register.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/sparse/segment_grad.h"

namespace tensorflow {
namespace {

enum class Scale { kNone, kMean, kSqrtN };

template <class T, class Index, class Segment, Scale kScale>
class SparseSegmentGradOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const Tensor &grad = ctx->input(0), &indices = ctx->input(1), &segment_ids = ctx->input(2), &rows = ctx->input(3);
    OP_REQUIRES(ctx, indices.dims() == 1, absl::InvalidArgumentError("indices should be a vector."));
    OP_REQUIRES(ctx, segment_ids.dims() == 1, absl::InvalidArgumentError("segment_ids should be a vector."));
    OP_REQUIRES(ctx, rows.dims() == 0, absl::InvalidArgumentError("dense_output_dim0 should be a scalar."));
    const int64_t n = indices.NumElements(), limit = rows.scalar<int32>()();
    OP_REQUIRES(ctx, segment_ids.NumElements() == n,
                absl::InvalidArgumentError("segment_ids and indices should have same size."));
    OP_REQUIRES(ctx, grad.dims() > 0, absl::InvalidArgumentError("Index must be less than 0, got 0"));
    OP_REQUIRES(ctx, limit >= 0, absl::InvalidArgumentError(absl::StrCat("Expected a non-negative size, got ", limit)));
    OP_REQUIRES(ctx, n <= std::numeric_limits<int32_t>::max(),
                absl::InvalidArgumentError(absl::StrCat("indices has ", n, " elements, expected fewer than 2^31")));
    const int64_t segments = grad.dim_size(0);
    const Index* const index = indices.flat<Index>().data();
    const Segment* const segment = segment_ids.flat<Segment>().data();
    const int64_t used = limit == 0 ? 0 : n;
    if (used > 0) {
      OP_REQUIRES(ctx, segment[n - 1] < segments, absl::InvalidArgumentError("Invalid number of segments"));
      // What is wrong first, in the order of the input.
      for (int64_t i = 0; i < n; ++i) {
        OP_REQUIRES(ctx, segment[i] >= 0 && segment[i] < segments,
                    absl::InvalidArgumentError(absl::StrCat("Segment id ", segment[i], " out of range [0, ", segments, ").")));
      }
      for (int64_t i = 0; i < n; ++i) {
        OP_REQUIRES(ctx, index[i] >= 0 && index[i] < limit,
                    absl::InvalidArgumentError(absl::StrCat("Index ", index[i], " out of range [0, ", limit, ").")));
      }
    }
    const deeprec::sparse::SortedRuns runs = deeprec::sparse::SortRuns(index, used, limit);
    TensorShape shape = grad.shape();
    shape.set_dim(0, runs.size());
    Tensor *out = nullptr, *unique = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({runs.size()}), &unique));
    Index* const sorted = unique->flat<Index>().data();
    for (int64_t run = 0; run < runs.size(); ++run) sorted[run] = index[runs.positions[runs.begin[run]]];
    if (out->NumElements() == 0) return;
    const int64_t width = out->NumElements() / runs.size();
    const std::vector<T> scales = Scales(segment, n, segments);
    T* const to = out->flat<T>().data();
    const T* const from = grad.flat<T>().data();
    ForRows(ctx, runs.size(), 20 + n * width / runs.size(), [&](int64_t begin, int64_t end) {
      deeprec::sparse::SumRuns(runs, begin, end, from, width, segment, kScale == Scale::kNone ? nullptr : scales.data(),
                               to + begin * width);
    });
  }

 private:
  // What each segment's gradient is multiplied with, from the number of its positions.
  static std::vector<T> Scales(const Segment* segment, int64_t n, int64_t segments) {
    if (kScale == Scale::kNone) return {};
    std::vector<double> counts(segments, 0.0);
    for (int64_t i = 0; i < n; ++i) counts[segment[i]] += 1;
    std::vector<T> scales(segments);
    for (int64_t i = 0; i < segments; ++i) {
      const double count = std::max(counts[i], 1.0);
      scales[i] = static_cast<T>(1.0 / (kScale == Scale::kMean ? count : std::sqrt(count)));
    }
    return scales;
  }
};

template <class T, class Index, class Segment, Scale kScale>
void RegisterOne(const char* name) {
  KernelDefBuilder constraints(name);
  constraints.TypeConstraint<T>("T");
  constraints.TypeConstraint<Index>("Tidx");
  constraints.TypeConstraint<Segment>("Tsegmentids");
  RegisterOverride(name, constraints, [](OpKernelConstruction* ctx) -> OpKernel* {
    return new SparseSegmentGradOp<T, Index, Segment, kScale>(ctx);
  });
}

template <class T, Scale kScale>
void RegisterType(const char* name) {
  RegisterOne<T, int32_t, int32_t, kScale>(name);
  RegisterOne<T, int32_t, int64_t, kScale>(name);
  RegisterOne<T, int64_t, int32_t, kScale>(name);
  RegisterOne<T, int64_t, int64_t, kScale>(name);
}

template <Scale kScale>
void Register(const char* name) {
  RegisterType<float, kScale>(name);
  RegisterType<double, kScale>(name);
}

const bool registered = [] {
  Register<Scale::kNone>("SparseSegmentSumGradV2");
  Register<Scale::kMean>("SparseSegmentMeanGradV2");
  Register<Scale::kSqrtN>("SparseSegmentSqrtNGradV2");
  return true;
}();

}  // namespace
}  // namespace tensorflow
