// The variables that a step of an optimizer updates, reference or resource.

#ifndef TENSORFLOW_CORE_KERNELS_STEP_VARIABLES_H_
#define TENSORFLOW_CORE_KERNELS_STEP_VARIABLES_H_

#include <memory>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/sparse/sparse_apply.h"

namespace tensorflow {

// One of the first inputs of an op.
struct StepVariable {
  const char* name;
  DataType dtype;
};

// Holds inputs 0 .. n - 1 of an op locked, for as long as it lives: exclusively for a step on all elements of resource
// variables or where the op has use_locking; shared for a step on some rows of resource variables; else not at all.
class StepVariables {
 public:
  // Fails on variables that are not initialized or of another dtype.
  absl::Status Open(OpKernelContext* ctx, const std::vector<StepVariable>& variables, bool use_locking, bool sparse);

  // The variables' own mutexes, held or not.
  const std::vector<mutex*>& mutexes() const { return mutexes_; }

  // May be written in place.
  const Tensor& tensor(int i) const { return tensors_[i]; }

 private:
  std::vector<core::RefCountPtr<Var>> vars_;
  std::vector<mutex*> mutexes_;
  std::vector<std::unique_ptr<mutex_lock>> locks_;
  std::vector<std::unique_ptr<tf_shared_lock>> shared_locks_;
  std::vector<Tensor> tensors_;
};

// InvalidArgument unless slot `name` has the shape of var.
absl::Status CheckSameShape(const Tensor& var, const char* name, const Tensor& slot);

// The input grad, and, if `sparse`, indices; else null. InvalidArgument unless grad has the shape of var; or, with indices,
// var is at least a vector, indices a vector of n < 2^31 elements within [0, rows of var), and grad [n, rest of var's shape].
absl::Status ReadGrad(OpKernelContext* ctx, const Tensor& var, bool sparse, const Tensor** grad, const Tensor** indices);

// A step on all of `var`, or, with indices, on its rows. The caller adds rule, slots and scalars.
deeprec::sparse::SparseStep StepOn(const Tensor& var, const Tensor& grad);

// Runs a step that StepOn made; indices null: on all of the variable.
void RunStep(OpKernelContext* ctx, deeprec::sparse::SparseStep step, const Tensor* indices);

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_STEP_VARIABLES_H_
