// Select with a branch that is one value: the branch need not be made.
//
// The branch may be ZerosLike, OnesLike, Fill, BroadcastTo, a constant, or a sum or product of these with a scalar; its shape is
// checked when the op runs. A condition that was tiled along the second dimension, as safe_embedding_lookup_sparse does, is read
// without the Tile.

#include <vector>

#include "tensorflow/core/fusion/reading.h"
#include "tensorflow/core/fusion/template.h"

namespace deeprec {
namespace fusion {
namespace {

using tensorflow::DataType;

// The column that `condition` is the Tile of.
bool ReadTile(const OutputTensor& condition, OutputTensor* column, OutputTensor* multiples, std::vector<Node*>* between) {
  Node* const tile = condition.node;
  Node* reshape = nullptr;
  if (tile == nullptr || tile->type_string() != "Tile" || !InputIs(tile, 0, "Reshape", &reshape)) return false;
  const auto sizes = IntConstant(Input(reshape, 1).node);
  if (!sizes || *sizes != std::vector<int64_t>{-1, 1}) return false;
  *column = OutputTensor(reshape, 0);
  *multiples = Input(tile, 1);
  between->push_back(tile);
  return true;
}

}  // namespace

std::optional<Replacement> MatchSelectFill(Node* root) {
  const DataType type = TypeAttr(root, "T");
  if (!tensorflow::DataTypeCanUseMemcpy(type)) return std::nullopt;
  int filled = 2;
  std::optional<Uniform> fill = ReadUniform(Input(root, 2));
  if (!fill) {
    filled = 1;
    fill = ReadUniform(Input(root, 1));
  }
  if (!fill || fill->value.dtype() != type) return std::nullopt;
  const OutputTensor x = Input(root, 3 - filled);
  Replacement fused("FusedSelectFill");
  fused.between = fill->nodes;
  OutputTensor condition = Input(root, 0);
  std::vector<OutputTensor> multiples(1), like;
  DataType type_of_multiples = tensorflow::DT_INT32, type_of_like = type;
  if (ReadTile(condition, &condition, &multiples[0], &fused.between)) {
    type_of_multiples = multiples[0].node->output_type(multiples[0].index);
  } else {
    multiples.clear();
  }
  tensorflow::PartialTensorShape shape;
  if (fill->shape) {
    shape = tensorflow::PartialTensorShape(fill->shape->dim_sizes());
  } else if (!(fill->like == x)) {
    like.push_back(fill->like);
    type_of_like = tensorflow::BaseType(fill->like.node->output_type(fill->like.index));
  }
  fused.inputs = {condition, x};
  fused.inputs.insert(fused.inputs.end(), multiples.begin(), multiples.end());
  fused.inputs.insert(fused.inputs.end(), like.begin(), like.end());
  fused.Set("T", type);
  fused.Set("fill", fill->value);
  fused.Set("fill_where", filled == 1);
  fused.Set("fill_shape", shape);
  fused.Set("broadcast", root->type_string() == "SelectV2");
  fused.Set("N", int64_t(multiples.size()));
  fused.Set("Tmultiples", type_of_multiples);
  fused.Set("M", int64_t(like.size()));
  fused.Set("Tlike", type_of_like);
  return fused;
}

}  // namespace fusion
}  // namespace deeprec
