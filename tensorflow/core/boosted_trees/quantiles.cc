#include "tensorflow/core/boosted_trees/quantiles.h"

#include <algorithm>
#include <cmath>

namespace deeprec {
namespace boosted_trees {

Summary Merge(const Summary& a, const Summary& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Summary out;
  out.reserve(a.size() + b.size());
  size_t i = 0, j = 0;
  float seen_a = 0, seen_b = 0;  // least weight of each side up to here
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a[i].value <= b[j].value);
    const bool from_b = i == a.size() || (j < b.size() && b[j].value <= a[i].value);
    if (from_a && from_b) {
      out.push_back({a[i].value, a[i].weight + b[j].weight, a[i].min_rank + b[j].min_rank,
                     a[i].max_rank + b[j].max_rank});
      seen_a = a[i++].ThroughMin();
      seen_b = b[j++].ThroughMin();
    } else if (from_a) {
      const float above = j < b.size() ? b[j].BelowMax() : b.back().max_rank;
      out.push_back({a[i].value, a[i].weight, a[i].min_rank + seen_b, a[i].max_rank + above});
      seen_a = a[i++].ThroughMin();
    } else {
      const float above = i < a.size() ? a[i].BelowMax() : a.back().max_rank;
      out.push_back({b[j].value, b[j].weight, b[j].min_rank + seen_a, b[j].max_rank + above});
      seen_b = b[j++].ThroughMin();
    }
  }
  return out;
}

void Compress(int64_t size, double min_eps, Summary* summary) {
  size = std::max<int64_t>(size, 2);
  const int64_t n = static_cast<int64_t>(summary->size());
  if (n <= size) return;
  Summary& s = *summary;
  const double gap = s.back().max_rank * std::max(1.0 / size, min_eps);
  // A kept entry may stand for as many as keeps the total near `size`: what one step leaves over is the next one's.
  int64_t credit = 0, write = 1, last = 1;
  for (int64_t read = 0; read + 1 < n;) {
    int64_t next = read + 1;
    while (next < n && credit < n && s[next].BelowMax() - s[read].ThroughMin() <= gap) {
      credit += size;
      ++next;
    }
    read = std::max(read + 1, next - 1);
    s[write++] = s[read];
    last = read;
    credit -= n;
  }
  if (last + 1 < n) s[write++] = s[n - 1];
  s.resize(write);
}

double ApproximationError(const Summary& s) {
  if (s.empty()) return 0;
  float widest = 0;
  for (size_t i = 1; i < s.size(); ++i) {
    widest = std::max({widest, s[i].max_rank - s[i].min_rank - s[i].weight, s[i].BelowMax() - s[i - 1].ThroughMin()});
  }
  return static_cast<double>(widest) / s.back().max_rank;
}

QuantileStream::QuantileStream(double eps, int64_t max_elements) : eps_(eps) {
  // The smallest chain of levels whose blocks hold max_elements at the wanted error.
  for (int64_t level = 1; level < 62 && (int64_t{1} << level) * block_ < max_elements; ++level) {
    block_ = static_cast<int64_t>(std::ceil(level / eps)) + 1;
  }
  block_ = std::max<int64_t>(block_, 2);
  capacity_ = std::max<int64_t>(std::min(2 * block_, max_elements), 1);
}

void QuantileStream::Push(float value, float weight) {
  if (!(weight > 0)) return;
  buffer_.emplace_back(value, weight);
  if (static_cast<int64_t>(buffer_.size()) >= capacity_) Flush();
}

void QuantileStream::PushSummary(Summary summary) {
  Compress(block_, eps_, &summary);
  Propagate(std::move(summary));
}

void QuantileStream::Flush() {
  std::sort(buffer_.begin(), buffer_.end(),
            [](const std::pair<float, float>& a, const std::pair<float, float>& b) { return a.first < b.first; });
  Summary summary;
  float total = 0;
  for (size_t i = 0; i < buffer_.size();) {
    const float value = buffer_[i].first;
    float weight = buffer_[i].second;
    for (++i; i < buffer_.size() && buffer_[i].first == value; ++i) weight += buffer_[i].second;
    summary.push_back({value, weight, total, total + weight});
    total += weight;
  }
  buffer_.clear();
  PushSummary(std::move(summary));
}

void QuantileStream::Propagate(Summary summary) {
  if (summary.empty()) return;
  for (size_t level = 0;; ++level) {
    if (levels_.size() <= level) levels_.emplace_back();
    Summary& here = levels_[level];
    summary = Merge(summary, here);
    if (here.empty() || static_cast<int64_t>(summary.size()) <= block_ + 1) {
      here = std::move(summary);
      return;
    }
    Compress(block_, eps_, &summary);
    here.clear();
  }
}

Summary QuantileStream::Take() {
  Flush();
  Summary all;
  for (const Summary& level : levels_) all = Merge(all, level);
  levels_.clear();
  return all;
}

std::vector<float> Boundaries(const Summary& summary, int64_t count) {
  std::vector<float> out;
  if (summary.empty()) return out;
  Summary compressed = summary;
  // In float, as the published sketch's implementation had it: the bucket edges follow from it.
  const float eps = static_cast<float>(ApproximationError(summary) + 1.0 / count);
  Compress(count, eps, &compressed);
  for (const SummaryEntry& entry : compressed) {
    if (out.empty() || out.back() != entry.value) out.push_back(entry.value);
  }
  return out;
}

std::vector<float> Quantiles(const Summary& s, int64_t count) {
  std::vector<float> out;
  if (s.empty()) return out;
  count = std::max<int64_t>(count, 2);
  size_t at = 0;
  for (int64_t rank = 0; rank <= count; ++rank) {
    const float twice = 2 * (rank * s.back().max_rank / count);
    size_t next = at + 1;
    while (next < s.size() && twice >= s[next].min_rank + s[next].max_rank) ++next;
    at = next - 1;
    const bool lower = next == s.size() || twice < s[at].ThroughMin() + s[next].BelowMax();
    out.push_back(s[lower ? at : next].value);
  }
  return out;
}

}  // namespace boosted_trees
}  // namespace deeprec
