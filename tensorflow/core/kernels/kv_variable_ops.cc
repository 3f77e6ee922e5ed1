// Kernels of ops/kv_variable_ops.cc.

#include <limits>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tensorflow/core/embedding/hashing.h"
#include "tensorflow/core/kernels/kv_storage.h"
#include "tensorflow/core/kernels/kv_variable.h"
#include "tensorflow/core/kernels/pool_threads.h"
#include "tensorflow/core/kernels/step_inputs.h"

namespace tensorflow {
namespace {

using deeprec::embedding::AdmissionKind;
using deeprec::embedding::DefaultRows;
using deeprec::embedding::TableOptions;
using deeprec::embedding::WaitingKey;

class KvVarHandleOp : public OpKernel {
 public:
  explicit KvVarHandleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("container", &container_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shared_name", &name_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_and_shape_.dtype));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &dtype_and_shape_.shape));
    if (name_.empty()) name_ = def().name();
  }
  void Compute(OpKernelContext* ctx) override {
    Tensor* handle;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({}), &handle));
    handle->scalar<ResourceHandle>()() =
        MakeResourceHandle<KvVariable>(ctx, container_, name_, std::vector<DtypeAndPartialTensorShape>{dtype_and_shape_});
  }
  bool IsExpensive() override { return false; }

 private:
  std::string container_, name_;
  DtypeAndPartialTensorShape dtype_and_shape_;
};

