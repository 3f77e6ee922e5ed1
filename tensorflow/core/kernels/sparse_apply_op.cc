// Eigen's own switch; the copy in training_op_helpers.h runs on a ThreadPoolDevice.
#define EIGEN_USE_THREADS

#include "tensorflow/core/kernels/sparse_apply_op.h"

#include <limits>
#include <utility>

#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/kernels/pool_threads.h"
#include "tensorflow/core/kernels/step_inputs.h"
#include "tensorflow/core/kernels/training_op_helpers.h"

namespace tensorflow {
namespace {

using deeprec::sparse::Hyper;
using deeprec::sparse::SparseStep;

// Set on graph nodes by our Python optimizers; not an attribute of the op, so that graphs stay loadable
// by a stock TensorFlow.
constexpr char kSumDuplicates[] = "_sum_duplicates";

VariableInputLockHolder LockTables(OpKernelContext* ctx, DataType dtype, bool exclusive,
                                   const std::vector<int>& inputs) {
  using Cpu = Eigen::ThreadPoolDevice;
  switch (dtype) {
    case DT_HALF:
      return MaybeLockVariableInputMutexesInOrder<Cpu, Eigen::half>(ctx, exclusive, true, inputs);
    case DT_BFLOAT16:
      return MaybeLockVariableInputMutexesInOrder<Cpu, bfloat16>(ctx, exclusive, true, inputs);
    case DT_DOUBLE:
      return MaybeLockVariableInputMutexesInOrder<Cpu, double>(ctx, exclusive, true, inputs);
    default:
      return MaybeLockVariableInputMutexesInOrder<Cpu, float>(ctx, exclusive, true, inputs);
  }
}

bool Satisfies(double value, ScalarCheck check, bool zero_allowed) {
  switch (check) {
    case ScalarCheck::kAny: return true;
    case ScalarCheck::kPositive: return value > 0 || (zero_allowed && value >= 0);
    case ScalarCheck::kNonNegative: return value >= 0;
    case ScalarCheck::kNonPositive: return value <= 0;
  }
  return false;
}

const char* Wording(ScalarCheck check) {
  switch (check) {
    case ScalarCheck::kPositive:
      return " is not a positive scalar (or zero if multiply_linear_by_lr is set): ";
    case ScalarCheck::kNonNegative: return " is not a non-negative scalar: ";
    case ScalarCheck::kNonPositive: return " is not a non-positive scalar: ";
    case ScalarCheck::kAny: break;
  }
  return " is not a scalar: ";
}

}  // namespace

SparseApplyOp::SparseApplyOp(OpKernelConstruction* ctx, const SparseApplySpec& spec)
    : OpKernel(ctx), spec_(spec) {
  OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &dtype_));
  OP_REQUIRES_OK(ctx, ctx->GetAttr("use_locking", &use_locking_));
  sum_duplicates_ = spec.sum_duplicates_always;
  const AttrSlice attrs(ctx->def());
  if (!sum_duplicates_ && HasNodeAttr(ctx->def(), kSumDuplicates)) {
    OP_REQUIRES_OK(ctx, GetNodeAttr(attrs, kSumDuplicates, &sum_duplicates_));
  }
  const auto optional = [&](const char* name, bool* value) -> absl::Status {
    return ctx->HasAttr(name) ? ctx->GetAttr(name, value) : absl::OkStatus();
  };
  OP_REQUIRES_OK(ctx, optional("decay_all_rows", &decay_all_rows_));
  OP_REQUIRES_OK(ctx, optional("update_slots", &hyper_.update_slots));
  OP_REQUIRES_OK(ctx, optional("use_nesterov", &hyper_.nesterov));
  OP_REQUIRES_OK(ctx, optional("multiply_linear_by_lr", &hyper_.multiply_linear_by_lr));
  hyper_.has_l2_shrinkage = spec.has_l2_shrinkage;
}

