// Against plain definitions on dense arrays.

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/sparse_ops/coordinates.h"
#include "tensorflow/core/sparse_ops/stitch.h"

namespace deeprec {
namespace sparse_ops {
namespace {

using Numbers = std::vector<int64_t>;

// [0 .  2 .  4 5 ]
// [.  11 . 13 14 . ]
// [20 .  . 23 .  25]
// [30 . 32 33 .  35]
const Numbers kPlaces = {0, 0, 0, 2, 0, 4, 0, 5, 1, 1, 1, 3, 1, 4, 2, 0, 2, 3, 2, 5, 3, 0, 3, 2, 3, 3, 3, 5};
const Coordinates kMatrix = {kPlaces.data(), 14, 2};

TEST(Cutoff, OnTheRight) {
  const Chosen chosen = Cutoff(kMatrix, 1, 4, Side::kRight);
  EXPECT_EQ(chosen.positions, (Numbers{0, 1, 4, 5, 7, 8, 10, 11, 12}));
  EXPECT_EQ(chosen.coordinates, (Numbers{0, 0, 0, 2, 1, 1, 1, 3, 2, 0, 2, 3, 3, 0, 3, 2, 3, 3}));
}

TEST(Cutoff, OnTheLeftMovesTheRest) {
  const Chosen chosen = Cutoff(kMatrix, 1, 4, Side::kLeft);
  EXPECT_EQ(chosen.positions, (Numbers{1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 13}));
  EXPECT_EQ(chosen.coordinates,
            (Numbers{0, 0, 0, 2, 0, 3, 1, 0, 1, 2, 1, 3, 2, 1, 2, 3, 3, 0, 3, 1, 3, 3}));
}

TEST(Cutoff, KeepsWhatIsShort) {
  for (const Side side : {Side::kLeft, Side::kRight}) {
    EXPECT_EQ(Cutoff(kMatrix, 1, 8, side).coordinates, kPlaces);
    EXPECT_TRUE(Cutoff({nullptr, 0, 2}, 1, 8, side).positions.empty());
  }
}

// Random entries of a tensor [3, 4, 5], in any order.
Numbers RandomEntries(std::mt19937* random, int64_t* count) {
  std::vector<Numbers> all;
  for (int64_t a = 0; a < 3; ++a) {
    for (int64_t b = 0; b < 4; ++b) {
      for (int64_t c = 0; c < 5; ++c) {
        if ((*random)() % 3 == 0) all.push_back({a, b, c});
      }
    }
  }
  std::shuffle(all.begin(), all.end(), *random);
  *count = all.size();
  Numbers flat;
  for (const Numbers& entry : all) flat.insert(flat.end(), entry.begin(), entry.end());
  return flat;
}

TEST(Groups, AreFoundInAnyOrderAndRank) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    int64_t count;
    const Numbers places = RandomEntries(&random, &count);
    for (const int axis : {1, 2}) {
      std::map<Numbers, int64_t> extents;
      auto group = [&](const int64_t* entry) { return Numbers(entry, entry + axis); };
      for (int64_t i = 0; i < count; ++i) {
        const int64_t* entry = &places[i * 3];
        int64_t& extent = extents[group(entry)];
        extent = std::max(extent, entry[axis] + 1);
      }
      const Chosen cut = Cutoff({places.data(), count, 3}, axis, 2, Side::kLeft);
      size_t next = 0;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t* entry = &places[i * 3];
        const int64_t place = entry[axis] - std::max<int64_t>(0, extents[group(entry)] - 2);
        if (place < 0) continue;
        ASSERT_LT(next, cut.positions.size());
        EXPECT_EQ(cut.positions[next], i);
        EXPECT_EQ(cut.coordinates[next * 3 + axis], place);
        EXPECT_EQ(cut.coordinates[next * 3], entry[0]);
        ++next;
      }
      EXPECT_EQ(next, cut.positions.size());

      const Chosen reversed = Reverse({places.data(), count, 3}, axis);
      ASSERT_EQ(static_cast<int64_t>(reversed.positions.size()), count);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t* entry = &places[reversed.positions[i] * 3];
        const int64_t* result = &reversed.coordinates[i * 3];
        EXPECT_EQ(result[axis], extents[group(entry)] - 1 - entry[axis]);
        EXPECT_EQ(result[3 - axis], entry[3 - axis]);
        if (i == 0) continue;
        EXPECT_TRUE(std::lexicographical_compare(result - 3, result, result, result + 3));
      }
    }
  }
}

TEST(InnerFlatten, IsRowMajor) {
  const Numbers places = {0, 0, 0, 1, 2, 3, 2, 3, 4}, shape = {3, 4, 5};
  Numbers flat(6), flat_shape(2);
  ASSERT_TRUE(InnerFlatten({places.data(), 3, 3}, shape.data(), 2, flat.data(), flat_shape.data()));
  EXPECT_EQ(flat, (Numbers{0, 0, 1, 13, 2, 19}));
  EXPECT_EQ(flat_shape, (Numbers{3, 20}));
  Numbers one(3), one_shape(1);
  ASSERT_TRUE(InnerFlatten({places.data(), 3, 3}, shape.data(), 1, one.data(), one_shape.data()));
  EXPECT_EQ(one, (Numbers{0, 33, 59}));
  EXPECT_EQ(one_shape, (Numbers{60}));
}

TEST(InnerFlatten, OverflowIsReported) {
  const Numbers shape = {2, int64_t{1} << 40, int64_t{1} << 40};
  Numbers flat_shape(2);
  EXPECT_FALSE(InnerFlatten({nullptr, 0, 3}, shape.data(), 2, nullptr, flat_shape.data()));
}

TEST(FirstOutside, FindsTheEntry) {
  const Numbers shape = {4, 6}, narrow = {4, 5}, low = {0, 0, 0, -1};
  EXPECT_EQ(FirstOutside(kMatrix, shape.data()), -1);
  EXPECT_EQ(FirstOutside(kMatrix, narrow.data()), 3);
  EXPECT_EQ(FirstOutside({low.data(), 2, 2}, shape.data()), 1);
}

TEST(Stitch, TheLastOfSeveralCounts) {
  const std::vector<int32_t> a = {0, 3}, b = {3, 1};
  int negative;
  const std::vector<StitchList> lists = {{a.data(), 2}, {b.data(), 2}};
  ASSERT_EQ(StitchedRows(lists, &negative), 4);
  EXPECT_EQ(negative, -1);
  std::vector<Source> sources(4);
  StitchSources(lists, 4, sources.data());
  EXPECT_EQ(sources[0].list, 0);
  EXPECT_EQ(sources[1].list, 1);
  EXPECT_EQ(sources[1].row, 1);
  EXPECT_EQ(sources[2].list, -1);
  EXPECT_EQ(sources[3].list, 1);
  EXPECT_EQ(sources[3].row, 0);
}

TEST(Stitch, NegativeIndicesAreReported) {
  const std::vector<int32_t> a = {0}, b = {2, -1};
  int negative;
  StitchedRows({{a.data(), 1}, {b.data(), 2}}, &negative);
  EXPECT_EQ(negative, 1);
}

}  // namespace
}  // namespace sparse_ops
}  // namespace deeprec
