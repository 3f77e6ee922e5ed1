// Cast of ConcatV2, and ConcatV2 of as many Casts: each number is converted where it is put.

#include <utility>

#include "tensorflow/core/fusion/reading.h"
#include "tensorflow/core/fusion/template.h"

namespace deeprec {
namespace fusion {
namespace {

using tensorflow::DataType;

// Those that the op has.
bool Converts(DataType from, DataType to) {
  switch (from) {
    case tensorflow::DT_FLOAT:
      return to == tensorflow::DT_BFLOAT16 || to == tensorflow::DT_DOUBLE;
    case tensorflow::DT_BFLOAT16:
    case tensorflow::DT_DOUBLE:
    case tensorflow::DT_INT32:
    case tensorflow::DT_INT64:
      return to == tensorflow::DT_FLOAT;
    default:
      return false;
  }
}

Replacement Fused(DataType from, DataType to, std::vector<OutputTensor> values, const OutputTensor& axis) {
  Replacement fused("FusedConcatCast");
  fused.Set("N", int64_t(values.size()));
  fused.Set("SrcT", from);
  fused.Set("DstT", to);
  fused.Set("Tidx", tensorflow::BaseType(axis.node->output_type(axis.index)));
  fused.inputs = std::move(values);
  fused.inputs.push_back(axis);
  return fused;
}

std::optional<Replacement> CastOfConcat(Node* cast) {
  const DataType from = TypeAttr(cast, "SrcT"), to = TypeAttr(cast, "DstT");
  Node* concat = nullptr;
  if (!Converts(from, to) || BoolAttr(cast, "Truncate") || !InputIs(cast, 0, "ConcatV2", &concat)) return std::nullopt;
  if (!ReadOnlyBy(concat, cast)) return std::nullopt;
  std::vector<OutputTensor> values;
  for (int i = 0; i + 1 < concat->num_inputs(); ++i) values.push_back(Input(concat, i));
  Replacement fused = Fused(from, to, std::move(values), Input(concat, concat->num_inputs() - 1));
  fused.between = {concat};
  return fused;
}

std::optional<Replacement> ConcatOfCasts(Node* concat) {
  DataType from = tensorflow::DT_INVALID;
  std::vector<OutputTensor> values;
  std::vector<Node*> casts;
  for (int i = 0; i + 1 < concat->num_inputs(); ++i) {
    Node* cast = nullptr;
    if (!InputIs(concat, i, "Cast", &cast) || BoolAttr(cast, "Truncate") || !ReadOnlyBy(cast, concat)) {
      return std::nullopt;
    }
    if (i == 0) from = TypeAttr(cast, "SrcT");
    if (TypeAttr(cast, "SrcT") != from) return std::nullopt;
    casts.push_back(cast);
    values.push_back(Input(cast, 0));
  }
  const DataType to = TypeAttr(concat, "T");
  if (values.empty() || !Converts(from, to)) return std::nullopt;
  Replacement fused = Fused(from, to, std::move(values), Input(concat, concat->num_inputs() - 1));
  fused.between = std::move(casts);
  return fused;
}

}  // namespace

std::optional<Replacement> MatchConcatCast(Node* root) {
  return root->type_string() == "Cast" ? CastOfConcat(root) : ConcatOfCasts(root);
}

}  // namespace fusion
}  // namespace deeprec
