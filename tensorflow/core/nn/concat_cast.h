// Conversion of rows of numbers, as Cast has it.

#ifndef TENSORFLOW_CORE_NN_CONCAT_CAST_H_
#define TENSORFLOW_CORE_NN_CONCAT_CAST_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "Eigen/Core"

namespace deeprec {
namespace nn {

// y[i] = x[i], rounded to nearest, ties to even.
template <class From, class To>
void Convert(const From* x, int64_t n, To* y) {
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Eigen::bfloat16>) {
    // Without branches, which gives it a vector form.
    for (int64_t i = 0; i < n; ++i) {
      uint32_t bits;
      std::memcpy(&bits, x + i, sizeof(bits));
      const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
      const uint32_t not_a_number = ((bits >> 16) & 0x8000u) | 0x7fc0u;
      const uint32_t result = (bits & 0x7fffffffu) > 0x7f800000u ? not_a_number : rounded;
      const uint16_t half = uint16_t(result);
      std::memcpy(static_cast<void*>(y + i), &half, sizeof(half));
    }
  } else {
    using Vector = Eigen::Map<Eigen::Array<To, Eigen::Dynamic, 1>>;
    Vector(y, n) = Eigen::Map<const Eigen::Array<From, Eigen::Dynamic, 1>>(x, n).template cast<To>();
  }
}

}  // namespace nn
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_NN_CONCAT_CAST_H_
