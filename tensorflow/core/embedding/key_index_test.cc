#include "tensorflow/core/embedding/key_index.h"

#include <limits>
#include <map>
#include <random>

#include "gtest/gtest.h"

namespace deeprec {
namespace embedding {
namespace {

std::map<int64_t, uintptr_t> ContentsOf(const KeyIndex& index) {
  std::map<int64_t, uintptr_t> contents;
  index.ForEach([&](int64_t key, uintptr_t word) { EXPECT_TRUE(contents.emplace(key, word).second); });
  return contents;
}

TEST(KeyIndex, IsEmptyAtFirst) {
  KeyIndex index;
  EXPECT_EQ(index.Find(0), nullptr);
  EXPECT_FALSE(index.Erase(0));
  EXPECT_EQ(index.size(), 0);
  EXPECT_EQ(index.bytes(), 0);
  EXPECT_TRUE(ContentsOf(index).empty());
}

TEST(KeyIndex, HoldsEveryKey) {
  KeyIndex index;
  const int64_t keys[] = {0, -1, -2, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  for (const int64_t key : keys) EXPECT_EQ(*index.FindOrInsert(key, uintptr_t(key) | 1), uintptr_t(key) | 1);
  for (const int64_t key : keys) EXPECT_EQ(*index.Find(key), uintptr_t(key) | 1);
}

TEST(KeyIndex, FindOrInsertLeavesAWordThatIsThere) {
  KeyIndex index;
  index.FindOrInsert(5, 1);
  EXPECT_EQ(*index.FindOrInsert(5, 2), 1u);
  EXPECT_EQ(index.size(), 1);
}

// Few distinct keys, so that runs form, wrap around and are closed up again.
TEST(KeyIndex, RandomInsertsAndErasesAgreeWithAMap) {
  for (const uint64_t keys : {10, 100, 5000}) {
    std::mt19937_64 random(keys);
    KeyIndex index;
    std::map<int64_t, uintptr_t> expected;
    for (int i = 0; i < 60000; ++i) {
      const int64_t key = int64_t(random() % keys) - int64_t(keys / 2);
      if (random() % 2) {
        const uintptr_t word = random() | 1;
        const uintptr_t kept = expected.emplace(key, word).first->second;
        ASSERT_EQ(*index.FindOrInsert(key, word), kept);
      } else {
        ASSERT_EQ(index.Erase(key), expected.erase(key) == 1);
      }
      const int64_t other = int64_t(random() % keys) - int64_t(keys / 2);
      const uintptr_t* const found = index.Find(other);
      const auto it = expected.find(other);
      ASSERT_EQ(found != nullptr, it != expected.end());
      if (found != nullptr) {
        ASSERT_EQ(*found, it->second);
      }
      ASSERT_EQ(index.size(), int64_t(expected.size()));
    }
    EXPECT_EQ(ContentsOf(index), expected);
  }
}

TEST(KeyIndex, TakesAtMostThreeTimesTheSlots) {
  KeyIndex index;
  for (int64_t key = 1; key <= 1000000; ++key) {
    index.FindOrInsert(key, 1);
    if (key >= 1000 && key % 1000 == 0) {
      // Half of three quarters is the least it is filled.
      ASSERT_LE(double(index.bytes()), 16.0 / 0.375 * double(key) + (2 << 20)) << key;
    }
  }
}

TEST(KeyIndex, MovesWithItsKeys) {
  KeyIndex index;
  for (int64_t key = 0; key < 100; ++key) index.FindOrInsert(key, 1);
  KeyIndex other(std::move(index));
  EXPECT_EQ(other.size(), 100);
  other = KeyIndex();
  EXPECT_EQ(other.Find(1), nullptr);
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
