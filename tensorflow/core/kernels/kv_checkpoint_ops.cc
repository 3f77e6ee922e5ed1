// Kernels of ops/kv_checkpoint_ops.cc.

#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/kernels/kv_checkpoint.h"
#include "tensorflow/core/kernels/pool_threads.h"
#include "tensorflow/core/util/env_var.h"
#include "tensorflow/core/util/saved_tensor_slice_util.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"

namespace tensorflow {
namespace {

absl::Status ReadPrefix(OpKernelContext* ctx, std::string* prefix) {
  const Tensor& tensor = ctx->input(0);
  if (!TensorShapeUtils::IsScalar(tensor.shape()) || tensor.scalar<tstring>()().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("prefix must be one string that is not empty, got shape ", tensor.shape().DebugString()));
  }
  *prefix = tensor.scalar<tstring>()();
  return absl::OkStatus();
}

// What SaveV3 and IncrSave share: tensors, and tables in whatever way, in one checkpoint.
class SaveTablesOp : public OpKernel {
 public:
  explicit SaveTablesOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::vector<DataType> dtypes;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_ev", &num_ev_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtypes", &dtypes));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("ev_key_types", &key_types_));
    num_tensors_ = int64_t(dtypes.size());
    OP_REQUIRES(ctx, key_types_.empty() || int64_t(key_types_.size()) == num_ev_,
                absl::InvalidArgumentError(absl::StrCat("ev_key_types must have one dtype for each of the ", num_ev_,
                                                        " ev_resources, got ", key_types_.size())));
  }

  void Compute(OpKernelContext* ctx) override {
    std::string prefix;
    OP_REQUIRES_OK(ctx, ReadPrefix(ctx, &prefix));
    OP_REQUIRES_OK(ctx, CheckNames(ctx, 1, "tensor_names", num_tensors_));
    OP_REQUIRES_OK(ctx, CheckNames(ctx, 2, "shape_and_slices", num_tensors_));
    OP_REQUIRES_OK(ctx, CheckNames(ctx, 3, "ev_names", num_ev_));
    std::vector<Group> groups;
    OP_REQUIRES_OK(ctx, GroupByTable(ctx, &groups));
    OpInputList tensors;
    OP_REQUIRES_OK(ctx, ctx->input_list("tensors", &tensors));

    BundleStreamWriter writer(ctx->env(), prefix);
    for (int64_t i = 0; i < num_tensors_; ++i) OP_REQUIRES_OK(ctx, AddTensor(ctx, i, tensors[int(i)], &writer));
    for (const Group& group : groups) {
      std::lock_guard<std::mutex> lock(group.kv->table.maintenance_mutex());
      OP_REQUIRES_OK(ctx, CatchTableErrors(group.columns[0].name, [&] { return SaveTable(ctx, group, &writer); }));
    }
    OP_REQUIRES_OK(ctx, writer.Finish());
  }

 protected:
  // What is saved of one table.
  struct Group {
    std::shared_ptr<KvTable> kv;
    std::vector<KvToSave> columns;
  };

  virtual absl::Status SaveTable(OpKernelContext* ctx, const Group& group, BundleStreamWriter* writer) = 0;
  int64_t num_ev() const { return num_ev_; }

 private:
  static absl::Status CheckNames(OpKernelContext* ctx, int input, const char* what, int64_t n) {
    const Tensor& names = ctx->input(input);
    if (names.dims() == 1 && names.NumElements() == n) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(what, " must have shape [", n, "], got ", names.shape().DebugString()));
  }

  absl::Status GroupByTable(OpKernelContext* ctx, std::vector<Group>* groups) const {
    OpInputList resources;
    TF_RETURN_IF_ERROR(ctx->input_list("ev_resources", &resources));
    const auto names = ctx->input(3).vec<tstring>();
    for (int i = 0; i < num_ev_; ++i) {
      KvRef ref;
      TF_RETURN_IF_ERROR(GetKv(ctx, resources[i].scalar<ResourceHandle>()(), &ref));
      if (!key_types_.empty()) TF_RETURN_IF_ERROR(CheckKvTypes(ref, ref.kv->dtype, key_types_[i]));
      Group* group = nullptr;
      for (Group& other : *groups) {
        if (other.kv == ref.kv) group = &other;
      }
      if (group == nullptr) {
        groups->push_back(Group{ref.kv, {}});
        group = &groups->back();
      }
      group->columns.push_back(KvToSave{names(i), ref.column});
    }
    return absl::OkStatus();
  }

  absl::Status AddTensor(OpKernelContext* ctx, int64_t i, const Tensor& tensor, BundleStreamWriter* writer) const {
    const std::string name = ctx->input(1).vec<tstring>()(i);
    const std::string spec = ctx->input(2).vec<tstring>()(i);
    if (spec.empty()) return writer->Add(name, tensor);
    TensorShape shape, slice_shape;
    TensorSlice slice;
    TF_RETURN_IF_ERROR(checkpoint::ParseShapeAndSlice(spec, &shape, &slice, &slice_shape));
    if (slice_shape != tensor.shape()) {
      return absl::InvalidArgumentError(absl::StrCat("shape_and_slices of ", name, " is ", spec, ", a slice of shape ",
                                                     slice_shape.DebugString(), ", but the tensor has shape ",
                                                     tensor.shape().DebugString()));
    }
    return writer->AddSlice(name, shape, slice, tensor);
  }

  int64_t num_ev_, num_tensors_;
  std::vector<DataType> key_types_;
};

