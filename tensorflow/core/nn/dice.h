// The activation Dice. Zhou et al., "Deep Interest Network for Click-Through Rate Prediction", 2018.

#ifndef TENSORFLOW_CORE_NN_DICE_H_
#define TENSORFLOW_CORE_NN_DICE_H_

#include <cstdint>

#include "Eigen/Core"

namespace deeprec {
namespace nn {

// For the rows [begin, end) of x [rows, size]: y = x (p + (1 - p) gamma) with p = sigmoid((x - mean)
// rvar). mean, rvar (1 / standard deviation) and gamma have one number a column.
template <class T>
void Dice(const T* x, const T* mean, const T* rvar, const T* gamma, int64_t size, int64_t begin,
          int64_t end, T* y) {
  using In = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
  const In center(mean, size), scale(rvar, size), slope(gamma, size);
  for (int64_t r = begin; r < end; ++r) {
    const In in(x + r * size, size);
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>(y + r * size, size) =
        in * (slope + (T(1) - slope) * ((in - center) * scale).logistic());
  }
}

}  // namespace nn
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_NN_DICE_H_
