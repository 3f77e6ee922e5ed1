#include "tensorflow/core/embedding/admission.h"

#include <limits>

#include "gtest/gtest.h"

namespace deeprec {
namespace embedding {
namespace {

TEST(WaitingKey, PacksFrequencyAndVersion) {
  for (const int64_t frequency : {int64_t{0}, int64_t{5000}, WaitingKey::kMaxFrequency}) {
    for (const int64_t version : {int64_t{-1}, int64_t{0}, WaitingKey::kMaxVersion}) {
      const uintptr_t word = WaitingKey::Pack(frequency, version);
      EXPECT_TRUE(WaitingKey::Is(word));
      EXPECT_EQ(WaitingKey::Frequency(word), frequency);
      EXPECT_EQ(WaitingKey::Version(word), version);
    }
  }
}

TEST(WaitingKey, Saturates) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  const uintptr_t word = WaitingKey::Pack(huge, huge);
  EXPECT_EQ(WaitingKey::Frequency(word), WaitingKey::kMaxFrequency);
  EXPECT_EQ(WaitingKey::Version(word), WaitingKey::kMaxVersion);
}

TEST(CountingBloomFilter, HasTheSizesOfTheFormula) {
  const CountingBloomFilter filter(BloomOptions{3, 1000, 0.01, 16});
  EXPECT_EQ(filter.counters(), 9586);  // ceil(1000 * 4.60517 / 0.480453)
  EXPECT_EQ(filter.hashes(), 7);       // ceil(6.64)
  EXPECT_EQ(filter.bytes(), 2 * 9586);
}

TEST(CountingBloomFilter, NeverAdmitsLate) {
  for (const int bits : {8, 16, 32, 64}) {
    CountingBloomFilter filter(BloomOptions{4, 2000, 0.01, bits});
    for (int64_t key = -1000; key < 1000; ++key) {
      for (int i = 0; i < 3; ++i) filter.Add(key, 1);
      EXPECT_TRUE(filter.Add(key, 1)) << key;
      EXPECT_EQ(filter.Count(key), 4);
    }
  }
}

TEST(CountingBloomFilter, AdmitsFewEarly) {
  CountingBloomFilter filter(BloomOptions{2, 10000, 0.01, 8});
  for (int64_t key = 0; key < 10000; ++key) filter.Add(key, 2);
  int early = 0;
  for (int64_t key = 10000; key < 20000; ++key) early += filter.Add(key, 0);
  EXPECT_LT(early, 150);
}

TEST(CountingBloomFilter, CountersDoNotWrap) {
  CountingBloomFilter filter(BloomOptions{1000, 10, 0.5, 8});  // 1000 does not fit in 8 bits
  EXPECT_FALSE(filter.Add(1, 254));
  EXPECT_TRUE(filter.Add(1, 1));
  EXPECT_TRUE(filter.Add(1, std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(filter.Count(1), 255);
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
