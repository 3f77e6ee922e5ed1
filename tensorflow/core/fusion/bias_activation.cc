// Sigmoid or Tanh of a BiasAdd: both in one pass. What the runtime fuses with a MatMul is gone by then; left are layers on tensors of
// more than two dimensions, whose product is reshaped before the bias is added.

#include "tensorflow/core/fusion/reading.h"
#include "tensorflow/core/fusion/template.h"

namespace deeprec {
namespace fusion {

std::optional<Replacement> MatchBiasActivation(Node* root) {
  Node* bias_add = nullptr;
  if (TypeAttr(root, "T") != tensorflow::DT_FLOAT || !InputIs(root, 0, "BiasAdd", &bias_add)) return std::nullopt;
  std::string format;
  if (!tensorflow::GetNodeAttr(bias_add->attrs(), "data_format", &format).ok() || format != "NHWC") return std::nullopt;
  if (!ReadOnlyBy(bias_add, root)) return std::nullopt;
  Replacement fused("FusedBiasActivation");
  fused.Set("activation", root->type_string());
  fused.inputs = {Input(bias_add, 0), Input(bias_add, 1)};
  fused.between = {bias_add};
  return fused;
}

}  // namespace fusion
}  // namespace deeprec
