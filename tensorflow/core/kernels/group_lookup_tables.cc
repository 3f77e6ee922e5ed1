#include "tensorflow/core/kernels/group_lookup_tables.h"

#include <string.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/embedding/hashing.h"

namespace tensorflow {

using deeprec::embedding::PartOf;

absl::Status ColumnTable::Open(OpKernelContext* ctx, int first, int parts, TableKind kind, bool div, int64_t dim,
                               DataType dtype, bool serves_only) {
  kind_ = kind;
  div_ = div;
  serves_only_ = serves_only;
  parts_ = parts;
  dim_ = dim;
  dtype_ = dtype;
  row_bytes_ = dim * DataTypeSize(dtype);
  for (int i = first; i < first + parts; ++i) {
    if ((ctx->input_dtype(i) == DT_RESOURCE) == (kind == TableKind::kTensor)) {
      return absl::InvalidArgumentError(absl::StrCat("tables[", i, "] is ", DataTypeString(ctx->input_dtype(i)),
                                                     ", which its column's kind does not say"));
    }
    switch (kind) {
      case TableKind::kEmbeddingVariable: {
        KvRef ref;
        TF_RETURN_IF_ERROR(GetKv(ctx, HandleFromInput(ctx, i), &ref));
        TF_RETURN_IF_ERROR(CheckKvTypes(ref, dtype, ref.kv->key_dtype));
        if (ref.column != 0 || ref.table().dim(0) != dim) {
          return absl::InvalidArgumentError(absl::StrCat("EmbeddingVariable ", ref.name, " has rows of ",
                                                         ref.table().dim(ref.column), ", the lookup expects a variable of ", dim));
        }
        embedding_.push_back(std::move(ref));
        break;
      }
      case TableKind::kResource: {
        core::RefCountPtr<Var> variable;
        const ResourceHandle& handle = HandleFromInput(ctx, i);
        if (!LookupResource(ctx, handle, &variable).ok()) {
          return absl::FailedPreconditionError(
              absl::StrCat("Variable ", handle.name(), " is not initialized: run its initializer or restore it first."));
        }
        name_ = handle.name();
        variables_.push_back(std::move(variable));
        break;
      }
      case TableKind::kTensor:
        name_ = ctx->op_kernel().requested_input(i);
        values_.push_back(ctx->input(i));
        break;
    }
  }
  return absl::OkStatus();
}

void ColumnTable::AddMutexes(std::vector<mutex*>* mutexes) const {
  for (const auto& variable : variables_) mutexes->push_back(variable->mu());
}

absl::Status ColumnTable::Lock() {
  if (kind_ == TableKind::kEmbeddingVariable) return absl::OkStatus();
  for (const auto& variable : variables_) values_.push_back(*variable->tensor());
  for (const Tensor& value : values_) {
    if (value.dtype() != dtype_ || value.dims() != 2 || value.dim_size(1) != dim_) {
      return absl::InvalidArgumentError(absl::StrCat(name_, " must be ", DataTypeString(dtype_), " of shape [rows,", dim_,
                                                     "], got ", DataTypeString(value.dtype()), " of shape ",
                                                     value.shape().DebugString()));
    }
    rows_ += value.dim_size(0);
  }
  return absl::OkStatus();
}

absl::Status ColumnTable::Locate(int64_t key, Place* place) const {
  if (kind_ == TableKind::kEmbeddingVariable) {
    *place = Place{parts_ == 1 ? 0 : int(PartOf(key, parts_)), key};
    return absl::OkStatus();
  }
  if (key >= 0 && key < rows_) {
    if (parts_ == 1) {
      *place = Place{0, key};
    } else if (div_) {
      const int64_t each = rows_ / parts_, extra = rows_ % parts_;
      const int64_t wide = extra * (each + 1);  // keys in the parts with one more
      *place = key < wide ? Place{int(key / (each + 1)), key % (each + 1)}
                          : Place{int(extra + (key - wide) / each), (key - wide) % each};
    } else {
      *place = Place{int(key % parts_), key / parts_};
    }
    if (place->key < values_[place->part].dim_size(0)) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("id ", key, " is not in [0, ", rows_, "), the rows of ", name_));
}

absl::Status ColumnTable::Find(const int64_t* keys, int64_t n, FoundRows* found) const {
  if (kind_ == TableKind::kEmbeddingVariable) return FindInEmbeddingVariables(keys, n, found);
  found->rows.resize(n);
  for (int64_t i = 0; i < n; ++i) {
    Place place;
    TF_RETURN_IF_ERROR(Locate(keys[i], &place));
    const char* const row = static_cast<const char*>(values_[place.part].data()) + place.key * row_bytes_;
    __builtin_prefetch(row);
    found->rows[i] = row;
  }
  return absl::OkStatus();
}

absl::Status ColumnTable::FindInEmbeddingVariables(const int64_t* keys, int64_t n, FoundRows* found) const {
  const deeprec::sparse::Threads alone;
  const auto look_up = [&](const KvRef& ref, const int64_t* its_keys, int64_t count, char* rows) {
    return CatchTableErrors(ref.name, [&] {
      ref.table().Lookup(its_keys, count, nullptr, rows, alone, !serves_only_);
      return absl::OkStatus();
    });
  };
  found->rows.resize(n);
  char* to = found->Copies(n * row_bytes_);
  if (parts_ == 1) {
    TF_RETURN_IF_ERROR(look_up(embedding_[0], keys, n, to));
    for (int64_t i = 0; i < n; ++i) found->rows[i] = to + i * row_bytes_;
    return absl::OkStatus();
  }
  std::vector<int64_t> of_part, places;
  for (int p = 0; p < parts_; ++p) {
    of_part.clear();
    places.clear();
    for (int64_t i = 0; i < n; ++i) {
      if (PartOf(keys[i], parts_) != p) continue;
      of_part.push_back(keys[i]);
      places.push_back(i);
    }
    TF_RETURN_IF_ERROR(look_up(embedding_[p], of_part.data(), int64_t(of_part.size()), to));
    for (size_t i = 0; i < places.size(); ++i, to += row_bytes_) found->rows[places[i]] = to;
  }
  return absl::OkStatus();
}

SharedMutexes::SharedMutexes(std::vector<mutex*> mutexes) {
  std::sort(mutexes.begin(), mutexes.end());
  mutexes.erase(std::unique(mutexes.begin(), mutexes.end()), mutexes.end());
  for (mutex* const mu : mutexes) locks_.push_back(std::make_unique<tf_shared_lock>(*mu));
}

}  // namespace tensorflow