class SaveV3Op : public SaveTablesOp {
 public:
  explicit SaveV3Op(OpKernelConstruction* ctx) : SaveTablesOp(ctx) {
    bool has_ev;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("has_ev", &has_ev));
    OP_REQUIRES(ctx, has_ev == (num_ev() > 0),
                absl::InvalidArgumentError(absl::StrCat("has_ev is ", has_ev ? "true" : "false", ", but there are ",
                                                        num_ev(), " ev_resources")));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& step = ctx->input(int(4 + num_ev()));
    OP_REQUIRES(ctx, TensorShapeUtils::IsScalar(step.shape()),
                absl::InvalidArgumentError(
                    absl::StrCat("global_step must be a scalar, got shape ", step.shape().DebugString())));
    SaveTablesOp::Compute(ctx);
  }

 private:
  absl::Status SaveTable(OpKernelContext* ctx, const Group& group, BundleStreamWriter* writer) override {
    EvictForSaving(group.kv.get(), ctx->input(int(4 + num_ev())).scalar<int64_t>()());
    return SaveKvTable(*group.kv, group.columns, writer, PoolThreads(ctx));
  }
};

class IncrSaveOp : public SaveTablesOp {
 public:
  using SaveTablesOp::SaveTablesOp;

 private:
  absl::Status SaveTable(OpKernelContext* ctx, const Group& group, BundleStreamWriter* writer) override {
    return SaveKvIncrement(*group.kv, group.columns, writer, PoolThreads(ctx));
  }
};

class KvRecordOp : public OpKernel {
 public:
  explicit KvRecordOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("forget_earlier", &forget_earlier_));
  }

  void Compute(OpKernelContext* ctx) override {
    KvRef ref;
    OP_REQUIRES_OK(ctx, GetKv(ctx, 0, &ref));
    std::lock_guard<std::mutex> lock(ref.table().maintenance_mutex());
    OP_REQUIRES_OK(ctx, CatchTableErrors(ref.name, [&] {
      if (forget_earlier_) {
        ref.table().ForgetEarlierRecords();
      } else {
        ref.table().StartRecording();
      }
      return absl::OkStatus();
    }));
  }

 private:
  bool forget_earlier_;
};

// Of a variable or slot: a full checkpoint, or an incremental one over what is there.
class KvResourceImportOp : public OpKernel {
 public:
  explicit KvResourceImportOp(OpKernelConstruction* ctx)
      : OpKernel(ctx), incremental_(def().op() == "KvResourceIncrImport") {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tkeys", &key_dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("partition_id", &partition_id_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("partition_num", &partition_num_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("reset_version", &reset_version_));
    OP_REQUIRES(ctx, partition_id_ < partition_num_,
                absl::InvalidArgumentError(absl::StrCat("partition_id must be in [0, ", partition_num_, "), got ",
                                                        partition_id_)));
  }

