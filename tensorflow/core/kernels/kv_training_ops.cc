// Kernels of ops/kv_training_ops.cc. One class serves all optimizers; what differs is data (KvApplySpec).

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "tensorflow/core/embedding/row_optimizers.h"
#include "tensorflow/core/kernels/kv_variable.h"
#include "tensorflow/core/kernels/pool_threads.h"
#include "tensorflow/core/kernels/step_inputs.h"

namespace tensorflow {
namespace {

namespace embedding = deeprec::embedding;
using deeprec::sparse::Hyper;
using deeprec::sparse::Rule;

enum class Optimizer { kElementwise, kAdagradDecay, kAdamAsync, kGroupFtrl };

struct Scalar {
  const char* input;
  double Hyper::*field;
};

struct KvApplySpec {
  Optimizer optimizer = Optimizer::kElementwise;
  Rule rule = Rule::kGradientDescent;
  std::vector<const char*> slots;  // in the rule's order
  std::vector<Scalar> scalars;
  bool has_global_step = true;
  bool has_l2_shrinkage = false;
};

const std::vector<Scalar>& AdamScalars() {
  static const auto* const scalars =
      new std::vector<Scalar>{{"beta1_power", &Hyper::beta1_power}, {"beta2_power", &Hyper::beta2_power},
                              {"lr", &Hyper::lr},                   {"beta1", &Hyper::beta1},
                              {"beta2", &Hyper::beta2},             {"epsilon", &Hyper::epsilon}};
  return *scalars;
}

KvApplySpec GradientDescent() {
  KvApplySpec spec;
  spec.scalars = {{"alpha", &Hyper::lr}};
  return spec;
}

KvApplySpec Adagrad() {
  KvApplySpec spec;
  spec.rule = Rule::kAdagrad;
  spec.slots = {"accum"};
  spec.scalars = {{"lr", &Hyper::lr}};
  return spec;
}

KvApplySpec AdagradDecay() {
  KvApplySpec spec = Adagrad();
  spec.optimizer = Optimizer::kAdagradDecay;
  spec.slots = {"accum", "accum_decay_power"};
  return spec;
}

KvApplySpec Adam() {
  KvApplySpec spec;
  spec.rule = Rule::kAdam;
  spec.slots = {"m", "v"};
  spec.scalars = AdamScalars();
  return spec;
}

KvApplySpec AdamW() {
  KvApplySpec spec = Adam();
  spec.rule = Rule::kAdamW;
  spec.scalars.push_back({"weight_decay", &Hyper::weight_decay});
  return spec;
}

KvApplySpec AdamAsync() {
  KvApplySpec spec = Adam();
  spec.optimizer = Optimizer::kAdamAsync;
  spec.scalars = {{"lr", &Hyper::lr}, {"beta1", &Hyper::beta1}, {"beta2", &Hyper::beta2}, {"epsilon", &Hyper::epsilon}};
  return spec;
}

KvApplySpec Ftrl() {
  KvApplySpec spec;
  spec.optimizer = Optimizer::kGroupFtrl;
  spec.slots = {"accum", "linear"};
  spec.scalars = {{"lr", &Hyper::lr}, {"l1", &Hyper::l1}, {"l2", &Hyper::l2}, {"lr_power", &Hyper::lr_power}};
  spec.has_global_step = false;
  return spec;
}

KvApplySpec FtrlV2() {
  KvApplySpec spec = Ftrl();
  spec.scalars.push_back({"l2_shrinkage", &Hyper::l2_shrinkage});
  spec.has_l2_shrinkage = true;
  return spec;
}

KvApplySpec Momentum() {
  KvApplySpec spec;
  spec.rule = Rule::kMomentum;
  spec.slots = {"accum"};
  spec.scalars = {{"lr", &Hyper::lr}, {"momentum", &Hyper::momentum}};
  return spec;
}

KvApplySpec RMSProp() {
  KvApplySpec spec;
  spec.rule = Rule::kRmsProp;
  spec.slots = {"ms", "mom"};
  spec.scalars = {
      {"lr", &Hyper::lr}, {"rho", &Hyper::rho}, {"momentum", &Hyper::momentum}, {"epsilon", &Hyper::epsilon}};
  return spec;
}

class KvSparseApplyOp : public OpKernel {
 public:
  KvSparseApplyOp(OpKernelConstruction* ctx, const KvApplySpec& spec) : OpKernel(ctx), spec_(spec) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tindices", &key_dtype_));
    if (ctx->HasAttr("use_nesterov")) OP_REQUIRES_OK(ctx, ctx->GetAttr("use_nesterov", &hyper_.nesterov));
    if (ctx->HasAttr("apply_sparse_rmsprop")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("apply_sparse_rmsprop", &sparse_rmsprop_));
    }
    hyper_.has_l2_shrinkage = spec.has_l2_shrinkage;
    has_counts_ = absl::EndsWith(def().op(), "WithCounts");
    serves_only_ = ServesOnly();
  }