// A handle of another dtype would otherwise abort the process when the tensor is read. The references
// keep the variables alive until their locks are released.
absl::Status SparseApplyOp::CheckTableTypes(OpKernelContext* ctx,
                                            std::vector<core::RefCountPtr<Var>>* vars) const {
  for (size_t i = 0; i < spec_.tables.size(); ++i) {
    if (ctx->input_dtype(i) != DT_RESOURCE) continue;
    core::RefCountPtr<Var> var;
    // A handle without a variable is reported by the locks, with the stock message.
    if (!LookupResource(ctx, HandleFromInput(ctx, i), &var).ok()) continue;
    DataType dtype;
    {
      tf_shared_lock lock(*var->mu());
      dtype = var->tensor()->dtype();
    }
    if (dtype != dtype_) {
      return absl::InvalidArgumentError(
          absl::StrCat(spec_.tables[i], " has dtype ", DataTypeString(dtype), ", expected ",
                       DataTypeString(dtype_), ", the dtype of grad"));
    }
    vars->push_back(std::move(var));
  }
  return absl::OkStatus();
}

absl::Status SparseApplyOp::ReadTables(OpKernelContext* ctx, std::vector<Tensor>* tables) const {
  using Cpu = Eigen::ThreadPoolDevice;
  tables->resize(spec_.tables.size());
  for (size_t i = 0; i < tables->size(); ++i) {
    // The element type is not looked at in sparse access.
    TF_RETURN_IF_ERROR((GetInputTensorFromVariable<Cpu, float>(ctx, i, use_locking_,
                                                               /*sparse=*/true, &(*tables)[i])));
  }
  for (size_t i = 0; i < tables->size(); ++i) {
    if (!(*tables)[i].IsInitialized()) {
      return absl::FailedPreconditionError(
          absl::StrCat("Attempting to use uninitialized variables: ", requested_input(i)));
    }
  }
  const TensorShape& shape = (*tables)[0].shape();
  for (size_t i = 1; i < tables->size(); ++i) {
    if (!shape.IsSameSize((*tables)[i].shape())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "var and ", spec_.tables[i], " do not have the same shape", shape.DebugString(), " ",
          (*tables)[i].shape().DebugString()));
    }
  }
  if (!TensorShapeUtils::IsVectorOrHigher(shape)) {
    return absl::InvalidArgumentError(
        absl::StrCat("var must be at least 1 dimensional, got shape ", shape.DebugString()));
  }
  return absl::OkStatus();
}

absl::Status SparseApplyOp::ReadScalars(OpKernelContext* ctx, Hyper* hyper) const {
  *hyper = hyper_;
  const int num_tables = spec_.tables.size();
  const int before =
      spec_.scalars_before_grad < 0 ? int(spec_.scalars.size()) : spec_.scalars_before_grad;
  for (int i = 0; i < int(spec_.scalars.size()); ++i) {
    const SparseApplyScalar& scalar = spec_.scalars[i];
    const Tensor& tensor = ctx->input(num_tables + i + (i < before ? 0 : 2));
    const bool is_scalar = TensorShapeUtils::IsScalar(tensor.shape());
    const double value = is_scalar ? FloatingValue(tensor) : 0;
    if (!is_scalar || !Satisfies(value, scalar.check, hyper_.multiply_linear_by_lr)) {
      return absl::InvalidArgumentError(
          absl::StrCat(scalar.name, Wording(scalar.check), tensor.shape().DebugString(),
                       is_scalar ? absl::StrCat(" with value ", value) : ""));
    }
    hyper->*scalar.field = value;
  }
  return absl::OkStatus();
}

absl::Status SparseApplyOp::CheckGradAndIndices(const Tensor& var, const Tensor& grad,
                                                const Tensor& indices) const {
  const auto got = [&] {
    return absl::StrCat(": var ", var.shape().DebugString(), ", grad ", grad.shape().DebugString(),
                        ", indices ", indices.shape().DebugString());
  };
  if (!TensorShapeUtils::IsVector(indices.shape())) {
    return absl::InvalidArgumentError(absl::StrCat("indices must be one-dimensional", got()));
  }
  if (grad.dims() != var.dims()) {
    return absl::InvalidArgumentError(
        absl::StrCat("grad must have the same number of dimensions as var", got()));
  }
  for (int d = 1; d < var.dims(); ++d) {
    if (grad.dim_size(d) != var.dim_size(d)) {
      return absl::InvalidArgumentError(
          absl::StrCat("var and grad must match in dimension ", d, got()));
    }
  }
  if (grad.dim_size(0) != indices.dim_size(0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("grad must be the same size as indices in the first dimension.", got()));
  }
  if (indices.dim_size(0) > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("indices must have fewer than 2^31 elements", got()));
  }
  return absl::OkStatus();
}

