#include "tensorflow/core/columnar/rows.h"

#include <limits>

namespace deeprec {
namespace columnar {

std::string CheckLevels(const Levels& levels, int64_t num_values) {
  for (size_t l = 0; l < levels.size(); ++l) {
    const SplitsView& splits = levels[l];
    if (splits.size < 1) return "row splits must have at least one element";
    if (splits.data[0] < 0) return "row splits must not be negative, got " + std::to_string(splits.data[0]);
    for (int64_t i = 1; i < splits.size; ++i) {
      if (splits.data[i] < splits.data[i - 1]) {
        return "row splits must not decrease, got " + std::to_string(splits.data[i]) + " after " +
               std::to_string(splits.data[i - 1]);
      }
    }
    const int64_t below = l + 1 < levels.size() ? levels[l + 1].size - 1 : num_values;
    const int64_t last = splits.data[splits.size - 1];
    if (last > below) {
      return "row splits end at " + std::to_string(last) + ", but there are " + std::to_string(below) + " below them";
    }
  }
  return "";
}

std::string GatherLevels(const std::vector<Levels>& batches, size_t num_levels, const std::vector<Run>& runs,
                         std::vector<std::vector<int32_t>>* splits, std::vector<Run>* values) {
  splits->assign(num_levels, {0});
  values->clear();
  values->reserve(runs.size());
  for (const Run& run : runs) {
    int64_t begin = run.begin;
    int64_t end = run.end;
    for (size_t l = 0; l < num_levels; ++l) {
      const int32_t* const from = batches[run.batch][l].data;
      std::vector<int32_t>& to = (*splits)[l];
      const int64_t base = int64_t{to.back()} - from[begin];
      if (base + from[end] > std::numeric_limits<int32_t>::max()) {
        return "a batch has more than 2147483647 values, which row splits cannot count";
      }
      for (int64_t i = begin + 1; i <= end; ++i) to.push_back(static_cast<int32_t>(base + from[i]));
      begin = from[begin];
      end = from[end];
    }
    if (begin < end) values->push_back({run.batch, begin, end});
  }
  return "";
}

}  // namespace columnar
}  // namespace deeprec
