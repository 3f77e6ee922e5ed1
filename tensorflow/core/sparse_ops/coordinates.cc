#include "tensorflow/core/sparse_ops/coordinates.h"

#include <algorithm>
#include <numeric>

namespace deeprec {
namespace sparse_ops {
namespace {

bool Before(const int64_t* a, const int64_t* b, int numbers) {
  return std::lexicographical_compare(a, a + numbers, b, b + numbers);
}

// Positions in the order of the first `numbers` coordinates; ties keep their order.
std::vector<int64_t> InOrder(const Coordinates& entries, int numbers) {
  std::vector<int64_t> order(entries.count);
  std::iota(order.begin(), order.end(), 0);
  auto before = [&](int64_t a, int64_t b) {
    return Before(entries.data + a * entries.rank, entries.data + b * entries.rank, numbers);
  };
  // Most SparseTensors are in order: a look is cheaper than a sort.
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    std::stable_sort(order.begin(), order.end(), before);
  }
  return order;
}

// Of each entry, the extent of its group. Groups are found by order and not in an array of all
// possible ones, whose size a shape could make anything.
std::vector<int64_t> Extents(const Coordinates& entries, int axis) {
  const std::vector<int64_t> order = InOrder(entries, axis);
  std::vector<int64_t> extents(entries.count);
  for (size_t begin = 0; begin < order.size();) {
    const int64_t* first = entries.data + order[begin] * entries.rank;
    int64_t extent = 0;
    size_t end = begin;
    for (; end < order.size(); ++end) {
      const int64_t* entry = entries.data + order[end] * entries.rank;
      if (!std::equal(first, first + axis, entry)) break;
      extent = std::max(extent, entry[axis] + 1);
    }
    for (; begin < end; ++begin) extents[order[begin]] = extent;
  }
  return extents;
}

}  // namespace

int64_t FirstOutside(const Coordinates& entries, const int64_t* shape) {
  for (int64_t i = 0; i < entries.count; ++i) {
    for (int d = 0; d < entries.rank; ++d) {
      const int64_t place = entries.data[i * entries.rank + d];
      if (place < 0 || place >= shape[d]) return i;
    }
  }
  return -1;
}

Chosen Cutoff(const Coordinates& entries, int axis, int64_t length, Side side) {
  std::vector<int64_t> extents;
  if (side == Side::kLeft) extents = Extents(entries, axis);
  Chosen chosen;
  for (int64_t i = 0; i < entries.count; ++i) {
    const int64_t* entry = entries.data + i * entries.rank;
    int64_t place = entry[axis];
    if (side == Side::kLeft) place -= std::max<int64_t>(extents[i] - length, 0);
    if (place < 0 || place >= length) continue;
    chosen.positions.push_back(i);
    chosen.coordinates.insert(chosen.coordinates.end(), entry, entry + entries.rank);
    chosen.coordinates[chosen.coordinates.size() - entries.rank + axis] = place;
  }
  return chosen;
}

Chosen Reverse(const Coordinates& entries, int axis) {
  std::vector<int64_t> reversed(entries.data, entries.data + entries.count * entries.rank);
  const std::vector<int64_t> extents = Extents(entries, axis);
  for (int64_t i = 0; i < entries.count; ++i) {
    int64_t& place = reversed[i * entries.rank + axis];
    place = extents[i] - 1 - place;
  }
  Chosen chosen;
  chosen.positions = InOrder({reversed.data(), entries.count, entries.rank}, entries.rank);
  chosen.coordinates.reserve(reversed.size());
  for (const int64_t i : chosen.positions) {
    const int64_t* entry = reversed.data() + i * entries.rank;
    chosen.coordinates.insert(chosen.coordinates.end(), entry, entry + entries.rank);
  }
  return chosen;
}

bool InnerFlatten(const Coordinates& entries, const int64_t* shape, int new_rank, int64_t* flat,
                  int64_t* flat_shape) {
  const int outer = new_rank - 1;
  std::copy(shape, shape + outer, flat_shape);
  int64_t size = 1;
  for (int d = outer; d < entries.rank; ++d) {
    if (__builtin_mul_overflow(size, shape[d], &size)) return false;
  }
  flat_shape[outer] = size;
  for (int64_t i = 0; i < entries.count; ++i) {
    const int64_t* entry = entries.data + i * entries.rank;
    int64_t place = 0;
    for (int d = outer; d < entries.rank; ++d) place = place * shape[d] + entry[d];
    std::copy(entry, entry + outer, flat + i * new_rank);
    flat[i * new_rank + outer] = place;
  }
  return true;
}

}  // namespace sparse_ops
}  // namespace deeprec
