#include "tensorflow/core/sparse/accumulator_decay.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/sparse/test_util.h"

namespace deeprec {
namespace sparse {
namespace {

AccumulatorDecay Period(int64_t period, PowerType power_type, ElementType type = ElementType::kFloat) {
  AccumulatorDecay decay;
  decay.type = type;
  decay.power_type = power_type;
  decay.period = period;
  decay.rate = 0.5;
  decay.baseline = 0.25;
  return decay;
}

TEST(DecayAccumulator, CatchesUpWithAllMissedPeriodsAtOnce) {
  std::vector<float> at_once = {64, 1, 3}, one_by_one = at_once;
  int64_t power = 0, stepped = 0;
  DecayAccumulator(Period(4, PowerType::kInt64), 1, 3, at_once.data(), &power);
  for (int64_t period = 1; period <= 4; ++period) {
    DecayAccumulator(Period(period, PowerType::kInt64), 1, 3, one_by_one.data(), &stepped);
  }
  EXPECT_EQ(at_once, one_by_one);
  EXPECT_EQ(at_once, (std::vector<float>{4, 0.25f, 0.25f}));
  EXPECT_EQ(power, 4);
}

TEST(DecayAccumulator, LeavesWhatIsUpToDate) {
  std::vector<double> accumulator = {8, 8};
  std::vector<int32_t> powers = {3, 5};
  DecayAccumulator(Period(4, PowerType::kInt32, ElementType::kDouble), 2, 1, accumulator.data(), powers.data());
  EXPECT_EQ(accumulator, (std::vector<double>{4, 8}));
  EXPECT_EQ(powers, (std::vector<int32_t>{4, 5}));
}

TEST(DecayAccumulator, KeepsNaN) {
  float accumulator = std::numeric_limits<float>::quiet_NaN();
  int64_t power = 0;
  DecayAccumulator(Period(1, PowerType::kInt64), 1, 1, &accumulator, &power);
  EXPECT_TRUE(std::isnan(accumulator));
}

// A period that bfloat16 rounds down must not decay the accumulator again in every step.
TEST(DecayAccumulator, CountsRoundedPeriodsOnce) {
  using E = Element<BFloat16>;
  BFloat16 accumulator = E::Make(1 << 20), power = E::Make(256);
  for (int i = 0; i < 3; ++i) {
    DecayAccumulator(Period(257, PowerType::kElement, ElementType::kBFloat16), 1, 1, &accumulator, &power);
  }
  EXPECT_EQ(E::Get(accumulator), 1 << 20);
  for (int i = 0; i < 3; ++i) {
    DecayAccumulator(Period(258, PowerType::kElement, ElementType::kBFloat16), 1, 1, &accumulator, &power);
  }
  EXPECT_EQ(E::Get(accumulator), 1 << 18);
  EXPECT_EQ(E::Get(power), 258);
}

TEST(DecayAccumulatorRows, DecaysEachNamedRowOnce) {
  std::vector<float> accumulator(8, 8);
  std::vector<int64_t> powers(4, 0);
  const std::vector<int32_t> indices = {2, 0, 2, 7, -1, 2};  // 7 and -1 are outside
  DecayAccumulatorRows(Period(1, PowerType::kInt64), indices.data(), 6, 4, 2, 1, accumulator.data(), powers.data());
  EXPECT_EQ(accumulator, (std::vector<float>{4, 4, 8, 8, 4, 4, 8, 8}));
  EXPECT_EQ(powers, (std::vector<int64_t>{1, 0, 1, 0}));
}

TEST(DecayAccumulatorRows, TakesAPowerPerElement) {
  std::vector<float> accumulator(4, 8);
  std::vector<int64_t> powers = {0, 0, 0, 1};
  const std::vector<int64_t> indices = {1};
  DecayAccumulatorRows(Period(1, PowerType::kInt64), indices.data(), 1, 2, 2, 2, accumulator.data(), powers.data());
  EXPECT_EQ(accumulator, (std::vector<float>{8, 8, 4, 8}));
  EXPECT_EQ(powers, (std::vector<int64_t>{0, 0, 1, 1}));
}

}  // namespace
}  // namespace sparse
}  // namespace deeprec
