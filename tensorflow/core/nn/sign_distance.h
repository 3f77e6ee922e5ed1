// How far apart the signs of two vectors are.

#ifndef TENSORFLOW_CORE_NN_SIGN_DISTANCE_H_
#define TENSORFLOW_CORE_NN_SIGN_DISTANCE_H_

#include <cstdint>
#include <cstring>

namespace deeprec {
namespace nn {

// The number of places at which a and b have unequal sign bits; that of -0 and of a NaN counts as it
// stands.
inline int64_t SignDistance(const float* a, const float* b, int64_t size) {
  uint64_t count = 0;
  for (int64_t i = 0; i < size; ++i) {
    uint32_t x, y;
    std::memcpy(&x, a + i, sizeof(x));
    std::memcpy(&y, b + i, sizeof(y));
    count += (x ^ y) >> 31;
  }
  return static_cast<int64_t>(count);
}

}  // namespace nn
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_NN_SIGN_DISTANCE_H_
