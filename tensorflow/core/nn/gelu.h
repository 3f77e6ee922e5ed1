// The Gaussian error linear unit and its gradient.
//
// Exact: x Phi(x), Phi the normal distribution function. Approximate: x (1 + tanh(u)) / 2 with
// u = sqrt(2/pi) (x + 0.044715 x^3). Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.

#ifndef TENSORFLOW_CORE_NN_GELU_H_
#define TENSORFLOW_CORE_NN_GELU_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "unsupported/Eigen/SpecialFunctions"

namespace deeprec {
namespace nn {

// What the formulas are computed in: 16-bit types in float.
template <class T>
using Wide = std::conditional_t<sizeof(T) < sizeof(float), float, T>;

template <class T>
using Vector = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using ConstVector = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

namespace gelu_internal {

constexpr double kRootTwoOverPi = 0.79788456080286535588;
constexpr double kRootHalf = 0.70710678118654752440;
constexpr double kDensityAtZero = 0.39894228040143267794;  // of the normal distribution
constexpr double kCubic = 0.044715;

// A block and its intermediate results stay in the first cache.
constexpr int64_t kBlock = 512;
template <class W>
using Block = Eigen::Array<W, Eigen::Dynamic, 1, Eigen::ColMajor, kBlock, 1>;

// tanh(u), or 2 Phi(x) - 1.
template <class W>
Block<W> Gate(const Block<W>& x, bool approximate) {
  if (approximate) return (W(kRootTwoOverPi) * (x + W(kCubic) * x.cube())).tanh();
  return (W(kRootHalf) * x).erf();
}

}  // namespace gelu_internal

// y[i] = gelu(x[i]).
template <class T>
void Gelu(const T* x, int64_t n, bool approximate, T* y) {
  using namespace gelu_internal;
  using W = Wide<T>;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t size = std::min(kBlock, n - begin);
    const Block<W> in = ConstVector<T>(x + begin, size).template cast<W>();
    Vector<T>(y + begin, size) =
        (W(0.5) * in * (W(1) + Gate<W>(in, approximate))).template cast<T>();
  }
}

// dx[i] = dy[i] gelu'(x[i]).
template <class T>
void GeluGradient(const T* dy, const T* x, int64_t n, bool approximate, T* dx) {
  using namespace gelu_internal;
  using W = Wide<T>;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t size = std::min(kBlock, n - begin);
    const Block<W> in = ConstVector<T>(x + begin, size).template cast<W>();
    const Block<W> gate = Gate<W>(in, approximate);
    // Farther out the slope of the gate is 0, and the square of x may overflow.
    const Block<W> near = in.cwiseMax(W(-30)).cwiseMin(W(30));
    Block<W> slope;
    if (approximate) {
      slope = W(0.5 * kRootTwoOverPi) * (W(1) - gate.square()) * (W(1) + W(3 * kCubic) * near.square());
    } else {
      slope = W(kDensityAtZero) * (W(-0.5) * near.square()).exp();
    }
    Vector<T>(dx + begin, size) = (ConstVector<T>(dy + begin, size).template cast<W>() *
                                   (W(0.5) * (W(1) + gate) + near * slope))
                                      .template cast<T>();
  }
}

}  // namespace nn
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_NN_GELU_H_
