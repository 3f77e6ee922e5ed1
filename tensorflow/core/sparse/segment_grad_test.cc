#include "tensorflow/core/sparse/segment_grad.h"

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace deeprec {
namespace sparse {
namespace {

// The sums by a map of rows, in input order.
template <class Index>
void Compare(int64_t n, int64_t limit, int64_t segments, int64_t width) {
  std::mt19937_64 engine(n ^ limit);
  std::vector<Index> indices(n);
  std::vector<int32_t> segment_of(n);
  std::vector<float> grad(segments * width), scale(segments);
  for (Index& index : indices) index = static_cast<Index>(engine() % limit);
  for (int32_t& segment : segment_of) segment = static_cast<int32_t>(engine() % segments);
  for (float& x : grad) x = static_cast<float>(engine() % 1000) / 7;
  for (float& x : scale) x = 1.0f / (1 + engine() % 5);
  std::map<Index, std::vector<float>> expected;
  for (int64_t i = 0; i < n; ++i) {
    auto [row, is_new] = expected.try_emplace(indices[i], width, 0.0f);
    for (int64_t j = 0; j < width; ++j) {
      const float product = grad[segment_of[i] * width + j] * scale[segment_of[i]];
      row->second[j] = is_new ? product : row->second[j] + product;
    }
  }
  const SortedRuns runs = SortRuns(indices.data(), n, limit);
  ASSERT_EQ(runs.size(), static_cast<int64_t>(expected.size()));
  std::vector<float> out(runs.size() * width);
  SumRuns(runs, 0, runs.size() / 2, grad.data(), width, segment_of.data(), scale.data(), out.data());
  SumRuns(runs, runs.size() / 2, runs.size(), grad.data(), width, segment_of.data(), scale.data(),
          out.data() + runs.size() / 2 * width);
  int64_t run = 0;
  for (const auto& [index, row] : expected) {
    EXPECT_EQ(indices[runs.positions[runs.begin[run]]], index);
    for (int64_t j = 0; j < width; ++j) EXPECT_FLOAT_EQ(out[run * width + j], row[j]);
    ++run;
  }
}

TEST(SegmentGradTest, SumsOfDistinctIndicesAreInOrder) {
  Compare<int32_t>(1, 1, 1, 3);
  Compare<int32_t>(100, 7, 9, 5);
  Compare<int32_t>(3000, 2048, 50, 18);
  Compare<int32_t>(3000, 2049, 50, 1);
  Compare<int64_t>(5000, 100, 5000, 4);
  Compare<int64_t>(5000, int64_t{1} << 40, 300, 4);
  Compare<int64_t>(5000, (uint64_t{1} << 63) - 1, 300, 2);
}

TEST(SegmentGradTest, NoPositionIsNoRun) { EXPECT_EQ(SortRuns<int32_t>(nullptr, 0, 5).size(), 0); }

}  // namespace
}  // namespace sparse
}  // namespace deeprec
