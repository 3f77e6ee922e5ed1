#ifndef TENSORFLOW_CORE_BOOSTED_TREES_QUANTILES_H_
#define TENSORFLOW_CORE_BOOSTED_TREES_QUANTILES_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace deeprec {
namespace boosted_trees {

// A value that stands for itself and its neighbours: its own weight, and bounds of the weight in front of
// it (min_rank) and up to and with it (max_rank).
struct SummaryEntry {
  float value, weight, min_rank, max_rank;

  float BelowMax() const { return max_rank - weight; }  // most weight that can lie below the value
  float ThroughMin() const { return min_rank + weight; }  // least weight up to and with the value
};

// Sorted entries whose gaps bound the error of a rank query.
using Summary = std::vector<SummaryEntry>;

// The summary of both inputs; its error is the larger of the two (Greenwald and Khanna 2004).
Summary Merge(const Summary& a, const Summary& b);
// About `size` entries, the first and the last kept; adds max(1 / size, min_eps) to the relative error.
void Compress(int64_t size, double min_eps, Summary* summary);
// Largest rank uncertainty over the total weight.
double ApproximationError(const Summary& summary);

// Weighted quantiles of a stream with relative rank error eps (Zhang and Wang 2007: a chain of summaries,
// each level of twice the weight, as in the sketch of Chen and Guestrin 2016).
class QuantileStream {
 public:
  // 0 < eps < 1; max_elements is a bound on the number of entries, and sets the size of the levels.
  QuantileStream(double eps, int64_t max_elements);

  void Push(float value, float weight);  // weights of 0 and below are dropped
  void PushSummary(Summary summary);
  // What was pushed as one summary; the stream is empty afterwards.
  Summary Take();

 private:
  void Flush();
  void Propagate(Summary summary);

  double eps_;
  int64_t block_ = 2, capacity_ = 2;
  std::vector<std::pair<float, float>> buffer_;
  std::vector<Summary> levels_;
};

// At least `count` values, ascending and different, that cut the summary into buckets of like weight.
std::vector<float> Boundaries(const Summary& summary, int64_t count);
// The `count` + 1 quantiles 0, 1 / count ... 1.
std::vector<float> Quantiles(const Summary& summary, int64_t count);

}  // namespace boosted_trees
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_BOOSTED_TREES_QUANTILES_H_
