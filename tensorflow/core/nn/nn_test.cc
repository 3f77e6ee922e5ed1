// Against the formulas in double precision, and gradients against differences.

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/nn/dice.h"
#include "tensorflow/core/nn/gelu.h"
#include "tensorflow/core/nn/l2_normalize.h"
#include "tensorflow/core/nn/layer_norm.h"
#include "tensorflow/core/nn/sign_distance.h"

namespace deeprec {
namespace nn {
namespace {

using Doubles = std::vector<double>;

Doubles Random(int64_t n, int seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.3, 1.5);
  Doubles values(n);
  for (double& value : values) value = normal(random);
  return values;
}

template <class T>
std::vector<T> As(const Doubles& values) {
  return std::vector<T>(values.begin(), values.end());
}

template <class T>
void ExpectNear(const std::vector<T>& got, const Doubles& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << i;
}

// Of sum(dy f(x)), by central differences.
Doubles Differences(const Doubles& x, const Doubles& dy, const std::function<Doubles(const Doubles&)>& f) {
  const double h = 1e-5;
  Doubles gradient(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    Doubles moved = x;
    moved[i] = x[i] + h;
    const Doubles above = f(moved);
    moved[i] = x[i] - h;
    const Doubles below = f(moved);
    for (size_t j = 0; j < dy.size(); ++j) gradient[i] += dy[j] * (above[j] - below[j]) / (2 * h);
  }
  return gradient;
}

TEST(Gelu, IsTheFormula) {
  // Longer than a block, and not a multiple of a vector.
  const Doubles x = Random(1031, 1);
  for (const bool approximate : {false, true}) {
    Doubles want;
    for (const double v : x) {
      const double gate = approximate ? std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))
                                      : std::erf(v / std::sqrt(2));
      want.push_back(0.5 * v * (1 + gate));
    }
    Doubles wide(x.size());
    Gelu(x.data(), x.size(), approximate, wide.data());
    ExpectNear(wide, want, 1e-12);
    const std::vector<float> narrow = As<float>(x);
    std::vector<float> y(x.size());
    Gelu(narrow.data(), y.size(), approximate, y.data());
    ExpectNear(y, want, 2e-6);
  }
}

TEST(Gelu, HasTheSlopeOfItsValues) {
  const Doubles x = Random(40, 2), dy = Random(40, 3);
  for (const bool approximate : {false, true}) {
    Doubles dx(x.size());
    GeluGradient(dy.data(), x.data(), x.size(), approximate, dx.data());
    ExpectNear(dx, Differences(x, dy, [&](const Doubles& at) {
                 Doubles y(at.size());
                 Gelu(at.data(), at.size(), approximate, y.data());
                 return y;
               }),
               1e-8);
  }
}

TEST(Gelu, IsZeroOrItselfFarOut) {
  for (const bool approximate : {false, true}) {
    const std::vector<float> x = {1e30f, -1e30f, 0}, dy = {1, 1, 1};
    std::vector<float> y(3), dx(3);
    Gelu(x.data(), 3, approximate, y.data());
    GeluGradient(dy.data(), x.data(), 3, approximate, dx.data());
    EXPECT_EQ(y[0], 1e30f);
    EXPECT_EQ(y[1], 0);
    EXPECT_EQ(y[2], 0);
    EXPECT_EQ(dx, (std::vector<float>{1, 0, 0.5f}));
  }
}

// x [2, 5, 3] normalized along its middle dimension, or [6, 5] along the last.
Doubles Normalized(const Doubles& x, const Vectors& v, double epsilon) {
  Doubles y(x.size());
  L2Normalize(x.data(), v, epsilon, 0, x.size() / v.size, y.data());
  return y;
}

TEST(L2Normalize, IsTheFormulaAlongAnyDimension) {
  const Doubles x = Random(30, 4);
  for (const int64_t inner : {1, 3}) {
    const Vectors v = {5, inner};
    Doubles want(30);
    for (int64_t i = 0; i < 6; ++i) {
      const int64_t first = i / inner * 5 * inner + i % inner;
      double squares = 0;
      for (int k = 0; k < 5; ++k) squares += x[first + k * inner] * x[first + k * inner];
      for (int k = 0; k < 5; ++k) want[first + k * inner] = x[first + k * inner] / std::sqrt(std::max(squares, 0.5));
    }
    ExpectNear(Normalized(x, v, 0.5), want, 1e-12);
    std::vector<float> y(30);
    L2Normalize(As<float>(x).data(), v, 0.5f, 0, 6, y.data());
    ExpectNear(y, want, 1e-6);
  }
}

