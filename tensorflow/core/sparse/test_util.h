// Helpers of the tests in this folder: 16-bit values by arithmetic instead of bit tricks, ISAs to test,
// threads that are really there.

#ifndef TENSORFLOW_CORE_SPARSE_TEST_UTIL_H_
#define TENSORFLOW_CORE_SPARSE_TEST_UTIL_H_

#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "tensorflow/core/sparse/sparse_apply.h"

namespace deeprec {
namespace sparse {

inline std::vector<Isa> AvailableIsas() {
  std::vector<Isa> isas;
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= BestIsa()) isas.push_back(isa);
  }
  return isas;
}

inline Threads TestThreads(int count) {
  Threads threads;
  threads.count = count;
  threads.run = [](int n, const std::function<void(int)>& body) {
    std::vector<std::thread> workers;
    for (int i = 0; i < n; ++i) workers.emplace_back([&body, i] { body(i); });
    for (std::thread& worker : workers) worker.join();
  };
  return threads;
}

// Rounds to `digits` binary digits, to nearest even, with `min_exponent` the exponent of the smallest
// normal number. No overflow: for values well inside the range.
inline double RoundTo(double x, int digits, int min_exponent) {
  if (x == 0) return x;
  int exponent;
  std::frexp(x, &exponent);  // |x| in [2^(exponent-1), 2^exponent)
  const double unit = std::ldexp(1.0, std::max(exponent - digits, min_exponent - digits + 1));
  return std::nearbyint(x / unit) * unit;
}

template <class T>
struct Element;

template <>
struct Element<float> {
  static constexpr ElementType kType = ElementType::kFloat;
  using Compute = float;
  static constexpr double kEpsilon = 1.2e-7;
  static double Get(float x) { return x; }
  static float Make(double x) { return float(x); }
};

template <>
struct Element<double> {
  static constexpr ElementType kType = ElementType::kDouble;
  using Compute = double;
  static constexpr double kEpsilon = 2.3e-16;
  static double Get(double x) { return x; }
  static double Make(double x) { return x; }
};

template <>
struct Element<Half> {
  static constexpr ElementType kType = ElementType::kHalf;
  using Compute = float;
  static constexpr double kEpsilon = 0.98e-3;
  static double Get(Half x) {
    const int exponent = (x.bits >> 10) & 31;
    const int mantissa = x.bits & 1023;
    const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(1024 + mantissa, exponent - 25);
    return x.bits & 0x8000 ? -magnitude : magnitude;
  }
  static Half Make(double x) {
    const double r = std::fabs(RoundTo(x, 11, -14));
    const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    if (r < std::ldexp(1.0, -14)) return Half{uint16_t(sign | uint16_t(std::ldexp(r, 24)))};
    int exponent;
    const double fraction = std::frexp(r, &exponent);
    const int mantissa = int(fraction * 2048) - 1024;
    return Half{uint16_t(sign | ((exponent + 14) << 10) | mantissa)};
  }
};

template <>
struct Element<BFloat16> {
  static constexpr ElementType kType = ElementType::kBFloat16;
  using Compute = float;
  static constexpr double kEpsilon = 7.9e-3;
  static double Get(BFloat16 x) {
    const uint32_t bits = uint32_t(x.bits) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  static BFloat16 Make(double x) {
    const float value = float(RoundTo(x, 8, -126));
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return BFloat16{uint16_t(bits >> 16)};
  }
};

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_TEST_UTIL_H_