  void Compute(OpKernelContext* ctx) override {
    KvRef var;
    std::vector<int> columns;
    OP_REQUIRES_OK(ctx, GetTables(ctx, &var, &columns));
    OP_REQUIRES(ctx, !serves_only_,
                absl::FailedPreconditionError(
                    absl::StrCat("EmbeddingVariable ", var.name, " can not be trained: INFERENCE_MODE is on")));
    Hyper hyper = hyper_;
    for (const Scalar& scalar : spec_.scalars) {
      OP_REQUIRES_OK(ctx, ReadScalar(ctx, scalar.input, &(hyper.*scalar.field)));
    }
    const Tensor *grad, *indices, *counts = nullptr;
    OP_REQUIRES_OK(ctx, ctx->input("grad", &grad));
    OP_REQUIRES_OK(ctx, ctx->input("indices", &indices));
    if (has_counts_) OP_REQUIRES_OK(ctx, ctx->input("indices_counts", &counts));
    OP_REQUIRES_OK(ctx, CheckShapes(var, *grad, *indices, counts));

    const KvKeys keys(*indices);
    embedding::TableUpdate update;
    update.keys = keys.data();
    update.n = keys.size();
    update.grad = grad->data();
    if (counts != nullptr) {
      update.counts = counts->flat<int64_t>().data();
      const int64_t* const negative =
          std::find_if(update.counts, update.counts + update.n, [](int64_t count) { return count < 0; });
      const int64_t at = negative - update.counts;
      OP_REQUIRES(ctx, at == update.n,
                  absl::InvalidArgumentError(
                      absl::StrCat("indices_counts must not be negative, got counts[", at, "] = ", *negative)));
    }
    if (spec_.has_global_step) {
      OP_REQUIRES_OK(ctx, ReadStep(ctx, "global_step", &update.version));
      if (update.version < 0) update.version = embedding::kNoVersion;
    }

    if (spec_.optimizer == Optimizer::kAdamAsync) {
      OP_REQUIRES_OK(ctx, TakeBetaPowers(ctx, /*advance=*/!sparse_rmsprop_, &hyper));
    }
    embedding::RowUpdater updater;
    OP_REQUIRES_OK(ctx, MakeUpdater(ctx, var, columns, hyper, &update, &updater));
    OP_REQUIRES_OK(ctx, CatchTableErrors(var.name, [&] {
      var.table().Update(update, updater, PoolThreads(ctx));
      return absl::OkStatus();
    }));
  }

 private:
  absl::Status GetTables(OpKernelContext* ctx, KvRef* var, std::vector<int>* columns) const {
    TF_RETURN_IF_ERROR(GetKv(ctx, 0, var));
    TF_RETURN_IF_ERROR(CheckKvTypes(*var, dtype_, key_dtype_));
    if (var->column != 0) return absl::InvalidArgumentError(absl::StrCat("var ", var->name, " is a slot"));
    for (size_t i = 0; i < spec_.slots.size(); ++i) {
      KvRef slot;
      TF_RETURN_IF_ERROR(GetKv(ctx, int(i) + 1, &slot));
      if (slot.kv != var->kv || slot.column == 0) {
        return absl::FailedPreconditionError(
            absl::StrCat(spec_.slots[i], " ", slot.name, " is not a slot of EmbeddingVariable ", var->name,
                         " as it is now: if that was initialized again, so must its slots be"));
      }
      const int64_t dim = slot.table().dim(slot.column);
      const bool per_row = spec_.optimizer == Optimizer::kAdagradDecay && i == 1 && dim == 1;
      if (dim != var->table().dim(0) && !per_row) {
        return absl::InvalidArgumentError(absl::StrCat(spec_.slots[i], " ", slot.name, " has rows of ", dim,
                                                       ", var has rows of ", var->table().dim(0)));
      }
      columns->push_back(slot.column);
    }
    return absl::OkStatus();
  }