TEST(L2Normalize, GradientOnBothSidesOfEpsilon) {
  const Doubles x = Random(30, 5), dy = Random(30, 6);
  for (const double epsilon : {1e-12, 1e3}) {
    for (const int64_t inner : {1, 3}) {
      const Vectors v = {5, inner};
      Doubles dx(30);
      L2NormalizeGradient(dy.data(), x.data(), v, epsilon, 0, 6, dx.data());
      ExpectNear(dx, Differences(x, dy, [&](const Doubles& at) { return Normalized(at, v, epsilon); }), 1e-8);
    }
  }
}

struct Normed {
  Doubles y, mean, rvariance;
};

Normed LayerNormed(const Doubles& x, const Doubles& gamma, const Doubles& beta) {
  const int64_t size = gamma.size(), rows = x.size() / size;
  Normed result = {Doubles(x.size()), Doubles(rows), Doubles(rows)};
  LayerNorm(x.data(), gamma.data(), beta.data(), size, 1e-3, int64_t{0}, rows, result.y.data(), result.mean.data(),
            result.rvariance.data());
  return result;
}

TEST(LayerNorm, IsTheFormula) {
  const int64_t rows = 4, size = 7;
  const Doubles x = Random(rows * size, 7), gamma = Random(size, 8), beta = Random(size, 9);
  const Normed got = LayerNormed(x, gamma, beta);
  Doubles want;
  for (int64_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (int64_t k = 0; k < size; ++k) mean += x[r * size + k] / size;
    for (int64_t k = 0; k < size; ++k) variance += std::pow(x[r * size + k] - mean, 2) / size;
    EXPECT_NEAR(got.mean[r], mean, 1e-12);
    EXPECT_NEAR(got.rvariance[r], 1 / std::sqrt(variance + 1e-3), 1e-10);
    for (int64_t k = 0; k < size; ++k) {
      want.push_back((x[r * size + k] - mean) / std::sqrt(variance + 1e-3) * gamma[k] + beta[k]);
    }
  }
  ExpectNear(got.y, want, 1e-10);
}

TEST(LayerNorm, KeepsTheDigitsOfRowsFarFromZero) {
  const std::vector<float> x = {10000, 10001, 10002, 10003}, ones(4, 1), zeros(4, 0);
  std::vector<float> y(4), mean(1), rvariance(1);
  LayerNorm(x.data(), ones.data(), zeros.data(), int64_t{4}, 0.0f, int64_t{0}, int64_t{1}, y.data(), mean.data(),
            rvariance.data());
  ExpectNear(y, {-1.34164079, -0.44721360, 0.44721360, 1.34164079}, 1e-5);
}

TEST(LayerNorm, GradientsOfAllInputs) {
  const int64_t rows = 4, size = 7;
  const Doubles x = Random(rows * size, 10), dy = Random(rows * size, 13);
  const Doubles gamma = Random(size, 11), beta = Random(size, 12);
  const Normed forward = LayerNormed(x, gamma, beta);
  Doubles dx(x.size()), dgamma(size), dbeta(size);
  LayerNormGradient(dy.data(), x.data(), forward.mean.data(), forward.rvariance.data(), gamma.data(), size, 0, rows,
                    dx.data());
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 3}, {3, 7}}) {
    LayerNormParameterGradients(dy.data(), x.data(), forward.mean.data(), forward.rvariance.data(), rows, size, begin,
                                end, dgamma.data(), dbeta.data());
  }
  ExpectNear(dx, Differences(x, dy, [&](const Doubles& at) { return LayerNormed(at, gamma, beta).y; }), 1e-7);
  ExpectNear(dgamma, Differences(gamma, dy, [&](const Doubles& at) { return LayerNormed(x, at, beta).y; }), 1e-8);
  ExpectNear(dbeta, Differences(beta, dy, [&](const Doubles& at) { return LayerNormed(x, gamma, at).y; }), 1e-8);
}

TEST(Dice, IsTheFormula) {
  const int64_t rows = 3, size = 5;
  const Doubles x = Random(rows * size, 14), mean = Random(size, 15), rvar = Random(size, 16), gamma = Random(size, 17);
  Doubles want, y(x.size());
  for (int64_t i = 0; i < rows * size; ++i) {
    const int64_t k = i % size;
    const double p = 1 / (1 + std::exp(-(x[i] - mean[k]) * rvar[k]));
    want.push_back(p * x[i] + (1 - p) * gamma[k] * x[i]);
  }
  Dice(x.data(), mean.data(), rvar.data(), gamma.data(), size, 0, rows, y.data());
  ExpectNear(y, want, 1e-12);
}

TEST(SignDistance, CountsUnequalSigns) {
  const std::vector<float> a = {1, -1, 0, -0.0f, 5, -2}, b = {2, 3, -0.0f, -7, -1, -3};
  EXPECT_EQ(SignDistance(a.data(), b.data(), 6), 3);
  EXPECT_EQ(SignDistance(a.data(), b.data(), 0), 0);
}

}  // namespace
}  // namespace nn
}  // namespace deeprec
