// Kernels of ops/adagrad_decay_ops.cc.

#include "tensorflow/core/kernels/step_inputs.h"
#include "tensorflow/core/kernels/step_variables.h"
#include "tensorflow/core/sparse/accumulator_decay.h"

namespace tensorflow {
namespace {

using deeprec::sparse::AccumulatorDecay;
using deeprec::sparse::PowerType;
using deeprec::sparse::SparseStep;

class AdagradDecayOp : public OpKernel {
 public:
  explicit AdagradDecayOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tstep", &step_dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("use_locking", &use_locking_));
    sparse_ = ctx->HasAttr("Tindices");
  }

  void Compute(OpKernelContext* ctx) override {
    StepVariables variables;
    OP_REQUIRES_OK(ctx, variables.Open(ctx, {{"var", dtype_}, {"accum", dtype_}, {"accum_decay_power", step_dtype_}},
                                       use_locking_, sparse_));
    const Tensor &var = variables.tensor(0), &accum = variables.tensor(1), &power = variables.tensor(2);
    OP_REQUIRES_OK(ctx, CheckSameShape(var, "accum", accum));
    const Tensor *grad, *indices;
    OP_REQUIRES_OK(ctx, ReadGrad(ctx, var, sparse_, &grad, &indices));
    SparseStep step = StepOn(var, *grad);
    step.rule = deeprec::sparse::Rule::kAdagrad;
    step.table.slot[0] = accum.data();
    OP_REQUIRES_OK(ctx, ReadScalar(ctx, "lr", &step.hyper.lr));
    AccumulatorDecay decay;
    decay.type = step.type;
    decay.power_type = step_dtype_ == DT_INT32 ? PowerType::kInt32 : PowerType::kInt64;
    int64_t decay_step, global_step;
    OP_REQUIRES_OK(ctx, ReadDecay(ctx, &decay_step, &decay.rate, &decay.baseline));
    OP_REQUIRES_OK(ctx, ReadStep(ctx, "global_step", &global_step));
    decay.period = global_step / decay_step;
    int64_t powers_per_row = 0;
    OP_REQUIRES_OK(ctx, PowersPerRow(var, power, step, &powers_per_row));

    Decay(decay, step, powers_per_row, indices, accum, power);
    RunStep(ctx, step, indices);
    if (ctx->input_dtype(0) != DT_RESOURCE) ctx->forward_ref_input_to_ref_output(0, 0);
  }

 private:
  // A power to each element, or to each row.
  static absl::Status PowersPerRow(const Tensor& var, const Tensor& power, const SparseStep& step, int64_t* powers) {
    TensorShape rows;
    if (var.dims() > 0) rows.AddDim(var.dim_size(0));
    if (power.shape() != var.shape() && power.shape() != rows) {
      return absl::InvalidArgumentError(absl::StrCat("accum_decay_power must have shape ", rows.DebugString(), " or ",
                                                     var.shape().DebugString(), " (rows of var, or var), got ",
                                                     power.shape().DebugString()));
    }
    *powers = power.shape() == rows ? 1 : step.table.row_len;
    return absl::OkStatus();
  }

  static void Decay(const AccumulatorDecay& decay, const SparseStep& step, int64_t powers_per_row,
                    const Tensor* indices, const Tensor& accum, const Tensor& power) {
    const int64_t rows = step.table.rows, row_len = step.table.row_len;
    if (powers_per_row == 0) return;
    // One after the other, for equal indices must not meet: next to the step this is little, a power per index.
    if (indices == nullptr) {
      deeprec::sparse::DecayAccumulator(decay, rows * powers_per_row, row_len / powers_per_row, accum.data(),
                                        power.data());
    } else if (indices->dtype() == DT_INT32) {
      deeprec::sparse::DecayAccumulatorRows(decay, indices->flat<int32_t>().data(), indices->NumElements(), rows,
                                            row_len, powers_per_row, accum.data(), power.data());
    } else {
      deeprec::sparse::DecayAccumulatorRows(decay, indices->flat<int64_t>().data(), indices->NumElements(), rows,
                                            row_len, powers_per_row, accum.data(), power.data());
    }
  }

  DataType dtype_, step_dtype_;
  bool use_locking_ = false;
  bool sparse_ = false;
};

REGISTER_KERNEL_BUILDER(Name("ApplyAdagradDecay").Device(DEVICE_CPU), AdagradDecayOp);
REGISTER_KERNEL_BUILDER(Name("ResourceApplyAdagradDecay").Device(DEVICE_CPU), AdagradDecayOp);
REGISTER_KERNEL_BUILDER(Name("SparseApplyAdagradDecay").Device(DEVICE_CPU), AdagradDecayOp);
REGISTER_KERNEL_BUILDER(Name("ResourceSparseApplyAdagradDecay").Device(DEVICE_CPU), AdagradDecayOp);

}  // namespace
}  // namespace tensorflow
