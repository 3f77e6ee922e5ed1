#include <algorithm>
#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "tensorflow/core/boosted_trees/ensemble.h"
#include "tensorflow/core/boosted_trees/quantiles.h"
#include "tensorflow/core/boosted_trees/split.h"

namespace deeprec {
namespace boosted_trees {
namespace {

TEST(OptimizeLeafTest, IsTheMinimumOfItsObjective) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> any(-2, 2), positive(0.1f, 2);
  for (int trial = 0; trial < 200; ++trial) {
    const float g = any(random), h = positive(random), l1 = positive(random) - 0.1f, l2 = positive(random);
    auto objective = [&](double w) { return g * w + (h + l2) * w * w / 2 + l1 * std::abs(w); };
    const LeafOptimum best = OptimizeLeaf(g, h, l1, l2);
    EXPECT_NEAR(best.gain, -2 * objective(best.weight), 1e-5);
    for (double step : {-0.1, -0.001, 0.001, 0.1}) {
      EXPECT_GE(objective(best.weight + step), objective(best.weight) - 1e-6);
    }
  }
}

TEST(OptimizeLeafTest, GivesNothingWithoutHessian) {
  EXPECT_EQ(OptimizeLeaf(1, 0, 0, 0).weight, 0);
  EXPECT_EQ(OptimizeLeaf(1, 0, 0, 0).gain, 0);
}

TEST(FindBucketSplitTest, TakesTheBestThreshold) {
  const float stats[] = {-2, 1, -2, 1, 3, 1, 1, 1};  // gradients -2 -2 | 3 1
  const BucketSplit split = FindBucketSplit(stats, 4, 0, 0, 0);
  EXPECT_TRUE(split.allowed);
  EXPECT_EQ(split.threshold, 1);
  EXPECT_FLOAT_EQ(split.left, 2);
  EXPECT_FLOAT_EQ(split.right, -2);
  EXPECT_FLOAT_EQ(split.gain, 16.f / 2 + 16.f / 2);
}

TEST(FindBucketSplitTest, ANodeTooLightIsNotSplit) {
  const float stats[] = {-2, 1, 3, 1};
  EXPECT_FALSE(FindBucketSplit(stats, 2, 0, 0, 2.1f).allowed);
  EXPECT_TRUE(FindBucketSplit(stats, 2, 0, 0, 2).allowed);
}

Split MakeSplit(int32_t feature, int32_t threshold, float gain, float left, float right) {
  Split split;
  split.feature = feature;
  split.threshold = threshold;
  split.gain = gain;
  split.left = left;
  split.right = right;
  return split;
}

TEST(EnsembleTest, GrowsLayerByLayerAndPredictsFromAnywhere) {
  Ensemble trees;
  const int32_t a[] = {0, 1, 0, 1}, b[] = {0, 0, 1, 1};
  const Buckets buckets = {a, b};
  EXPECT_EQ(trees.layer_last(), 1);
  trees.Grow({{0, MakeSplit(0, 0, 1, -1, 1)}}, 2, Pruning::kNone);
  EXPECT_EQ(trees.layer_first(), 1);
  EXPECT_EQ(trees.layer_last(), 3);
  int32_t tree[4], node[4];
  float logit[4];
  for (int row = 0; row < 4; ++row) {
    tree[row] = 0;
    node[row] = -1;
    logit[row] = trees.PredictFrom(buckets, row, &tree[row], &node[row]);
    EXPECT_EQ(logit[row], a[row] ? 1 : -1);
  }
  trees.Grow({{1, MakeSplit(1, 0, 1, 0.5f, 2)}, {2, MakeSplit(1, 0, 1, 3, -0.25f)}}, 2, Pruning::kNone);
  EXPECT_EQ(trees.num_trees(), 2);  // the second is empty
  EXPECT_EQ(trees.num_finalized(), 1);
  const float want[] = {-0.5f, 4, 1, 0.75f};
  for (int row = 0; row < 4; ++row) {
    EXPECT_FLOAT_EQ(trees.Predict(buckets, row), want[row]);
    logit[row] += trees.PredictFrom(buckets, row, &tree[row], &node[row]);
    EXPECT_FLOAT_EQ(logit[row], want[row]);
  }
}

TEST(EnsembleTest, PostPruningKeepsCachedLogitsRight) {
  Ensemble trees;
  const int32_t a[] = {0, 1, 0, 1}, b[] = {0, 0, 1, 1};
  const Buckets buckets = {a, b};
  trees.Grow({{0, MakeSplit(0, 0, 1, -1, 1)}}, 2, Pruning::kPost);
  // Rows cached at the nodes of the first layer, and at one that is about to go.
  int32_t tree[4], node[4];
  float logit[4];
  for (int row = 0; row < 4; ++row) {
    tree[row] = 0;
    node[row] = -1;
    logit[row] = trees.PredictFrom(buckets, row, &tree[row], &node[row]);
  }
  trees.Grow({{1, MakeSplit(1, 0, -0.1f, 0.5f, 2)}, {2, MakeSplit(1, 0, 1, 3, -0.25f)}}, 2, Pruning::kPost);
  EXPECT_EQ(trees.tree(0).nodes.size(), 5u);
  const float want[] = {-1, 4, -1, 0.75f};
  for (int row = 0; row < 4; ++row) {
    EXPECT_FLOAT_EQ(trees.Predict(buckets, row), want[row]);
    EXPECT_FLOAT_EQ(logit[row] + trees.PredictFrom(buckets, row, &tree[row], &node[row]), want[row]);
  }
  int32_t pruned_tree = 0, pruned_node = 4;  // the right child of node 1, value 1 when it was cached
  EXPECT_FLOAT_EQ(1 + trees.PredictFrom(buckets, 2, &pruned_tree, &pruned_node), -1);
}

TEST(EnsembleTest, PrePruningTriesAgain) {
  Ensemble trees;
  EXPECT_TRUE(trees.Grow({{0, MakeSplit(0, 0, -1, -1, 1)}}, 2, Pruning::kPre));
  EXPECT_EQ(trees.tree(0).nodes.size(), 1u);
  EXPECT_EQ(trees.layers_attempted(), 1);
  EXPECT_EQ(trees.num_finalized(), 0);
}

TEST(EnsembleTest, TextGoesThereAndBack) {
  Ensemble trees;
  trees.CenterBias(0.25f);
  trees.Grow({{0, MakeSplit(3, 1, 1, -1, 1)}}, 2, Pruning::kPost);
  trees.Grow({{1, MakeSplit(1, 0, -0.1f, 0.5f, 2)}, {2, MakeSplit(1, 0, 1, 3, -0.25f)}}, 2, Pruning::kPost);
  const std::string text = trees.Serialize();
  Ensemble read;
  EXPECT_EQ(read.Parse(text), "");
  EXPECT_EQ(read.Serialize(), text);
  EXPECT_EQ(read.num_features(), 4);
}

TEST(EnsembleTest, AlteredTextIsRefusedAndNothingChanges) {
  Ensemble trees;
  trees.Grow({{0, MakeSplit(0, 0, 1, -1, 1)}}, 1, Pruning::kNone);
  const std::string text = trees.Serialize();
  Ensemble read;
  int whole = 0;
  for (size_t n = 1; n < text.size(); ++n) {
    // One prefix is an ensemble too: without the counters at the end, as after centering the bias.
    if (read.Parse(text.substr(0, n)).empty()) {
      ++whole;
      EXPECT_EQ(read.Serialize(), text.substr(0, n));
      read = Ensemble();
    }
    EXPECT_EQ(read.num_trees(), 0) << n;
  }
  EXPECT_EQ(whole, 1);
  // Any one byte changed: refused or read, never a crash or a loop.
  const int32_t zero[] = {0};
  for (size_t n = 0; n < text.size(); ++n) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string altered = text;
      altered[n] ^= static_cast<char>(1 << bit);
      if (read.Parse(altered).empty() && read.num_features() <= 1) {
        read.Predict(Buckets(read.num_features(), zero), 0);
      }
    }
  }
}

