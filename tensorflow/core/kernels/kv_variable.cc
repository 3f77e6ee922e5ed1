#include "tensorflow/core/kernels/kv_variable.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "tensorflow/core/embedding/storage_error.h"
#include "tensorflow/core/util/env_var.h"

namespace tensorflow {

void KvVariable::Set(std::shared_ptr<KvTable> table, int column, bool initialized) {
  mutex_lock lock(mu_);
  table_ = std::move(table);
  column_ = column;
  initialized_ = initialized;
  if (column == 0) table_->has_content = initialized;
}

void KvVariable::SetInitialized() {
  mutex_lock lock(mu_);
  initialized_ = true;
  if (column_ == 0) table_->has_content = true;
}

std::shared_ptr<KvTable> KvVariable::table() const {
  tf_shared_lock lock(mu_);
  return initialized_ ? table_ : nullptr;
}

std::shared_ptr<KvTable> KvVariable::table_to_restore() const {
  tf_shared_lock lock(mu_);
  return table_;
}

int KvVariable::column() const {
  tf_shared_lock lock(mu_);
  return column_;
}

std::string KvVariable::DebugString() const {
  const auto kv = table();
  if (kv == nullptr) return absl::StrCat("EmbeddingVariable ", name_, ", not initialized");
  return absl::StrCat("EmbeddingVariable ", name_, " of ", kv->table.size(), " keys, dim ",
                      kv->table.dim(column()));
}

int64_t KvVariable::MemoryUsed() const {
  const auto kv = table();
  // Slots live in the variable's table.
  return kv == nullptr || column() != 0 ? 0 : kv->table.MemoryBytes();
}

absl::Status GetKv(OpKernelContext* ctx, int input, KvRef* ref) {
  return GetKv(ctx, HandleFromInput(ctx, input), ref);
}

absl::Status GetKv(OpKernelContext* ctx, const ResourceHandle& handle, KvRef* ref) {
  core::RefCountPtr<KvVariable> variable;
  if (LookupResource(ctx, handle, &variable).ok()) {
    ref->kv = variable->table();
    ref->column = variable->column();
    ref->name = variable->name();
  }
  if (ref->kv == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "EmbeddingVariable ", handle.name(), " is not initialized: run its initializer or restore it first."));
  }
  // Of another graph than the one that made the table.
  const auto& types = handle.dtypes_and_shapes();
  const int64_t dim = ref->table().dim(ref->column);
  if (types.size() == 1 && types[0].shape.dims() == 1 && types[0].shape.dim_size(0) >= 0 &&
      types[0].shape.dim_size(0) != dim) {
    return absl::InvalidArgumentError(absl::StrCat("EmbeddingVariable ", ref->name, " has rows of ", dim,
                                                   ", this graph expects ", types[0].shape.dim_size(0)));
  }
  return absl::OkStatus();
}

absl::Status CheckKvTypes(const KvRef& ref, DataType dtype, DataType key_dtype) {
  if (ref.kv->dtype != dtype) {
    return absl::InvalidArgumentError(absl::StrCat("EmbeddingVariable ", ref.name, " has dtype ",
                                                   DataTypeString(ref.kv->dtype), ", the op expects ",
                                                   DataTypeString(dtype)));
  }
  if (ref.kv->key_dtype != key_dtype) {
    return absl::InvalidArgumentError(absl::StrCat("EmbeddingVariable ", ref.name, " has keys of dtype ",
                                                   DataTypeString(ref.kv->key_dtype), ", got indices of dtype ",
                                                   DataTypeString(key_dtype)));
  }
  return absl::OkStatus();
}

absl::Status CatchTableErrors(const std::string& name, const std::function<absl::Status()>& use) {
  using deeprec::embedding::StorageError;
  try {
    return use();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat("Out of memory for EmbeddingVariable ", name));
  } catch (const deeprec::embedding::BatchTooLargeError& error) {
    return absl::InvalidArgumentError(absl::StrCat("EmbeddingVariable ", name, ": ", error.what()));
  } catch (const StorageError& error) {
    const std::string message = absl::StrCat("EmbeddingVariable ", name, ": ", error.what());
    switch (error.kind()) {
      case StorageError::Kind::kNoSpace: return absl::ResourceExhaustedError(message);
      case StorageError::Kind::kAltered: return absl::DataLossError(message);
      // Not Unavailable, on which monitored sessions begin again for ever.
      case StorageError::Kind::kUnavailable: break;
    }
    return absl::InternalError(message);
  }
}

absl::Status OpenLookup(OpKernelContext* ctx, DataType dtype, DataType key_dtype, KvRef* ref, TensorShape* rows) {
  TF_RETURN_IF_ERROR(GetKv(ctx, 0, ref));
  TF_RETURN_IF_ERROR(CheckKvTypes(*ref, dtype, key_dtype));
  if (ref->column != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(ref->name, " is an optimizer slot: only the variable can be looked up"));
  }
  const Tensor& keys = ctx->input(1);
  if (keys.NumElements() > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError("indices must have fewer than 2^31 elements");
  }
  *rows = keys.shape();
  return rows->AddDimWithStatus(ref->table().dim(0));
}

KvKeys::KvKeys(const Tensor& keys) : size_(keys.NumElements()) {
  if (keys.dtype() == DT_INT64) {
    data_ = keys.flat<int64_t>().data();
    return;
  }
  copy_.reset(new int64_t[size_]);
  std::copy_n(keys.flat<int32_t>().data(), size_, copy_.get());
  data_ = copy_.get();
}

void CopyKeys(const int64_t* keys, int64_t n, Tensor* to) {
  if (to->dtype() == DT_INT64) {
    std::copy_n(keys, n, to->flat<int64_t>().data());
  } else {
    std::copy_n(keys, n, to->flat<int32_t>().data());
  }
}

bool ServesOnly() {
  bool serves = false;
  // A value that is no truth value is none.
  return ReadBoolFromEnvVar("INFERENCE_MODE", false, &serves).ok() && serves;
}

}  // namespace tensorflow
