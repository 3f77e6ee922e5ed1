// The op kernel behind every sparse optimizer op: checks, locks and threads around core/sparse.
//
// One class serves all ops and types; what differs between ops is data (SparseApplySpec). That keeps the
// checks in one place and the template count down.

#ifndef TENSORFLOW_CORE_KERNELS_SPARSE_APPLY_OP_H_
#define TENSORFLOW_CORE_KERNELS_SPARSE_APPLY_OP_H_

#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/sparse/sparse_apply.h"

namespace tensorflow {

// What a scalar input must satisfy besides being a scalar.
enum class ScalarCheck {
  kAny,
  kPositive,         // or zero if multiply_linear_by_lr is set
  kNonNegative,
  kNonPositive,
};

struct SparseApplyScalar {
  const char* name;
  double deeprec::sparse::Hyper::*field;
  ScalarCheck check = ScalarCheck::kAny;
};

// Wording of the error for an index that is out of range.
enum class IndexError {
  kOffset,   // "Index 7 at offset 1 in indices is out of range ...", of the sparse training ops
  kScatter,  // "indices[1] = 7 is not in ...", of the scatter ops that optimizers used before
};

struct SparseApplySpec {
  deeprec::sparse::Rule rule;
  // Inputs 0 .. tables.size() - 1: the variable and its slots, in the order of the rule.
  std::vector<const char*> tables;
  // The inputs that follow, but for grad and indices.
  std::vector<SparseApplyScalar> scalars;
  // How many of them stand before grad and indices; -1: all.
  int scalars_before_grad = -1;
  bool sum_duplicates_always = false;
  bool empty_rows_allowed = true;
  bool has_l2_shrinkage = false;
  IndexError index_error = IndexError::kOffset;
};

class SparseApplyOp : public OpKernel {
 public:
  SparseApplyOp(OpKernelConstruction* ctx, const SparseApplySpec& spec);
  void Compute(OpKernelContext* ctx) override;

 private:
  absl::Status CheckTableTypes(OpKernelContext* ctx, std::vector<core::RefCountPtr<Var>>* vars) const;
  absl::Status ReadTables(OpKernelContext* ctx, std::vector<Tensor>* tables) const;
  absl::Status ReadScalars(OpKernelContext* ctx, deeprec::sparse::Hyper* hyper) const;
  absl::Status CheckGradAndIndices(const Tensor& var, const Tensor& grad,
                                   const Tensor& indices) const;
  template <class Index>
  absl::Status Apply(OpKernelContext* ctx, deeprec::sparse::SparseStep step,
                     const Tensor& indices) const;

  const SparseApplySpec& spec_;
  DataType dtype_;
  deeprec::sparse::Hyper hyper_;  // the attributes' part
  bool use_locking_ = false;
  bool sum_duplicates_ = false;
  bool decay_all_rows_ = false;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_SPARSE_APPLY_OP_H_
