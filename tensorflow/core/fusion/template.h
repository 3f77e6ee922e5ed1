// What a fusion template is: it looks at one node of a graph and says by what op that node, with nodes that feed it, can be replaced.

#ifndef TENSORFLOW_CORE_FUSION_TEMPLATE_H_
#define TENSORFLOW_CORE_FUSION_TEMPLATE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/graph.h"

namespace deeprec {
namespace fusion {

using tensorflow::Node;
using tensorflow::OutputTensor;

// The op that takes the place of a node. It has the node's outputs, and computes them from `inputs`.
struct Replacement {
  explicit Replacement(const char* op) { def.set_op(op); }

  template <class T>
  void Set(const char* attr, const T& value) {
    tensorflow::AddNodeAttr(attr, value, &def);
  }

  tensorflow::NodeDef def;  // op and attributes
  std::vector<OutputTensor> inputs;
  // Nodes between the inputs and the replaced one. What waits for these waits for the new op too; those that nothing else
  // reads go.
  std::vector<Node*> between;
};

struct Template {
  // By which it is listed and switched off.
  const char* name;
  // Ops of the nodes that `match` is asked about.
  std::vector<const char*> roots;
  std::optional<Replacement> (*match)(Node* root);
};

// All there are, in the order in which they are tried.
const std::vector<Template>& Templates();

// One file each.
std::optional<Replacement> MatchSelectFill(Node* root);
std::optional<Replacement> MatchSparseReshape(Node* root);
std::optional<Replacement> MatchSparseFlatten(Node* root);
std::optional<Replacement> MatchOneHotSum(Node* root);
std::optional<Replacement> MatchConcatCast(Node* root);
std::optional<Replacement> MatchL2Normalize(Node* root);
std::optional<Replacement> MatchBiasActivation(Node* root);

}  // namespace fusion
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_FUSION_TEMPLATE_H_
