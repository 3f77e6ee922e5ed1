#ifndef TENSORFLOW_CORE_BOOSTED_TREES_SPLIT_H_
#define TENSORFLOW_CORE_BOOSTED_TREES_SPLIT_H_

#include <cstdint>

namespace deeprec {
namespace boosted_trees {

// The best weight of a leaf and the gain it brings, with gradient sum g and hessian sum h: the minimum of
//   g w + (h + l2) w^2 / 2 + l1 |w|      (Chen and Guestrin 2016, section 2.2, with an l1 term)
// which is at w = -s / (h + l2) with s = g shrunk by l1 towards 0; the gain is s^2 / (h + l2).
struct LeafOptimum {
  float weight, gain;
};
LeafOptimum OptimizeLeaf(float g, float h, float l1, float l2);

// Gains differ where their difference is above rounding; ties go to the first found.
inline bool GainIsLarger(float a, float b) { return a - b >= 1e-15f; }
inline bool GainsAreEqual(float a, float b) { return a - b < 1e-15f && b - a < 1e-15f; }

struct BucketSplit {
  bool allowed = false;  // the node's hessian reaches min_node_weight
  float gain = 0;  // above that of the node as a leaf
  int32_t threshold = 0;  // rows with bucket <= threshold go left
  float left = 0, right = 0;  // weights of the children
};

// The best split of one node by one feature. `stats` is [buckets, 2]: sums of gradients and hessians of
// the node's rows in each bucket.
BucketSplit FindBucketSplit(const float* stats, int64_t buckets, float l1, float l2, float min_node_weight);

}  // namespace boosted_trees
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_BOOSTED_TREES_SPLIT_H_
