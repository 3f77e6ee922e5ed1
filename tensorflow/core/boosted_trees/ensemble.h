#ifndef TENSORFLOW_CORE_BOOSTED_TREES_ENSEMBLE_H_
#define TENSORFLOW_CORE_BOOSTED_TREES_ENSEMBLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace deeprec {
namespace boosted_trees {

// A node is a leaf with a value, or a split of a bucketized feature with two children. A split
// remembers the value it had as a leaf: trees grow layer by layer, and rows that were scored before
// the split hold that value in their cached logits.
struct Node {
  bool is_leaf = true;
  float value = 0;  // of the leaf, or of the leaf that the split was
  bool has_value = true;  // false: a split of a root that never had one
  int32_t feature = 0, threshold = 0, left = 0, right = 0;
  float gain = 0;
};

// Where a node of a pruned tree went, and what to add to a logit that was cached at it.
struct PrunedNode {
  int32_t new_id;
  float change;
};

struct Tree {
  float weight = 1;
  int32_t layers = 0;
  bool finalized = false;
  std::vector<Node> nodes;
  std::vector<PrunedNode> pruned;  // empty, or one for each node before pruning
};

struct Split {
  int32_t feature = 0, threshold = 0;
  float gain = 0, left = 0, right = 0;  // contributions, learning rate applied
};

enum class Pruning { kNone = 0, kPre = 1, kPost = 2 };

// The buckets of a batch: features[f][row].
using Buckets = std::vector<const int32_t*>;

// An ensemble of trees with one logit, grown one layer at a time (layer-by-layer boosting). The text
// form is the TreeEnsemble message of TF 1.15's boosted_trees.proto, field for field, so that
// checkpoints of 1.15 load and ours load there. Not thread safe.
class Ensemble {
 public:
  int32_t num_trees() const { return static_cast<int32_t>(trees_.size()); }
  const Tree& tree(int32_t i) const { return trees_[i]; }
  int64_t layers_attempted() const { return layers_attempted_; }
  int32_t num_finalized() const;
  // Nodes that the next layer splits, [first, last) of the last tree; {0, 1} for an empty ensemble.
  int32_t layer_first() const { return layer_first_; }
  int32_t layer_last() const { return layer_last_ > 1 ? layer_last_ : 1; }
  // One more than the largest feature that a split uses.
  int32_t num_features() const;

  // Replaces everything by what `text` holds. Returns an empty string, or what is wrong with it; then
  // nothing has changed.
  std::string Parse(const std::string& text);
  std::string Serialize() const;

  // Adds one layer from the best split of each node. A tree of `max_depth` layers is finished, pruned
  // where asked, and an empty one is put behind it. False if there is nothing to split.
  // Throws nothing; `splits` must name leaves of the last tree (see CheckSplits).
  bool Grow(const std::map<int32_t, Split>& splits, int32_t max_depth, Pruning pruning);
  // Empty, or what is wrong with a node that a split names.
  std::string CheckSplits(const std::map<int32_t, Split>& splits) const;

  // Adds `step`, the optimum for the mean gradients, to the root of the first tree. Returns whether
  // another step is worth it: the first one, and while a step is above 1 % of the bias.
  bool CenterBias(float step);

  // Sum of the trees' leaves for a row.
  float Predict(const Buckets& buckets, int64_t row) const;
  // The same for a row whose logit counts everything up to node `*node` of tree `*tree` (a negative
  // node: nothing): returns what to add, and moves both to where the row is now.
  float PredictFrom(const Buckets& buckets, int64_t row, int32_t* tree, int32_t* node) const;
  // Features of the splits on the row's way, and the logit before the first and after each of them.
  void Explain(const Buckets& buckets, int64_t row, std::vector<int32_t>* features,
               std::vector<float>* logits) const;

 private:
  int32_t Next(int32_t tree, int32_t node, const Buckets& buckets, int64_t row) const;
  void AddTree(float value);
  void Prune(Tree* tree);

  std::vector<Tree> trees_;
  int64_t trees_attempted_ = 0, layers_attempted_ = 0;
  int32_t layer_first_ = 0, layer_last_ = 0;
};

// The DebugOutput message of boosted_trees.proto.
std::string SerializeExplanation(const std::vector<int32_t>& features, const std::vector<float>& logits);

}  // namespace boosted_trees
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_BOOSTED_TREES_ENSEMBLE_H_
