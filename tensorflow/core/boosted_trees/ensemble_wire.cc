// The protobuf wire form of an ensemble (https://protobuf.dev/programming-guides/encoding), written out
// by hand: the runtime has the message no more, and its protobuf library is not to be linked twice.
#include <cstring>

#include "tensorflow/core/boosted_trees/ensemble.h"

namespace deeprec {
namespace boosted_trees {
namespace {

// Field numbers of boosted_trees.proto.
enum { kTrees = 1, kWeights = 2, kTreeMetadata = 3, kGrowing = 4 };
enum { kNodes = 1 };
enum { kLeaf = 1, kBucketized = 2, kCategorical = 3, kDense = 4, kMetadata = 777 };
enum { kVector = 1, kSparseVector = 2, kScalar = 3 };
enum { kFeature = 1, kThreshold = 2, kLeft = 3, kRight = 4, kDimension = 5, kDefault = 6 };
enum { kGain = 1, kOriginalLeaf = 2 };
enum { kLayers = 2, kFinalized = 3, kPruned = 4 };
enum { kNewId = 1, kChange = 2 };
enum { kTreesAttempted = 1, kLayersAttempted = 2, kLayerFirst = 3, kLayerLast = 4 };

void PutVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void PutInt(int field, int64_t value, std::string* out) {
  if (value == 0) return;  // proto3 leaves zeros out
  PutVarint(field << 3, out);
  PutVarint(static_cast<uint64_t>(value), out);
}

void PutRaw(float value, std::string* out) {
  char bytes[4];
  std::memcpy(bytes, &value, 4);
  out->append(bytes, 4);
}

void PutFloat(int field, float value, std::string* out) {
  if (value == 0) return;
  PutVarint(field << 3 | 5, out);
  PutRaw(value, out);
}

void PutMessage(int field, const std::string& message, std::string* out) {
  PutVarint(field << 3 | 2, out);
  PutVarint(message.size(), out);
  out->append(message);
}

std::string LeafText(float value) {
  std::string leaf;
  PutFloat(kScalar, value, &leaf);
  return leaf;
}

std::string NodeText(const Node& node) {
  std::string text;
  if (node.is_leaf) {
    PutMessage(kLeaf, LeafText(node.value), &text);
    return text;
  }
  std::string split, metadata;
  PutInt(kFeature, node.feature, &split);
  PutInt(kThreshold, node.threshold, &split);
  PutInt(kLeft, node.left, &split);
  PutInt(kRight, node.right, &split);
  PutMessage(kBucketized, split, &text);
  PutFloat(kGain, node.gain, &metadata);
  if (node.has_value) PutMessage(kOriginalLeaf, LeafText(node.value), &metadata);
  PutMessage(kMetadata, metadata, &text);
  return text;
}

// One field of a message. Repeated numbers may be packed: see Floats.
struct Field {
  uint32_t number = 0, type = 0;
  uint64_t varint = 0;
  const char* data = nullptr;
  size_t size = 0;

  int32_t Int() const { return static_cast<int32_t>(varint); }
  float Float() const {
    float value = 0;
    if (type == 5) std::memcpy(&value, data, 4);
    return value;
  }
};

class Reader {
 public:
  Reader(const char* data, size_t size) : at_(data), end_(data + size) {}
  explicit Reader(const Field& message) : Reader(message.data, message.size) {
    if (message.type != 2) bad_ = true;
  }

  bool Next(Field* field) {
    if (bad_ || at_ == end_) return false;
    uint64_t tag;
    if (!Varint(&tag)) return false;
    *field = Field();
    field->number = static_cast<uint32_t>(tag >> 3);
    field->type = tag & 7;
    switch (field->type) {
      case 0: return Varint(&field->varint);
      case 1: return Take(8, field);
      case 5: return Take(4, field);
      case 2: {
        uint64_t size;
        return Varint(&size) && Take(size, field);
      }
      default: return Fail();
    }
  }
  bool bad() const { return bad_; }

