// Grouping of gradient positions by table row: the step that makes graph-level Unique and
// UnsortedSegmentSum unnecessary.
//
// Work is cut by row, not by position: every shard reads all indices, keeps the ones it owns and groups
// them in its own memory. Shards then need no lock, no merge and no barrier, each row belongs to one
// shard whatever their number, and the order within a row is that of the input. So a result never
// depends on the number of threads. Reading the indices once per shard costs under a nanosecond per
// index, small against the update of a row.

#ifndef TENSORFLOW_CORE_SPARSE_ROW_GROUPS_H_
#define TENSORFLOW_CORE_SPARSE_ROW_GROUPS_H_

#include <stdint.h>

#include <memory>

#include "tensorflow/core/sparse/row_update.h"

namespace deeprec {
namespace sparse {

// Rows a shard owns: those in [row_begin, row_end) whose hash falls to `shard` of `num_shards`.
struct Owner {
  int64_t row_begin = 0;
  int64_t row_end = 0;
  int shard = 0;
  int num_shards = 1;
};

// Arrays of which a new group's row is fetched into the L2 cache while the grouping or listing goes on.
struct RowFetch {
  const char* base[1 + kMaxSlots] = {};
  int arrays = 0;
  int64_t row_bytes = 0;
};

class RowGrouper {
 public:
  // Groups the positions of `indices[0, n)` that `owner` owns; n < 2^31. Indices outside
  // [row_begin, row_end) are passed over, so memory that changes after it was checked can not lead to a
  // row outside the table. Groups come in order of first occurrence. `next` has n elements and is shared
  // by all shards; entries of positions owned by others are left alone.
  template <class Index>
  void Group(const Index* indices, int64_t n, const Owner& owner, int32_t* next,
             const RowFetch& fetch = RowFetch());

  // The same without merging: one group per position, in order, several to a row that occurs often. `next`
  // is not needed. For updates that may be made one after the other.
  template <class Index>
  void List(const Index* indices, int64_t n, const Owner& owner, const RowFetch& fetch = RowFetch());

  // Orders the groups by row.
  void SortByRow();

  const RowGroup* groups() const { return groups_.get(); }
  int64_t size() const { return size_; }

 private:
  std::unique_ptr<RowGroup[]> groups_;
  int64_t size_ = 0;
};

extern template void RowGrouper::Group<int32_t>(const int32_t*, int64_t, const Owner&, int32_t*,
                                                const RowFetch&);
extern template void RowGrouper::Group<int64_t>(const int64_t*, int64_t, const Owner&, int32_t*,
                                                const RowFetch&);
extern template void RowGrouper::List<int32_t>(const int32_t*, int64_t, const Owner&, const RowFetch&);
extern template void RowGrouper::List<int64_t>(const int64_t*, int64_t, const Owner&, const RowFetch&);

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_ROW_GROUPS_H_
