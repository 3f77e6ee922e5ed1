// Rows of a column, cut out of Arrow arrays and flattened: the splits of its list levels, and where the elements below them
// are.
//
// A batch may be made of the end of one array and the beginning of the next ones, so rows come as pieces. Nothing is copied
// here but splits; elements are read by CopyElements, ForEachBytes, or, where they lie one after another as they are, by
// Contiguous.

#ifndef TENSORFLOW_CORE_COLUMNAR_CUT_H_
#define TENSORFLOW_CORE_COLUMNAR_CUT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/core/columnar/arrow_abi.h"
#include "tensorflow/core/columnar/column_type.h"

namespace deeprec {
namespace columnar {

// Rows [begin, end) of an array.
struct Piece {
  const ArrowArray* array;
  int64_t begin;
  int64_t end;
};

struct Cut {
  // For each list level that is kept as such, the starts of its lists in the level below (or in the elements), and the end.
  std::vector<std::vector<int32_t>> splits;
  // Elements [begin, end) of innermost arrays; their offset is counted in.
  std::vector<Piece> elements;
  int64_t num_elements = 0;
};

// Cuts the pieces of a column, one after another.
//
// The outer `ragged_rank` list levels become splits. Lists of the levels below must all have one length each, and
// `inner_shape` is what they say: the dimensions of what stands for one element. A shape without such levels just groups the
// elements.
//
// Returns the reason if the rows do not fit, or if a value among them is null, else an empty text.
std::string CutRows(const ColumnType& type, const std::vector<Piece>& pieces, size_t ragged_rank,
                    const std::vector<int64_t>& inner_shape, Cut* cut);

// Where the elements are, if they are one run of plain values in memory; null otherwise.
const void* Contiguous(const ColumnType& type, const Cut& cut);

// Copies elements of a fixed width to `out`, Width(type.element) bytes each.
void CopyElements(const ColumnType& type, const Cut& cut, void* out);

namespace internal {

std::string_view BytesAt(const ColumnType& type, const ArrowArray& array, int64_t at);
int64_t IndexAt(Element index, const void* indices, int64_t at);

}  // namespace internal

// Calls fn(std::string_view) for each element of a column of kBytes.
template <class Fn>
void ForEachBytes(const ColumnType& type, const Cut& cut, Fn fn) {
  for (const Piece& piece : cut.elements) {
    if (type.has_dictionary) {
      const ArrowArray& values = *piece.array->dictionary;
      for (int64_t i = piece.begin; i < piece.end; ++i) {
        fn(internal::BytesAt(type, values,
                             values.offset + internal::IndexAt(type.index, piece.array->buffers[1], i)));
      }
    } else if (type.storage == ColumnType::kOffsets32) {
      // By far the most frequent form, without a branch on the type in the loop.
      const auto* const offsets = static_cast<const int32_t*>(piece.array->buffers[1]);
      const auto* const data = static_cast<const char*>(piece.array->buffers[2]);
      for (int64_t i = piece.begin; i < piece.end; ++i) {
        const int32_t begin = offsets[i];
        // There may be no data where all texts are empty.
        const int32_t size = offsets[i + 1] - begin;
        fn(size == 0 ? std::string_view() : std::string_view(data + begin, size));
      }
    } else {
      for (int64_t i = piece.begin; i < piece.end; ++i) fn(internal::BytesAt(type, *piece.array, i));
    }
  }
}

}  // namespace columnar
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_COLUMNAR_CUT_H_
