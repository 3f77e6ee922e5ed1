#include "tensorflow/core/contrib/wals.h"

namespace deeprec {
namespace contrib {

void WalsAccumulate(const std::vector<WalsEntry>& entries, const float* factors, int64_t k,
                    float unobserved_weight, int64_t first_row, int64_t last_row, float* lhs,
                    float* rhs) {
  for (const WalsEntry& entry : entries) {
    if (entry.row < first_row || entry.row >= last_row) continue;
    const float* f = factors + entry.factor * k;
    float* row_lhs = lhs + entry.row * k * k;
    float* row_rhs = rhs + entry.row * k;
    const float scale = (entry.weight + unobserved_weight) * entry.value;
    for (int64_t i = 0; i < k; ++i) {
      const float weighted = entry.weight * f[i];
      for (int64_t j = 0; j < k; ++j) row_lhs[i * k + j] += weighted * f[j];
      row_rhs[i] += scale * f[i];
    }
  }
}

}  // namespace contrib
}  // namespace deeprec
