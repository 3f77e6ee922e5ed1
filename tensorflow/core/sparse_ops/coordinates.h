// Coordinates of the entries of a SparseTensor: cut off, reversed, flattened. Entries need not be in
// order; where a function reorders them, the values follow by its list of positions.

#ifndef TENSORFLOW_CORE_SPARSE_OPS_COORDINATES_H_
#define TENSORFLOW_CORE_SPARSE_OPS_COORDINATES_H_

#include <cstdint>
#include <vector>

namespace deeprec {
namespace sparse_ops {

// [count, rank] coordinates, row by row.
struct Coordinates {
  const int64_t* data = nullptr;
  int64_t count = 0;
  int rank = 0;
};

// Entries that were chosen, in their new order.
struct Chosen {
  std::vector<int64_t> positions;    // of the entries in the input
  std::vector<int64_t> coordinates;  // [positions.size(), rank]
};

enum class Side { kLeft, kRight };  // where the cut is: the other end is kept

// The first entry that lies outside of `shape` (rank numbers), or -1.
int64_t FirstOutside(const Coordinates& entries, const int64_t* shape);

// Leaves at most `length` places along `axis` (in [1, rank)).
//
// A group are the entries that agree in the coordinates before the axis; its extent is 1 + the
// greatest coordinate along the axis in it. Cut on the right, places from `length` on go; on the left,
// the first extent - length places go and the others move there.
Chosen Cutoff(const Coordinates& entries, int axis, int64_t length, Side side);

// Reverses each group, as above, along `axis`: place p goes to extent - 1 - p. The result is in the
// order of its coordinates.
Chosen Reverse(const Coordinates& entries, int axis);

// Makes the dimensions from new_rank - 1 on one, row major: fills `flat` [count, new_rank] and
// `flat_shape` [new_rank]. Returns false if the size of the last dimension overflows.
bool InnerFlatten(const Coordinates& entries, const int64_t* shape, int new_rank, int64_t* flat,
                  int64_t* flat_shape);

}  // namespace sparse_ops
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_OPS_COORDINATES_H_
