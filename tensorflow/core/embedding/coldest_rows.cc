#include "tensorflow/core/embedding/coldest_rows.h"

#include <algorithm>
#include <functional>

namespace deeprec {
namespace embedding {
namespace {

bool Colder(const Coldness& x, const Coldness& y) { return y > x; }

}  // namespace

void ColdestRows::Begin(size_t keep) {
  rows_.clear();
  keep_ = std::max<size_t>(1, keep);
  bounded_ = false;
  active_ = true;
}

void ColdestRows::Offer(const Coldness& row) {
  if (bounded_ && row > bound_) return;
  rows_.push_back(row);
  // Twice as many before the rest is cut off: a constant number of comparisons a row.
  if (rows_.size() >= 2 * keep_) Shrink();
}

void ColdestRows::Shrink() {
  if (rows_.size() <= keep_) return;
  const auto last = rows_.begin() + (keep_ - 1);
  std::nth_element(rows_.begin(), last, rows_.end(), Colder);
  bound_ = *last;
  bounded_ = true;
  rows_.resize(keep_);
}

void ColdestRows::End() {
  Shrink();
  std::make_heap(rows_.begin(), rows_.end(), std::greater<Coldness>());
}

void ColdestRows::Add(const Coldness& row) {
  if (!active_ || (bounded_ && row > bound_)) return;
  rows_.push_back(row);
  std::push_heap(rows_.begin(), rows_.end(), std::greater<Coldness>());
}

bool ColdestRows::Pop(Coldness* row) {
  if (rows_.empty()) return false;
  std::pop_heap(rows_.begin(), rows_.end(), std::greater<Coldness>());
  *row = rows_.back();
  rows_.pop_back();
  return true;
}

void ColdestRows::Reset() {
  active_ = bounded_ = false;
  std::vector<Coldness>().swap(rows_);
}

}  // namespace embedding
}  // namespace deeprec
