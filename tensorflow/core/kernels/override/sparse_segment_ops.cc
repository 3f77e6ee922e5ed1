// SparseSegmentSum, SparseSegmentMean, SparseSegmentSqrtN and their forms WithNumSegments, on all threads: the stock kernels use one.

#include <cstring>
#include <string>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/override/register.h"
#include "tensorflow/core/kernels/row_shards.h"
#include "tensorflow/core/sparse/segment_reduce.h"

namespace tensorflow {
namespace {

using deeprec::sparse::SegmentCombiner;

// A run of equal segment ids: positions [begin, end).
struct Run {
  int64_t segment, begin, end;
};

// The runs in order; or what is wrong first, in the words of the stock kernel.
template <class Index, class Segment>
absl::Status FindRuns(const Index* indices, const Segment* segments, int64_t n, int64_t output_rows, int64_t table_rows,
                      std::vector<Run>* runs) {
  for (int64_t begin = 0; begin < n;) {
    const int64_t segment = segments[begin];
    int64_t end = begin + 1;
    while (end < n && segments[end] == segments[begin]) ++end;
    if (end < n && segments[end] < segment) return absl::InvalidArgumentError("segment ids are not increasing");
    if (segment < 0 || segment >= output_rows) {
      return absl::InvalidArgumentError(absl::StrCat("Segment id ", segment, " out of range [0, ", output_rows,
                                                     "), possibly because 'segment_ids' input is not sorted."));
    }
    for (int64_t i = begin; i < end; ++i) {
      if (indices[i] < 0 || indices[i] >= table_rows) {
        return absl::InvalidArgumentError(
            absl::StrCat("Bad: indices[", i, "] == ", indices[i], " out of range [0, ", table_rows, ")"));
      }
    }
    runs->push_back({segment, begin, end});
    begin = end;
  }
  return absl::OkStatus();
}

template <class T, class Index, class Segment>
class SparseSegmentOp : public OpKernel {
 public:
  SparseSegmentOp(OpKernelConstruction* ctx, SegmentCombiner combiner, bool has_num_segments)
      : OpKernel(ctx), combiner_(combiner), has_num_segments_(has_num_segments) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor &data = ctx->input(0), &indices = ctx->input(1), &segment_ids = ctx->input(2);
    OP_REQUIRES(ctx, indices.dims() == 1, absl::InvalidArgumentError("indices should be a vector."));
    OP_REQUIRES(ctx, segment_ids.dims() == 1, absl::InvalidArgumentError("segment_ids should be a vector."));
    const int64_t n = indices.NumElements();
    OP_REQUIRES(ctx, segment_ids.NumElements() == n, absl::InvalidArgumentError("segment_ids and indices should have same size."));
    OP_REQUIRES(ctx, data.dims() > 0, absl::InvalidArgumentError("Shape must be at least rank 1"));
    const Index* const index = indices.flat<Index>().data();
    const Segment* const segment = segment_ids.flat<Segment>().data();
    int64_t output_rows = n > 0 ? static_cast<int64_t>(segment[n - 1]) + 1 : 0;
    if (has_num_segments_) {
      const Tensor& count = ctx->input(3);
      OP_REQUIRES(ctx, count.dims() == 0,
                  absl::InvalidArgumentError(absl::StrCat("num_segments should be a scalar, not shape ", count.shape().DebugString())));
      const int64_t wanted = count.dtype() == DT_INT32 ? count.scalar<int32>()() : count.scalar<int64_t>()();
      OP_REQUIRES(ctx, wanted >= 0, absl::InvalidArgumentError("segment ids must be >= 0"));
      OP_REQUIRES(ctx, output_rows <= wanted, absl::InvalidArgumentError("segment ids must be < num_segments"));
      output_rows = wanted;
    }
    OP_REQUIRES(ctx, output_rows > 0 || (output_rows == 0 && n == 0), absl::InvalidArgumentError("segment ids must be >= 0"));
    std::vector<Run> runs;
    OP_REQUIRES_OK(ctx, FindRuns(index, segment, n, output_rows, data.dim_size(0), &runs));
    TensorShape shape = data.shape();
    OP_REQUIRES_OK(ctx, shape.SetDimWithStatus(0, output_rows));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    if (output->NumElements() == 0) return;
    const int64_t width = output->NumElements() / output_rows;
    const T* const table = data.flat<T>().data();
    T* const to = output->flat<T>().data();
    const auto clear = [&](int64_t first, int64_t last) { std::memset(to + first * width, 0, (last - first) * width * sizeof(T)); };
    if (runs.empty()) {
      clear(0, output_rows);
      return;
    }
    clear(0, runs.front().segment);
    clear(runs.back().segment + 1, output_rows);
    const int64_t rows_of_run = (n + runs.size() - 1) / runs.size();
    ForRows(ctx, runs.size(), 20 + rows_of_run * (30 + width / 2), [&](int64_t begin, int64_t end) {
      std::vector<T> eight(width);
      for (int64_t r = begin; r < end; ++r) {
        const Run& run = runs[r];
        deeprec::sparse::CombineSegment(table, width, index + run.begin, run.end - run.begin, combiner_, eight.data(),
                                        to + run.segment * width);
        if (r + 1 < static_cast<int64_t>(runs.size())) clear(run.segment + 1, runs[r + 1].segment);
      }
    });
  }

 private:
  const SegmentCombiner combiner_;
  const bool has_num_segments_;
};

template <class T, class Index, class Segment, SegmentCombiner kCombiner, bool kHasNumSegments>
void RegisterOne(const std::string& name) {
  KernelDefBuilder constraints(name.c_str());
  constraints.TypeConstraint<T>("T");
  constraints.TypeConstraint<Index>("Tidx");
  constraints.TypeConstraint<Segment>("Tsegmentids");
  RegisterOverride(name.c_str(), constraints, [](OpKernelConstruction* ctx) -> OpKernel* {
    return new SparseSegmentOp<T, Index, Segment>(ctx, kCombiner, kHasNumSegments);
  });
}

template <class T, SegmentCombiner kCombiner, bool kHasNumSegments>
void RegisterTypes(const std::string& name) {
  RegisterOne<T, int32_t, int32_t, kCombiner, kHasNumSegments>(name);
  RegisterOne<T, int32_t, int64_t, kCombiner, kHasNumSegments>(name);
  RegisterOne<T, int64_t, int32_t, kCombiner, kHasNumSegments>(name);
  RegisterOne<T, int64_t, int64_t, kCombiner, kHasNumSegments>(name);
}

template <SegmentCombiner kCombiner>
void Register(const std::string& name) {
  RegisterTypes<float, kCombiner, false>(name);
  RegisterTypes<double, kCombiner, false>(name);
  RegisterTypes<float, kCombiner, true>(name + "WithNumSegments");
  RegisterTypes<double, kCombiner, true>(name + "WithNumSegments");
}

const bool registered = [] {
  Register<SegmentCombiner::kSum>("SparseSegmentSum");
  Register<SegmentCombiner::kMean>("SparseSegmentMean");
  Register<SegmentCombiner::kSqrtN>("SparseSegmentSqrtN");
  return true;
}();

}  // namespace
}  // namespace tensorflow
