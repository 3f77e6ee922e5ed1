#include "tensorflow/core/sparse/distinct.h"

#include <limits>
#include <random>
#include <unordered_map>

#include "gtest/gtest.h"

namespace deeprec {
namespace sparse {
namespace {

template <class Key>
void ExpectAsMap(const std::vector<Key>& keys) {
  DistinctKeys<Key> distinct;
  std::vector<int64_t> numbers(keys.size(), -1);
  int64_t next = 0;
  distinct.Find(keys.data(), int64_t(keys.size()), [&](int64_t i, uint32_t number) {
    EXPECT_EQ(i, next++);
    numbers[i] = number;
  });
  EXPECT_EQ(next, int64_t(keys.size()));
  std::unordered_map<Key, int64_t> expected;
  std::vector<Key> in_order;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto [found, is_new] = expected.emplace(keys[i], int64_t(in_order.size()));
    if (is_new) in_order.push_back(keys[i]);
    ASSERT_EQ(numbers[i], found->second) << i;
  }
  EXPECT_EQ(distinct.keys(), in_order);
}

TEST(DistinctTest, NoKeysAreNone) { ExpectAsMap<int64_t>({}); }

TEST(DistinctTest, KeysOfAllSignsAndSizesAreTold) {
  const int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  ExpectAsMap<int64_t>({0, -1, most, least, 0, 1, most, -1, least, least + 1});
  ExpectAsMap<int32_t>({0, -1, std::numeric_limits<int32_t>::min(), -1, std::numeric_limits<int32_t>::max(), 0});
}

TEST(DistinctTest, RandomBatchesOfAllSizesAgreeWithAMap) {
  std::mt19937_64 random(1);
  for (const int64_t n : {1, 2, 15, 16, 17, 1000, 40000, 300000}) {
    for (const int64_t range : {int64_t{1}, int64_t{10}, n, int64_t{1} << 60}) {
      std::vector<int64_t> wide(n);
      std::vector<int32_t> narrow(n);
      for (int64_t i = 0; i < n; ++i) {
        wide[i] = int64_t(random() % uint64_t(range));
        narrow[i] = int32_t(wide[i]);
      }
      ExpectAsMap(wide);
      ExpectAsMap(narrow);
    }
  }
}

TEST(DistinctTest, ATableThatGrowsKeepsTheNumbers) {
  std::vector<int64_t> keys(200000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = int64_t(i / 2) << 32;
  ExpectAsMap(keys);
}

}  // namespace
}  // namespace sparse
}  // namespace deeprec
