#ifndef TENSORFLOW_CORE_CONTRIB_BIPARTITE_MATCH_H_
#define TENSORFLOW_CORE_CONTRIB_BIPARTITE_MATCH_H_

#include <cstdint>

namespace deeprec {
namespace contrib {

// Greedy matching: again and again the pair of an unmatched row and an unmatched column of least
// distance. distances is [rows, columns]; only the first valid_rows rows take part. Pairs of equal
// distance go by position. At most limit pairs are made. row_match [rows] and column_match
// [columns] get the partner, or -1.
void BipartiteMatch(const float* distances, int64_t rows, int64_t columns, int64_t valid_rows,
                    int64_t limit, int32_t* row_match, int32_t* column_match);

}  // namespace contrib
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_CONTRIB_BIPARTITE_MATCH_H_
