// The gradient of a lookup that combines rows by segments, as rows of the distinct indices.
//
// Positions are brought into the order of their indices by a stable radix sort. Each distinct index is then a run of positions in
// input order, so sums have the order of a single loop over the input, whatever the number of threads.

#ifndef TENSORFLOW_CORE_SPARSE_SEGMENT_GRAD_H_
#define TENSORFLOW_CORE_SPARSE_SEGMENT_GRAD_H_

#include <cstdint>
#include <vector>

namespace deeprec {
namespace sparse {

// Positions sorted by index. Run r is positions[begin[r], begin[r + 1]), all of one index.
struct SortedRuns {
  std::vector<int32_t> positions;
  std::vector<int32_t> begin;
  int64_t size() const { return static_cast<int64_t>(begin.size()) - 1; }
};

// n < 2^31, and all indices in [0, limit).
template <class Index>
SortedRuns SortRuns(const Index* indices, int64_t n, int64_t limit);

// out[r - first] = the sum over run r of scale[segment[p]] * grad[segment[p]], for runs [first, last). `scale` may be null: 1.
template <class T, class Segment>
void SumRuns(const SortedRuns& runs, int64_t first, int64_t last, const T* grad, int64_t width, const Segment* segments,
             const T* scale, T* out);

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_SEGMENT_GRAD_H_
