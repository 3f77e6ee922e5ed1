// What depends on nodes of a graph.

#ifndef TENSORFLOW_CORE_GRAPH_NODES_BEHIND_H_
#define TENSORFLOW_CORE_GRAPH_NODES_BEHIND_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "tensorflow/core/graph/graph.h"

namespace deeprec {
namespace graph {

using Nodes = absl::flat_hash_set<tensorflow::Node*>;

// Nodes that can be reached from `nodes` by an edge or more; some of `nodes` may be among them.
inline Nodes NodesBehind(const std::vector<tensorflow::Node*>& nodes) {
  Nodes found;
  std::vector<tensorflow::Node*> ahead = nodes;
  while (!ahead.empty()) {
    const tensorflow::Node* node = ahead.back();
    ahead.pop_back();
    for (const tensorflow::Edge* edge : node->out_edges()) {
      if (found.insert(edge->dst()).second) ahead.push_back(edge->dst());
    }
  }
  return found;
}

}  // namespace graph
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_GRAPH_NODES_BEHIND_H_
