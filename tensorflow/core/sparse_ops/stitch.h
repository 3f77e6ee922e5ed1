// Rows put together from several lists.

#ifndef TENSORFLOW_CORE_SPARSE_OPS_STITCH_H_
#define TENSORFLOW_CORE_SPARSE_OPS_STITCH_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace deeprec {
namespace sparse_ops {

// Where a row comes from; list -1: nowhere.
struct Source {
  int32_t list = -1;
  int32_t row = 0;
};

// One list: its rows go to `indices`.
struct StitchList {
  const int32_t* indices = nullptr;
  int64_t count = 0;
};

// Number of rows of the result: 1 + the greatest index. `*negative` becomes the number of a list
// with an index below 0, or -1.
inline int64_t StitchedRows(const std::vector<StitchList>& lists, int* negative) {
  int64_t rows = 0;
  *negative = -1;
  for (size_t n = 0; n < lists.size(); ++n) {
    for (int64_t i = 0; i < lists[n].count; ++i) {
      const int64_t index = lists[n].indices[i];
      if (index < 0) *negative = static_cast<int>(n);
      if (index >= rows) rows = index + 1;
    }
  }
  return rows;
}

// Fills sources[0, rows). Of several for one row the last counts, so that threads may copy rows in
// any order.
inline void StitchSources(const std::vector<StitchList>& lists, int64_t rows, Source* sources) {
  std::fill(sources, sources + rows, Source());
  for (size_t n = 0; n < lists.size(); ++n) {
    for (int64_t i = 0; i < lists[n].count; ++i) {
      sources[lists[n].indices[i]] = {static_cast<int32_t>(n), static_cast<int32_t>(i)};
    }
  }
}

}  // namespace sparse_ops
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_OPS_STITCH_H_
