#include "tensorflow/core/sparse/dense_apply.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/sparse/test_util.h"

namespace deeprec {
namespace sparse {
namespace {

// Around the chunks it works in, and more than one thread's worth.
constexpr int64_t kSizes[] = {0, 1, 4095, 4096, 4097, 3 * 4096 + 5, 400000};

TEST(DenseApply, IsTheFormulaOnEveryElement) {
  for (const Isa isa : AvailableIsas()) {
    for (const int threads : {1, 3}) {
      for (const int64_t n : kSizes) {
        std::vector<double> w(n), m(n), v(n), grad(n);
        for (int64_t i = 0; i < n; ++i) {
          w[i] = 0.001 * double(i % 97), m[i] = 0.01 * double(i % 7), v[i] = 0.02 * double(i % 5);
          grad[i] = double(i % 11) - 5;
        }
        const std::vector<double> w0 = w, m0 = m, v0 = v;
        SparseStep step;
        step.rule = Rule::kAdam;
        step.type = ElementType::kDouble;
        step.table.var = w.data(), step.table.slot[0] = m.data(), step.table.slot[1] = v.data();
        step.table.rows = n, step.table.row_len = 1;
        step.grad = grad.data();
        step.hyper.lr = 0.1, step.hyper.beta1 = 0.9, step.hyper.beta2 = 0.99, step.hyper.epsilon = 1e-3;
        step.hyper.beta1_power = 0.9, step.hyper.beta2_power = 0.99;
        DenseApply(step, isa, TestThreads(threads));
        const double alpha = 0.1 * std::sqrt(1 - 0.99) / (1 - 0.9);
        for (int64_t i = 0; i < n; ++i) {
          const double m1 = 0.9 * m0[i] + 0.1 * grad[i], v1 = 0.99 * v0[i] + 0.01 * grad[i] * grad[i];
          ASSERT_NEAR(m[i], m1, 1e-12) << n << " " << i;
          ASSERT_NEAR(v[i], v1, 1e-12) << n << " " << i;
          ASSERT_NEAR(w[i], w0[i] - alpha * m1 / (std::sqrt(v1) + 1e-3), 1e-12) << n << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sparse
}  // namespace deeprec
