// Rows gathered out of several batches of a ragged column.

#ifndef TENSORFLOW_CORE_COLUMNAR_ROWS_H_
#define TENSORFLOW_CORE_COLUMNAR_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace deeprec {
namespace columnar {

// The row splits of one list level of a batch.
struct SplitsView {
  const int32_t* data;
  int64_t size;
};

// The row splits of a batch, outermost level first; without any, a row is one value.
using Levels = std::vector<SplitsView>;

// Rows [begin, end) of a batch.
struct Run {
  size_t batch;
  int64_t begin;
  int64_t end;
};

// Returns the reason why the splits do not fit `num_values` values and each other, else an empty text.
std::string CheckLevels(const Levels& levels, int64_t num_values);

// The splits of the rows of `runs`, which start at 0, and the values below them, as runs of values. The batches must have
// passed CheckLevels, and have `num_levels` each.
//
// Returns the reason if there are more values than splits can count, else an empty text.
std::string GatherLevels(const std::vector<Levels>& batches, size_t num_levels, const std::vector<Run>& runs,
                         std::vector<std::vector<int32_t>>* splits, std::vector<Run>* values);

}  // namespace columnar
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_COLUMNAR_ROWS_H_
