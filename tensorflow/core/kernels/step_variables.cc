// Eigen's own switch; the copies in training_op_helpers.h run on a ThreadPoolDevice.
#define EIGEN_USE_THREADS

#include "tensorflow/core/kernels/step_variables.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/kernels/pool_threads.h"
#include "tensorflow/core/kernels/step_inputs.h"
#include "tensorflow/core/kernels/training_op_helpers.h"
#include "tensorflow/core/sparse/dense_apply.h"

namespace tensorflow {
namespace {

using Cpu = Eigen::ThreadPoolDevice;
using deeprec::sparse::SparseStep;

// Calls body with a value of the C++ type of `dtype`, one that variables of our steps have.
template <class Body>
absl::Status ForDataType(DataType dtype, const Body& body) {
  switch (dtype) {
    case DT_HALF: return body(Eigen::half());
    case DT_BFLOAT16: return body(bfloat16());
    case DT_FLOAT: return body(float());
    case DT_DOUBLE: return body(double());
    case DT_INT32: return body(int32());
    case DT_INT64: return body(int64_t());
    default:
      return absl::InternalError(absl::StrCat("No step on variables of dtype ", DataTypeString(dtype)));
  }
}

// For a step on rows, makes readers take copies from now on, so that rows may be written under a shared lock.
absl::Status CopyOnRead(OpKernelContext* ctx, DataType dtype, Var* var) {
  return ForDataType(dtype, [&](auto value) { return EnsureSparseVariableAccess<Cpu, decltype(value)>(ctx, var); });
}

// For a step on all elements, makes sure that no reader holds the buffer. Requires the lock.
absl::Status OwnBuffer(OpKernelContext* ctx, DataType dtype, Var* var) {
  return ForDataType(dtype, [&](auto value) {
    return PrepareToUpdateVariable<Cpu, decltype(value)>(ctx, var->tensor(), var->copy_on_read_mode.load());
  });
}

absl::Status CheckVariable(OpKernelContext* ctx, int input, const StepVariable& variable, const Tensor& tensor) {
  if (!tensor.IsInitialized()) {
    return absl::FailedPreconditionError(absl::StrCat("Attempting to use uninitialized variables: ",
                                                      variable.name, " (", ctx->op_kernel().requested_input(input), ")"));
  }
  if (tensor.dtype() != variable.dtype) {
    return absl::InvalidArgumentError(absl::StrCat(variable.name, " has dtype ", DataTypeString(tensor.dtype()),
                                                   ", expected ", DataTypeString(variable.dtype)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status StepVariables::Open(OpKernelContext* ctx, const std::vector<StepVariable>& variables, bool use_locking,
                                 bool sparse) {
  const bool resource = ctx->input_dtype(0) == DT_RESOURCE;
  for (int i = 0; i < int(variables.size()); ++i) {
    core::RefCountPtr<Var> var;
    if (resource) {
      const ResourceHandle& handle = HandleFromInput(ctx, i);
      if (!LookupResource(ctx, handle, &var).ok()) {
        return absl::FailedPreconditionError(absl::StrCat("Attempting to use uninitialized variables: ",
                                                          variables[i].name, " (", handle.name(), ")"));
      }
      {
        // A copy of another dtype would abort the process.
        const tf_shared_lock lock(*var->mu());
        TF_RETURN_IF_ERROR(CheckVariable(ctx, i, variables[i], *var->tensor()));
      }
      if (sparse) TF_RETURN_IF_ERROR(CopyOnRead(ctx, variables[i].dtype, var.get()));
    }
    mutexes_.push_back(resource ? var->mu() : ctx->input_ref_mutex(i));
    vars_.push_back(std::move(var));
  }

  // In the order of addresses, which is the same for all ops; each once, should a variable come twice.
  std::sort(mutexes_.begin(), mutexes_.end(), std::less<mutex*>());
  mutexes_.erase(std::unique(mutexes_.begin(), mutexes_.end()), mutexes_.end());
  const bool exclusive = use_locking || (resource && !sparse);
  for (mutex* mu : mutexes_) {
    if (exclusive) {
      locks_.push_back(std::make_unique<mutex_lock>(*mu));
    } else if (resource) {
      shared_locks_.push_back(std::make_unique<tf_shared_lock>(*mu));
    }
  }

  for (int i = 0; i < int(variables.size()); ++i) {
    if (!resource) {
      tensors_.push_back(ctx->mutable_input(i, /*lock_held=*/use_locking));
      TF_RETURN_IF_ERROR(CheckVariable(ctx, i, variables[i], tensors_.back()));
      continue;
    }
    // Again: it may have been assigned to meanwhile.
    TF_RETURN_IF_ERROR(CheckVariable(ctx, i, variables[i], *vars_[i]->tensor()));
    if (!sparse) TF_RETURN_IF_ERROR(OwnBuffer(ctx, variables[i].dtype, vars_[i].get()));
    tensors_.push_back(*vars_[i]->tensor());
  }
  return absl::OkStatus();
}

absl::Status CheckSameShape(const Tensor& var, const char* name, const Tensor& slot) {
  if (var.shape() == slot.shape()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("var and ", name, " do not have the same shape: ",
                                                 var.shape().DebugString(), " and ", slot.shape().DebugString()));
}

namespace {

absl::Status CheckDenseGrad(const Tensor& var, const Tensor& grad) {
  if (var.shape() == grad.shape()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("grad must have the shape of var, ", var.shape().DebugString(),
                                                 ", got ", grad.shape().DebugString()));
}

absl::Status CheckSparseGrad(const Tensor& var, const Tensor& grad, const Tensor& indices) {
  if (var.dims() < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("var must be at least 1 dimensional, got shape ", var.shape().DebugString()));
  }
  const int64_t n = indices.NumElements();
  if (indices.dims() != 1 || n > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat("indices must be a vector of fewer than 2^31 elements, got shape ",
                                                   indices.shape().DebugString()));
  }
  TensorShape expected = var.shape();
  expected.set_dim(0, n);
  if (grad.shape() != expected) {
    return absl::InvalidArgumentError(absl::StrCat("grad must have shape ", expected.DebugString(),
                                                   " (indices, rows of var), got ", grad.shape().DebugString()));
  }
  const auto check = [&](const auto* data) -> absl::Status {
    const int64_t bad = deeprec::sparse::FirstBadIndex(data, n, var.dim_size(0));
    if (bad < 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("indices[", bad, "] = ", data[bad], " is not in [0, ", var.dim_size(0), ")"));
  };
  return indices.dtype() == DT_INT32 ? check(indices.flat<int32_t>().data()) : check(indices.flat<int64_t>().data());
}

}  // namespace

absl::Status ReadGrad(OpKernelContext* ctx, const Tensor& var, bool sparse, const Tensor** grad, const Tensor** indices) {
  TF_RETURN_IF_ERROR(ctx->input("grad", grad));
  *indices = nullptr;
  if (!sparse) return CheckDenseGrad(var, **grad);
  TF_RETURN_IF_ERROR(ctx->input("indices", indices));
  return CheckSparseGrad(var, **grad, **indices);
}

SparseStep StepOn(const Tensor& var, const Tensor& grad) {
  SparseStep step;
  step.type = ElementTypeOf(var.dtype());
  step.table.var = var.data();
  step.table.rows = var.dims() == 0 ? 1 : var.dim_size(0);
  step.table.row_len = step.table.rows == 0 ? 0 : var.NumElements() / step.table.rows;
  step.grad = grad.data();
  return step;
}

void RunStep(OpKernelContext* ctx, SparseStep step, const Tensor* indices) {
  const auto isa = deeprec::sparse::ActiveIsa().isa;
  if (indices == nullptr) {
    deeprec::sparse::DenseApply(step, isa, PoolThreads(ctx));
    return;
  }
  step.n = indices->NumElements();
  if (indices->dtype() == DT_INT32) {
    deeprec::sparse::SparseApply(step, indices->flat<int32_t>().data(), isa, PoolThreads(ctx));
  } else {
    deeprec::sparse::SparseApply(step, indices->flat<int64_t>().data(), isa, PoolThreads(ctx));
  }
}

}  // namespace tensorflow
