#include "tensorflow/core/nn/select_fill.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/nn/concat_cast.h"

namespace deeprec {
namespace nn {
namespace {

struct Operands {
  explicit Operands(int64_t conditions, int64_t elements) : condition(new bool[conditions]), x(elements), y(elements) {
    std::mt19937 random(7);
    for (int64_t i = 0; i < conditions; ++i) condition[i] = random() % 2 == 0;
    for (uint32_t& value : x) value = random();
  }
  std::unique_ptr<bool[]> condition;
  std::vector<uint32_t> x, y;
};

TEST(SelectFillTest, ElementsOfAnyCount) {
  for (bool where : {false, true}) {
    for (int64_t n : {0, 1, 7, 64, 1001}) {
      Operands o(n, n);
      SelectFill<uint32_t>(o.condition.get(), o.x.data(), {5, where}, n, o.y.data());
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(o.y[i], o.condition[i] == where ? 5u : o.x[i]) << i << " of " << n;
    }
  }
}

TEST(SelectFillTest, InPlace) {
  Operands o(333, 333);
  const std::vector<uint32_t> before = o.x;
  SelectFill<uint32_t>(o.condition.get(), o.x.data(), {5, true}, 333, o.x.data());
  for (int64_t i = 0; i < 333; ++i) ASSERT_EQ(o.x[i], o.condition[i] ? 5u : before[i]);
}

TEST(SelectFillTest, RowsOfAPart) {
  Operands o(9, 9 * 5);
  SelectFillRows<uint32_t>(o.condition.get(), o.x.data(), {5, false}, 5, 2, 7, o.y.data());
  for (int64_t i = 0; i < 9 * 5; ++i) {
    const int64_t row = i / 5;
    const uint32_t expected = row < 2 || row >= 7 ? 0 : o.condition[row] ? o.x[i] : 5;
    ASSERT_EQ(o.y[i], expected);
  }
}

// [4, 3, 5] of a condition [4, 1, 5] and an x [1, 3, 5].
TEST(SelectFillTest, Broadcast) {
  Operands o(20, 15);
  const Broadcast shape = Merged({{4, 3, 5}, {5, 0, 1}, {0, 5, 1}});
  EXPECT_EQ(shape.sizes, (std::vector<int64_t>{4, 3, 5}));
  o.y.resize(60);
  SelectFillBroadcast<uint32_t>(o.condition.get(), o.x.data(), {5, true}, shape, 0, 12, o.y.data());
  for (int i = 0; i < 60; ++i) {
    const int a = i / 15, b = i / 5 % 3, c = i % 5;
    ASSERT_EQ(o.y[i], o.condition[a * 5 + c] ? 5u : o.x[b * 5 + c]) << i;
  }
}

TEST(SelectFillTest, DimensionsThatLieTogetherAreOne) {
  const Broadcast shape = Merged({{2, 1, 3, 4}, {12, 0, 4, 1}, {12, 12, 4, 1}});
  EXPECT_EQ(shape.sizes, std::vector<int64_t>{24});
  EXPECT_EQ(shape.condition_strides, std::vector<int64_t>{1});
  EXPECT_EQ(Merged({{}, {}, {}}).sizes, std::vector<int64_t>{1});
}

TEST(ConvertTest, BFloat16AsEigenRounds) {
  std::mt19937 random(3);
  std::vector<float> x = {0.f, -0.f, 1.f, std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::denorm_min()};
  for (int i = 0; i < 5000; ++i) {
    const uint32_t bits = random() & 0xbfffffffu;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    x.push_back(value);
  }
  std::vector<Eigen::bfloat16> y(x.size());
  Convert(x.data(), int64_t(x.size()), y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(Eigen::numext::bit_cast<uint16_t>(y[i]), Eigen::numext::bit_cast<uint16_t>(Eigen::bfloat16(x[i]))) << x[i];
  }
}

TEST(ConvertTest, NotANumberStays) {
  const float x[] = {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::signaling_NaN()};
  Eigen::bfloat16 y[2];
  Convert(x, 2, y);
  EXPECT_TRUE(Eigen::numext::isnan(y[0]) && Eigen::numext::isnan(y[1]));
}

}  // namespace
}  // namespace nn
}  // namespace deeprec
