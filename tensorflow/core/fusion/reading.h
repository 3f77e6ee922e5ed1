// What a graph says about a tensor without running: where it comes from, and its values if these are constant.

#ifndef TENSORFLOW_CORE_FUSION_READING_H_
#define TENSORFLOW_CORE_FUSION_READING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/graph/graph.h"

namespace deeprec {
namespace fusion {

using tensorflow::Node;
using tensorflow::OutputTensor;

// Input `i` of a node.
OutputTensor Input(const Node* node, int i);

// Whether input `i` of `node` is output 0 of a node of this op; then `*found` is that node.
bool InputIs(const Node* node, int i, const char* op, Node** found);

// Whether nothing but `reader` reads or waits for a node.
bool ReadOnlyBy(const Node* node, const Node* reader);

tensorflow::DataType TypeAttr(const Node* node, const char* name);
// False if there is no such attribute.
bool BoolAttr(const Node* node, const char* name);

// The value of a Const.
std::optional<tensorflow::Tensor> Constant(const Node* node);

// A Const of int32 or int64 as numbers; `*rank` is 0 or 1.
std::optional<std::vector<int64_t>> IntConstant(const Node* node, int* rank = nullptr);

// Whether a node is a Const of one whole number, `value`, as a scalar or as a vector of one.
bool IsInt(const Node* node, int64_t value);

// A tensor all of whose elements are `value`.
struct Uniform {
  tensorflow::Tensor value;  // a scalar
  // The shape is this one, or else that of `like`.
  std::optional<tensorflow::TensorShape> shape;
  OutputTensor like;
  // The nodes that make it.
  std::vector<Node*> nodes;
};

std::optional<Uniform> ReadUniform(const OutputTensor& tensor);

}  // namespace fusion
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_FUSION_READING_H_
