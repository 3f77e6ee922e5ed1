#include "tensorflow/core/sparse/row_groups.h"

#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace deeprec {
namespace sparse {
namespace {

template <class Index>
std::vector<Index> RandomIndices(int n, int64_t rows, int seed) {
  std::mt19937_64 random(seed);
  std::vector<Index> indices(n);
  for (Index& index : indices) index = Index(random() % uint64_t(rows));
  return indices;
}

std::vector<int32_t> Chain(const RowGroup& group, const std::vector<int32_t>& next) {
  std::vector<int32_t> positions{group.first};
  while (positions.back() != group.last) positions.push_back(next[positions.back()]);
  return positions;
}

template <class Index>
void ExpectShardsPartitionIndices(int n, int64_t rows, int num_shards) {
  const std::vector<Index> indices = RandomIndices<Index>(n, rows, n);
  std::map<int64_t, std::vector<int32_t>> expected;
  for (int i = 0; i < n; ++i) expected[indices[i]].push_back(i);

  std::vector<int32_t> next(n, -7);
  std::map<int64_t, std::vector<int32_t>> got;
  for (int shard = 0; shard < num_shards; ++shard) {
    Owner owner;
    owner.row_end = rows;
    owner.shard = shard;
    owner.num_shards = num_shards;
    RowGrouper grouper;
    grouper.Group(indices.data(), n, owner, next.data());
    int32_t previous = -1;
    for (int64_t i = 0; i < grouper.size(); ++i) {
      const RowGroup& group = grouper.groups()[i];
      EXPECT_GT(group.first, previous) << "not in order of first occurrence";
      previous = group.first;
      EXPECT_TRUE(got.emplace(group.row, Chain(group, next)).second) << "row in two groups";
    }
  }
  EXPECT_EQ(got, expected);
}

TEST(RowGrouperTest, EveryPositionIsInOneChainInOrder) {
  for (int num_shards : {1, 2, 3, 16}) {
    ExpectShardsPartitionIndices<int32_t>(5000, 700, num_shards);
    ExpectShardsPartitionIndices<int64_t>(5000, 1 << 30, num_shards);
    ExpectShardsPartitionIndices<int64_t>(1, 1, num_shards);
  }
}

TEST(RowGrouperTest, NoIndicesNoGroups) {
  Owner owner;
  owner.row_end = 10;
  RowGrouper grouper;
  grouper.Group<int64_t>(nullptr, 0, owner, nullptr);
  EXPECT_EQ(grouper.size(), 0);
  grouper.SortByRow();
}

TEST(RowGrouperTest, RowRangeLimitsOwnership) {
  const std::vector<int32_t> indices = {9, 3, 5, 4, 3, 0};
  std::vector<int32_t> next(indices.size());
  Owner owner;
  owner.row_begin = 3;
  owner.row_end = 5;
  RowGrouper grouper;
  grouper.Group(indices.data(), indices.size(), owner, next.data());
  ASSERT_EQ(grouper.size(), 2);
  EXPECT_EQ(grouper.groups()[0].row, 3);
  EXPECT_EQ(Chain(grouper.groups()[0], next), (std::vector<int32_t>{1, 4}));
  EXPECT_EQ(grouper.groups()[1].row, 4);
}

TEST(RowGrouperTest, IndicesOutsideTheTableArePassedOver) {
  const std::vector<int64_t> indices = {-1, 2, int64_t{1} << 62, 10, INT64_MIN};
  std::vector<int32_t> next(indices.size());
  Owner owner;
  owner.row_end = 10;
  RowGrouper grouper;
  grouper.Group(indices.data(), indices.size(), owner, next.data());
  ASSERT_EQ(grouper.size(), 1);
  EXPECT_EQ(grouper.groups()[0].row, 2);
}

TEST(RowGrouperTest, ListKeepsEveryPositionInOrder) {
  const std::vector<int64_t> indices = RandomIndices<int64_t>(1000, 40, 3);
  std::vector<int> seen(indices.size());
  for (int shard = 0; shard < 3; ++shard) {
    Owner owner;
    owner.row_end = 40;
    owner.shard = shard;
    owner.num_shards = 3;
    RowGrouper grouper;
    grouper.List(indices.data(), indices.size(), owner);
    int32_t previous = -1;
    for (int64_t i = 0; i < grouper.size(); ++i) {
      const RowGroup& group = grouper.groups()[i];
      EXPECT_EQ(group.first, group.last);
      EXPECT_GT(group.first, previous);
      EXPECT_EQ(group.row, indices[group.first]);
      previous = group.first;
      ++seen[group.first];
    }
  }
  EXPECT_EQ(seen, std::vector<int>(indices.size(), 1));
}

TEST(RowGrouperTest, ConsecutiveRowsSpreadOverShards) {
  std::vector<int32_t> indices(4000), next(4000);
  for (int stride : {1, 2, 64, 1024}) {
    for (int i = 0; i < 4000; ++i) indices[i] = i * stride;
    for (int shard = 0; shard < 4; ++shard) {
      Owner owner;
      owner.row_end = 4000 * 1024;
      owner.shard = shard;
      owner.num_shards = 4;
      RowGrouper grouper;
      grouper.Group(indices.data(), indices.size(), owner, next.data());
      EXPECT_NEAR(grouper.size(), 1000, 100) << "stride " << stride << " shard " << shard;
    }
  }
}

TEST(RowGrouperTest, SortByRowKeepsChains) {
  const std::vector<int64_t> indices = {8, 2, 8, 5, 2};
  std::vector<int32_t> next(indices.size());
  Owner owner;
  owner.row_end = 10;
  RowGrouper grouper;
  grouper.Group(indices.data(), indices.size(), owner, next.data());
  grouper.SortByRow();
  ASSERT_EQ(grouper.size(), 3);
  EXPECT_EQ(grouper.groups()[0].row, 2);
  EXPECT_EQ(Chain(grouper.groups()[0], next), (std::vector<int32_t>{1, 4}));
  EXPECT_EQ(grouper.groups()[2].row, 8);
  EXPECT_EQ(Chain(grouper.groups()[2], next), (std::vector<int32_t>{0, 2}));
}

}  // namespace
}  // namespace sparse
}  // namespace deeprec
