#include "tensorflow/core/kernels/columnar_rows.h"

#include <cstring>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/columnar/rows.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/kernels/columnar_texts.h"
#include "tensorflow/core/kernels/columnar_threads.h"

namespace tensorflow {
namespace columnar {
namespace {

using deeprec::columnar::Levels;
using deeprec::columnar::Run;

Levels LevelsOf(const RowBatch& batch, size_t first, int64_t ragged_rank) {
  Levels levels;
  for (int64_t l = 0; l < ragged_rank; ++l) {
    const Tensor& splits = batch.tensors[first + 1 + l];
    levels.push_back({splits.flat<int32_t>().data(), splits.NumElements()});
  }
  return levels;
}

absl::Status Invalid(int64_t field, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("component ", field, " of a batch (fields by name): ", what));
}

// Elements of one value: of all dimensions but the first.
int64_t ElementsOfValue(const Tensor& values) {
  int64_t elements = 1;
  for (int d = 1; d < values.dims(); ++d) elements *= values.dim_size(d);
  return elements;
}

template <class T>
void CopyNumbers(const std::vector<const RowBatch*>& batches, size_t tensor, const std::vector<Run>& runs, void* out) {
  T* to = static_cast<T*>(out);
  for (const Run& run : runs) {
    const T* const from = static_cast<const T*>(batches[run.batch]->tensors[tensor].data());
    if (run.end - run.begin == 1) {
      *to++ = from[run.begin];
    } else {
      memcpy(to, from + run.begin, (run.end - run.begin) * sizeof(T));
      to += run.end - run.begin;
    }
  }
}

void CopyBytes(const std::vector<const RowBatch*>& batches, size_t tensor, const std::vector<Run>& runs, int64_t width,
               void* out) {
  char* to = static_cast<char*>(out);
  for (const Run& run : runs) {
    const char* const from = static_cast<const char*>(batches[run.batch]->tensors[tensor].data());
    memcpy(to, from + run.begin * width, (run.end - run.begin) * width);
    to += (run.end - run.begin) * width;
  }
}

template <class Append>
void CopyTexts(const std::vector<const RowBatch*>& batches, size_t tensor, const std::vector<Run>& runs, int64_t inner,
               Append append) {
  for (const Run& run : runs) {
    const tstring* const from = batches[run.batch]->tensors[tensor].flat<tstring>().data();
    for (int64_t i = run.begin * inner; i < run.end * inner; ++i) append(from[i].data(), from[i].size());
  }
}

absl::Status GatherField(int field, size_t first_tensor, int64_t ragged_rank,
                         const std::vector<const RowBatch*>& batches, const std::vector<Run>& rows,
                         Allocator* allocator, std::vector<Tensor>* tensors) {
  std::vector<Levels> levels;
  for (const RowBatch* batch : batches) levels.push_back(LevelsOf(*batch, first_tensor, ragged_rank));
  std::vector<std::vector<int32_t>> splits;
  std::vector<Run> values;
  const std::string error = deeprec::columnar::GatherLevels(levels, ragged_rank, rows, &splits, &values);
  if (!error.empty()) return Invalid(field, error);

  const Tensor& like = batches[0]->tensors[first_tensor];
  for (const RowBatch* batch : batches) {
    TensorShape shape = batch->tensors[first_tensor].shape();
    shape.set_dim(0, like.dim_size(0));
    if (shape != like.shape()) {
      return Invalid(field, absl::StrCat("values of different shapes do not fit into one batch: ",
                                         like.shape().DebugString(), " and ",
                                         batch->tensors[first_tensor].shape().DebugString()));
    }
  }
  int64_t num_values = 0;
  for (const Run& run : values) num_values += run.end - run.begin;
  TensorShape shape = like.shape();
  shape.set_dim(0, num_values);
  const int64_t inner = ElementsOfValue(like);
  Tensor out;
  if (like.dtype() == DT_STRING) {
    TF_RETURN_IF_ERROR(MakeTexts(
        shape, allocator, [&](auto append) { CopyTexts(batches, first_tensor, values, inner, append); }, &out));
  } else {
    out = Tensor(allocator, like.dtype(), shape);
  }
  if (like.dtype() != DT_STRING && out.NumElements() > 0) {
    const int64_t width = inner * DataTypeSize(like.dtype());
    if (width == sizeof(int64_t)) {
      CopyNumbers<int64_t>(batches, first_tensor, values, out.data());
    } else if (width == sizeof(int32_t)) {
      CopyNumbers<int32_t>(batches, first_tensor, values, out.data());
    } else {
      CopyBytes(batches, first_tensor, values, width, out.data());
    }
  }
  tensors->push_back(std::move(out));
  for (const std::vector<int32_t>& level : splits) {
    Tensor tensor(allocator, DT_INT32, TensorShape({static_cast<int64_t>(level.size())}));
    memcpy(tensor.data(), level.data(), level.size() * sizeof(int32_t));
    tensors->push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeRowBatch(const std::vector<int64_t>& ragged_ranks, std::vector<Tensor> tensors,
                          std::shared_ptr<const RowBatch>* batch) {
  auto made = std::make_shared<RowBatch>();
  made->tensors = std::move(tensors);
  made->num_rows = -1;
  size_t at = 0;
  for (size_t f = 0; f < ragged_ranks.size(); ++f) {
    const Tensor& values = made->tensors[at];
    if (values.dims() < 1) return Invalid(f, "a scalar has no rows");
    if (!DataTypeCanUseMemcpy(values.dtype()) && values.dtype() != DT_STRING) {
      return Invalid(f, absl::StrCat("rows of ", DataTypeString(values.dtype()), " cannot be batched"));
    }
    for (int64_t l = 1; l <= ragged_ranks[f]; ++l) {
      const Tensor& splits = made->tensors[at + l];
      if (splits.dtype() != DT_INT32 || splits.dims() != 1) {
        return Invalid(f, absl::StrCat("row splits must be int32 vectors, got ", splits.DebugString()));
      }
    }
    const Levels levels = LevelsOf(*made, at, ragged_ranks[f]);
    const std::string error = deeprec::columnar::CheckLevels(levels, values.dim_size(0));
    if (!error.empty()) return Invalid(f, error);
    const int64_t num_rows = levels.empty() ? values.dim_size(0) : levels[0].size - 1;
    if (made->num_rows < 0) made->num_rows = num_rows;
    if (made->num_rows != num_rows) {
      return Invalid(f, absl::StrCat("it has ", num_rows, " rows, others have ", made->num_rows));
    }
    at += 1 + ragged_ranks[f];
  }
  *batch = std::move(made);
  return absl::OkStatus();
}

absl::Status GatherRows(data::IteratorContext* ctx, const std::vector<int64_t>& ragged_ranks,
                        const std::vector<RowRun>& runs, std::vector<Tensor>* tensors) {
  std::vector<const RowBatch*> batches;
  std::vector<Run> rows;
  std::unordered_map<const RowBatch*, size_t> places;
  int64_t num_rows = 0;
  for (const RowRun& run : runs) {
    const auto [place, is_new] = places.emplace(run.batch.get(), batches.size());
    if (is_new) batches.push_back(run.batch.get());
    rows.push_back({place->second, run.begin, run.end});
    num_rows += run.end - run.begin;
  }
  std::vector<size_t> first_tensors;
  size_t first = 0;
  for (int64_t rank : ragged_ranks) {
    first_tensors.push_back(first);
    first += 1 + rank;
  }
  return MakeFields(
      ctx, ragged_ranks.size(), num_rows * ragged_ranks.size(),
      [&](int field, std::vector<Tensor>* made) {
        return GatherField(field, first_tensors[field], ragged_ranks[field], batches, rows, ctx->allocator({}), made);
      },
      tensors);
}

}  // namespace columnar
}  // namespace tensorflow
