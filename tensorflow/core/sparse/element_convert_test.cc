#include <stddef.h>
#include <stdint.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "tensorflow/core/sparse/test_util.h"

namespace deeprec {
namespace sparse {
namespace {

#include "tensorflow/core/sparse/element_convert.h"

TEST(HalfTest, EveryFiniteValueConvertsExactlyBothWays) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7c00) == 0x7c00) continue;
    const Half half{uint16_t(bits)};
    ASSERT_EQ(double(ToFloat(half)), Element<Half>::Get(half)) << bits;
    ASSERT_EQ(ToHalf(ToFloat(half)).bits, bits);
  }
}

TEST(HalfTest, RoundsToNearestEven) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-27, 15.9), fraction(-1, 1);
  for (int i = 0; i < 200000; ++i) {
    const float x = float(std::exp2(exponent(random)) * fraction(random));
    ASSERT_EQ(ToHalf(x).bits, Element<Half>::Make(x).bits) << x;
  }
  EXPECT_EQ(ToHalf(1.0f + 1.0f / 2048).bits, 0x3c00);  // ties
  EXPECT_EQ(ToHalf(1.0f + 3.0f / 2048).bits, 0x3c02);
}

TEST(HalfTest, OverflowAndInfinityBecomeInfinity) {
  EXPECT_EQ(ToHalf(65519.0f).bits, 0x7bff);
  EXPECT_EQ(ToHalf(65520.0f).bits, 0x7c00);
  EXPECT_EQ(ToHalf(-1e30f).bits, 0xfc00);
  EXPECT_EQ(ToHalf(std::numeric_limits<float>::infinity()).bits, 0x7c00);
  EXPECT_TRUE(std::isinf(ToFloat(Half{0x7c00})));
}

TEST(HalfTest, NanStaysNan) {
  EXPECT_TRUE(std::isnan(ToFloat(ToHalf(std::nanf("")))));
  EXPECT_TRUE(std::isnan(ToFloat(Half{0x7c01})));
}

TEST(BFloat16Test, EveryNonNanValueConvertsExactlyBothWays) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7fff) > 0x7f80) continue;
    const BFloat16 value{uint16_t(bits)};
    ASSERT_EQ(double(ToFloat(value)), Element<BFloat16>::Get(value)) << bits;
    ASSERT_EQ(ToBFloat16(ToFloat(value)).bits, bits);
  }
}

TEST(BFloat16Test, RoundsToNearestEven) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> exponent(-120, 120), fraction(-1, 1);
  for (int i = 0; i < 200000; ++i) {
    const float x = float(std::exp2(exponent(random)) * fraction(random));
    ASSERT_EQ(ToBFloat16(x).bits, Element<BFloat16>::Make(x).bits) << x;
  }
}

TEST(BFloat16Test, NanStaysNan) {
  // The mantissa that would carry into infinity if it were rounded.
  EXPECT_TRUE(std::isnan(ToFloat(ToBFloat16(FloatFromBits(0x7fffffffu)))));
  EXPECT_TRUE(std::isnan(ToFloat(ToBFloat16(FloatFromBits(0x7f800001u)))));
}

}  // namespace
}  // namespace sparse
}  // namespace deeprec
