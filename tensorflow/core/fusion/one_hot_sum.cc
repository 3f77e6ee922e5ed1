// Sum over the places of OneHot, as indicator_column writes it: the one-hot tensor, as many times the size of the result as there
// are places, need not be made.

#include "tensorflow/core/fusion/reading.h"
#include "tensorflow/core/fusion/template.h"

namespace deeprec {
namespace fusion {

std::optional<Replacement> MatchOneHotSum(Node* root) {
  Node* one_hot = nullptr;
  if (!InputIs(root, 0, "OneHot", &one_hot) || BoolAttr(root, "keep_dims")) return std::nullopt;
  // The last dimension is that of the one-hot vectors, and the last but one that of the places.
  if (!IsInt(Input(root, 1).node, -2)) return std::nullopt;
  int64_t axis = 0;
  if (!tensorflow::TryGetNodeAttr(one_hot->attrs(), "axis", &axis) || axis != -1) return std::nullopt;
  const std::optional<Uniform> off = ReadUniform(Input(one_hot, 3));
  const tensorflow::DataType type = TypeAttr(root, "T");
  if (!off || !off->shape || off->shape->dims() != 0) return std::nullopt;
  switch (type) {
    case tensorflow::DT_FLOAT:
      if (off->value.scalar<float>()() != 0) return std::nullopt;
      break;
    case tensorflow::DT_DOUBLE:
      if (off->value.scalar<double>()() != 0) return std::nullopt;
      break;
    case tensorflow::DT_INT32:
      if (off->value.scalar<int32_t>()() != 0) return std::nullopt;
      break;
    case tensorflow::DT_INT64:
      if (off->value.scalar<int64_t>()() != 0) return std::nullopt;
      break;
    default:
      return std::nullopt;
  }
  Replacement fused("FusedOneHotSum");
  fused.inputs = {Input(one_hot, 0), Input(one_hot, 1), Input(one_hot, 2)};
  fused.between = {one_hot, Input(root, 1).node, Input(one_hot, 3).node};
  fused.Set("TI", TypeAttr(one_hot, "TI"));
  fused.Set("T", type);
  return fused;
}

}  // namespace fusion
}  // namespace deeprec
