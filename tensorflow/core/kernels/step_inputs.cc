#include "tensorflow/core/kernels/step_inputs.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"

namespace tensorflow {
namespace {

using deeprec::sparse::ElementType;
using deeprec::sparse::Hyper;

void SetValue(double value, Tensor* tensor) {
  switch (tensor->dtype()) {
    case DT_HALF: tensor->flat<Eigen::half>()(0) = Eigen::half(float(value)); break;
    case DT_BFLOAT16: tensor->flat<bfloat16>()(0) = bfloat16(float(value)); break;
    case DT_DOUBLE: tensor->flat<double>()(0) = value; break;
    default: tensor->flat<float>()(0) = float(value);
  }
}

bool IsFloating(DataType dtype) {
  return dtype == DT_HALF || dtype == DT_BFLOAT16 || dtype == DT_FLOAT || dtype == DT_DOUBLE;
}

absl::Status NotAScalar(const char* name, const Tensor& tensor) {
  return absl::InvalidArgumentError(absl::StrCat(name, " must be a scalar, got shape ", tensor.shape().DebugString()));
}

absl::Status NotFloating(const char* name, const Tensor& tensor) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must be of a floating dtype, got ", DataTypeString(tensor.dtype())));
}

absl::Status CheckPower(const char* name, const Tensor& tensor) {
  if (!tensor.IsInitialized()) return absl::FailedPreconditionError(absl::StrCat(name, " is not initialized"));
  if (!IsFloating(tensor.dtype())) return NotFloating(name, tensor);
  if (tensor.NumElements() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " must have one element, got shape ", tensor.shape().DebugString()));
  }
  return absl::OkStatus();
}

// One of the two powers, behind a resource handle or a reference.
struct Power {
  const char* name;
  int input;
  core::RefCountPtr<Var> var;
  mutex* mu = nullptr;

  absl::Status Find(OpKernelContext* ctx) {
    int end;
    TF_RETURN_IF_ERROR(ctx->op_kernel().InputRange(name, &input, &end));
    if (ctx->input_dtype(input) != DT_RESOURCE) {
      mu = ctx->input_ref_mutex(input);
      return absl::OkStatus();
    }
    const ResourceHandle& handle = HandleFromInput(ctx, input);
    if (!LookupResource(ctx, handle, &var).ok()) {
      return absl::FailedPreconditionError(absl::StrCat(name, " (", handle.name(), ") is not initialized"));
    }
    mu = var->mu();
    return absl::OkStatus();
  }

  // Requires mu.
  Tensor Read(OpKernelContext* ctx) const { return var ? *var->tensor() : ctx->mutable_input(input, /*lock_held=*/true); }

  void Write(OpKernelContext* ctx, double value) const {
    if (!var) {
      Tensor tensor = ctx->mutable_input(input, /*lock_held=*/true);
      SetValue(value, &tensor);
      return;
    }
    // Whoever has read the old power holds its buffer.
    Tensor next(var->tensor()->dtype(), var->tensor()->shape());
    SetValue(value, &next);
    *var->tensor() = next;
  }
};

}  // namespace

ElementType ElementTypeOf(DataType dtype) {
  switch (dtype) {
    case DT_HALF: return ElementType::kHalf;
    case DT_BFLOAT16: return ElementType::kBFloat16;
    case DT_DOUBLE: return ElementType::kDouble;
    default: return ElementType::kFloat;
  }
}

double FloatingValue(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DT_HALF: return static_cast<float>(tensor.flat<Eigen::half>()(0));
    case DT_BFLOAT16: return static_cast<float>(tensor.flat<bfloat16>()(0));
    case DT_DOUBLE: return tensor.flat<double>()(0);
    default: return tensor.flat<float>()(0);
  }
}

absl::Status ReadScalar(OpKernelContext* ctx, const char* name, double* value) {
  const Tensor* tensor;
  TF_RETURN_IF_ERROR(ctx->input(name, &tensor));
  if (!TensorShapeUtils::IsScalar(tensor->shape())) return NotAScalar(name, *tensor);
  if (!IsFloating(tensor->dtype())) return NotFloating(name, *tensor);
  *value = FloatingValue(*tensor);
  return absl::OkStatus();
}

absl::Status ReadStep(OpKernelContext* ctx, const char* name, int64_t* value) {
  const Tensor* tensor;
  TF_RETURN_IF_ERROR(ctx->input(name, &tensor));
  if (!TensorShapeUtils::IsScalar(tensor->shape())) return NotAScalar(name, *tensor);
  *value = tensor->dtype() == DT_INT32 ? tensor->scalar<int32_t>()() : tensor->scalar<int64_t>()();
  return absl::OkStatus();
}

absl::Status ReadDecay(OpKernelContext* ctx, int64_t* decay_step, double* rate, double* baseline) {
  TF_RETURN_IF_ERROR(ReadStep(ctx, "accum_decay_step", decay_step));
  TF_RETURN_IF_ERROR(ReadScalar(ctx, "accum_decay_rate", rate));
  TF_RETURN_IF_ERROR(ReadScalar(ctx, "accum_baseline", baseline));
  if (*decay_step > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("accum_decay_step must be positive, got ", *decay_step));
}

void SetRmsPropOfAdamAsync(Hyper* hyper) {
  hyper->rho = hyper->beta2;
  hyper->momentum = hyper->beta1;
}

absl::Status TakeBetaPowers(OpKernelContext* ctx, bool advance, Hyper* hyper, const std::vector<mutex*>& others) {
  Power first{"beta1_power"}, second{"beta2_power"};
  TF_RETURN_IF_ERROR(first.Find(ctx));
  TF_RETURN_IF_ERROR(second.Find(ctx));
  if (first.mu == second.mu) {
    return absl::InvalidArgumentError("beta1_power and beta2_power must be different variables");
  }
  for (const Power* power : {&first, &second}) {
    if (std::find(others.begin(), others.end(), power->mu) != others.end()) {
      return absl::InvalidArgumentError(absl::StrCat(power->name, " must not be var or a slot of var"));
    }
  }
  // By address: another step may have them the other way round.
  const bool in_order = std::less<mutex*>()(first.mu, second.mu);
  const mutex_lock outer(*(in_order ? first.mu : second.mu));
  const mutex_lock inner(*(in_order ? second.mu : first.mu));
  const Tensor power1 = first.Read(ctx), power2 = second.Read(ctx);
  TF_RETURN_IF_ERROR(CheckPower(first.name, power1));
  TF_RETURN_IF_ERROR(CheckPower(second.name, power2));
  hyper->beta1_power = FloatingValue(power1);
  hyper->beta2_power = FloatingValue(power2);
  if (advance) {
    first.Write(ctx, hyper->beta1_power * hyper->beta1);
    second.Write(ctx, hyper->beta2_power * hyper->beta2);
  }
  return absl::OkStatus();
}

}  // namespace tensorflow
