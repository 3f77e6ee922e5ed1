// Layer normalization of rows and its gradients. Ba, Kiros and Hinton, "Layer Normalization", 2016.

#ifndef TENSORFLOW_CORE_NN_LAYER_NORM_H_
#define TENSORFLOW_CORE_NN_LAYER_NORM_H_

#include <cmath>
#include <cstdint>

#include "Eigen/Core"

namespace deeprec {
namespace nn {

template <class T>
using Row = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using ConstRow = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

// For the rows [begin, end) of x [rows, size], size > 0: mean, rvariance = 1 / sqrt(variance +
// epsilon), and y = (x - mean) rvariance gamma + beta.
//
// The variance is that of the row, sum((x - mean)^2) / size, in a second pass over a row that lies in
// the cache: the difference of sums of squares loses the digits of a row far from zero.
template <class T>
void LayerNorm(const T* x, const T* gamma, const T* beta, int64_t size, T epsilon, int64_t begin,
               int64_t end, T* y, T* mean, T* rvariance) {
  const ConstRow<T> scale(gamma, size), shift(beta, size);
  for (int64_t r = begin; r < end; ++r) {
    const ConstRow<T> in(x + r * size, size);
    const T m = in.sum() / T(size);
    const T inverse = T(1) / std::sqrt((in - m).square().sum() / T(size) + epsilon);
    mean[r] = m;
    rvariance[r] = inverse;
    Row<T>(y + r * size, size) = (in - m) * inverse * scale + shift;
  }
}

// Rows [begin, end) of dx. With n = (x - mean) rvariance and g = dy gamma:
// dx = rvariance (g - average(g) - n average(g n)).
template <class T>
void LayerNormGradient(const T* dy, const T* x, const T* mean, const T* rvariance, const T* gamma,
                       int64_t size, int64_t begin, int64_t end, T* dx) {
  const ConstRow<T> scale(gamma, size);
  for (int64_t r = begin; r < end; ++r) {
    const ConstRow<T> grad(dy + r * size, size), in(x + r * size, size);
    const T average = (grad * scale).sum() / T(size);
    const T along = (grad * scale * (in - mean[r])).sum() * rvariance[r] / T(size);
    Row<T>(dx + r * size, size) =
        rvariance[r] * (grad * scale - average - (in - mean[r]) * (rvariance[r] * along));
  }
}

// Columns [begin, end) of dgamma = sum over rows of dy n and dbeta = sum of dy. Each column is summed
// in one order, whatever the number of threads.
template <class T>
void LayerNormParameterGradients(const T* dy, const T* x, const T* mean, const T* rvariance,
                                 int64_t rows, int64_t size, int64_t begin, int64_t end, T* dgamma,
                                 T* dbeta) {
  const int64_t width = end - begin;
  Row<T> scale(dgamma + begin, width), shift(dbeta + begin, width);
  scale.setZero();
  shift.setZero();
  for (int64_t r = 0; r < rows; ++r) {
    const ConstRow<T> grad(dy + r * size + begin, width), in(x + r * size + begin, width);
    scale += grad * ((in - mean[r]) * rvariance[r]);
    shift += grad;
  }
}

}  // namespace nn
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_NN_LAYER_NORM_H_
