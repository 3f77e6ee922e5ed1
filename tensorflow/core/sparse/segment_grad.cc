#include "tensorflow/core/sparse/segment_grad.h"

#include <algorithm>
#include <utility>

namespace deeprec {
namespace sparse {
namespace {

constexpr int kDigitBits = 11;
constexpr int64_t kDigits = int64_t{1} << kDigitBits;

struct Entry {
  int64_t index;
  int32_t position;
};

// One pass of the radix sort: stable by the digit at `shift`.
void SortByDigit(const std::vector<Entry>& from, int shift, std::vector<Entry>* to) {
  std::vector<int32_t> count(kDigits + 1, 0);
  for (const Entry& entry : from) ++count[((entry.index >> shift) & (kDigits - 1)) + 1];
  for (int64_t digit = 0; digit < kDigits; ++digit) count[digit + 1] += count[digit];
  for (const Entry& entry : from) (*to)[count[(entry.index >> shift) & (kDigits - 1)]++] = entry;
}

}  // namespace

template <class Index>
SortedRuns SortRuns(const Index* indices, int64_t n, int64_t limit) {
  std::vector<Entry> entries(n), sorted(n);
  for (int64_t i = 0; i < n; ++i) entries[i] = {static_cast<int64_t>(indices[i]), static_cast<int32_t>(i)};
  // A few entries are sorted sooner than digits are counted.
  if (n < 256) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.index < b.index; });
  } else {
    for (int shift = 0; shift < 63 && ((limit - 1) >> shift) > 0; shift += kDigitBits) {
      SortByDigit(entries, shift, &sorted);
      std::swap(entries, sorted);
    }
  }
  SortedRuns runs;
  runs.positions.resize(n);
  for (int64_t i = 0; i < n; ++i) {
    runs.positions[i] = entries[i].position;
    if (i == 0 || entries[i].index != entries[i - 1].index) runs.begin.push_back(static_cast<int32_t>(i));
  }
  runs.begin.push_back(static_cast<int32_t>(n));
  return runs;
}

template <class T, class Segment>
void SumRuns(const SortedRuns& runs, int64_t first, int64_t last, const T* grad, int64_t width, const Segment* segments,
             const T* scale, T* out) {
  for (int64_t run = first; run < last; ++run, out += width) {
    for (int32_t at = runs.begin[run]; at < runs.begin[run + 1]; ++at) {
      const int64_t segment = segments[runs.positions[at]];
      const T* const from = grad + segment * width;
      const T factor = scale == nullptr ? T(1) : scale[segment];
      if (at == runs.begin[run]) {
        for (int64_t j = 0; j < width; ++j) out[j] = from[j] * factor;
      } else {
        for (int64_t j = 0; j < width; ++j) out[j] += from[j] * factor;
      }
    }
  }
}

template SortedRuns SortRuns<int32_t>(const int32_t*, int64_t, int64_t);
template SortedRuns SortRuns<int64_t>(const int64_t*, int64_t, int64_t);

#define DEEPREC_SUM_RUNS(T, Segment) \
  template void SumRuns<T, Segment>(const SortedRuns&, int64_t, int64_t, const T*, int64_t, const Segment*, const T*, T*)
DEEPREC_SUM_RUNS(float, int32_t);
DEEPREC_SUM_RUNS(float, int64_t);
DEEPREC_SUM_RUNS(double, int32_t);
DEEPREC_SUM_RUNS(double, int64_t);
#undef DEEPREC_SUM_RUNS

}  // namespace sparse
}  // namespace deeprec
