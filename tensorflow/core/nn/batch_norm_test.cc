// Against the formula in double precision, and gradients against differences.

#include "tensorflow/core/nn/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"

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

struct Result {
  Doubles y, mean, variance;
};

struct Input {
  int64_t rows, size;
  Doubles x, gamma, beta, given_mean, given_variance;
  double epsilon;
};

Input RandomInput(int64_t rows, int64_t size, double epsilon) {
  Input in = {rows, size, Random(rows * size, 1), Random(size, 2), Random(size, 3), Random(size, 4), Random(size, 5), epsilon};
  for (double& variance : in.given_variance) variance = std::abs(variance) + 0.1;
  return in;
}

// By the definition, column by column.
Result Expected(const Input& in, bool given) {
  Result result = {Doubles(in.x.size()), Doubles(in.size), Doubles(in.size)};
  for (int64_t c = 0; c < in.size; ++c) {
    double sum = 0, squares = 0;
    for (int64_t r = 0; r < in.rows; ++r) sum += in.x[r * in.size + c];
    result.mean[c] = sum / in.rows;
    for (int64_t r = 0; r < in.rows; ++r) squares += std::pow(in.x[r * in.size + c] - result.mean[c], 2);
    result.variance[c] = squares / in.rows;
    const double mean = given ? in.given_mean[c] : result.mean[c];
    const double variance = given ? in.given_variance[c] : result.variance[c];
    for (int64_t r = 0; r < in.rows; ++r) {
      const int64_t at = r * in.size + c;
      result.y[at] = (in.x[at] - mean) / std::sqrt(variance + in.epsilon) * in.gamma[c] + in.beta[c];
    }
  }
  return result;
}

template <class T>
Result Normalized(const BatchNormInput<T>& in) {
  std::vector<T> y(in.rows * in.size), mean(in.size), variance(in.size);
  for (int64_t begin = 0; begin < in.size; begin += kBatchNormColumns) {
    BatchNorm(in, begin, std::min(in.size, begin + kBatchNormColumns), y.data(), mean.data(), variance.data());
  }
  return {Doubles(y.begin(), y.end()), Doubles(mean.begin(), mean.end()), Doubles(variance.begin(), variance.end())};
}

BatchNormInput<double> Pointers(const Input& in, bool given) {
  return {in.x.data(),    in.rows, in.size, in.gamma.data(), in.beta.data(), given ? in.given_mean.data() : nullptr,
          given ? in.given_variance.data() : nullptr, in.epsilon};
}

void ExpectNear(const Doubles& got, const Doubles& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << i;
}

class BatchNormSizes : public testing::TestWithParam<std::tuple<int64_t, bool>> {};

TEST_P(BatchNormSizes, GivesTheFormula) {
  const auto [size, given] = GetParam();
  const Input in = RandomInput(37, size, 1e-3);
  const Result got = Normalized(Pointers(in, given)), want = Expected(in, given);
  ExpectNear(got.y, want.y, 1e-12);
  ExpectNear(got.mean, want.mean, 1e-13);
  ExpectNear(got.variance, want.variance, 1e-13);
}

TEST_P(BatchNormSizes, GradientsAreDifferencesOfTheLoss) {
  const auto [size, given_moments] = GetParam();
  const bool given = given_moments;  // a structured binding cannot be captured
  Input in = RandomInput(5, size, 0.1);
  const Doubles dy = Random(in.x.size(), 6), dmean = Random(size, 7), dvariance = Random(size, 8);
  const auto loss = [&] {
    const Result result = Expected(in, given);
    double sum = 0;
    for (size_t i = 0; i < dy.size(); ++i) sum += dy[i] * result.y[i];
    for (size_t c = 0; c < dmean.size(); ++c) sum += dmean[c] * result.mean[c] + dvariance[c] * result.variance[c];
    return sum;
  };
  const auto difference = [&](double* place) {
    const double before = *place, step = 1e-5;
    *place = before + step;
    const double above = loss();
    *place = before - step;
    const double below = loss();
    *place = before;
    return (above - below) / (2 * step);
  };
  const Result forward = Expected(in, given);
  Doubles dx(in.x.size()), dgamma(size), dbeta(size), dgiven_mean(size), dgiven_variance(size);
  const BatchNormGradients<double> grads = {dy.data(), dmean.data(), dvariance.data()};
  const BatchNormInputGradients<double> to = {dx.data(), dgamma.data(), dbeta.data(), dgiven_mean.data(), dgiven_variance.data()};
  for (int64_t begin = 0; begin < size; begin += kBatchNormColumns) {
    const int64_t end = std::min<int64_t>(size, begin + kBatchNormColumns);
    BatchNormGradient(Pointers(in, given), forward.mean.data(), forward.variance.data(), grads, begin, end, to);
  }
  for (size_t i = 0; i < dx.size(); i += 7) EXPECT_NEAR(dx[i], difference(&in.x[i]), 1e-6) << i;
  for (int64_t c = 0; c < size; c += 3) {
    EXPECT_NEAR(dgamma[c], difference(&in.gamma[c]), 1e-6) << c;
    EXPECT_NEAR(dbeta[c], difference(&in.beta[c]), 1e-6) << c;
    EXPECT_NEAR(dgiven_mean[c], difference(&in.given_mean[c]), 1e-6) << c;
    EXPECT_NEAR(dgiven_variance[c], difference(&in.given_variance[c]), 1e-6) << c;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BatchNormSizes,
                         testing::Combine(testing::Values(1, 9, 63, 64, 65, 200), testing::Bool()));

TEST(BatchNorm, SinglePrecisionIsThatOfSums) {
  const Input in = RandomInput(512, 70, 1e-3);
  const std::vector<float> x(in.x.begin(), in.x.end()), gamma(in.gamma.begin(), in.gamma.end()), beta(in.beta.begin(), in.beta.end());
  const Result got = Normalized<float>({x.data(), in.rows, in.size, gamma.data(), beta.data(), nullptr, nullptr, 1e-3f});
  const Result want = Expected(in, false);
  ExpectNear(got.y, want.y, 2e-5);
  ExpectNear(got.mean, want.mean, 2e-6);
  ExpectNear(got.variance, want.variance, 2e-5);
}

TEST(BatchNorm, WithoutFactorsAndSummandsTheyAreOnesAndZeros) {
  Input in = RandomInput(20, 70, 0.1);
  BatchNormInput<double> without = Pointers(in, false);
  without.gamma = without.beta = nullptr;
  const Result got = Normalized(without);
  in.gamma.assign(in.size, 1);
  in.beta.assign(in.size, 0);
  ExpectNear(got.y, Expected(in, false).y, 1e-12);
}

TEST(BatchNorm, NoRowsHaveNoMoments) {
  const Result got = Normalized<float>({nullptr, 0, 3, nullptr, nullptr, nullptr, nullptr, 0.1f});
  for (int c = 0; c < 3; ++c) EXPECT_TRUE(std::isnan(got.mean[c]) && std::isnan(got.variance[c]));
}

}  // namespace
}  // namespace nn
}  // namespace deeprec
