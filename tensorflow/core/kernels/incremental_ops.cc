// Kernels of ops/incremental_ops.cc.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/embedding/touched_keys.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/kernels/kv_import_source.h"

namespace tensorflow {
namespace {

using deeprec::embedding::TouchedKeys;

// The rows of one ordinary variable, and all slots that change with it.
class SparseRecorder : public ResourceBase {
 public:
  template <class Index>
  void Record(const Index* indices, int64_t n) {
    mutex_lock lock(mu_);
    if (touched_ == nullptr) return;
    for (int64_t i = 0; i < n; ++i) touched_->Add(int64_t(indices[i]));
  }
  void Start() {
    mutex_lock lock(mu_);
    if (touched_ == nullptr) {
      touched_ = std::make_unique<TouchedKeys>();
    } else {
      touched_->StartGeneration();
    }
  }
  void ForgetEarlier() {
    mutex_lock lock(mu_);
    if (touched_ != nullptr) touched_->DropEarlierGenerations();
  }
  // False if nothing is being recorded.
  bool Collect(std::vector<int64_t>* indices) const {
    tf_shared_lock lock(mu_);
    if (touched_ == nullptr) return false;
    touched_->index().ForEach([&](int64_t key, uintptr_t) { indices->push_back(key); });
    return true;
  }
  std::string DebugString() const override { return "Recorder of changed rows"; }

 private:
  mutable mutex mu_;
  std::unique_ptr<TouchedKeys> touched_ TF_GUARDED_BY(mu_);
};

constexpr char kContainer[] = "deeprec_sparse_recorders";

absl::Status RecorderOf(OpKernelContext* ctx, const std::string& name, core::RefCountPtr<SparseRecorder>* recorder) {
  SparseRecorder* found;
  TF_RETURN_IF_ERROR(ctx->resource_manager()->LookupOrCreate<SparseRecorder>(
      kContainer, name, &found, [](SparseRecorder** made) {
        *made = new SparseRecorder;
        return absl::OkStatus();
      }));
  recorder->reset(found);
  return absl::OkStatus();
}

class RecordSparseIndicesOp : public OpKernel {
 public:
  explicit RecordSparseIndicesOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("table_name", &name_));
  }
  void Compute(OpKernelContext* ctx) override {
    core::RefCountPtr<SparseRecorder> recorder;
    OP_REQUIRES_OK(ctx, RecorderOf(ctx, name_, &recorder));
    const Tensor& indices = ctx->input(0);
    if (indices.dtype() == DT_INT32) {
      recorder->Record(indices.flat<int32_t>().data(), indices.NumElements());
    } else {
      recorder->Record(indices.flat<int64_t>().data(), indices.NumElements());
    }
  }

 private:
  std::string name_;
};

class ActivateSparseRecorderOp : public OpKernel {
 public:
  explicit ActivateSparseRecorderOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("forget_earlier", &forget_earlier_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& names = ctx->input(0);
    OP_REQUIRES(ctx, names.dims() == 1,
                absl::InvalidArgumentError(
                    absl::StrCat("tensor_names must be a vector, got shape ", names.shape().DebugString())));
    for (int64_t i = 0; i < names.NumElements(); ++i) {
      core::RefCountPtr<SparseRecorder> recorder;
      OP_REQUIRES_OK(ctx, RecorderOf(ctx, names.vec<tstring>()(i), &recorder));
      if (forget_earlier_) {
        recorder->ForgetEarlier();
      } else {
        recorder->Start();
      }
    }
  }

 private:
  bool forget_earlier_;
};

absl::Status ReadName(const Tensor& tensor, const char* what, std::string* name) {
  if (tensor.dims() != 0 || tensor.scalar<tstring>()().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " must be one string that is not empty, got shape ", tensor.shape().DebugString()));
  }
  *name = tensor.scalar<tstring>()();
  return absl::OkStatus();
}

class CollectSparseIndicesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    std::string name;
    OP_REQUIRES_OK(ctx, ReadName(ctx->input(0), "tensor_name", &name));
    core::RefCountPtr<SparseRecorder> recorder;
    OP_REQUIRES_OK(ctx, RecorderOf(ctx, name, &recorder));
    std::vector<int64_t> indices;
    OP_REQUIRES(ctx, recorder->Collect(&indices),
                absl::FailedPreconditionError(absl::StrCat(
                    "The rows of ", name, " are not being recorded: an incremental checkpoint needs a full one of a "
                    "Saver(incremental_save_restore=True, incremental_include_normal_var=True) to start from")));
    std::sort(indices.begin(), indices.end());
    Tensor* output;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({int64_t(indices.size())}), &output));
    std::copy(indices.begin(), indices.end(), output->vec<int64_t>().data());
  }
};

