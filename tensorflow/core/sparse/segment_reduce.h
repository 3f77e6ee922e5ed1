// Rows of a table, combined by segments: what tf.nn.embedding_lookup_sparse is made of.

#ifndef TENSORFLOW_CORE_SPARSE_SEGMENT_REDUCE_H_
#define TENSORFLOW_CORE_SPARSE_SEGMENT_REDUCE_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace deeprec {
namespace sparse {

enum class SegmentCombiner { kSum, kMean, kSqrtN };

// out[width] = the combination of rows indices[0, n) of `table`, n > 0.
//
// The order of the sums is that of the stock kernel, so that results have the same bits: the first n mod 8 rows (8 or 9 instead of
// 0 or 1) from left to right, and then eight at a time. Of up to nine rows the sum is
// multiplied by the reciprocal of the divisor, of more it is divided.
// `eight` is memory for a row.
template <class T, class Index>
void CombineSegment(const T* table, int64_t width, const Index* indices, int64_t n, SegmentCombiner combiner, T* eight, T* out) {
  const auto row = [&](int64_t i) { return table + static_cast<int64_t>(indices[i]) * width; };
  if (n == 1) {
    std::memcpy(out, row(0), width * sizeof(T));
    return;
  }
  const int64_t first = n % 8 < 2 ? n % 8 + 8 : n % 8;
  std::memcpy(out, row(0), width * sizeof(T));
  for (int64_t i = 1; i < first; ++i) {
    const T* const from = row(i);
    for (int64_t j = 0; j < width; ++j) out[j] += from[j];
  }
  const T by = combiner == SegmentCombiner::kMean     ? static_cast<T>(n)
               : combiner == SegmentCombiner::kSqrtN ? static_cast<T>(std::sqrt(static_cast<T>(n)))
                                                     : T(1);
  if (n < 10 && combiner != SegmentCombiner::kSum) {
    const T reciprocal = T(1) / by;
    for (int64_t j = 0; j < width; ++j) out[j] *= reciprocal;
  }
  for (int64_t i = first; i < n; i += 8) {
    std::memcpy(eight, row(i), width * sizeof(T));
    for (int64_t k = i + 1; k < i + 8; ++k) {
      const T* const from = row(k);
      for (int64_t j = 0; j < width; ++j) eight[j] += from[j];
    }
    for (int64_t j = 0; j < width; ++j) out[j] += eight[j];
  }
  if (n >= 10 && combiner != SegmentCombiner::kSum) {
    for (int64_t j = 0; j < width; ++j) out[j] /= by;
  }
}

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_SEGMENT_REDUCE_H_