 private:
  bool Fail() {
    bad_ = true;
    return false;
  }
  bool Take(uint64_t size, Field* field) {
    if (size > static_cast<uint64_t>(end_ - at_)) return Fail();
    field->data = at_;
    field->size = size;
    at_ += size;
    return true;
  }
  bool Varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const uint8_t byte = static_cast<uint8_t>(*at_++);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return Fail();
  }

  const char* at_;
  const char* end_;
  bool bad_ = false;
};

constexpr char kCut[] = "it is cut short or no TreeEnsemble";

// Appends the one float, or the packed ones, of a field.
bool Floats(const Field& field, std::vector<float>* out) {
  if (field.type == 5) {
    out->push_back(field.Float());
    return true;
  }
  if (field.type != 2 || field.size % 4 != 0) return false;
  for (size_t i = 0; i < field.size; i += 4) {
    float value;
    std::memcpy(&value, field.data + i, 4);
    out->push_back(value);
  }
  return true;
}

std::string ReadLeaf(const Field& message, float* value) {
  Reader reader(message);
  *value = 0;
  for (Field f; reader.Next(&f);) {
    if (f.number == kScalar) *value = f.Float();
    if (f.number == kVector || f.number == kSparseVector) return "a leaf has more than one logit";
  }
  return reader.bad() ? kCut : "";
}

std::string ReadNode(const Field& message, Node* node) {
  Reader reader(message);
  bool known = false;
  node->has_value = false;
  for (Field f; reader.Next(&f);) {
    std::string error;
    if (f.number == kLeaf) {
      known = node->has_value = true;
      error = ReadLeaf(f, &node->value);
    } else if (f.number == kBucketized) {
      known = true;
      node->is_leaf = false;
      Reader split(f);
      for (Field s; split.Next(&s);) {
        switch (s.number) {
          case kFeature: node->feature = s.Int(); break;
          case kThreshold: node->threshold = s.Int(); break;
          case kLeft: node->left = s.Int(); break;
          case kRight: node->right = s.Int(); break;
          case kDimension:
            if (s.varint != 0) return "a split uses a dimension of a feature";
        }
      }
      if (split.bad()) return kCut;
    } else if (f.number == kCategorical || f.number == kDense) {
      return "a node is neither a leaf nor a bucketized split";
    } else if (f.number == kMetadata) {
      Reader metadata(f);
      for (Field m; metadata.Next(&m);) {
        if (m.number == kGain) node->gain = m.Float();
        if (m.number == kOriginalLeaf) {
          node->has_value = true;
          error = ReadLeaf(m, &node->value);
        }
      }
      if (metadata.bad()) return kCut;
    }
    if (!error.empty()) return error;
  }
  if (reader.bad() || !known) return kCut;
  return "";
}

std::string ReadTree(const Field& message, Tree* tree) {
  Reader reader(message);
  for (Field f; reader.Next(&f);) {
    if (f.number != kNodes) continue;
    tree->nodes.emplace_back();
    const std::string error = ReadNode(f, &tree->nodes.back());
    if (!error.empty()) return error;
  }
  const int32_t n = static_cast<int32_t>(tree->nodes.size());
  for (int32_t i = 0; i < n; ++i) {
    const Node& node = tree->nodes[i];
    // Children behind their parent: a walk down ends.
    if (!node.is_leaf && (node.feature < 0 || node.left <= i || node.left >= n || node.right <= i || node.right >= n)) {
      return "node " + std::to_string(i) + " of a tree with " + std::to_string(n) + " nodes has children " +
             std::to_string(node.left) + " and " + std::to_string(node.right);
    }
  }
  return reader.bad() || n == 0 ? kCut : "";
}

std::string ReadTreeMetadata(const Field& message, Tree* tree) {
  Reader reader(message);
  for (Field f; reader.Next(&f);) {
    if (f.number == kLayers) tree->layers = f.Int();
    if (f.number == kFinalized) tree->finalized = f.varint != 0;
    if (f.number == kPruned) {
      Reader update(f);
      PrunedNode pruned = {0, 0};
      for (Field u; update.Next(&u);) {
        std::vector<float> changes;
        if (u.number == kNewId) pruned.new_id = u.Int();
        if (u.number == kChange && (!Floats(u, &changes) || changes.size() > 1)) return "a leaf has more than one logit";
        if (!changes.empty()) pruned.change = changes[0];
      }
      if (update.bad() || pruned.new_id < 0 || pruned.new_id >= static_cast<int32_t>(tree->nodes.size())) return kCut;
      tree->pruned.push_back(pruned);
    }
  }
  return reader.bad() ? kCut : "";
}

}  // namespace

std::string Ensemble::Serialize() const {
  std::string out;
  for (const Tree& tree : trees_) {
    std::string nodes;
    for (const Node& node : tree.nodes) PutMessage(kNodes, NodeText(node), &nodes);
    PutMessage(kTrees, nodes, &out);
  }
  if (!trees_.empty()) {
    std::string weights;
    for (const Tree& tree : trees_) PutRaw(tree.weight, &weights);
    PutMessage(kWeights, weights, &out);
  }
  for (const Tree& tree : trees_) {
    std::string metadata;
    PutInt(kLayers, tree.layers, &metadata);
    PutInt(kFinalized, tree.finalized, &metadata);
    for (const PrunedNode& pruned : tree.pruned) {
      std::string update, change;
      PutInt(kNewId, pruned.new_id, &update);
      PutRaw(pruned.change, &change);
      PutMessage(kChange, change, &update);
      PutMessage(kPruned, update, &metadata);
    }
    PutMessage(kTreeMetadata, metadata, &out);
  }
  if (trees_attempted_ != 0 || layers_attempted_ != 0 || layer_first_ != 0 || layer_last_ != 0) {
    std::string growing;
    PutInt(kTreesAttempted, trees_attempted_, &growing);
    PutInt(kLayersAttempted, layers_attempted_, &growing);
    PutInt(kLayerFirst, layer_first_, &growing);
    PutInt(kLayerLast, layer_last_, &growing);
    PutMessage(kGrowing, growing, &out);
  }
  return out;
}

std::string Ensemble::Parse(const std::string& text) {
  Ensemble read;
  std::vector<float> weights;
  size_t metadata = 0;
  Reader reader(text.data(), text.size());
  for (Field f; reader.Next(&f);) {
    std::string error;
    if (f.number == kTrees) {
      read.trees_.emplace_back();
      error = ReadTree(f, &read.trees_.back());
    } else if (f.number == kWeights) {
      if (!Floats(f, &weights)) error = kCut;
    } else if (f.number == kTreeMetadata) {
      error = metadata < read.trees_.size() ? ReadTreeMetadata(f, &read.trees_[metadata++]) : kCut;
    } else if (f.number == kGrowing) {
      Reader growing(f);
      for (Field g; growing.Next(&g);) {
        switch (g.number) {
          case kTreesAttempted: read.trees_attempted_ = static_cast<int64_t>(g.varint); break;
          case kLayersAttempted: read.layers_attempted_ = static_cast<int64_t>(g.varint); break;
          case kLayerFirst: read.layer_first_ = g.Int(); break;
          case kLayerLast: read.layer_last_ = g.Int(); break;
        }
      }
      if (growing.bad()) error = kCut;
    }
    if (!error.empty()) return error;
  }
  if (reader.bad()) return kCut;
  const size_t n = read.trees_.size();
  if (weights.size() != n || metadata != n) {
    return "it has " + std::to_string(n) + " trees, " + std::to_string(weights.size()) + " weights and " +
           std::to_string(metadata) + " metadata";
  }
  for (size_t i = 0; i < n; ++i) read.trees_[i].weight = weights[i];
  *this = std::move(read);
  return "";
}

std::string SerializeExplanation(const std::vector<int32_t>& features, const std::vector<float>& logits) {
  std::string out, packed;
  for (int32_t feature : features) PutVarint(static_cast<uint64_t>(static_cast<int64_t>(feature)), &packed);
  if (!features.empty()) PutMessage(1, packed, &out);
  packed.clear();
  for (float logit : logits) PutRaw(logit, &packed);
  if (!logits.empty()) PutMessage(2, packed, &out);
  return out;
}

}  // namespace boosted_trees
}  // namespace deeprec