class IncrRestoreOp : public OpKernel {
 public:
  explicit IncrRestoreOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    PartialTensorShape row_shape;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("row_shape", &row_shape));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("first_row", &first_row_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_rows", &num_rows_));
    OP_REQUIRES(ctx, row_shape.AsTensorShape(&row_shape_),
                absl::InvalidArgumentError(
                    absl::StrCat("row_shape must be fully defined, got ", row_shape.DebugString())));
    OP_REQUIRES(ctx, DataTypeSize(dtype_) > 0,
                absl::InvalidArgumentError(
                    absl::StrCat("dtype must have elements of one size, got ", DataTypeString(dtype_))));
  }

  void Compute(OpKernelContext* ctx) override {
    KvImport import;
    import.incremental = true;
    import.names.resize(1);
    OP_REQUIRES_OK(ctx, ReadName(ctx->input(0), "prefix", &import.prefix));
    OP_REQUIRES_OK(ctx, ReadName(ctx->input(1), "tensor_name", &import.names[0]));
    std::unique_ptr<BundleStreamReader> reader;
    OP_REQUIRES_OK(ctx, BundleStreamReader::Open(ctx->env(), import.prefix, &reader));
    std::vector<std::string> sources;
    const absl::Status found = FindKvSources(reader.get(), import, &sources);
    OP_REQUIRES(ctx, !absl::IsNotFound(found),
                absl::NotFoundError(absl::StrCat(
                    "The incremental checkpoint ", import.prefix, " has no rows of ", import.names[0], ": neither ",
                    import.names[0], import.suffixes().keys, " nor any of parts of it. It was saved with another "
                    "incremental_include_normal_var, or by another model")));
    OP_REQUIRES_OK(ctx, found);

    std::vector<int64_t> indices;
    std::vector<char> rows;
    for (const std::string& source : sources) OP_REQUIRES_OK(ctx, ReadSource(reader.get(), source, &indices, &rows));
    Tensor *index_output, *row_output;
    TensorShape shape({int64_t(indices.size())});
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &index_output));
    shape.AppendShape(row_shape_);
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, shape, &row_output));
    std::copy(indices.begin(), indices.end(), index_output->vec<int64_t>().data());
    std::copy(rows.begin(), rows.end(), static_cast<char*>(row_output->data()));
  }

 private:
  absl::Status ReadSource(BundleStreamReader* reader, const std::string& name, std::vector<int64_t>* indices,
                          std::vector<char>* rows) const {
    BundleTensor keys, values;
    TF_RETURN_IF_ERROR(reader->Find(name + kIncrementalKv.keys, &keys));
    TF_RETURN_IF_ERROR(reader->Find(name + kIncrementalKv.values, &values));
    const int64_t n = keys.shape.num_elements();
    TensorShape expected({n});
    expected.AppendShape(row_shape_);
    if (keys.dtype != DT_INT64 || keys.shape.dims() != 1 || values.dtype != dtype_ || values.shape != expected) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Tensors ", keys.name, " and ", values.name, " of the checkpoint ", reader->prefix(), " must be int64 of shape [", n,
          "] and ", DataTypeString(dtype_), " of shape ", expected.DebugString(), ", got ", DataTypeString(keys.dtype),
          " of shape ", keys.shape.DebugString(), " and ", DataTypeString(values.dtype), " of shape ",
          values.shape.DebugString()));
    }
    TF_RETURN_IF_ERROR(reader->Verify(keys));
    TF_RETURN_IF_ERROR(reader->Verify(values));
    std::vector<int64_t> all(n);
    std::vector<char> all_rows(values.size);
    TF_RETURN_IF_ERROR(reader->Read(keys, 0, keys.size, all.data()));
    TF_RETURN_IF_ERROR(reader->Read(values, 0, values.size, all_rows.data()));
    const int64_t row_bytes = row_shape_.num_elements() * DataTypeSize(dtype_);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = all[i] - first_row_;
      if (row < 0 || row >= num_rows_) continue;
      indices->push_back(row);
      rows->insert(rows->end(), all_rows.begin() + i * row_bytes, all_rows.begin() + (i + 1) * row_bytes);
    }
    return absl::OkStatus();
  }

  DataType dtype_;
  TensorShape row_shape_;
  int64_t first_row_, num_rows_;
};

REGISTER_KERNEL_BUILDER(Name("RecordSparseIndices").Device(DEVICE_CPU), RecordSparseIndicesOp);
REGISTER_KERNEL_BUILDER(Name("ActivateSparseRecorder").Device(DEVICE_CPU), ActivateSparseRecorderOp);
REGISTER_KERNEL_BUILDER(Name("CollectSparseIndices").Device(DEVICE_CPU), CollectSparseIndicesOp);
REGISTER_KERNEL_BUILDER(Name("IncrRestore").Device(DEVICE_CPU), IncrRestoreOp);

}  // namespace
}  // namespace tensorflow
