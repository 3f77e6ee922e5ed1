// Replaces what the templates find in a graph.
//
// The graph is one that is about to run: what is fetched has an edge to the op that hands it over, what is fed is an
// input like any other. So a tensor that somebody needs has a reader, and none needs a list of names to be safe.
//
// A replacement keeps, for each node it changes: the name, the device, the control edges of the node and of those between it and
// the new inputs, and so the frame of a loop and the branch of a condition. Nodes between stay as long as anything else reads
// them. An input that is a reference to a variable is refused where the node did not read it itself: it would be read at another
// time.

#ifndef TENSORFLOW_CORE_FUSION_REWRITER_H_
#define TENSORFLOW_CORE_FUSION_REWRITER_H_

#include <functional>
#include <string>
#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace deeprec {
namespace fusion {

// One place where a template was used.
struct Fused {
  std::string template_name;
  std::string node;                   // the new one; it has the name of the one whose outputs it gives
  std::string op;                     // its op
  std::vector<std::string> replaced;  // the nodes that are gone, the one of that name too
};

// Attributes of a node that is the result of a fusion.
constexpr char kTemplateAttr[] = "_deeprec_fusion";
constexpr char kReplacedAttr[] = "_deeprec_fused_nodes";

// Uses the templates for which `enabled(name)` holds wherever they fit. The graph's edges to source and sink are in order
// afterwards.
std::vector<Fused> Fuse(tensorflow::Graph* graph, const std::function<bool(const std::string&)>& enabled);

// Such as "2 select, 1 sparse_reshape"; empty if there is nothing.
std::string Summary(const std::vector<Fused>& fused);

}  // namespace fusion
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_FUSION_REWRITER_H_
