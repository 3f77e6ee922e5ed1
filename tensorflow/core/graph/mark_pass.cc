// Runs sub-graphs as one op where the Python layer has found that it can.
//
// It marks them: an IdentityN beside the sub-graph has its results, then all that it reads, and in its attributes what it computes
// (deeprec/marks, marks.h). This pass puts the op in the place of that node. What read a result of the sub-graph, or the mark,
// reads it; the sub-graph is left without a reader and is pruned. A graph is thus built, saved and exported with the released ops
// alone, and runs where this library is not.
//
// It runs before placement, on the whole graph, where nobody has looked for fetches and feeds yet: an Identity takes the name of each
// result.

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/graph/fusion_names.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/marks.h"
#include "tensorflow/core/graph/nodes_behind.h"

namespace tensorflow {
namespace {

using deeprec::graph::MarkKind;
using deeprec::graph::Nodes;

constexpr char kMark[] = "_deeprec_mark";

absl::Status OpOfMark(const Node& marked, const MarkKind& kind, int results, NodeDef* definition) {
  std::vector<const Edge*> edges;
  TF_RETURN_IF_ERROR(marked.input_edges(&edges));
  if (results < 1 || static_cast<size_t>(results) > edges.size()) return absl::InvalidArgumentError("too few results");
  deeprec::graph::Tensors reads;
  for (size_t i = results; i < edges.size(); ++i) {
    const Edge& edge = *edges[i];
    reads.emplace_back(edge.src()->name(), edge.src_output(), BaseType(edge.src()->output_type(edge.src_output())));
  }
  NodeDefBuilder builder(marked.name(), kind.op);
  TF_RETURN_IF_ERROR(kind.build(marked.attrs(), reads, &builder));
  builder.Device(marked.requested_device());
  std::vector<std::string> classes;
  if (GetNodeAttr(marked.attrs(), "_class", &classes).ok()) builder.Attr("_class", classes);
  return builder.Finalize(definition);
}

struct Reader {
  Node* node;
  int input, output;
};

std::vector<Reader> ReadersOf(const Node* node) {
  std::vector<Reader> readers;
  for (const Edge* edge : node->out_edges()) readers.push_back({edge->dst(), edge->dst_input(), edge->src_output()});
  return readers;
}

// What the sub-graph of a result waits for on the way back to what the mark reads.
Nodes ControlsOf(Node* result, const std::vector<std::pair<Node*, int>>& inputs, int results) {
  absl::flat_hash_set<std::pair<const Node*, int>> reads;
  for (size_t i = results; i < inputs.size(); ++i) reads.insert({inputs[i].first, inputs[i].second});
  Nodes within = {result}, controls;
  std::vector<Node*> ahead = {result};
  while (!ahead.empty()) {
    const Node* node = ahead.back();
    ahead.pop_back();
    // Into a condition nobody looks: what is in a branch may be dead. The Python layer marks none in which something is waited for.
    if (node->IsMerge()) continue;
    for (const Edge* edge : node->in_edges()) {
      if (edge->src()->IsSource()) continue;
      if (edge->IsControlEdge()) {
        controls.insert(edge->src());
      } else if (!reads.contains({edge->src(), edge->src_output()}) && within.insert(edge->src()).second) {
        ahead.push_back(edge->src());
      }
    }
  }
  for (Node* node : within) controls.erase(node);
  return controls;
}

// Leads readers of output `output` of `result`, and what waits for it, to output `i` of `op`, through an Identity of its name.
absl::Status TakePlace(Graph* graph, Node* result, int output, Node* op, int i, const Nodes& controls) {
  const std::string name = result->name();
  if (result->num_outputs() != 1 || output != 0) return absl::InvalidArgumentError(absl::StrCat(name, " has several outputs"));
  result->set_name(absl::StrCat(name, "/_marked"));
  NodeDef definition;
  TF_RETURN_IF_ERROR(NodeDefBuilder(name, "Identity")
                         .Input(op->name(), i, op->output_type(i))
                         .Device(result->requested_device())
                         .Finalize(&definition));
  absl::Status status;
  Node* const identity = graph->AddNode(std::move(definition), &status);
  TF_RETURN_IF_ERROR(status);
  for (const Reader& reader : ReadersOf(result)) {
    if (reader.output < 0) {
      graph->AddControlEdge(identity, reader.node);
    } else {
      TF_RETURN_IF_ERROR(graph->UpdateEdge(identity, 0, reader.node, reader.input));
    }
  }
  graph->AddEdge(op, i, identity, 0);
  for (Node* node : controls) graph->AddControlEdge(node, identity);
  return absl::OkStatus();
}

absl::Status Replace(Graph* graph, Node* marked, const MarkKind& kind) {
  NodeDef definition;
  int results = 0;
  TF_RETURN_IF_ERROR(GetNodeAttr(marked->attrs(), "_deeprec_mark_results", &results));
  TF_RETURN_IF_ERROR(OpOfMark(*marked, kind, results, &definition));
  std::vector<std::pair<Node*, int>> inputs(marked->num_inputs());
  std::vector<Node*> before;
  for (const Edge* edge : marked->in_edges()) {
    if (edge->IsControlEdge()) {
      before.push_back(edge->src());
    } else {
      inputs[edge->dst_input()] = {edge->src(), edge->src_output()};
    }
  }
  const std::vector<Reader> readers = ReadersOf(marked);
  graph->RemoveNode(marked);
  // The op waits for what the sub-graph waits for. What itself waits for a result, as an update of moving averages does for the
  // moments, holds up only the result that waited for it.
  std::vector<Nodes> controls(results);
  if (!kind.loop) {
    std::vector<Node*> made;
    bool waits = false;
    for (int i = 0; i < results; ++i) {
      made.push_back(inputs[i].first);
      controls[i] = ControlsOf(inputs[i].first, inputs, results);
      waits |= !controls[i].empty();
    }
    for (const Reader& reader : readers) made.push_back(reader.node);
    const Nodes behind = waits ? deeprec::graph::NodesBehind(made) : Nodes();
    for (Nodes& of_result : controls) {
      Nodes late;
      for (Node* node : of_result) {
        if (behind.contains(node)) {
          late.insert(node);
        } else {
          before.push_back(node);
        }
      }
      of_result = std::move(late);
    }
  }
  absl::Status status;
  Node* const op = graph->AddNode(std::move(definition), &status);
  TF_RETURN_IF_ERROR(status);
  for (size_t i = results; i < inputs.size(); ++i) {
    graph->AddEdge(inputs[i].first, inputs[i].second, op, static_cast<int>(i) - results);
  }
  for (Node* node : before) graph->AddControlEdge(node, op);
  for (const Reader& reader : readers) {
    if (reader.output < 0) {
      graph->AddControlEdge(op, reader.node);
    } else if (reader.output < results) {
      graph->AddEdge(op, reader.output, reader.node, reader.input);
    } else {
      // Of what the sub-graph reads: the ops that gradients make of every output.
      graph->AddEdge(inputs[reader.output].first, inputs[reader.output].second, reader.node, reader.input);
    }
  }
  for (int i = 0; i < results; ++i) TF_RETURN_IF_ERROR(TakePlace(graph, inputs[i].first, inputs[i].second, op, i, controls[i]));
  return absl::OkStatus();
}

class MarkPass : public GraphOptimizationPass {
 public:
  absl::Status Run(const GraphOptimizationPassOptions& options) override {
    if (options.graph == nullptr || *options.graph == nullptr) return absl::OkStatus();
    Graph* const graph = options.graph->get();
    std::vector<std::pair<Node*, const MarkKind*>> marked;
    for (Node* node : graph->op_nodes()) {
      std::string name;
      if (node->type_string() != "IdentityN" || !GetNodeAttr(node->attrs(), kMark, &name).ok()) continue;
      const MarkKind* const kind = deeprec::graph::FindMarkKind(name);
      if (kind != nullptr && deeprec::graph::FusionEnabled(kind->fusion)) marked.emplace_back(node, kind);
    }
    for (const auto& [node, kind] : marked) {
      const std::string name = node->name();
      const absl::Status status = Replace(graph, node, *kind);
      if (!status.ok()) {
        return absl::InvalidArgumentError(absl::StrCat("The mark on node ", name, " for one ", kind->op, " cannot be followed: ",
                                                       status.message(), ". TF_DEEPREC_DISABLE_FUSIONS=", kind->fusion,
                                                       " runs the sub-graph as it is."));
      }
    }
    return absl::OkStatus();
  }
};

REGISTER_OPTIMIZATION(OptimizationPassRegistry::PRE_PLACEMENT, 0, MarkPass);

}  // namespace
}  // namespace tensorflow
