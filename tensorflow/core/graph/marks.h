// The kinds of sub-graphs that run as one op: how their marks (deeprec/marks) become the op. See mark_pass.cc.

#ifndef TENSORFLOW_CORE_GRAPH_MARKS_H_
#define TENSORFLOW_CORE_GRAPH_MARKS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace deeprec {
namespace graph {

// Attribute of GroupEmbeddingLookups and their gradients that lookup_join_pass.cc may join.
inline constexpr char kMayBeJoined[] = "_deeprec_join";

// Attributes of these ops that are lists with an element for each column.
inline constexpr const char* kPerColumn[] = {"dims",  "parts",      "kinds",       "strategies",  "combiners",  "max_norms",
                                             "prune", "fill_empty", "default_ids", "has_weights", "touch_first"};

using Tensors = std::vector<tensorflow::NodeDefBuilder::NodeOut>;

// What a mark of one kind stands for.
struct MarkKind {
  const char* fusion;  // its name for TF_DEEPREC_DISABLE_FUSIONS
  const char* op;      // whose first outputs are the results of the sub-graph
  bool loop;           // whether the sub-graph is one: what it waits for, the mark waits for
  // Gives `builder`, of a node of that op, all attributes and, in their order, all of `reads`, what the sub-graph reads. Errors:
  // the mark does not say what its kind needs.
  absl::Status (*build)(const tensorflow::AttrSlice& mark, absl::Span<const tensorflow::NodeDefBuilder::NodeOut> reads,
                        tensorflow::NodeDefBuilder* builder);
};

// By the attribute that names the kind; null if there is no such kind.
const MarkKind* FindMarkKind(const std::string& name);

}  // namespace graph
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_GRAPH_MARKS_H_
