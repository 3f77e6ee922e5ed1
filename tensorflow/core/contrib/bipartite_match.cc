#include "tensorflow/core/contrib/bipartite_match.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace deeprec {
namespace contrib {

void BipartiteMatch(const float* distances, int64_t rows, int64_t columns, int64_t valid_rows,
                    int64_t limit, int32_t* row_match, int32_t* column_match) {
  std::fill(row_match, row_match + rows, -1);
  std::fill(column_match, column_match + columns, -1);
  std::vector<int64_t> pairs(std::min(rows, valid_rows) * columns);
  std::iota(pairs.begin(), pairs.end(), int64_t{0});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](int64_t a, int64_t b) { return distances[a] < distances[b]; });
  int64_t made = 0;
  for (const int64_t pair : pairs) {
    if (made == limit) break;
    const int64_t row = pair / columns, column = pair % columns;
    if (row_match[row] >= 0 || column_match[column] >= 0) continue;
    row_match[row] = static_cast<int32_t>(column);
    column_match[column] = static_cast<int32_t>(row);
    ++made;
  }
}

}  // namespace contrib
}  // namespace deeprec
