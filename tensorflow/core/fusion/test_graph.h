// Graphs for the tests of fusion, and the few stock ops that they are made of: their definitions are in a library that these tests
// do without.

#ifndef TENSORFLOW_CORE_FUSION_TEST_GRAPH_H_
#define TENSORFLOW_CORE_FUSION_TEST_GRAPH_H_

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/fusion/rewriter.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"

namespace deeprec {
namespace fusion {

using tensorflow::DataType;
using tensorflow::DT_BOOL;
using tensorflow::DT_FLOAT;
using tensorflow::DT_INT32;
using tensorflow::DT_INT64;
using tensorflow::Edge;
using tensorflow::Node;
using tensorflow::OutputTensor;
using tensorflow::Tensor;
using tensorflow::TensorShape;

class FusionTest : public ::testing::Test {
 protected:
  FusionTest() : graph_(tensorflow::OpRegistry::Global()) {}

  // An op named `name`; attributes of one type are set by `set`.
  template <class Set>
  Node* Op(const std::string& op, const std::string& name, const std::vector<OutputTensor>& inputs, Set set) {
    tensorflow::NodeDef def;
    def.set_op(op);
    def.set_name(name);
    set(&def);
    const tensorflow::OpDef* op_def = nullptr;
    TF_CHECK_OK(graph_.op_registry()->LookUpOpDef(op, &op_def));
    tensorflow::AddDefaultsToNodeDef(*op_def, &def);
    absl::Status status;
    Node* const node = graph_.AddNode(def, &status);
    TF_CHECK_OK(status);
    for (size_t i = 0; i < inputs.size(); ++i) graph_.AddEdge(inputs[i].node, inputs[i].index, node, int(i));
    return node;
  }
  Node* Op(const std::string& op, const std::string& name, const std::vector<OutputTensor>& inputs,
           const char* attr = nullptr, DataType type = DT_FLOAT) {
    return Op(op, name, inputs, [&](tensorflow::NodeDef* def) {
      if (attr != nullptr) tensorflow::AddNodeAttr(attr, type, def);
    });
  }

  Node* Arg(const std::string& name, DataType type) { return Op("TestInput", name, {}, "T", type); }

  Node* Const(const std::string& name, const Tensor& value) {
    return Op("Const", name, {}, [&](tensorflow::NodeDef* def) {
      tensorflow::AddNodeAttr("dtype", value.dtype(), def);
      tensorflow::AddNodeAttr("value", value, def);
    });
  }
  Node* Ints(const std::string& name, const std::vector<int32_t>& values) {
    Tensor tensor(DT_INT32, TensorShape({int64_t(values.size())}));
    std::copy(values.begin(), values.end(), tensor.flat<int32_t>().data());
    return Const(name, tensor);
  }
  Node* Int(const std::string& name, int32_t value) { return Const(name, Tensor(value)); }
  Node* Float(const std::string& name, float value) { return Const(name, Tensor(value)); }

  // What reads a tensor from outside.
  Node* Output(const OutputTensor& tensor, const std::string& name = "out") {
    return Op("TestOutput", name, {tensor}, "T", tensor.node->output_type(tensor.index));
  }

  std::vector<Fused> Run(const std::string& disabled = "") {
    tensorflow::FixupSourceAndSinkEdges(&graph_);
    return Fuse(&graph_, [&](const std::string& name) { return name != disabled; });
  }

  // The node of that name, or null.
  Node* Find(const std::string& name) {
    Node* found = nullptr;
    for (Node* node : graph_.op_nodes()) {
      if (node->name() != name) continue;
      EXPECT_EQ(found, nullptr) << "two nodes are named " << name;
      found = node;
    }
    return found;
  }

  std::string InputName(const Node* node, int i) {
    const Edge* edge = nullptr;
    if (!node->input_edge(i, &edge).ok()) return "none";
    const std::string& name = edge->src()->name();
    return edge->src_output() == 0 ? name : name + ":" + std::to_string(edge->src_output());
  }

  bool WaitsFor(const Node* node, const Node* other) {
    for (const Edge* edge : node->in_edges()) {
      if (edge->IsControlEdge() && edge->src() == other) return true;
    }
    return false;
  }

  tensorflow::Graph graph_;
};

}  // namespace fusion
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_FUSION_TEST_GRAPH_H_