  absl::Status CheckShapes(const KvRef& var, const Tensor& grad, const Tensor& indices, const Tensor* counts) const {
    const int64_t n = indices.NumElements();
    if (indices.dims() != 1 || n > std::numeric_limits<int32_t>::max()) {
      return absl::InvalidArgumentError(absl::StrCat("indices must be a vector of fewer than 2^31 elements, got shape ",
                                                     indices.shape().DebugString()));
    }
    if (grad.shape() != TensorShape({n, var.table().dim(0)})) {
      return absl::InvalidArgumentError(absl::StrCat("grad must have shape [", n, ",", var.table().dim(0),
                                                     "] (indices, dim of ", var.name, "), got ",
                                                     grad.shape().DebugString()));
    }
    if (counts != nullptr && counts->shape() != indices.shape()) {
      return absl::InvalidArgumentError(absl::StrCat("indices_counts must have the shape of indices, ",
                                                     indices.shape().DebugString(), ", got ",
                                                     counts->shape().DebugString()));
    }
    return absl::OkStatus();
  }

  absl::Status MakeUpdater(OpKernelContext* ctx, const KvRef& var, const std::vector<int>& columns, const Hyper& hyper,
                           embedding::TableUpdate* update, embedding::RowUpdater* updater) const {
    const embedding::BlockRows rows = embedding::RowsOf(var.table(), columns);
    const auto isa = deeprec::sparse::ActiveIsa().isa;
    switch (spec_.optimizer) {
      case Optimizer::kElementwise:
        *updater = embedding::ElementwiseOptimizer(rows, spec_.rule, hyper, update->grad, isa);
        break;
      case Optimizer::kAdamAsync: {
        if (!sparse_rmsprop_) {
          *updater = embedding::ElementwiseOptimizer(rows, Rule::kAdam, hyper, update->grad, isa);
          break;
        }
        embedding::BlockRows swapped = rows;
        std::swap(swapped.slot_offset[0], swapped.slot_offset[1]);
        Hyper rmsprop = hyper;
        SetRmsPropOfAdamAsync(&rmsprop);
        *updater = embedding::ElementwiseOptimizer(swapped, Rule::kRmsProp, rmsprop, update->grad, isa);
        break;
      }
      case Optimizer::kGroupFtrl:
        *updater = embedding::GroupFtrlOptimizer(rows, hyper, update->grad);
        break;
      case Optimizer::kAdagradDecay: {
        embedding::AdagradDecayStep step;
        int64_t decay_step;
        TF_RETURN_IF_ERROR(ReadDecay(ctx, &decay_step, &step.rate, &step.baseline));
        step.lr = hyper.lr;
        step.period = update->version == embedding::kNoVersion ? 0 : update->version / decay_step;
        step.power_dim = var.table().dim(columns[1]);
        *updater = embedding::AdagradDecayOptimizer(rows, step, update->grad, isa);
        break;
      }
    }
    return absl::OkStatus();
  }

  const KvApplySpec& spec_;
  DataType dtype_, key_dtype_;
  Hyper hyper_;  // the attributes' part
  bool sparse_rmsprop_ = false;
  bool has_counts_ = false;
  bool serves_only_ = false;
};

template <KvApplySpec (*describe)()>
class DescribedOp : public KvSparseApplyOp {
 public:
  explicit DescribedOp(OpKernelConstruction* ctx) : KvSparseApplyOp(ctx, Spec()) {}

 private:
  // Kept for the life of the process.
  static const KvApplySpec& Spec() {
    static const KvApplySpec* const spec = new KvApplySpec(describe());
    return *spec;
  }
};

#define REGISTER_KV_APPLY(name, spec)                                                                     \
  REGISTER_KERNEL_BUILDER(Name("KvResourceSparseApply" name).Device(DEVICE_CPU), DescribedOp<spec>);      \
  REGISTER_KERNEL_BUILDER(Name("KvResourceSparseApply" name "WithCounts").Device(DEVICE_CPU), DescribedOp<spec>)
REGISTER_KV_APPLY("GradientDescent", GradientDescent);
REGISTER_KV_APPLY("Adagrad", Adagrad);
REGISTER_KV_APPLY("AdagradDecay", AdagradDecay);
REGISTER_KV_APPLY("Adam", Adam);
REGISTER_KV_APPLY("AdamW", AdamW);
REGISTER_KV_APPLY("AdamAsync", AdamAsync);
REGISTER_KV_APPLY("Ftrl", Ftrl);
REGISTER_KV_APPLY("FtrlV2", FtrlV2);
REGISTER_KV_APPLY("Momentum", Momentum);
REGISTER_KV_APPLY("RMSProp", RMSProp);
#undef REGISTER_KV_APPLY

}  // namespace
}  // namespace tensorflow
