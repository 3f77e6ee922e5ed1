#include "tensorflow/core/boosted_trees/split.h"

#include <limits>

namespace deeprec {
namespace boosted_trees {

LeafOptimum OptimizeLeaf(float g, float h, float l1, float l2) {
  if (l1 > 0) {
    if (g > l1) {
      g -= l1;
    } else if (g < -l1) {
      g += l1;
    } else {
      return {0, 0};
    }
  }
  if (h + l2 <= 1e-15f) return {0, 0};
  const float weight = -g / (h + l2);
  return {weight, -g * weight};
}

BucketSplit FindBucketSplit(const float* stats, int64_t buckets, float l1, float l2, float min_node_weight) {
  BucketSplit best;
  float g = 0, h = 0;
  for (int64_t b = 0; b < buckets; ++b) {
    g += stats[2 * b];
    h += stats[2 * b + 1];
  }
  // Not `!(h >= min)`: a node with NaN statistics is split, and its NaN is seen in the loss.
  if (h < min_node_weight) return best;
  best.allowed = true;
  float best_gain = std::numeric_limits<float>::lowest();
  float left_g = 0, left_h = 0;
  for (int64_t b = 0; b < buckets; ++b) {
    left_g += stats[2 * b];
    left_h += stats[2 * b + 1];
    const LeafOptimum left = OptimizeLeaf(left_g, left_h, l1, l2);
    const LeafOptimum right = OptimizeLeaf(g - left_g, h - left_h, l1, l2);
    if (GainIsLarger(left.gain + right.gain, best_gain)) {
      best_gain = left.gain + right.gain;
      best.threshold = static_cast<int32_t>(b);
      best.left = left.weight;
      best.right = right.weight;
    }
  }
  best.gain = best_gain - OptimizeLeaf(g, h, l1, l2).gain;
  return best;
}

}  // namespace boosted_trees
}  // namespace deeprec
