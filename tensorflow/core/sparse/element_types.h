// Storage types of table elements, free of any TensorFlow or Eigen type so that the per-ISA files
// can name them. Half and BFloat16 are layout compatible with Eigen::half and Eigen::bfloat16.

#ifndef TENSORFLOW_CORE_SPARSE_ELEMENT_TYPES_H_
#define TENSORFLOW_CORE_SPARSE_ELEMENT_TYPES_H_

#include <stdint.h>

namespace deeprec {
namespace sparse {

struct Half {
  uint16_t bits;
};

struct BFloat16 {
  uint16_t bits;
};

enum class ElementType : int { kHalf = 0, kBFloat16, kFloat, kDouble };
constexpr int kNumElementTypes = 4;

constexpr int ElementSize(ElementType type) {
  return type == ElementType::kDouble ? 8 : type == ElementType::kFloat ? 4 : 2;
}

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_ELEMENT_TYPES_H_
