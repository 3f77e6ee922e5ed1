#include "tensorflow/core/fusion/rewriter.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/fusion/template.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/util/device_name_utils.h"

namespace deeprec {
namespace fusion {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;

const std::string& DeviceOf(const Node* node) {
  return node->has_assigned_device_name() ? node->assigned_device_name() : node->requested_device();
}

bool OnCpu(const Node* node) {
  tensorflow::DeviceNameUtils::ParsedName device;
  const std::string& name = DeviceOf(node);
  if (name.empty()) return true;
  return tensorflow::DeviceNameUtils::ParseFullName(name, &device) && (!device.has_type || device.type == "CPU");
}

bool Reads(const Node* node, const OutputTensor& tensor) {
  for (const Edge* edge : node->in_edges()) {
    if (edge->src() == tensor.node && edge->src_output() == tensor.index) return true;
  }
  return false;
}

// Whether nothing but where the ops stand speaks against a replacement.
bool Allowed(const Node* root, const Replacement& replacement) {
  if (!OnCpu(root)) return false;
  for (const Node* node : replacement.between) {
    if (!node->IsConstant() && DeviceOf(node) != DeviceOf(root)) return false;
    if (node->IsControlFlow()) return false;
  }
  for (const OutputTensor& input : replacement.inputs) {
    if (input.node == nullptr) return false;
    if (tensorflow::IsRefType(input.node->output_type(input.index)) && !Reads(root, input)) return false;
  }
  return true;
}

// Whether nothing would notice that the node is gone.
bool Removable(const Node* node) {
  if (!node->IsOp() || node->IsControlFlow() || node->op_def().is_stateful()) return false;
  return std::all_of(node->out_edges().begin(), node->out_edges().end(),
                     [](const Edge* edge) { return edge->dst()->IsSink(); });
}

// Removes a node, if nothing reads it, and what was made for it alone. Its name goes to `names`, those of others behind.
void RemoveUnread(Graph* graph, Node* node, std::vector<std::string>* names) {
  if (!Removable(node)) return;
  // A set of ids: one node may be read by several inputs, and is gone after the first.
  std::set<int> sources;
  for (const Edge* edge : node->in_edges()) {
    if (!edge->IsControlEdge()) sources.insert(edge->src()->id());
  }
  names->push_back(node->name());
  graph->RemoveNode(node);
  for (int id : sources) {
    if (Node* const source = graph->FindNodeId(id)) RemoveUnread(graph, source, names);
  }
}

// Puts the new op in the place of `root`; null if it is not valid there, and then nothing has changed.
Node* Replace(Graph* graph, Node* root, Replacement replacement) {
  replacement.def.set_name(root->name());
  replacement.def.set_device(root->requested_device());
  const tensorflow::OpDef* op = nullptr;
  if (!graph->op_registry()->LookUpOpDef(replacement.def.op(), &op).ok()) return nullptr;
  tensorflow::AddDefaultsToNodeDef(*op, &replacement.def);
  absl::Status status;
  Node* const node = graph->AddNode(std::move(replacement.def), &status);
  if (!status.ok()) return nullptr;
  const bool fits = node->num_inputs() == int(replacement.inputs.size()) && node->output_types() == root->output_types();
  bool same_types = fits;
  for (int i = 0; same_types && i < node->num_inputs(); ++i) {
    const OutputTensor& input = replacement.inputs[i];
    same_types = tensorflow::BaseType(input.node->output_type(input.index)) == node->input_type(i);
  }
  if (!same_types) {
    graph->RemoveNode(node);
    return nullptr;
  }
  if (root->has_assigned_device_name()) node->set_assigned_device_name(root->assigned_device_name());
  for (int i = 0; i < node->num_inputs(); ++i) {
    graph->AddEdge(replacement.inputs[i].node, replacement.inputs[i].index, node, i);
  }
  std::vector<const Node*> waiting(replacement.between.begin(), replacement.between.end());
  waiting.push_back(root);
  for (const Node* other : waiting) {
    for (const Edge* edge : other->in_edges()) {
      if (edge->IsControlEdge() && !edge->src()->IsSource()) graph->AddControlEdge(edge->src(), node);
    }
  }
  struct Reader {
    Node* node;
    int input, output;
  };
  std::vector<Reader> readers;
  for (const Edge* edge : root->out_edges()) readers.push_back({edge->dst(), edge->dst_input(), edge->src_output()});
  graph->RemoveNode(root);
  for (const Reader& reader : readers) {
    if (reader.input == Graph::kControlSlot) {
      graph->AddControlEdge(node, reader.node);
    } else {
      graph->AddEdge(node, reader.output, reader.node, reader.input);
    }
  }
  return node;
}

void FuseAt(Graph* graph, Node* root, const Template& fusion, std::vector<Fused>* all) {
  std::optional<Replacement> replacement = fusion.match(root);
  if (!replacement || !Allowed(root, *replacement)) return;
  std::set<int> between;
  for (const Node* node : replacement->between) between.insert(node->id());
  Fused fused = {fusion.name, root->name(), replacement->def.op(), {root->name()}};
  Node* const node = Replace(graph, root, *std::move(replacement));
  if (node == nullptr) return;
  // One may be read by the next: as often as something goes.
  for (size_t gone = 0; gone != fused.replaced.size();) {
    gone = fused.replaced.size();
    for (int id : between) {
      if (Node* const old = graph->FindNodeId(id)) RemoveUnread(graph, old, &fused.replaced);
    }
  }
  node->AddAttr(kTemplateAttr, fused.template_name);
  node->AddAttr(kReplacedAttr, fused.replaced);
  all->push_back(std::move(fused));
}

}  // namespace

std::vector<Fused> Fuse(Graph* graph, const std::function<bool(const std::string&)>& enabled) {
  std::vector<Fused> all;
  for (const Template& fusion : Templates()) {
    if (!enabled(fusion.name)) continue;
    // New nodes come behind the others, where a longer chain may go on with them.
    for (int id = 0; id < graph->num_node_ids(); ++id) {
      Node* const node = graph->FindNodeId(id);
      if (node == nullptr || !node->IsOp()) continue;
      const auto is_root = [node](const char* op) { return node->type_string() == op; };
      if (std::any_of(fusion.roots.begin(), fusion.roots.end(), is_root)) FuseAt(graph, node, fusion, &all);
    }
  }
  if (!all.empty()) tensorflow::FixupSourceAndSinkEdges(graph);
  return all;
}

std::string Summary(const std::vector<Fused>& fused) {
  std::map<std::string, int> counts;
  for (const Fused& one : fused) ++counts[one.template_name];
  std::string text;
  for (const auto& [name, count] : counts) absl::StrAppend(&text, text.empty() ? "" : ", ", count, " ", name);
  return text;
}

}  // namespace fusion
}  // namespace deeprec