  void Compute(OpKernelContext* ctx) override {
    KvImport import;
    import.partition_id = partition_id_;
    import.partition_num = partition_num_;
    import.reset_version = reset_version_;
    import.incremental = incremental_;
    OP_REQUIRES_OK(ctx, ReadPrefix(ctx, &import.prefix));
    OP_REQUIRES_OK(ctx, ReadBoolFromEnvVar("TF_EV_RESTORE_CUSTOM_DIM", false, &import.allow_other_dim));
    const Tensor& names = ctx->input(2);
    OP_REQUIRES(ctx, names.dims() <= 1 && names.NumElements() > 0,
                absl::InvalidArgumentError(
                    absl::StrCat("tensor_names must be a scalar or [n] with n > 0, got shape ", names.shape().DebugString())));
    for (int64_t i = 0; i < names.NumElements(); ++i) import.names.push_back(names.flat<tstring>()(i));

    const ResourceHandle& handle = HandleFromInput(ctx, 1);
    core::RefCountPtr<KvVariable> variable;
    KvRef ref;
    if (LookupResource(ctx, handle, &variable).ok()) {
      ref = KvRef{variable->table_to_restore(), variable->column(), variable->name()};
    }
    OP_REQUIRES(ctx, ref.kv != nullptr,
                absl::FailedPreconditionError(absl::StrCat(
                    "EmbeddingVariable ", handle.name(), " must be initialized, for_restore or otherwise, before it is restored")));
    OP_REQUIRES_OK(ctx, CheckKvTypes(ref, dtype_, key_dtype_));
    OP_REQUIRES(ctx, !incremental_ || variable->table() != nullptr,
                absl::FailedPreconditionError(absl::StrCat(
                    "EmbeddingVariable ", ref.name, " must be restored from a full checkpoint before an incremental one")));
    OP_REQUIRES(ctx, ref.column == 0 || ref.kv->has_content,
                absl::FailedPreconditionError(absl::StrCat(
                    "Slot ", ref.name, " can not be restored before the EmbeddingVariable that it belongs to")));
    std::lock_guard<std::mutex> lock(ref.table().maintenance_mutex());
    OP_REQUIRES_OK(ctx, ImportKv(ctx->env(), import, ref));
    variable->SetInitialized();
  }

 private:
  DataType dtype_, key_dtype_;
  int64_t partition_id_, partition_num_;
  bool reset_version_;
  const bool incremental_;
};

class KvRestoreStateOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    std::string prefix;
    OP_REQUIRES_OK(ctx, ReadPrefix(ctx, &prefix));
    const Tensor& names = ctx->input(1);
    OP_REQUIRES(ctx, names.dims() == 1 && names.NumElements() > 0,
                absl::InvalidArgumentError(
                    absl::StrCat("tensor_names must be [n] with n > 0, got shape ", names.shape().DebugString())));
    BundleReader reader(ctx->env(), prefix);
    OP_REQUIRES_OK(ctx, reader.status());
    const auto list = names.vec<tstring>();
    std::string name = list(0);
    for (int64_t i = 0; i < list.size(); ++i) {
      if (!reader.Contains(std::string(list(i)))) continue;
      name = list(i);
      break;
    }
    DataType dtype;
    TensorShape shape;
    OP_REQUIRES_OK(ctx, reader.LookupDtypeAndShape(name, &dtype, &shape));
    OP_REQUIRES(ctx, dtype == ctx->expected_output_dtype(0),
                absl::InvalidArgumentError(absl::StrCat("Tensor ", name, " of the checkpoint ", prefix, " is ",
                                                        DataTypeString(dtype), ", the variable needs ",
                                                        DataTypeString(ctx->expected_output_dtype(0)))));
    Tensor value(dtype, shape);
    OP_REQUIRES_OK(ctx, reader.Lookup(name, &value));
    ctx->set_output(0, value);
  }
};

REGISTER_KERNEL_BUILDER(Name("KvRestoreState").Device(DEVICE_CPU), KvRestoreStateOp);
REGISTER_KERNEL_BUILDER(Name("SaveV3").Device(DEVICE_CPU), SaveV3Op);
REGISTER_KERNEL_BUILDER(Name("IncrSave").Device(DEVICE_CPU), IncrSaveOp);
REGISTER_KERNEL_BUILDER(Name("KvResourceRecord").Device(DEVICE_CPU), KvRecordOp);
REGISTER_KERNEL_BUILDER(Name("KvResourceImportV3").Device(DEVICE_CPU), KvResourceImportOp);
REGISTER_KERNEL_BUILDER(Name("KvResourceIncrImport").Device(DEVICE_CPU), KvResourceImportOp);

}  // namespace
}  // namespace tensorflow
