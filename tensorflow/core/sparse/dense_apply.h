// Steps on whole variables, by the row updates of the sparse steps.

#ifndef TENSORFLOW_CORE_SPARSE_DENSE_APPLY_H_
#define TENSORFLOW_CORE_SPARSE_DENSE_APPLY_H_

#include "tensorflow/core/sparse/sparse_apply.h"

namespace deeprec {
namespace sparse {

// Applies step.rule to all rows * row_len elements of step.table, of which step.grad has as many. The result does not
// depend on the number of threads.
void DenseApply(const SparseStep& step, Isa isa, const Threads& threads);

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_DENSE_APPLY_H_
