#include "tensorflow/core/sparse/row_groups.h"

#include <algorithm>

#include "tensorflow/core/sparse/mix.h"

namespace deeprec {
namespace sparse {
namespace {

// The shard of a row: multiplicative (Fibonacci) hashing. Every shard computes it for every index, so it
// must be cheap; that it is independent of Mix lets the rows of one shard spread over its whole table.
inline uint64_t ShardOf(uint64_t row, uint64_t num_shards) {
  return (((row * 0x9e3779b97f4a7c15ULL) >> 32) * num_shards) >> 32;
}

// Writes the positions that `owner` owns, ascending, to `owned`, which has room for n; returns how many.
template <class Index>
int64_t OwnedPositions(const Index* indices, int64_t n, const Owner& owner, int32_t* owned) {
  const uint64_t range = uint64_t(owner.row_end - owner.row_begin);
  int64_t count = 0;
  if (owner.num_shards == 1) {
    for (int64_t i = 0; i < n; ++i) {
      owned[count] = int32_t(i);
      count += uint64_t(int64_t(indices[i]) - owner.row_begin) < range;
    }
    return count;
  }
  const uint64_t shards = uint64_t(owner.num_shards);
  const uint64_t shard = uint64_t(owner.shard);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = int64_t(indices[i]);
    owned[count] = int32_t(i);
    count += (uint64_t(row - owner.row_begin) < range) & (ShardOf(uint64_t(row), shards) == shard);
  }
  return count;
}

inline void Prefetch(const RowFetch& fetch, int64_t row) {
  for (int i = 0; i < fetch.arrays; ++i) __builtin_prefetch(fetch.base[i] + row * fetch.row_bytes, 1, 2);
}

}  // namespace

template <class Index>
void RowGrouper::Group(const Index* indices, int64_t n, const Owner& owner, int32_t* next,
                       const RowFetch& fetch) {
  size_ = 0;
  groups_.reset();

  const std::unique_ptr<int32_t[]> owned(new int32_t[n]);
  const uint64_t range = uint64_t(owner.row_end - owner.row_begin);
  const int64_t count = OwnedPositions(indices, n, owner, owned.get());
  if (count == 0) return;

  // Open addressing with linear probing over group numbers; 0 is free. At most half full and dropped
  // after use, which a general hash map's growth, control bytes and node handling would not pay for.
  groups_.reset(new RowGroup[count]);
  RowGroup* const groups = groups_.get();
  uint64_t slots = 16;
  while (slots < 2 * uint64_t(count)) slots *= 2;
  const uint64_t mask = slots - 1;
  const std::unique_ptr<int32_t[]> table(new int32_t[slots]());
  int32_t size = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int32_t position = owned[k];
    const int64_t row = int64_t(indices[position]);
    // The memory may have changed since the first look.
    if (uint64_t(row - owner.row_begin) >= range) continue;
    uint64_t at = Mix(uint64_t(row)) & mask;
    while (true) {
      const int32_t entry = table[at];
      if (entry == 0) {
        groups[size] = RowGroup{row, position, position};
        Prefetch(fetch, row);
        table[at] = ++size;
        break;
      }
      RowGroup& group = groups[entry - 1];
      if (group.row == row) {
        next[group.last] = position;
        group.last = position;
        break;
      }
      at = (at + 1) & mask;
    }
  }
  size_ = size;
}

template <class Index>
void RowGrouper::List(const Index* indices, int64_t n, const Owner& owner, const RowFetch& fetch) {
  const std::unique_ptr<int32_t[]> owned(new int32_t[n]);
  const int64_t count = OwnedPositions(indices, n, owner, owned.get());
  groups_.reset(new RowGroup[count]);
  size_ = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t row = int64_t(indices[owned[k]]);
    // The memory may have changed since the first look.
    if (row < owner.row_begin || row >= owner.row_end) continue;
    groups_[size_++] = RowGroup{row, owned[k], owned[k]};
    Prefetch(fetch, row);
  }
}

void RowGrouper::SortByRow() {
  std::sort(groups_.get(), groups_.get() + size_,
            [](const RowGroup& a, const RowGroup& b) { return a.row < b.row; });
}

template void RowGrouper::Group<int32_t>(const int32_t*, int64_t, const Owner&, int32_t*, const RowFetch&);
template void RowGrouper::Group<int64_t>(const int64_t*, int64_t, const Owner&, int32_t*, const RowFetch&);
template void RowGrouper::List<int32_t>(const int32_t*, int64_t, const Owner&, const RowFetch&);
template void RowGrouper::List<int64_t>(const int64_t*, int64_t, const Owner&, const RowFetch&);

}  // namespace sparse
}  // namespace deeprec
