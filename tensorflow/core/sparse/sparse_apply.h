// Sparse optimizer steps on dense tables: checks, grouping and threads around the row updates.

#ifndef TENSORFLOW_CORE_SPARSE_SPARSE_APPLY_H_
#define TENSORFLOW_CORE_SPARSE_SPARSE_APPLY_H_

#include <stdint.h>

#include <functional>

#include "tensorflow/core/sparse/isa.h"
#include "tensorflow/core/sparse/row_update.h"

namespace deeprec {
namespace sparse {

// The threads a step may use. `run(n, body)` calls body(0) .. body(n-1), in any order and possibly at
// the same time, and returns when all have; it is not called when one shard is enough. More parts than threads make up
// for threads that start late.
struct Threads {
  int count = 1;
  std::function<void(int n, const std::function<void(int)>& body)> run;
};

// One sparse step: gradient row i belongs to table row indices[i]. 0 <= n < 2^31.
struct SparseStep {
  Rule rule = Rule::kGradientDescent;
  ElementType type = ElementType::kFloat;
  Table table;
  Hyper hyper;
  const void* grad = nullptr;  // [n, row_len]
  int64_t n = 0;
  bool sum_duplicates = true;  // see ApplyArgs
};

// Position of the first index outside [0, rows), or -1.
template <class Index>
int64_t FirstBadIndex(const Index* indices, int64_t n, int64_t rows);

// Applies the step. Requires FirstBadIndex(...) == -1. The result does not depend on the number of
// threads.
template <class Index>
void SparseApply(const SparseStep& step, const Index* indices, Isa isa, const Threads& threads);

// Adam as TensorFlow 1.15 has it for sparse gradients: the moments of all rows decay and all rows move,
// and rows with a gradient get its sum. One pass over var, m and v. Requires rule kAdam.
template <class Index>
void AdamApplyAllRows(const SparseStep& step, const Index* indices, Isa isa,
                      const Threads& threads);

// Shards for work of `cost_ns` on one thread: at least 100 us each. Waking a pool thread costs 5 us on an
// idle machine and 50 us where the pools of a session contend for two cores.
int NumShards(double cost_ns, int threads);

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_SPARSE_APPLY_H_
