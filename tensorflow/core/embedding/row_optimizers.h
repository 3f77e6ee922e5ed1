// Optimizer steps on the rows of a table: what Table::Update calls for the rows of a batch.

#ifndef TENSORFLOW_CORE_EMBEDDING_ROW_OPTIMIZERS_H_
#define TENSORFLOW_CORE_EMBEDDING_ROW_OPTIMIZERS_H_

#include <stdint.h>

#include <array>

#include "tensorflow/core/embedding/table.h"
#include "tensorflow/core/sparse/isa.h"
#include "tensorflow/core/sparse/row_update.h"

namespace deeprec {
namespace embedding {

// Rows of one shape with their slots, at fixed distances.
struct BlockRows {
  ElementType type = ElementType::kFloat;
  int64_t dim = 0;
  // Bytes from a variable's row to its slots.
  std::array<int64_t, sparse::kMaxSlots> slot_offset = {};
};

// The rows of `table` with the slots in `columns`, in the rule's order.
BlockRows RowsOf(const Table& table, const std::vector<int>& columns);

// An element-wise rule of core/sparse. Slots have the variable's dim.
RowUpdater ElementwiseOptimizer(const BlockRows& rows, sparse::Rule rule, const sparse::Hyper& hyper,
                                const void* grad, sparse::Isa isa);

// Adagrad whose accumulator shrinks: slots accumulator [dim] and power [power_dim], power_dim 1 or dim.
// With k = period - power, the periods a row has not seen yet: if k > 0, accumulator =
// max(accumulator * rate^k, baseline) and power = period. Then Adagrad.
struct AdagradDecayStep {
  double lr = 0;
  int64_t period = 0;  // (global_step + 1) div decay_step
  double rate = 1;
  double baseline = 0;
  int64_t power_dim = 1;
};
RowUpdater AdagradDecayOptimizer(const BlockRows& rows, const AdagradDecayStep& step, const void* grad,
                                 sparse::Isa isa);

// FTRL-proximal with the l1 penalty on the norm of a row ("group" FTRL), slots accumulator a and linear z.
// With p = -lr_power and g' = g + 2 * l2_shrinkage * w:
//   a' = a + g'^2;  z += g' - (a'^p - a^p) / lr * w
//   w = 0 if |z| <= l1, else (l1 - |z|) / ((a'^p / lr + 2 * l2) * |z|) * z;  a += g^2
RowUpdater GroupFtrlOptimizer(const BlockRows& rows, const sparse::Hyper& hyper, const void* grad);

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_ROW_OPTIMIZERS_H_
