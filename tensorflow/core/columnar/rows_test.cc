#include "tensorflow/core/columnar/rows.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace deeprec {
namespace columnar {
namespace {

using Splits = std::vector<std::vector<int32_t>>;
// A test has a member of the name Run.
using Runs = std::vector<columnar::Run>;

Levels View(const Splits& splits) {
  Levels levels;
  for (const auto& level : splits) levels.push_back({level.data(), static_cast<int64_t>(level.size())});
  return levels;
}

TEST(RowsTest, SplitsThatDoNotFitAreNamed) {
  EXPECT_EQ(CheckLevels(View({{0, 2, 2}}), 2), "");
  EXPECT_EQ(CheckLevels(View({{1, 2}}), 5), "");
  EXPECT_NE(CheckLevels(View({{}}), 0).find("at least one"), std::string::npos);
  EXPECT_NE(CheckLevels(View({{-1, 2}}), 2).find("negative"), std::string::npos);
  EXPECT_NE(CheckLevels(View({{0, 2, 1}}), 2).find("decrease"), std::string::npos);
  EXPECT_NE(CheckLevels(View({{0, 3}}), 2).find("end at 3"), std::string::npos);
  EXPECT_NE(CheckLevels(View({{0, 3}, {0, 1, 2}}), 2).find("2 below"), std::string::npos);
}

TEST(RowsTest, RowsWithoutLevelsAreValues) {
  Splits splits;
  Runs values;
  ASSERT_EQ(GatherLevels({{}, {}}, 0, {{1, 3, 5}, {0, 0, 1}, {0, 2, 2}}, &splits, &values), "");
  EXPECT_TRUE(splits.empty());
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].begin, 3);
  EXPECT_EQ(values[0].end, 5);
  EXPECT_EQ(values[1].batch, 0u);
}

TEST(RowsTest, MoreValuesThanSplitsCountIsAnError) {
  const Splits batch = {{0, 2000000000}};
  Splits splits;
  Runs values;
  EXPECT_NE(GatherLevels({View(batch)}, 1, {{0, 0, 1}, {0, 0, 1}}, &splits, &values).find("2147483647"),
            std::string::npos);
}

// Random runs of two levels, each row by itself, against a walk over its lists.
TEST(RowsTest, RandomRunsEqualTheirLists) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<Splits> batches;
    std::vector<Levels> views;
    for (int b = 0; b < 3; ++b) {
      Splits levels(2);
      int32_t length = 1 + random() % 8;
      for (auto& level : levels) {
        level.push_back(random() % 2);
        for (int32_t i = 0; i < length; ++i) level.push_back(level.back() + random() % 3);
        length = level.back();
      }
      batches.push_back(levels);
    }
    for (const Splits& batch : batches) {
      ASSERT_EQ(CheckLevels(View(batch), batch[1].back()), "");
      views.push_back(View(batch));
    }
    Runs runs;
    Splits expected = {{0}, {0}};
    std::vector<std::pair<size_t, int64_t>> expected_values;
    for (int i = 0; i < 5; ++i) {
      const size_t b = random() % 3;
      const int64_t rows = batches[b][0].size() - 1;
      const int64_t begin = random() % (rows + 1);
      const int64_t end = begin + random() % (rows - begin + 1);
      runs.push_back({b, begin, end});
      for (int64_t row = begin; row < end; ++row) {
        for (int64_t list = batches[b][0][row]; list < batches[b][0][row + 1]; ++list) {
          for (int64_t at = batches[b][1][list]; at < batches[b][1][list + 1]; ++at) expected_values.push_back({b, at});
          expected[1].push_back(static_cast<int32_t>(expected_values.size()));
        }
        expected[0].push_back(static_cast<int32_t>(expected[1].size() - 1));
      }
    }
    Splits splits;
    Runs values;
    ASSERT_EQ(GatherLevels(views, 2, runs, &splits, &values), "");
    EXPECT_EQ(splits, expected);
    std::vector<std::pair<size_t, int64_t>> found;
    for (const columnar::Run& run : values) {
      for (int64_t at = run.begin; at < run.end; ++at) found.push_back({run.batch, at});
    }
    EXPECT_EQ(found, expected_values);
  }
}

}  // namespace
}  // namespace columnar
}  // namespace deeprec
