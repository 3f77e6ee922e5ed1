// Batch normalization of the columns of a matrix, by the batch's own mean and variance or by given ones, and its gradients. Ioffe and Szegedy,
// "Batch Normalization", 2015.

#ifndef TENSORFLOW_CORE_NN_BATCH_NORM_H_
#define TENSORFLOW_CORE_NN_BATCH_NORM_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace deeprec {
namespace nn {

// Columns that are done together: their sums stay in registers or the first cache, and their rows, which are passed over more than
// once, in the second.
constexpr int64_t kBatchNormColumns = 64;

// x [rows, size]. gamma, beta: of size, or null for ones and zeros. given_mean, given_variance: of size, or null to normalize by those of
// the batch.
template <class T>
struct BatchNormInput {
  const T* x;
  int64_t rows, size;
  const T *gamma, *beta, *given_mean, *given_variance;
  T epsilon;
};

// For columns [begin, end), at most kBatchNormColumns: mean, variance = mean of (x - mean)^2, of the batch, and, with them or with the
// given ones, y = (x - mean) gamma / sqrt(variance + epsilon) + beta. Without rows the first two are not numbers.
template <class T>
void BatchNorm(const BatchNormInput<T>& in, int64_t begin, int64_t end, T* y, T* mean, T* variance) {
  const int64_t width = end - begin;
  const T rows = T(in.rows);
  T sum[kBatchNormColumns] = {}, centre[kBatchNormColumns], scale[kBatchNormColumns], shift[kBatchNormColumns];
  for (int64_t r = 0; r < in.rows; ++r) {
    const T* x = in.x + r * in.size + begin;
    for (int64_t i = 0; i < width; ++i) sum[i] += x[i];
  }
  for (int64_t i = 0; i < width; ++i) {
    mean[begin + i] = centre[i] = sum[i] / rows;
    sum[i] = 0;
  }
  for (int64_t r = 0; r < in.rows; ++r) {
    const T* x = in.x + r * in.size + begin;
    for (int64_t i = 0; i < width; ++i) sum[i] += (x[i] - centre[i]) * (x[i] - centre[i]);
  }
  for (int64_t i = 0; i < width; ++i) {
    T by = variance[begin + i] = sum[i] / rows;
    if (in.given_mean != nullptr) {
      centre[i] = in.given_mean[begin + i];
      by = in.given_variance[begin + i];
    }
    scale[i] = (in.gamma == nullptr ? T(1) : in.gamma[begin + i]) / std::sqrt(by + in.epsilon);
    shift[i] = (in.beta == nullptr ? T(0) : in.beta[begin + i]) - centre[i] * scale[i];
  }
  for (int64_t r = 0; r < in.rows; ++r) {
    const T* x = in.x + r * in.size + begin;
    T* out = y + r * in.size + begin;
    for (int64_t i = 0; i < width; ++i) out[i] = x[i] * scale[i] + shift[i];
  }
}

// What the results of BatchNorm get: dy [rows, size]; dmean, dvariance [size].
template <class T>
struct BatchNormGradients {
  const T *dy, *dmean, *dvariance;
};

// Of what BatchNorm read; null for what is not wanted. The last two are zeros if nothing was given.
template <class T>
struct BatchNormInputGradients {
  T *dx, *dgamma, *dbeta, *dgiven_mean, *dgiven_variance;
};

// For columns [begin, end), at most kBatchNormColumns, of the same input and the batch's mean and variance. With m and v those that
// were normalized by, s = 1 / sqrt(v + epsilon) and n = (x - m) s:
//   dgamma = sum(dy n), dbeta = sum(dy), dm = -gamma s dbeta, dv = -gamma s^2 dgamma / 2,
//   dx = gamma s dy + (dmean + 2 (x - mean) dvariance) / rows,
// and dm, dv belong to dmean, dvariance if m and v are the batch's.
template <class T>
void BatchNormGradient(const BatchNormInput<T>& in, const T* mean, const T* variance, const BatchNormGradients<T>& grads,
                       int64_t begin, int64_t end, const BatchNormInputGradients<T>& to) {
  const int64_t width = end - begin;
  const bool given = in.given_mean != nullptr;
  const T* const by_mean = (given ? in.given_mean : mean) + begin;
  const T* const by_variance = (given ? in.given_variance : variance) + begin;
  T along[kBatchNormColumns] = {}, sum[kBatchNormColumns] = {}, centre[kBatchNormColumns];
  for (int64_t i = 0; i < width; ++i) centre[i] = by_mean[i];
  for (int64_t r = 0; r < in.rows; ++r) {
    const T *x = in.x + r * in.size + begin, *dy = grads.dy + r * in.size + begin;
    for (int64_t i = 0; i < width; ++i) {
      sum[i] += dy[i];
      along[i] += dy[i] * (x[i] - centre[i]);
    }
  }
  // dx = of_grad dy + of_x (x - mean) + constant
  T of_grad[kBatchNormColumns], of_x[kBatchNormColumns], constant[kBatchNormColumns];
  for (int64_t i = 0; i < width; ++i) {
    const T inverse = T(1) / std::sqrt(by_variance[i] + in.epsilon), rows = T(in.rows);
    of_grad[i] = (in.gamma == nullptr ? T(1) : in.gamma[begin + i]) * inverse;
    const T dm = -of_grad[i] * sum[i], dv = -of_grad[i] * inverse * inverse * along[i] / 2;
    if (to.dgamma != nullptr) to.dgamma[begin + i] = along[i] * inverse;
    if (to.dbeta != nullptr) to.dbeta[begin + i] = sum[i];
    if (to.dgiven_mean != nullptr) to.dgiven_mean[begin + i] = given ? dm : T(0);
    if (to.dgiven_variance != nullptr) to.dgiven_variance[begin + i] = given ? dv : T(0);
    of_x[i] = 2 * (grads.dvariance[begin + i] + (given ? T(0) : dv)) / rows;
    constant[i] = (grads.dmean[begin + i] + (given ? T(0) : dm)) / rows;
    centre[i] = mean[begin + i];
  }
  for (int64_t r = 0; r < in.rows; ++r) {
    const T *x = in.x + r * in.size + begin, *dy = grads.dy + r * in.size + begin;
    T* out = to.dx + r * in.size + begin;
    for (int64_t i = 0; i < width; ++i) out[i] = of_grad[i] * dy[i] + of_x[i] * (x[i] - centre[i]) + constant[i];
  }
}

}  // namespace nn
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_NN_BATCH_NORM_H_
