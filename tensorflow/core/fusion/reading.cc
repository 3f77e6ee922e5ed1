#include "tensorflow/core/fusion/reading.h"

#include <cstring>
#include <string>

#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.pb.h"

namespace deeprec {
namespace fusion {

using tensorflow::DataType;
using tensorflow::Tensor;
using tensorflow::TensorShape;

OutputTensor Input(const Node* node, int i) {
  const tensorflow::Edge* edge = nullptr;
  if (!node->input_edge(i, &edge).ok()) return OutputTensor();
  return OutputTensor(edge->src(), edge->src_output());
}

bool InputIs(const Node* node, int i, const char* op, Node** found) {
  const OutputTensor input = Input(node, i);
  if (input.node == nullptr || input.index != 0 || input.node->type_string() != op) return false;
  *found = input.node;
  return true;
}

bool ReadOnlyBy(const Node* node, const Node* reader) {
  for (const tensorflow::Edge* edge : node->out_edges()) {
    if (edge->dst() != reader && !edge->dst()->IsSink()) return false;
  }
  return true;
}

DataType TypeAttr(const Node* node, const char* name) {
  DataType type = tensorflow::DT_INVALID;
  tensorflow::TryGetNodeAttr(node->attrs(), name, &type);
  return type;
}

bool BoolAttr(const Node* node, const char* name) {
  bool value = false;
  tensorflow::TryGetNodeAttr(node->attrs(), name, &value);
  return value;
}

std::optional<Tensor> Constant(const Node* node) {
  if (node == nullptr || !node->IsConstant()) return std::nullopt;
  const tensorflow::TensorProto* proto = nullptr;
  Tensor value;
  if (!tensorflow::TryGetNodeAttr(node->attrs(), "value", &proto) || !value.FromProto(*proto)) return std::nullopt;
  return value;
}

std::optional<std::vector<int64_t>> IntConstant(const Node* node, int* rank) {
  const DataType type = node == nullptr ? tensorflow::DT_INVALID : TypeAttr(node, "dtype");
  if (type != tensorflow::DT_INT32 && type != tensorflow::DT_INT64) return std::nullopt;
  const std::optional<Tensor> value = Constant(node);
  if (!value || value->dims() > 1) return std::nullopt;
  if (rank != nullptr) *rank = value->dims();
  std::vector<int64_t> numbers(value->NumElements());
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = type == tensorflow::DT_INT32 ? value->flat<int32_t>()(i) : value->flat<int64_t>()(i);
  }
  return numbers;
}

bool IsInt(const Node* node, int64_t value) {
  const auto numbers = IntConstant(node);
  return numbers && numbers->size() == 1 && numbers->front() == value;
}

namespace {

// How deep expressions of uniform tensors are followed.
constexpr int kDepth = 4;

// The one value of all elements, bit by bit.
std::optional<Tensor> OneValue(const Tensor& tensor) {
  const size_t size = tensorflow::DataTypeSize(tensor.dtype());
  if (tensor.NumElements() == 0 || size == 0) return std::nullopt;
  const char* const bytes = static_cast<const char*>(tensor.data());
  if (std::memcmp(bytes, bytes + size, size * (tensor.NumElements() - 1)) != 0) return std::nullopt;
  Tensor value(tensor.dtype(), TensorShape({}));
  std::memcpy(value.data(), bytes, size);
  return value;
}

// Calls work(T()) for the element types that expressions of constants are computed in; false for others.
template <class Work>
bool WithType(DataType type, Work work) {
  switch (type) {
    case tensorflow::DT_FLOAT:
      return work(float());
    case tensorflow::DT_DOUBLE:
      return work(double());
    case tensorflow::DT_HALF:
      return work(Eigen::half());
    case tensorflow::DT_BFLOAT16:
      return work(tensorflow::bfloat16());
    case tensorflow::DT_INT32:
      return work(int32_t());
    case tensorflow::DT_INT64:
      return work(int64_t());
    default:
      return false;
  }
}

// `number` as a scalar.
std::optional<Tensor> Scalar(DataType type, int number) {
  Tensor value(type, TensorShape({}));
  const bool known = WithType(type, [&](auto zero) {
    value.scalar<decltype(zero)>()() = static_cast<decltype(zero)>(number);
    return true;
  });
  if (known) return value;
  // Of other types: 0 is no bit set; true, one.
  if (!tensorflow::DataTypeCanUseMemcpy(type) || (number != 0 && type != tensorflow::DT_BOOL)) return std::nullopt;
  std::memset(value.data(), number, tensorflow::DataTypeSize(type));
  return value;
}

// a op b as the op's kernel computes it.
std::optional<Tensor> Combine(const std::string& op, const Tensor& a, const Tensor& b) {
  Tensor value(a.dtype(), TensorShape({}));
  const bool known = WithType(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    // Signed overflow wraps in the kernels, and is undefined here.
    if constexpr (std::is_integral_v<T>) return false;
    const T x = a.scalar<T>()(), y = b.scalar<T>()();
    value.scalar<T>()() = op == "Mul" ? T(x * y) : op == "Sub" ? T(x - y) : T(x + y);
    return true;
  });
  return known ? std::optional<Tensor>(value) : std::nullopt;
}

std::optional<Uniform> Read(const OutputTensor& tensor, int depth);

// A tensor of the shape that is written in `dims`, an input of Fill and the like.
bool ReadShape(Node* dims, Uniform* uniform) {
  uniform->nodes.push_back(dims);
  if (dims->type_string() == "Shape") {
    uniform->like = Input(dims, 0);
    return uniform->like.node != nullptr;
  }
  const auto sizes = IntConstant(dims);
  TensorShape shape;
  if (!sizes || !tensorflow::TensorShape::BuildTensorShape(*sizes, &shape).ok()) return false;
  uniform->shape = shape;
  return true;
}

// A tensor of the shape of `like`, which itself may be uniform.
void BeLike(const OutputTensor& like, int depth, Uniform* uniform) {
  const std::optional<Uniform> source = Read(like, depth);
  if (!source) {
    uniform->like = like;
    return;
  }
  uniform->like = source->like;
  uniform->shape = source->shape;
  uniform->nodes.insert(uniform->nodes.end(), source->nodes.begin(), source->nodes.end());
}

// A uniform tensor and a scalar constant, combined element by element.
std::optional<Uniform> ReadBinary(Node* node, int depth) {
  std::optional<Uniform> sides[2] = {Read(Input(node, 0), depth), Read(Input(node, 1), depth)};
  if (!sides[0] || !sides[1] || sides[0]->value.dtype() != sides[1]->value.dtype()) return std::nullopt;
  const int scalar = sides[1]->shape && sides[1]->shape->dims() == 0 ? 1 : 0;
  if (!sides[scalar]->shape || sides[scalar]->shape->dims() != 0) return std::nullopt;
  const std::optional<Tensor> value = Combine(node->type_string(), sides[0]->value, sides[1]->value);
  if (!value) return std::nullopt;
  Uniform result = *sides[1 - scalar];
  result.value = *value;
  result.nodes.insert(result.nodes.end(), sides[scalar]->nodes.begin(), sides[scalar]->nodes.end());
  result.nodes.push_back(node);
  return result;
}

std::optional<Uniform> Read(const OutputTensor& tensor, int depth) {
  Node* const node = tensor.node;
  if (node == nullptr || tensor.index != 0 || depth == 0) return std::nullopt;
  const std::string& op = node->type_string();
  Uniform uniform;
  if (node->IsConstant()) {
    const std::optional<Tensor> constant = Constant(node);
    const std::optional<Tensor> value = constant ? OneValue(*constant) : std::nullopt;
    if (!value) return std::nullopt;
    uniform.value = *value;
    uniform.shape = constant->shape();
  } else if (op == "ZerosLike" || op == "OnesLike") {
    const std::optional<Tensor> value = Scalar(TypeAttr(node, "T"), op == "OnesLike");
    if (!value) return std::nullopt;
    uniform.value = *value;
    BeLike(Input(node, 0), depth - 1, &uniform);
  } else if (op == "Fill" || op == "BroadcastTo") {
    const int of_value = op == "Fill" ? 1 : 0;
    Node *scalar = Input(node, of_value).node, *dims = Input(node, 1 - of_value).node;
    const std::optional<Tensor> value = Constant(scalar);
    if (!value || value->dims() != 0 || !tensorflow::DataTypeCanUseMemcpy(value->dtype())) return std::nullopt;
    uniform.value = *value;
    uniform.nodes.push_back(scalar);
    if (!ReadShape(dims, &uniform)) return std::nullopt;
  } else if (op == "Mul" || op == "Sub" || op == "Add" || op == "AddV2") {
    return ReadBinary(node, depth - 1);
  } else {
    return std::nullopt;
  }
  uniform.nodes.push_back(node);
  return uniform;
}

}  // namespace

std::optional<Uniform> ReadUniform(const OutputTensor& tensor) { return Read(tensor, kDepth); }

}  // namespace fusion
}  // namespace deeprec