class InitializeKvVariableOp : public OpKernel {
 public:
  explicit InitializeKvVariableOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tkeys", &key_dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("steps_to_live", &eviction_.steps_to_live));
    float l2_weight_threshold, no_permission, probability;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("l2_weight_threshold", &l2_weight_threshold));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("default_value_no_permission", &no_permission));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("false_positive_probability", &probability));
    eviction_.l2_weight_threshold = l2_weight_threshold;
    options_.no_permission = no_permission;
    options_.type = ElementTypeOf(dtype_);
    OP_REQUIRES_OK(ctx, ctx->GetAttr("record_freq", &options_.record_frequency));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("record_version", &options_.record_version));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("for_restore", &for_restore_));
    OP_REQUIRES_OK(ctx, ReadFilter(ctx, probability));
    OP_REQUIRES_OK(ctx, ReadTiers(ctx, &options_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& value = ctx->input(2);
    OP_REQUIRES(ctx, value.dims() >= 1 && value.dims() <= 2 && value.NumElements() > 0,
                absl::InvalidArgumentError(absl::StrCat("value must be [rows, dim] or [dim], with at least one element, got ",
                                                        value.shape().DebugString())));
    const int64_t dim = value.dim_size(value.dims() - 1);
    const int64_t rows = value.NumElements() / dim;
    auto defaults = std::make_shared<const DefaultRows>(options_.type, value.data(), rows, dim);

    const ResourceHandle& self = HandleFromInput(ctx, 0);
    const ResourceHandle& primary = HandleFromInput(ctx, 1);
    core::RefCountPtr<KvVariable> variable;
    OP_REQUIRES_OK(ctx, LookupOrCreateResource<KvVariable>(ctx, self, &variable, [&](KvVariable** made) {
                     *made = new KvVariable(self.name());
                     return absl::OkStatus();
                   }));
    const auto& declared = self.dtypes_and_shapes();
    OP_REQUIRES(ctx, declared.empty() || declared[0].shape.IsCompatibleWith(TensorShape({dim})),
                absl::InvalidArgumentError(absl::StrCat("value of EmbeddingVariable ", self.name(), " must have rows of shape ",
                                                        declared.empty() ? "" : declared[0].shape.DebugString(), ", got ",
                                                        value.shape().DebugString())));
    mutex_lock one_at_a_time(*variable->initializers());
    OP_REQUIRES_OK(ctx, CatchTableErrors(self.name(), [&] {
      if (self.name() != primary.name() || self.container() != primary.container()) {
        return InitializeSlot(ctx, primary, std::move(defaults), variable.get());
      }
      // A restore that fails leaves what there was.
      if (for_restore_ && IsSame(variable->table_to_restore().get(), dim)) return absl::OkStatus();
      auto kv = std::make_shared<KvTable>(options_, std::move(defaults));
      kv->eviction = eviction_;
      kv->dtype = dtype_;
      kv->key_dtype = key_dtype_;
      variable->Set(std::move(kv), 0, !for_restore_);
      return absl::OkStatus();
    }));
  }

 private:
  bool IsSame(const KvTable* kv, int64_t dim) const {
    return kv != nullptr && kv->dtype == dtype_ && kv->key_dtype == key_dtype_ && kv->table.dim(0) == dim &&
           kv->table.options() == options_ && kv->eviction == eviction_;
  }

  absl::Status InitializeSlot(OpKernelContext* ctx, const ResourceHandle& primary,
                              std::shared_ptr<const DefaultRows> defaults, KvVariable* slot) const {
    KvRef ref;
    core::RefCountPtr<KvVariable> variable;
    if (for_restore_ && LookupResource(ctx, primary, &variable).ok()) {
      ref = KvRef{variable->table_to_restore(), variable->column(), variable->name()};
    }
    if (ref.kv == nullptr) TF_RETURN_IF_ERROR(GetKv(ctx, primary, &ref));
    TF_RETURN_IF_ERROR(CheckKvTypes(ref, dtype_, key_dtype_));
    if (ref.column != 0) {
      return absl::InvalidArgumentError(absl::StrCat("resource_primary ", ref.name, " is a slot itself"));
    }
    // Of this very table: initialised before, and by then with these defaults.
    if (slot->table_to_restore() == ref.kv) {
      if (!for_restore_) slot->SetInitialized();
      return absl::OkStatus();
    }
    const int column = ref.table().AddColumn(std::move(defaults));
    slot->Set(ref.kv, column, !for_restore_);
    return absl::OkStatus();
  }

  absl::Status ReadFilter(OpKernelConstruction* ctx, double probability) {
    int64_t filter_freq;
    TF_RETURN_IF_ERROR(ctx->GetAttr("filter_freq", &filter_freq));
    if (filter_freq < 0 || filter_freq > WaitingKey::kMaxFrequency) {
      return absl::InvalidArgumentError(
          absl::StrCat("filter_freq must be in [0, ", WaitingKey::kMaxFrequency, "], got ", filter_freq));
    }
    if (filter_freq == 0) return absl::OkStatus();
    options_.record_frequency = true;
    options_.min_count = filter_freq;
    options_.admission = AdmissionKind::kCounter;
    if (probability == -1) return absl::OkStatus();
    int64_t max_elements;
    DataType counter_type;
    TF_RETURN_IF_ERROR(ctx->GetAttr("max_element_size", &max_elements));
    TF_RETURN_IF_ERROR(ctx->GetAttr("counter_type", &counter_type));
    if (!(probability > 0 && probability < 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("false_positive_probability must be in (0, 1), got ", probability));
    }
    if (max_elements <= 0) {
      return absl::InvalidArgumentError(absl::StrCat("max_element_size must be positive, got ", max_elements));
    }
    options_.admission = AdmissionKind::kBloom;
    options_.bloom.min_count = filter_freq;
    options_.bloom.max_elements = max_elements;
    options_.bloom.false_positive_rate = probability;
    options_.bloom.counter_bits = 8 * DataTypeSize(counter_type);
    return absl::OkStatus();
  }

  TableOptions options_;
  EvictionPolicy eviction_;
  DataType dtype_, key_dtype_;
  bool for_restore_;
};

class KvVarIsInitializedOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    Tensor* output;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({}), &output));
    core::RefCountPtr<KvVariable> variable;
    output->scalar<bool>()() =
        LookupResource(ctx, HandleFromInput(ctx, 0), &variable).ok() && variable->table() != nullptr;
  }
};

class DestroyKvResourceOp : public OpKernel {
 public:
  explicit DestroyKvResourceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("ignore_lookup_error", &ignore_lookup_error_));
  }
  void Compute(OpKernelContext* ctx) override {
    const absl::Status status = DeleteResource<KvVariable>(ctx, HandleFromInput(ctx, 0));
    if (absl::IsNotFound(status) && ignore_lookup_error_) return;
    OP_REQUIRES_OK(ctx, status);
  }

 private:
  bool ignore_lookup_error_;
};

class KvVariableShapeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    KvRef ref;
    OP_REQUIRES_OK(ctx, GetKv(ctx, 0, &ref));
    Tensor* output;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({2}), &output));
    const int64_t keys = ref.table().size(), dim = ref.table().dim(ref.column);
    if (output->dtype() == DT_INT64) {
      output->vec<int64_t>()(0) = keys;
      output->vec<int64_t>()(1) = dim;
      return;
    }
    OP_REQUIRES(ctx, keys <= std::numeric_limits<int32_t>::max(),
                absl::InvalidArgumentError(absl::StrCat("EmbeddingVariable ", ref.name, " has ", keys,
                                                        " keys, too many for out_type int32: use int64")));
    output->vec<int32_t>()(0) = int32_t(keys);
    output->vec<int32_t>()(1) = int32_t(dim);
  }
};

class KvResourceGatherOp : public OpKernel {
 public:
  explicit KvResourceGatherOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tkeys", &key_dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("is_use_default_value_tensor", &use_default_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("is_inference", &is_inference_));
    serves_only_ = ServesOnly();
  }
  void Compute(OpKernelContext* ctx) override {
    KvRef ref;
    TensorShape shape;
    OP_REQUIRES_OK(ctx, OpenLookup(ctx, dtype_, key_dtype_, &ref, &shape));
    Tensor* output;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    const KvKeys keys(ctx->input(1));
    const auto threads = PoolThreads(ctx);
    const Tensor& defaults = ctx->input(2);
    OP_REQUIRES(ctx, !use_default_ || defaults.shape() == shape,
                absl::InvalidArgumentError(absl::StrCat("default_value must have the shape of the output, ",
                                                        shape.DebugString(), ", got ", defaults.shape().DebugString())));
    OP_REQUIRES_OK(ctx, CatchTableErrors(ref.name, [&] {
      if (use_default_ && !is_inference_ && !serves_only_) {
        ref.table().LookupOrInsert(keys.data(), keys.size(), defaults.data(), deeprec::embedding::kNoVersion, output->data(),
                                   threads);
      } else {
        ref.table().Lookup(keys.data(), keys.size(), use_default_ ? defaults.data() : nullptr, output->data(), threads,
                           !serves_only_);
      }
      return absl::OkStatus();
    }));
  }

 private:
  DataType dtype_, key_dtype_;
  bool use_default_, is_inference_, serves_only_;
};

// Ops that give one value per id.
template <class Output, void (deeprec::embedding::Table::*query)(const int64_t*, int64_t, Output*) const>
class PerIdOp : public OpKernel {
 public:
  explicit PerIdOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}
  void Compute(OpKernelContext* ctx) override {
    KvRef ref;
    OP_REQUIRES_OK(ctx, GetKv(ctx, 0, &ref));
    const Tensor& ids = ctx->input(1);
    OP_REQUIRES_OK(ctx, CheckKvTypes(ref, ref.kv->dtype, ids.dtype()));
    OP_REQUIRES(ctx, ids.NumElements() <= std::numeric_limits<int32_t>::max(),
                absl::InvalidArgumentError("ids must have fewer than 2^31 elements"));
    Tensor* output;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, ids.shape(), &output));
    const KvKeys keys(ids);
    OP_REQUIRES_OK(ctx, CatchTableErrors(ref.name, [&] {
      (ref.table().*query)(keys.data(), keys.size(), output->flat<Output>().data());
      return absl::OkStatus();
    }));
  }
};

class KvResourceExportOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    KvRef ref;
    OP_REQUIRES_OK(ctx, GetKv(ctx, 0, &ref));
    OP_REQUIRES_OK(ctx, CheckKvTypes(ref, ctx->expected_output_dtype(1), ctx->expected_output_dtype(0)));
    auto& table = ref.table();
    const std::lock_guard<std::mutex> no_eviction(table.maintenance_mutex());
    const deeprec::embedding::Snapshot snapshot = table.TakeSnapshot(1);
    const int64_t n = int64_t(snapshot.keys.size());
    const bool versions = table.options().record_version, frequencies = table.options().record_frequency;
    Tensor *key_output, *value_output, *version_output, *frequency_output;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({n}), &key_output));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({n, table.dim(ref.column)}), &value_output));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, TensorShape({versions ? n : 0}), &version_output));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(3, TensorShape({frequencies ? n : 0}), &frequency_output));
    CopyKeys(snapshot.keys.data(), n, key_output);
    // A batch of the size of all would be more than the positions of one can count.
    constexpr int64_t kChunk = 1 << 16;
    const int64_t row_bytes = table.dim(ref.column) * DataTypeSize(ref.kv->dtype);
    for (int64_t begin = 0; begin < n; begin += kChunk) {
      deeprec::embedding::RowReader reader;
      reader.columns.resize(ref.column + 1);
      reader.columns[ref.column] = static_cast<char*>(value_output->data()) + begin * row_bytes;
      if (versions) reader.versions = version_output->vec<int64_t>().data() + begin;
      if (frequencies) reader.frequencies = frequency_output->vec<int64_t>().data() + begin;
      OP_REQUIRES_OK(ctx, CatchTableErrors(ref.name, [&] {
        table.Read(snapshot.keys.data() + begin, std::min(kChunk, n - begin), reader);
        return absl::OkStatus();
      }));
    }
  }
};

class KvAlignCountsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &indices = ctx->input(0), &looked_up = ctx->input(1), &counts = ctx->input(2);
    OP_REQUIRES(ctx, TensorShapeUtils::IsVector(indices.shape()),
                absl::InvalidArgumentError(absl::StrCat("indices must be a vector, got ", indices.shape().DebugString())));
    OP_REQUIRES(ctx, TensorShapeUtils::IsVector(looked_up.shape()) && looked_up.shape() == counts.shape(),
                absl::InvalidArgumentError(absl::StrCat("keys and counts must be vectors of one length, got ",
                                                        looked_up.shape().DebugString(), " and ",
                                                        counts.shape().DebugString())));
    Tensor* output;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, indices.shape(), &output));
    const KvKeys keys(looked_up), gradient_keys(indices);
    absl::flat_hash_map<int64_t, int64_t, deeprec::embedding::KeyHash> sums;
    sums.reserve(keys.size());
    const auto count = counts.vec<int64_t>();
    for (int64_t i = 0; i < keys.size(); ++i) {
      OP_REQUIRES(ctx, count(i) >= 0,
                  absl::InvalidArgumentError(absl::StrCat("counts must not be negative, got counts[", i, "] = ", count(i))));
    }
    for (int64_t i = 0; i < keys.size(); ++i) sums[keys.data()[i]] += count(i);
    auto aligned = output->vec<int64_t>();
    for (int64_t i = 0; i < gradient_keys.size(); ++i) {
      aligned(i) = std::exchange(sums[gradient_keys.data()[i]], 0);
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("KvAlignCounts").Device(DEVICE_CPU), KvAlignCountsOp);
REGISTER_KERNEL_BUILDER(Name("KvVarHandleOp").Device(DEVICE_CPU), KvVarHandleOp);
REGISTER_KERNEL_BUILDER(Name("InitializeKvVariableV2Op").Device(DEVICE_CPU), InitializeKvVariableOp);
REGISTER_KERNEL_BUILDER(Name("KvVarIsInitializedOp").Device(DEVICE_CPU), KvVarIsInitializedOp);
REGISTER_KERNEL_BUILDER(Name("DestroyKvResourceOp").Device(DEVICE_CPU), DestroyKvResourceOp);
REGISTER_KERNEL_BUILDER(Name("KvVariableShape").Device(DEVICE_CPU), KvVariableShapeOp);
REGISTER_KERNEL_BUILDER(Name("KvResourceGather").Device(DEVICE_CPU), KvResourceGatherOp);
REGISTER_KERNEL_BUILDER(Name("KvResourceExport").Device(DEVICE_CPU), KvResourceExportOp);
REGISTER_KERNEL_BUILDER(Name("EVGetFrequency").Device(DEVICE_CPU),
                        PerIdOp<int64_t, &deeprec::embedding::Table::Frequencies>);
REGISTER_KERNEL_BUILDER(Name("EVGetVersion").Device(DEVICE_CPU),
                        PerIdOp<int64_t, &deeprec::embedding::Table::Versions>);
REGISTER_KERNEL_BUILDER(Name("KvResourceLookupTier").Device(DEVICE_CPU),
                        PerIdOp<int32_t, &deeprec::embedding::Table::Tiers>);

}  // namespace
}  // namespace tensorflow
