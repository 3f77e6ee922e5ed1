#ifndef TENSORFLOW_CORE_CONTRIB_WALS_H_
#define TENSORFLOW_CORE_CONTRIB_WALS_H_

#include <cstdint>
#include <vector>

namespace deeprec {
namespace contrib {

// One observed entry of the input of weighted alternating least squares: row of the block, row of
// the factors, value and weight above that of unobserved entries.
struct WalsEntry {
  int64_t row;
  int64_t factor;
  float value;
  float weight;
};

// Left and right hand sides of the normal equations of rows first_row..last_row-1 of a block
// (Hu, Koren, Volinsky 2008):
//   lhs[row] += weight f f^T,  rhs[row] += (weight + unobserved_weight) value f
// over the row's entries, f = factors[entry.factor] of length k. lhs is [rows, k, k], rhs is [rows,
// k]. Entries of other rows are passed over, so that shards of rows can share one list.
void WalsAccumulate(const std::vector<WalsEntry>& entries, const float* factors, int64_t k,
                    float unobserved_weight, int64_t first_row, int64_t last_row, float* lhs,
                    float* rhs);

}  // namespace contrib
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_CONTRIB_WALS_H_
