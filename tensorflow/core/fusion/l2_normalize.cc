// x * rsqrt(maximum(reduce_sum(square(x), axis, keepdims=True), epsilon)), as tf.nn.l2_normalize writes it. Gradients read what is
// between, so that it fits where there are none.

#include "tensorflow/core/fusion/reading.h"
#include "tensorflow/core/fusion/template.h"

namespace deeprec {
namespace fusion {
namespace {

bool ReadOnce(const Node* node) {
  int readers = 0;
  for (const tensorflow::Edge* edge : node->out_edges()) readers += edge->dst()->IsSink() ? 0 : 1;
  return readers == 1;
}

}  // namespace

std::optional<Replacement> MatchL2Normalize(Node* root) {
  const tensorflow::DataType type = TypeAttr(root, "T");
  if (type != tensorflow::DT_FLOAT && type != tensorflow::DT_DOUBLE) return std::nullopt;
  Node *rsqrt = nullptr, *maximum = nullptr, *sum = nullptr, *square = nullptr;
  const int factor = InputIs(root, 1, "Rsqrt", &rsqrt) ? 1 : 0;
  if (!InputIs(root, factor, "Rsqrt", &rsqrt) || !InputIs(rsqrt, 0, "Maximum", &maximum)) return std::nullopt;
  const OutputTensor x = Input(root, 1 - factor);
  if (!InputIs(maximum, 0, "Sum", &sum) || !BoolAttr(sum, "keep_dims")) return std::nullopt;
  if (!InputIs(sum, 0, "Square", &square) || !(Input(square, 0) == x)) return std::nullopt;
  const auto axes = IntConstant(Input(sum, 1).node);
  const auto epsilon = Constant(Input(maximum, 1).node);
  if (!axes || axes->size() != 1 || !epsilon || epsilon->dims() != 0) return std::nullopt;
  for (const Node* node : {rsqrt, maximum, sum, square}) {
    if (!ReadOnce(node)) return std::nullopt;
  }
  const double bound = type == tensorflow::DT_FLOAT ? epsilon->scalar<float>()() : epsilon->scalar<double>()();
  // The op's attribute is a float.
  if (!(bound > 0) || double(float(bound)) != bound) return std::nullopt;
  Replacement fused("FusedL2Normalize");
  fused.inputs = {x};
  fused.between = {rsqrt, maximum, sum, square, Input(sum, 1).node, Input(maximum, 1).node};
  fused.Set("T", type);
  fused.Set("axis", axes->front());
  fused.Set("epsilon", float(bound));
  return fused;
}

}  // namespace fusion
}  // namespace deeprec
