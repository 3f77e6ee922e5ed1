#include "tensorflow/core/embedding/key_numbers.h"

#include <limits>
#include <map>
#include <random>
#include <thread>

#include "gmock/gmock-matchers.h"
#include "gmock/gmock-more-matchers.h"
#include "gtest/gtest.h"

namespace deeprec {
namespace embedding {
namespace {

using ::testing::ElementsAre;
using Numbers = std::vector<int64_t>;

Numbers Find(const KeyNumbers& numbers, const Numbers& keys) {
  Numbers out(keys.size());
  numbers.Find(keys.data(), int64_t(keys.size()), out.data());
  return out;
}

Numbers Number(KeyNumbers* numbers, const Numbers& keys, int64_t capacity = 1000) {
  Numbers out(keys.size());
  EXPECT_TRUE(numbers->FindOrNumber(keys.data(), int64_t(keys.size()), capacity, out.data()));
  return out;
}

TEST(KeyNumbers, CountInTheOrderOfFirstSight) {
  KeyNumbers numbers;
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(Number(&numbers, {7, -3, 7, kGreatest, 0}), ElementsAre(0, 1, 0, 2, 3));
  EXPECT_THAT(Number(&numbers, {0, 5}), ElementsAre(3, 4));
  EXPECT_THAT(numbers.Keys(), ElementsAre(7, -3, kGreatest, 0, 5));
}

TEST(KeyNumbers, FindNumbersNothing) {
  KeyNumbers numbers;
  EXPECT_THAT(Find(numbers, {1, 2}), ElementsAre(-1, -1));
  EXPECT_EQ(numbers.size(), 0);
}

TEST(KeyNumbers, BatchPastTheCapacityChangesNothing) {
  KeyNumbers numbers;
  Number(&numbers, {1, 2}, 3);
  const Numbers keys = {2, 3, 4};
  Numbers out(3);
  EXPECT_FALSE(numbers.FindOrNumber(keys.data(), 3, 3, out.data()));
  EXPECT_THAT(numbers.Keys(), ElementsAre(1, 2));
  EXPECT_THAT(Find(numbers, {1, 2, 3, 4}), ElementsAre(0, 1, -1, -1));
  EXPECT_THAT(Number(&numbers, {4}, 3), ElementsAre(2));
}

TEST(KeyNumbers, AssignReplacesAllUnlessAKeyIsThereTwice) {
  KeyNumbers numbers;
  Number(&numbers, {1});
  const Numbers twice = {5, 6, 5}, once = {6, 5};
  EXPECT_FALSE(numbers.Assign(twice.data(), 3));
  EXPECT_THAT(numbers.Keys(), ElementsAre(1));
  EXPECT_TRUE(numbers.Assign(once.data(), 2));
  EXPECT_THAT(Find(numbers, {1, 5, 6}), ElementsAre(-1, 1, 0));
}

TEST(KeyNumbers, ThreadsAgreeOnTheNumbers) {
  KeyNumbers numbers;
  std::vector<std::map<int64_t, int64_t>> seen(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (int round = 0; round < 200; ++round) {
        Numbers keys(16), out(16);
        for (int64_t& key : keys) key = int64_t(random() % 500);
        ASSERT_TRUE(numbers.FindOrNumber(keys.data(), 16, 500, out.data()));
        for (int i = 0; i < 16; ++i) {
          const auto [it, added] = seen[t].emplace(keys[i], out[i]);
          ASSERT_EQ(it->second, out[i]);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const Numbers keys = numbers.Keys();
  for (const auto& of_thread : seen) {
    for (const auto& [key, number] : of_thread) ASSERT_EQ(keys[number], key);
  }
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
