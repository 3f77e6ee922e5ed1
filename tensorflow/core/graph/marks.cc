#include "tensorflow/core/graph/marks.h"

#include <cstdint>
#include <iterator>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace deeprec {
namespace graph {
namespace {

using tensorflow::AttrSlice;
using tensorflow::GetNodeAttr;
using tensorflow::NodeDefBuilder;
using Reads = absl::Span<const NodeDefBuilder::NodeOut>;

// The next `count` of `reads` as an input that is a list.
absl::Status TakeList(Reads* reads, int64_t count, NodeDefBuilder* builder) {
  if (count < 0 || static_cast<size_t>(count) > reads->size()) return absl::InvalidArgumentError("too few inputs");
  builder->Input(Tensors(reads->begin(), reads->begin() + count));
  reads->remove_prefix(count);
  return absl::OkStatus();
}

absl::Status AllTaken(Reads reads) {
  return reads.empty() ? absl::OkStatus() : absl::InvalidArgumentError("too many inputs");
}

// A loop of tf.nn.dynamic_rnn (deeprec/recurrent).
absl::Status BuildLoop(const AttrSlice& mark, Reads reads, NodeDefBuilder* builder) {
  std::vector<int64_t> program, outputs, widths, states, sizes;
  std::vector<float> scalars;
  TF_RETURN_IF_ERROR(GetNodeAttr(mark, "_deeprec_recurrent_program", &program));
  TF_RETURN_IF_ERROR(GetNodeAttr(mark, "_deeprec_recurrent_scalars", &scalars));
  TF_RETURN_IF_ERROR(GetNodeAttr(mark, "_deeprec_recurrent_outputs", &outputs));
  TF_RETURN_IF_ERROR(GetNodeAttr(mark, "_deeprec_recurrent_widths", &widths));
  TF_RETURN_IF_ERROR(GetNodeAttr(mark, "_deeprec_recurrent_states", &states));
  // Numbers of inputs, captures and tensors of lengths.
  TF_RETURN_IF_ERROR(GetNodeAttr(mark, "_deeprec_recurrent_sizes", &sizes));
  if (sizes.size() != 3) return absl::InvalidArgumentError("expected three sizes");
  for (const int64_t count : {sizes[0], static_cast<int64_t>(states.size()), sizes[1], sizes[2]}) {
    TF_RETURN_IF_ERROR(TakeList(&reads, count, builder));
  }
  builder->Attr("K", static_cast<int64_t>(outputs.size())).Attr("C", sizes[1]).Attr("L", sizes[2]);
  builder->Attr("program", program).Attr("scalars", scalars).Attr("output_values", outputs).Attr("output_widths", widths);
  builder->Attr("new_state_values", states);
  return AllTaken(reads);
}

// Moments and the normalization by them (deeprec/batch_norm.py).
absl::Status BuildBatchNormalization(const AttrSlice& mark, Reads reads, NodeDefBuilder* builder) {
  float epsilon;
  std::vector<int64_t> sizes;
  TF_RETURN_IF_ERROR(GetNodeAttr(mark, "_deeprec_batch_norm_epsilon", &epsilon));
  // Numbers of tensors: gamma, beta, moving moments, training.
  TF_RETURN_IF_ERROR(GetNodeAttr(mark, "_deeprec_batch_norm_sizes", &sizes));
  if (sizes.size() != 4 || reads.empty()) return absl::InvalidArgumentError("expected four sizes and an input");
  builder->Attr("G", sizes[0]).Attr("B", sizes[1]).Attr("M", sizes[2]).Attr("F", sizes[3]).Attr("epsilon", epsilon);
  builder->Input(reads[0]);
  reads.remove_prefix(1);
  for (const int64_t count : sizes) TF_RETURN_IF_ERROR(TakeList(&reads, count, builder));
  return AllTaken(reads);
}

// One sparse lookup of ordinary variables (deeprec/embedding/lookup_marks.py).
absl::Status BuildLookup(const AttrSlice& mark, Reads reads, NodeDefBuilder* builder) {
  std::vector<int64_t> parts;
  std::vector<bool> weighted;
  TF_RETURN_IF_ERROR(GetNodeAttr(mark, "_deeprec_lookup_parts", &parts));
  TF_RETURN_IF_ERROR(GetNodeAttr(mark, "_deeprec_lookup_has_weights", &weighted));
  if (parts.size() != 1 || weighted.size() != 1) return absl::InvalidArgumentError("expected one column");
  for (const int64_t count : {parts[0], int64_t{1}, int64_t{1}, int64_t{1}, int64_t{weighted[0]}}) {
    TF_RETURN_IF_ERROR(TakeList(&reads, count, builder));
  }
  std::vector<const char*> names(std::begin(kPerColumn), std::end(kPerColumn));
  names.push_back("T");
  for (const char* name : names) {
    const tensorflow::AttrValue* value = nullptr;
    TF_RETURN_IF_ERROR(mark.Find(absl::StrCat("_deeprec_lookup_", name), &value));
    builder->Attr(name, *value);
  }
  builder->Attr(kMayBeJoined, true);
  return AllTaken(reads);
}

}  // namespace

const MarkKind* FindMarkKind(const std::string& name) {
  static const auto* const kKinds = new std::map<std::string, MarkKind>{
      {"recurrent", {"recurrent", "RecurrentLoop", true, BuildLoop}},
      {"lookup", {"lookup", "GroupEmbeddingLookup", false, BuildLookup}},
      {"batch_norm", {"batch_norm", "BatchNormalization", false, BuildBatchNormalization}},
  };
  const auto found = kKinds->find(name);
  return found == kKinds->end() ? nullptr : &found->second;
}

}  // namespace graph
}  // namespace deeprec