TEST(EnsembleTest, ExplanationEndsAtThePrediction) {
  Ensemble trees;
  const int32_t a[] = {0, 1}, b[] = {1, 0};
  trees.CenterBias(0.5f);
  trees.Grow({{0, MakeSplit(0, 0, 1, -1, 1)}}, 1, Pruning::kNone);
  trees.Grow({{0, MakeSplit(1, 0, 1, 2, 3)}}, 1, Pruning::kNone);
  std::vector<int32_t> features;
  std::vector<float> logits;
  trees.Explain({a, b}, 0, &features, &logits);
  EXPECT_EQ(features, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(logits, (std::vector<float>{0.5f, -0.5f, 2.5f}));
  EXPECT_EQ(logits.back(), trees.Predict({a, b}, 0));
}

TEST(QuantilesTest, RanksAreWithinTheError) {
  std::mt19937 random(2);
  for (const int n : {10, 1000, 50000}) {
    for (const double eps : {0.1, 0.01}) {
      std::normal_distribution<float> value;
      std::uniform_real_distribution<float> weight(0.5f, 2);
      QuantileStream stream(eps, n + 1);
      std::vector<std::pair<float, float>> all;
      double total = 0;
      for (int i = 0; i < n; ++i) {
        all.emplace_back(value(random), weight(random));
        total += all.back().second;
        stream.Push(all.back().first, all.back().second);
      }
      std::sort(all.begin(), all.end());
      const Summary summary = stream.Take();
      EXPECT_EQ(summary.front().value, all.front().first);
      EXPECT_EQ(summary.back().value, all.back().first);
      EXPECT_NEAR(summary.back().max_rank, total, 1e-3 * total);
      EXPECT_LE(ApproximationError(summary), eps + 1e-4);
      const std::vector<float> quantiles = Quantiles(summary, 4);
      double rank = 0;
      for (const auto& entry : all) {
        if (entry.first < quantiles[2]) rank += entry.second;
      }
      EXPECT_NEAR(rank / total, 0.5, eps + 2.0 / n) << n << " " << eps;
    }
  }
}

TEST(QuantilesTest, BoundariesOfFewValuesAreTheValues) {
  QuantileStream stream(0.01, 1000);
  for (float value : {3.f, 1.f, 2.f, 1.f, 3.f}) stream.Push(value, 1);
  EXPECT_EQ(Boundaries(stream.Take(), 100), (std::vector<float>{1, 2, 3}));
}

}  // namespace
}  // namespace boosted_trees
}  // namespace deeprec
