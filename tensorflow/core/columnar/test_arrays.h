// Arrow arrays for tests, made by hand.

#ifndef TENSORFLOW_CORE_COLUMNAR_TEST_ARRAYS_H_
#define TENSORFLOW_CORE_COLUMNAR_TEST_ARRAYS_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/columnar/arrow_abi.h"

namespace deeprec {
namespace columnar {

// A schema that owns its parts.
struct TestSchema {
  explicit TestSchema(std::string f) : format(std::move(f)) {
    schema.format = format.c_str();
    schema.name = "x";
  }

  TestSchema* Child(TestSchema* other) {
    children.push_back(&other->schema);
    schema.children = children.data();
    schema.n_children = static_cast<int64_t>(children.size());
    return this;
  }

  std::string format;
  std::vector<ArrowSchema*> children;
  ArrowSchema schema{};
};

// An array that owns its buffers. Each buffer is of exactly its size, so that the address sanitizer sees what is read past it.
struct TestArray {
  explicit TestArray(int64_t length) { array.length = length; }

  template <class T>
  TestArray& Buffer(const std::vector<T>& values) {
    memory.push_back(std::make_unique<char[]>(values.size() * sizeof(T)));
    if (!values.empty()) memcpy(memory.back().get(), values.data(), values.size() * sizeof(T));
    return Add(memory.back().get());
  }

  TestArray& NoBuffer() { return Add(nullptr); }

  // Bits, the lowest first.
  TestArray& Bits(const std::vector<bool>& bits) {
    std::vector<uint8_t> bytes((bits.size() + 7) / 8);
    for (size_t i = 0; i < bits.size(); ++i) bytes[i / 8] |= uint8_t(bits[i]) << (i % 8);
    return Buffer(bytes);
  }

  TestArray& Child(TestArray* other) {
    children.push_back(&other->array);
    array.children = children.data();
    array.n_children = static_cast<int64_t>(children.size());
    return *this;
  }

  ArrowArray array{};
  std::vector<const void*> buffers;
  std::vector<ArrowArray*> children;
  std::vector<std::unique_ptr<char[]>> memory;

 private:
  TestArray& Add(const void* buffer) {
    buffers.push_back(buffer);
    array.buffers = buffers.data();
    array.n_buffers = static_cast<int64_t>(buffers.size());
    return *this;
  }
};

}  // namespace columnar
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_COLUMNAR_TEST_ARRAYS_H_
