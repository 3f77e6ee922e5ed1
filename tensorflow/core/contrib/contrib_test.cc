// The algorithms of this folder against plain definitions.

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/contrib/beam_search.h"
#include "tensorflow/core/contrib/bipartite_match.h"
#include "tensorflow/core/contrib/connected_components.h"
#include "tensorflow/core/contrib/resampler.h"
#include "tensorflow/core/contrib/wals.h"

namespace deeprec {
namespace contrib {
namespace {

TEST(GatherTree, FollowsParentsAndFillsAfterTheEnd) {
  // [time 3, batch 1, beams 2]
  const std::vector<int32_t> ids = {1, 2, 9, 4, 5, 6}, parents = {0, 0, 1, 0, 1, 0};
  const std::vector<int32_t> lengths = {3};
  std::vector<int32_t> beams(6);
  int32_t bad = 0;
  ASSERT_TRUE(
      GatherTree(ids.data(), parents.data(), lengths.data(), 3, 1, 2, 9, beams.data(), &bad));
  // Beam 0: step 2 id 5, parent 1: id 4, parent 0: id 1. Beam 1: id 6, parent 0: id 9 ends it,
  // parent 1: id 2.
  EXPECT_EQ(beams, (std::vector<int32_t>{1, 2, 4, 9, 5, 9}));
}

TEST(GatherTree, ReportsAParentOutOfRange) {
  const std::vector<int32_t> ids = {1, 2, 3, 4}, parents = {0, 0, 0, 2};
  const std::vector<int32_t> lengths = {2};
  std::vector<int32_t> beams(4);
  int32_t bad = 0;
  EXPECT_FALSE(
      GatherTree(ids.data(), parents.data(), lengths.data(), 2, 1, 2, 9, beams.data(), &bad));
  EXPECT_EQ(bad, 2);
}

TEST(Resample, GivesPixelsAtGridPointsAndMeansBetween) {
  const std::vector<float> image = {1, 2, 3, 4};
  const std::vector<float> warp = {0, 0, 1, 1, 0.5, 0.5, -0.5, 0, 2, 0, NAN, 0};
  std::vector<float> out(6);
  Resample(image.data(), {2, 2, 1}, warp.data(), 6, out.data());
  EXPECT_EQ(out, (std::vector<float>{1, 4, 2.5, 0.5, 0, 0}));
}

TEST(ResampleGradient, IsTheDifferenceQuotient) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.05, 1.95);
  std::vector<double> image(3 * 3 * 2), warp(8), grad(8, 1.0), image_grad(18), warp_grad(8);
  for (double& v : image) v = uniform(random);
  for (double& v : warp) v = uniform(random);
  const ImageSize size = {3, 3, 2};
  ResampleGradient(image.data(), size, warp.data(), grad.data(), 4, image_grad.data(),
                   warp_grad.data());
  auto sum = [&] {
    std::vector<double> out(8);
    Resample(image.data(), size, warp.data(), 4, out.data());
    double total = 0;
    for (const double v : out) total += v;
    return total;
  };
  const double h = 1e-6;
  for (int i = 0; i < 8; ++i) {
    warp[i] += h;
    const double up = sum();
    warp[i] -= 2 * h;
    const double down = sum();
    warp[i] += h;
    EXPECT_NEAR(warp_grad[i], (up - down) / (2 * h), 1e-5);
  }
  for (int i = 0; i < 18; ++i) {
    image[i] += h;
    const double up = sum();
    image[i] -= 2 * h;
    const double down = sum();
    image[i] += h;
    EXPECT_NEAR(image_grad[i], (up - down) / (2 * h), 1e-5);
  }
}

TEST(WalsAccumulate, SumsOuterProductsOfItsRows) {
  const std::vector<float> factors = {1, 2, 3, 4};
  const std::vector<WalsEntry> entries = {{0, 0, 2, 0.5}, {1, 1, 1, 1}, {0, 1, 3, 2}};
  std::vector<float> lhs(8), rhs(4);
  WalsAccumulate(entries, factors.data(), 2, 0.1f, 0, 1, lhs.data(), rhs.data());
  EXPECT_FLOAT_EQ(lhs[0], 0.5 * 1 + 2 * 9);
  EXPECT_FLOAT_EQ(lhs[1], 0.5 * 2 + 2 * 12);
  EXPECT_FLOAT_EQ(lhs[3], 0.5 * 4 + 2 * 16);
  EXPECT_FLOAT_EQ(rhs[0], 0.6 * 2 * 1 + 2.1 * 3 * 3);
  EXPECT_EQ(lhs[4], 0) << "a row of another shard";
}

TEST(ConnectedComponents, LabelsByFirstPixelAndKeepsValuesApart) {
  const std::vector<int> image = {1, 1, 0, 2,  //
                                  0, 1, 0, 2,  //
                                  1, 0, 2, 2};
  std::vector<int64_t> labels(12);
  ConnectedComponents(image.data(), 3, 4, 100, labels.data());
  EXPECT_EQ(labels, (std::vector<int64_t>{101, 101, 0, 104, 0, 101, 0, 104, 109, 0, 104, 104}));
}

TEST(BipartiteMatch, TakesTheLeastPairsFirst) {
  const std::vector<float> distances = {3,   1, 2,  //
                                        0.5, 4, 4,  //
                                        0,   0, 0};
  std::vector<int32_t> rows(3), columns(3);
  BipartiteMatch(distances.data(), 3, 3, 2, 3, rows.data(), columns.data());
  EXPECT_EQ(rows, (std::vector<int32_t>{1, 0, -1}));
  EXPECT_EQ(columns, (std::vector<int32_t>{1, 0, -1}));
  BipartiteMatch(distances.data(), 3, 3, 3, 1, rows.data(), columns.data());
  EXPECT_EQ(rows, (std::vector<int32_t>{-1, -1, 0}));
}

}  // namespace
}  // namespace contrib
}  // namespace deeprec
