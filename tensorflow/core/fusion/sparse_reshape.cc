// Chains of SparseReshape, and SparseReshape to a shape that is made of the old one.

#include <vector>

#include "tensorflow/core/fusion/reading.h"
#include "tensorflow/core/fusion/template.h"

namespace deeprec {
namespace fusion {
namespace {

// Whether only `reader` reads any output of `node`.
bool OnlyReader(const Node* node, const Node* reader) {
  for (const tensorflow::Edge* edge : node->out_edges()) {
    if (edge->dst() != reader && !edge->dst()->IsSink()) return false;
  }
  return true;
}

// Slice(shape, [0], [k]).
bool IsHead(const Node* slice, const OutputTensor& shape, int64_t* k) {
  if (!(Input(slice, 0) == shape) || !IsInt(Input(slice, 1).node, 0)) return false;
  const auto size = IntConstant(Input(slice, 2).node);
  if (!size || size->size() != 1 || size->front() < 1) return false;
  *k = size->front();
  return true;
}

}  // namespace

// SparseReshape(SparseReshape(x, a), b) -> FusedSparseReshape(x, [a, b]), if nobody else reads what is between.
std::optional<Replacement> MatchSparseReshape(Node* root) {
  Node* inner = nullptr;
  if (!InputIs(root, 0, "SparseReshape", &inner) && !InputIs(root, 0, "FusedSparseReshape", &inner)) return std::nullopt;
  if (!(Input(root, 1) == OutputTensor(inner, 1)) || !OnlyReader(inner, root)) return std::nullopt;
  Replacement fused("FusedSparseReshape");
  for (int i = 0; i < inner->num_inputs(); ++i) fused.inputs.push_back(Input(inner, i));
  fused.inputs.push_back(Input(root, 2));
  fused.between.push_back(inner);
  fused.Set("N", int64_t(fused.inputs.size() - 2));
  return fused;
}

// SparseReshape(indices, s, [reduce_prod(s[:k]), s[k]]) -> FusedSparseOuterFlatten, as safe_embedding_lookup_sparse writes it.
std::optional<Replacement> MatchSparseFlatten(Node* root) {
  const OutputTensor shape = Input(root, 1);
  Node *pack = nullptr, *prod = nullptr, *head = nullptr, *last = nullptr;
  if (!InputIs(root, 2, "Pack", &pack) || pack->num_inputs() != 2) return std::nullopt;
  if (!InputIs(pack, 0, "Prod", &prod) || !InputIs(pack, 1, "GatherV2", &last)) return std::nullopt;
  if (BoolAttr(prod, "keep_dims") || !IsInt(Input(prod, 1).node, 0)) return std::nullopt;
  int64_t k = 0;
  if (!InputIs(prod, 0, "Slice", &head) || !IsHead(head, shape, &k)) return std::nullopt;
  int rank = 1;
  const auto index = IntConstant(Input(last, 1).node, &rank);
  if (!(Input(last, 0) == shape) || !index || rank != 0 || index->front() != k) return std::nullopt;
  if (!IsInt(Input(last, 2).node, 0)) return std::nullopt;
  int64_t batch_dims = 0;
  tensorflow::TryGetNodeAttr(last->attrs(), "batch_dims", &batch_dims);
  if (batch_dims != 0) return std::nullopt;
  Replacement fused("FusedSparseOuterFlatten");
  fused.inputs = {Input(root, 0), shape};
  fused.between = {pack, prod, last, head};
  fused.Set("outer", k);
  return fused;
}

}  // namespace fusion
}  // namespace deeprec
