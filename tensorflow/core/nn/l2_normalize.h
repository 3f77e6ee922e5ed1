// Vectors of length one, and the gradient.

#ifndef TENSORFLOW_CORE_NN_L2_NORMALIZE_H_
#define TENSORFLOW_CORE_NN_L2_NORMALIZE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "Eigen/Core"

namespace deeprec {
namespace nn {

// A tensor as [outer, size, inner]; the vectors lie along `size`.
struct Vectors {
  int64_t size = 0;
  int64_t inner = 0;
};

template <class T>
using Strided = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<>>;
template <class T>
using ConstStrided = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<>>;

// Calls work(offset of the vector's first element) for the vectors [begin, end) of outer * inner.
template <class Work>
void ForEachVector(const Vectors& v, int64_t begin, int64_t end, Work work) {
  for (int64_t i = begin; i < end; ++i) work(i / v.inner * v.size * v.inner + i % v.inner);
}

// y = x / sqrt(max(sum(x^2), epsilon)) for the vectors [begin, end).
template <class T>
void L2Normalize(const T* x, const Vectors& v, T epsilon, int64_t begin, int64_t end, T* y) {
  ForEachVector(v, begin, end, [&](int64_t offset) {
    // Stride 1 has loads of several elements.
    auto normalize = [epsilon](const auto& in, auto out) {
      out = in * (T(1) / std::sqrt(std::max(in.square().sum(), epsilon)));
    };
    if (v.inner == 1) {
      normalize(Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>(x + offset, v.size),
                Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>(y + offset, v.size));
    } else {
      const Eigen::InnerStride<> stride(v.inner);
      normalize(ConstStrided<T>(x + offset, v.size, stride), Strided<T>(y + offset, v.size, stride));
    }
  });
}

// With r = 1 / sqrt(max(sum(x^2), epsilon)): dx = r (dy - x r^2 sum(x dy)), and r dy where epsilon is
// the greater.
template <class T>
void L2NormalizeGradient(const T* dy, const T* x, const Vectors& v, T epsilon, int64_t begin,
                         int64_t end, T* dx) {
  ForEachVector(v, begin, end, [&](int64_t offset) {
    auto gradient = [epsilon](const auto& grad, const auto& in, auto out) {
      const T squares = in.square().sum();
      const T r = T(1) / std::sqrt(std::max(squares, epsilon));
      const T along = squares >= epsilon ? r * r * (in * grad).sum() : T(0);
      out = r * (grad - along * in);
    };
    if (v.inner == 1) {
      using Flat = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
      gradient(Flat(dy + offset, v.size), Flat(x + offset, v.size),
               Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>(dx + offset, v.size));
    } else {
      const Eigen::InnerStride<> stride(v.inner);
      gradient(ConstStrided<T>(dy + offset, v.size, stride), ConstStrided<T>(x + offset, v.size, stride),
               Strided<T>(dx + offset, v.size, stride));
    }
  });
}

}  // namespace nn
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_NN_L2_NORMALIZE_H_
