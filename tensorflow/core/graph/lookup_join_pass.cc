// Joins lookups that marks have made of unmodified programs (marks.cc, deeprec/embedding/lookup_marks.py), and their gradients, to one
// op for a device and dtype.
//
// It runs after the rewrite for execution: only there the graph is pruned, and a lookup that a fetch does not need, whose ids nobody
// may have fed, is not in it. Joined are those that wait for no other lookup, so no cycle comes about.

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/marks.h"
#include "tensorflow/core/graph/nodes_behind.h"

namespace tensorflow {
namespace {

using deeprec::graph::kMayBeJoined;
using deeprec::graph::kPerColumn;
using deeprec::graph::Tensors;

// The lists that the inputs of an op are: of GroupEmbeddingLookupGrad the gradients first, then for both tables, indices, values,
// shapes, weights.
std::vector<int> InputLists(const Node& node) {
  int columns = 0, weights = 0;
  std::vector<int> parts, lists;
  TF_CHECK_OK(GetNodeAttr(node.attrs(), "N", &columns));
  TF_CHECK_OK(GetNodeAttr(node.attrs(), "W", &weights));
  TF_CHECK_OK(GetNodeAttr(node.attrs(), "parts", &parts));
  int tables = 0;
  for (const int count : parts) tables += count;
  if (node.type_string() == "GroupEmbeddingLookupGrad") lists.push_back(columns);
  for (const int count : {tables, columns, columns, columns, weights}) lists.push_back(count);
  return lists;
}

struct Source {
  Node* node;
  int output;
};

absl::Status Join(Graph* graph, const std::vector<Node*>& nodes) {
  const Node& first = *nodes[0];
  const bool gradient = first.type_string() == "GroupEmbeddingLookupGrad";
  std::vector<std::vector<Source>> lists(InputLists(first).size());
  std::map<std::string, AttrValue> attributes;
  std::vector<int> outputs;  // of each node, of one list
  std::string names;
  for (const Node* node : nodes) {
    std::vector<const Edge*> edges;
    TF_RETURN_IF_ERROR(node->input_edges(&edges));
    const std::vector<int> sizes = InputLists(*node);
    size_t at = 0;
    for (size_t list = 0; list < sizes.size(); ++list) {
      for (int i = 0; i < sizes[list]; ++i, ++at) lists[list].push_back({edges[at]->src(), edges[at]->src_output()});
    }
    for (const char* name : kPerColumn) {
      const AttrValue* value = nullptr;
      TF_RETURN_IF_ERROR(node->attrs().Find(name, &value));
      attributes[name].mutable_list()->MergeFrom(value->list());
    }
    outputs.push_back(node->num_outputs() / (gradient ? 2 : 1));
    absl::StrAppend(&names, node->name(), "\n");
  }
  // A session keeps the kernels of such ops by name, for all sets of fetches: other members must make another name.
  NodeDefBuilder builder(absl::StrCat(first.name(), "/joined_", absl::Hex(std::hash<std::string>()(names), absl::kZeroPad16)),
                         first.type_string());
  for (const auto& list : lists) {
    Tensors tensors;
    for (const Source& source : list) {
      tensors.emplace_back(source.node->name(), source.output, BaseType(source.node->output_type(source.output)));
    }
    builder.Input(tensors);
  }
  DataType dtype;
  TF_RETURN_IF_ERROR(GetNodeAttr(first.attrs(), "T", &dtype));
  builder.Attr("T", dtype).Device(first.requested_device());
  for (const auto& [name, value] : attributes) builder.Attr(name, value);
  int total = 0;
  for (const int count : outputs) total += count;
  if (gradient) builder.Attr("P", total);
  NodeDef definition;
  TF_RETURN_IF_ERROR(builder.Finalize(&definition));
  absl::Status status;
  Node* const joined = graph->AddNode(std::move(definition), &status);
  TF_RETURN_IF_ERROR(status);
  joined->set_assigned_device_name(first.assigned_device_name());
  int input = 0;
  for (const auto& list : lists) {
    for (const Source& source : list) graph->AddEdge(source.node, source.output, joined, input++);
  }
  int begin = 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    std::vector<std::pair<Node*, std::pair<int, int>>> readers;
    for (const Edge* edge : nodes[n]->out_edges()) readers.push_back({edge->dst(), {edge->src_output(), edge->dst_input()}});
    for (const Edge* edge : nodes[n]->in_edges()) {
      if (edge->IsControlEdge()) graph->AddControlEdge(edge->src(), joined);
    }
    for (const auto& [reader, places] : readers) {
      const auto [output, place] = places;
      if (output < 0) {
        graph->AddControlEdge(joined, reader);
      } else {
        // The lists one behind the other: of gradients keys, then their rows.
        const int list = output / outputs[n];
        TF_RETURN_IF_ERROR(graph->UpdateEdge(joined, list * total + begin + output % outputs[n], reader, place));
      }
    }
    begin += outputs[n];
    graph->RemoveNode(nodes[n]);
  }
  return absl::OkStatus();
}

absl::Status JoinAll(Graph* graph, const char* type) {
  std::vector<Node*> found;
  for (Node* node : graph->op_nodes()) {
    bool may_be_joined = false;
    if (node->type_string() == type && TryGetNodeAttr(node->attrs(), kMayBeJoined, &may_be_joined) && may_be_joined) {
      found.push_back(node);
    }
  }
  if (found.size() < 2) return absl::OkStatus();
  const auto behind = deeprec::graph::NodesBehind(found);
  std::map<std::pair<std::string, DataType>, std::vector<Node*>> groups;
  for (Node* node : found) {
    DataType dtype;
    TF_RETURN_IF_ERROR(GetNodeAttr(node->attrs(), "T", &dtype));
    if (!behind.contains(node)) groups[{node->assigned_device_name(), dtype}].push_back(node);
  }
  for (auto& [key, nodes] : groups) {
    std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->name() < b->name(); });
    if (nodes.size() > 1) TF_RETURN_IF_ERROR(Join(graph, nodes));
  }
  return absl::OkStatus();
}

class LookupJoinPass : public GraphOptimizationPass {
 public:
  absl::Status Run(const GraphOptimizationPassOptions& options) override {
    if (options.graph == nullptr || *options.graph == nullptr) return absl::OkStatus();
    TF_RETURN_IF_ERROR(JoinAll(options.graph->get(), "GroupEmbeddingLookup"));
    return JoinAll(options.graph->get(), "GroupEmbeddingLookupGrad");
  }
};

constexpr int kBeforeOpFusion = 999;
REGISTER_OPTIMIZATION(OptimizationPassRegistry::POST_REWRITE_FOR_EXEC, kBeforeOpFusion, LookupJoinPass);

}  // namespace
}  // namespace tensorflow