template <class Index>
absl::Status SparseApplyOp::Apply(OpKernelContext* ctx, SparseStep step,
                                  const Tensor& indices) const {
  const Index* const data = indices.flat<Index>().data();
  const int64_t bad = deeprec::sparse::FirstBadIndex(data, step.n, step.table.rows);
  if (bad >= 0) {
    const std::string range = absl::StrCat("[0, ", step.table.rows, ")");
    return absl::InvalidArgumentError(
        spec_.index_error == IndexError::kScatter
            ? absl::StrCat("indices[", bad, "] = ", data[bad], " is not in ", range)
            : absl::StrCat("Index ", data[bad], " at offset ", bad,
                           " in indices is out of range ", range));
  }
  const auto isa = deeprec::sparse::ActiveIsa().isa;
  if (decay_all_rows_) {
    deeprec::sparse::AdamApplyAllRows(step, data, isa, PoolThreads(ctx));
  } else {
    deeprec::sparse::SparseApply(step, data, isa, PoolThreads(ctx));
  }
  return absl::OkStatus();
}

void SparseApplyOp::Compute(OpKernelContext* ctx) {
  std::vector<core::RefCountPtr<Var>> vars;
  OP_REQUIRES_OK(ctx, CheckTableTypes(ctx, &vars));
  std::vector<int> table_inputs;
  for (size_t i = 0; i < spec_.tables.size(); ++i) table_inputs.push_back(i);
  // Writing every row is a dense write: readers of a resource variable must not see half of it.
  const auto locks =
      LockTables(ctx, dtype_, use_locking_ || (decay_all_rows_ && !vars.empty()), table_inputs);
  if (!ctx->status().ok()) return;

  std::vector<Tensor> tables;
  OP_REQUIRES_OK(ctx, ReadTables(ctx, &tables));
  SparseStep step;
  OP_REQUIRES_OK(ctx, ReadScalars(ctx, &step.hyper));
  const int before =
      spec_.scalars_before_grad < 0 ? int(spec_.scalars.size()) : spec_.scalars_before_grad;
  const int grad_input = int(tables.size()) + before;
  const Tensor& grad = ctx->input(grad_input);
  const Tensor& indices = ctx->input(grad_input + 1);
  OP_REQUIRES_OK(ctx, CheckGradAndIndices(tables[0], grad, indices));

  int64_t row_len = 1;
  for (int d = 1; d < tables[0].dims(); ++d) row_len *= tables[0].dim_size(d);
  OP_REQUIRES(ctx, row_len > 0 || spec_.empty_rows_allowed,
              absl::InvalidArgumentError("Inner dimension should be greater than zero."));

  step.rule = spec_.rule;
  step.type = ElementTypeOf(dtype_);
  step.table.var = tables[0].data();
  for (size_t i = 1; i < tables.size(); ++i) step.table.slot[i - 1] = tables[i].data();
  step.table.rows = tables[0].dim_size(0);
  step.table.row_len = row_len;
  step.grad = grad.data();
  step.n = indices.dim_size(0);
  step.sum_duplicates = sum_duplicates_;
  OP_REQUIRES_OK(ctx, indices.dtype() == DT_INT32 ? Apply<int32_t>(ctx, step, indices)
                                                  : Apply<int64_t>(ctx, step, indices));
  if (ctx->input_dtype(0) != DT_RESOURCE) ctx->forward_ref_input_to_ref_output(0, 0);
}

}  // namespace tensorflow
