#include "tensorflow/core/boosted_trees/ensemble.h"

#include <cmath>

namespace deeprec {
namespace boosted_trees {

int32_t Ensemble::num_finalized() const {
  const int32_t n = num_trees();
  return n == 0 || trees_.back().finalized ? n : n - 1;
}

int32_t Ensemble::num_features() const {
  int32_t n = 0;
  for (const Tree& tree : trees_) {
    for (const Node& node : tree.nodes) {
      if (!node.is_leaf && node.feature >= n) n = node.feature + 1;
    }
  }
  return n;
}

void Ensemble::AddTree(float value) {
  trees_.emplace_back();
  trees_.back().nodes.emplace_back();
  trees_.back().nodes[0].value = value;
}

std::string Ensemble::CheckSplits(const std::map<int32_t, Split>& splits) const {
  // An empty ensemble gets a tree of one leaf before it grows.
  const int32_t n = trees_.empty() ? 1 : static_cast<int32_t>(trees_.back().nodes.size());
  for (const auto& entry : splits) {
    if (entry.first < 0 || entry.first >= n) {
      return "node " + std::to_string(entry.first) + " is not in the last tree, which has " +
             std::to_string(n) + " nodes";
    }
    if (!trees_.empty() && !trees_.back().nodes[entry.first].is_leaf) {
      return "node " + std::to_string(entry.first) + " of the last tree is split already";
    }
    if (entry.second.feature < 0) {
      return "feature_ids must not be negative, got " + std::to_string(entry.second.feature);
    }
  }
  return "";
}

bool Ensemble::Grow(const std::map<int32_t, Split>& splits, int32_t max_depth, Pruning pruning) {
  ++layers_attempted_;
  const int32_t n = num_trees();
  if (n == 0 || ((n == 1 || trees_[n - 2].finalized) && trees_[n - 1].nodes.size() == 1)) {
    ++trees_attempted_;
  }
  if (n == 0) AddTree(0);
  if (splits.empty()) return false;

  Tree& tree = trees_.back();
  int32_t first = static_cast<int32_t>(tree.nodes.size());
  for (const auto& entry : splits) {
    const Split& split = entry.second;
    if (pruning == Pruning::kPre && split.gain < 0) continue;
    const int32_t left = static_cast<int32_t>(tree.nodes.size());
    const float before = tree.nodes[entry.first].value;
    tree.nodes.resize(left + 2);
    tree.nodes[left].value = before + split.left;
    tree.nodes[left + 1].value = before + split.right;
    Node& node = tree.nodes[entry.first];
    node.is_leaf = false;
    node.has_value = entry.first != 0 || before != 0;
    node.feature = split.feature;
    node.threshold = split.threshold;
    node.gain = split.gain;
    node.left = left;
    node.right = left + 1;
  }
  int32_t last = static_cast<int32_t>(tree.nodes.size());
  // Without a split the same nodes are tried again with other rows.
  if (first == last) return true;
  if (++tree.layers >= max_depth) {
    tree.finalized = true;
    if (pruning == Pruning::kPost) Prune(&tree);
    AddTree(0);
    first = 0;
    last = 1;
  }
  layer_first_ = first;
  layer_last_ = last;
  return true;
}

void Ensemble::Prune(Tree* tree) {
  std::vector<Node>& nodes = tree->nodes;
  const int32_t n = static_cast<int32_t>(nodes.size());
  std::vector<int32_t> parent(n, -1);  // of removed nodes
  std::vector<float> change(n, 0);
  // Children have larger ids than their parent, so one pass from the end goes bottom up.
  for (int32_t i = n - 1; i >= 0; --i) {
    Node& node = nodes[i];
    if (node.is_leaf || node.gain >= 0 || !nodes[node.left].is_leaf || !nodes[node.right].is_leaf) continue;
    const float value = node.has_value ? node.value : 0;
    for (int32_t child : {node.left, node.right}) {
      parent[child] = i;
      change[child] = value - nodes[child].value;
    }
    node = Node();
    node.value = value;
  }
  std::vector<int32_t> new_id(n, -1);
  std::vector<Node> kept;
  for (int32_t i = 0; i < n; ++i) {
    if (parent[i] < 0) {
      new_id[i] = static_cast<int32_t>(kept.size());
      kept.push_back(nodes[i]);
    }
  }
  if (static_cast<int32_t>(kept.size()) == n) return;
  tree->pruned.clear();
  for (int32_t i = 0; i < n; ++i) {
    int32_t where = i;
    float total = 0;
    for (; parent[where] >= 0; where = parent[where]) total += change[where];
    tree->pruned.push_back({new_id[where], total});
  }
  for (Node& node : kept) {
    if (!node.is_leaf) {
      node.left = new_id[node.left];
      node.right = new_id[node.right];
    }
  }
  nodes = std::move(kept);
}

bool Ensemble::CenterBias(float step) {
  constexpr float kEnough = 0.01f;
  if (trees_.empty()) {
    AddTree(step);
    return true;
  }
  Node& root = trees_[0].nodes[0];
  const bool again = std::abs(step / root.value) > kEnough;
  root.value += step;
  root.has_value = true;
  return again;
}

int32_t Ensemble::Next(int32_t tree, int32_t node, const Buckets& buckets, int64_t row) const {
  const Node& split = trees_[tree].nodes[node];
  return buckets[split.feature][row] <= split.threshold ? split.left : split.right;
}

float Ensemble::Predict(const Buckets& buckets, int64_t row) const {
  float logit = 0;
  for (int32_t tree = 0; tree < num_trees(); ++tree) {
    int32_t node = 0;
    while (!trees_[tree].nodes[node].is_leaf) node = Next(tree, node, buckets, row);
    logit += trees_[tree].weight * trees_[tree].nodes[node].value;
  }
  return logit;
}

float Ensemble::PredictFrom(const Buckets& buckets, int64_t row, int32_t* tree, int32_t* node) const {
  float logit = 0, counted = 0;
  int32_t t = *tree, n = *node;
  if (n < 0) {
    n = 0;
  } else {
    if (trees_[t].finalized && !trees_[t].pruned.empty()) {
      counted += trees_[t].pruned[n].change;
      n = trees_[t].pruned[n].new_id;
    }
    const Node& at = trees_[t].nodes[n];
    if (at.is_leaf || at.has_value) counted -= at.value;
  }
  for (;; ++t, n = 0, counted = 0) {
    while (!trees_[t].nodes[n].is_leaf) n = Next(t, n, buckets, row);
    logit += trees_[t].weight * (counted + trees_[t].nodes[n].value);
    if (t == num_trees() - 1) break;
  }
  *tree = t;
  *node = n;
  return logit;
}

void Ensemble::Explain(const Buckets& buckets, int64_t row, std::vector<int32_t>* features,
                       std::vector<float>* logits) const {
  features->clear();
  logits->clear();
  if (trees_.empty()) return;
  float before = 0;
  float logit = trees_[0].weight * (trees_[0].nodes[0].has_value ? trees_[0].nodes[0].value : 0);
  logits->push_back(logit);
  for (int32_t t = 0; t < num_trees(); ++t) {
    int32_t n = 0;
    while (!trees_[t].nodes[n].is_leaf) {
      features->push_back(trees_[t].nodes[n].feature);
      n = Next(t, n, buckets, row);
      logit = trees_[t].weight * trees_[t].nodes[n].value;
      logits->push_back(logit + before);
    }
    // The root of a later tree that is a leaf holds nothing.
    if (t == 0 || n > 0) before += logit;
  }
}

}  // namespace boosted_trees
}  // namespace deeprec
