#include "tensorflow/core/kernels/kv_import_source.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tensorflow/core/embedding/hashing.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace tensorflow {
namespace {

using deeprec::embedding::FloorMod;

constexpr int64_t kChunkBytes = 4 << 20;
constexpr int64_t kMaxChunkRows = 1 << 16;

bool Wanted(const KvImport& import, int64_t key) {
  return deeprec::embedding::PartOf(key, import.partition_num) == import.partition_id;
}

// Numbers j of the tensors `before`j`after`, ascending.
absl::Status FindPartitions(BundleStreamReader* reader, const std::string& before, const std::string& after,
                            std::vector<int64_t>* numbers) {
  TF_RETURN_IF_ERROR(reader->ForEachName(before, [&](absl::string_view name) {
    name.remove_prefix(before.size());
    int64_t number;
    if (absl::ConsumeSuffix(&name, after) && !name.empty() && name.find_first_not_of("0123456789") == name.npos &&
        absl::SimpleAtoi(name, &number)) {
      numbers->push_back(number);
    }
  }));
  std::sort(numbers->begin(), numbers->end());
  return absl::OkStatus();
}

// The name without its partition: of var/part_1/Adagrad, var/Adagrad.
std::string WithoutPartition(const KvImport& import) {
  const std::string& name = import.names[0];
  if (import.partition_num == 1) return name;
  const std::string part = absl::StrCat("/part_", import.partition_id);
  const size_t at = name.rfind(part);
  if (at == name.npos) return name;
  const size_t end = at + part.size();
  return end == name.size() || name[end] == '/' ? name.substr(0, at) + name.substr(end) : name;
}

absl::Status FindNumbers(BundleStreamReader* reader, const std::string& name, int64_t n, BundleTensor* tensor,
                         bool* found) {
  TF_RETURN_IF_ERROR(reader->Contains(name, found));
  if (!*found) return absl::OkStatus();
  TF_RETURN_IF_ERROR(reader->Find(name, tensor));
  const int64_t size = tensor->shape.num_elements();
  if (tensor->dtype != DT_INT64 || tensor->shape.dims() != 1 || (size != n && size != 0)) {
    return absl::InvalidArgumentError(absl::StrCat("Tensor ", name, " of the checkpoint ", reader->prefix(),
                                                   " must be int64 of shape [", n, "] or [0], got ",
                                                   DataTypeString(tensor->dtype), " of shape ",
                                                   tensor->shape.DebugString()));
  }
  *found = size == n;
  return absl::OkStatus();
}

absl::Status FindKeys(BundleStreamReader* reader, const KvRef& ref, const std::string& name, BundleTensor* keys) {
  TF_RETURN_IF_ERROR(reader->Find(name, keys));
  if (keys->dtype == ref.kv->key_dtype && keys->shape.dims() == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Tensor ", name, " of the checkpoint ", reader->prefix(), " is ",
                                                 DataTypeString(keys->dtype), " of shape ", keys->shape.DebugString(),
                                                 ", but EmbeddingVariable ", ref.name, " takes a vector of keys of dtype ",
                                                 DataTypeString(ref.kv->key_dtype)));
}

absl::Status CheckValues(BundleStreamReader* reader, const KvImport& import, const KvRef& ref,
                         const KvSourcePart& rows) {
  const BundleTensor& values = rows.values;
  const int64_t n = rows.keys.shape.num_elements(), dim = ref.table().dim(ref.column);
  if (values.shape.dims() == 2 && values.dtype == ref.kv->dtype && values.shape.dim_size(0) == n &&
      (values.shape.dim_size(1) == dim || (import.allow_other_dim && values.shape.dim_size(1) > 0))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "Tensor ", values.name, " of the checkpoint ", reader->prefix(), " is ", DataTypeString(values.dtype),
      " of shape ", values.shape.DebugString(), ", EmbeddingVariable ", ref.name, " needs ",
      DataTypeString(ref.kv->dtype), " of shape [", n, ",", dim, "]",
      // Of no use where something else differs as well.
      values.dtype == ref.kv->dtype && values.shape.dims() == 2 && values.shape.dim_size(0) == n
          ? "; set TF_EV_RESTORE_CUSTOM_DIM=1 to restore into another dimension"
          : ""));
}

// Which entries are wanted, by the offsets of the buckets.
absl::Status FindRanges(BundleStreamReader* reader, const KvImport& import, const std::string& offset_name,
                        KvSourcePart* part) {
  const int64_t n = part->keys.shape.num_elements();
  bool has_offsets;
  TF_RETURN_IF_ERROR(reader->Contains(offset_name, &has_offsets));
  if (!has_offsets) {
    part->mixed = import.partition_num > 1;
    if (n > 0) part->ranges.emplace_back(0, n);
    return absl::OkStatus();
  }
  BundleTensor tensor;
  TF_RETURN_IF_ERROR(reader->Find(offset_name, &tensor));
  std::vector<int32_t> offsets(kKvBuckets + 1);
  bool valid = tensor.dtype == DT_INT32 && tensor.shape == TensorShape({kKvBuckets + 1});
  if (valid) {
    TF_RETURN_IF_ERROR(reader->Verify(tensor));
    TF_RETURN_IF_ERROR(reader->Read(tensor, 0, tensor.size, offsets.data()));
    valid = offsets[0] == 0 && offsets[kKvBuckets] == n && std::is_sorted(offsets.begin(), offsets.end());
  }
  if (!valid) {
    return absl::DataLossError(absl::StrCat("Tensor ", offset_name, " of the checkpoint ", reader->prefix(),
                                            " must be ", kKvBuckets + 1, " ascending int32 from 0 to ", n,
                                            ", the number of keys"));
  }
  for (int64_t b = import.partition_id; b < kKvBuckets; b += import.partition_num) {
    if (offsets[b] == offsets[b + 1]) continue;
    if (!part->ranges.empty() && part->ranges.back().second == offsets[b]) {
      part->ranges.back().second = offsets[b + 1];
    } else {
      part->ranges.emplace_back(offsets[b], offsets[b + 1]);
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyPart(BundleStreamReader* reader, const KvImport& import, const KvSourcePart& part,
                        bool with_rows) {
  if (part.ranges.empty()) return absl::OkStatus();
  TF_RETURN_IF_ERROR(reader->Verify(part.keys));
  if (with_rows) TF_RETURN_IF_ERROR(reader->Verify(part.values));
  if (part.has_frequencies) TF_RETURN_IF_ERROR(reader->Verify(part.frequencies));
  if (part.has_versions) TF_RETURN_IF_ERROR(reader->Verify(part.versions));
  if (part.mixed || import.partition_num == 1) return absl::OkStatus();
  // The keys alone: they must be where the offsets say.
  KvSourcePart keys;
  keys.keys = part.keys;
  keys.ranges = part.ranges;
  absl::Status status;
  TF_RETURN_IF_ERROR(ReadKvSource(reader, import, keys, false, [&](const KvChunk& chunk) {
    for (const int64_t key : chunk.keys) {
      if (Wanted(import, key)) continue;
      status = absl::DataLossError(absl::StrCat("Tensor ", part.keys.name, " of the checkpoint ", reader->prefix(),
                                                " has key ", key, " outside of its bucket, ",
                                                FloorMod(key, kKvBuckets)));
      return;
    }
  }));
  return status;
}

}  // namespace

absl::Status FindKvSources(BundleStreamReader* reader, const KvImport& import, std::vector<std::string>* names) {
  if (import.names.size() > 1) {
    *names = import.names;
    return absl::OkStatus();
  }
  const std::string name = WithoutPartition(import);
  const KvSuffixes& suffixes = import.suffixes();
  names->clear();
  bool found;
  TF_RETURN_IF_ERROR(reader->Contains(name + suffixes.keys, &found));
  if (found) {
    names->push_back(name);
    return absl::OkStatus();
  }
  // var/Adagrad may be saved as var/part_0/Adagrad ...: the partition stands behind one of the name's parts.
  std::string base, rest;
  for (size_t at = name.size();; at = name.rfind('/', at - 1)) {
    if (at == name.npos || at == 0) break;
    const std::string before = name.substr(0, at), after = name.substr(at);
    std::vector<int64_t> numbers;
    TF_RETURN_IF_ERROR(FindPartitions(reader, before + "/part_", after + suffixes.keys, &numbers));
    if (numbers.empty()) continue;
    if (!names->empty()) {
      return absl::InvalidArgumentError(absl::StrCat("The checkpoint ", reader->prefix(), " has partitions of ", name,
                                                     " both as ", base, "/part_<j>", rest, " and as ", before,
                                                     "/part_<j>", after, ": give all tensor_names"));
    }
    base = before;
    rest = after;
    if (numbers.back() + 1 != int64_t(numbers.size())) {
      int64_t missing = 0;
      while (numbers[missing] == missing) ++missing;
      return absl::NotFoundError(absl::StrCat("The checkpoint ", reader->prefix(), " has ", base, "/part_",
                                              numbers.back(), rest, ", but not ", base, "/part_", missing, rest));
    }
    for (const int64_t j : numbers) names->push_back(absl::StrCat(base, "/part_", j, rest));
  }
  if (!names->empty()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("EmbeddingVariable ", name, " is not in the checkpoint ", reader->prefix(),
                                          ": it has neither ", name, suffixes.keys, " nor partitions of it"));
}

absl::Status OpenKvSource(BundleStreamReader* reader, const KvImport& import, const KvRef& ref,
                          const std::string& name, KvSource* source) {
  const KvSuffixes& suffixes = import.suffixes();
  KvSourcePart& rows = source->rows;
  TF_RETURN_IF_ERROR(FindKeys(reader, ref, name + suffixes.keys, &rows.keys));
  TF_RETURN_IF_ERROR(reader->Find(name + suffixes.values, &rows.values));
  TF_RETURN_IF_ERROR(CheckValues(reader, import, ref, rows));
  TF_RETURN_IF_ERROR(FindRanges(reader, import, name + suffixes.offset, &rows));
  if (ref.column == 0) {
    const int64_t n = rows.keys.shape.num_elements();
    TF_RETURN_IF_ERROR(FindNumbers(reader, name + suffixes.frequencies, n, &rows.frequencies, &rows.has_frequencies));
    TF_RETURN_IF_ERROR(FindNumbers(reader, name + suffixes.versions, n, &rows.versions, &rows.has_versions));
  }
  TF_RETURN_IF_ERROR(VerifyPart(reader, import, rows, true));
  // What waits belongs to the variable, and older checkpoints have none.
  KvSourcePart& waiting = source->waiting;
  bool has_waiting = false;
  if (ref.column == 0 && !import.incremental) {
    TF_RETURN_IF_ERROR(reader->Contains(name + "-keys_filtered", &has_waiting));
  }
  if (!has_waiting) return absl::OkStatus();
  TF_RETURN_IF_ERROR(FindKeys(reader, ref, name + "-keys_filtered", &waiting.keys));
  const int64_t m = waiting.keys.shape.num_elements();
  TF_RETURN_IF_ERROR(FindRanges(reader, import, name + "-partition_filter_offset", &waiting));
  TF_RETURN_IF_ERROR(FindNumbers(reader, name + "-freqs_filtered", m, &waiting.frequencies, &waiting.has_frequencies));
  TF_RETURN_IF_ERROR(FindNumbers(reader, name + "-versions_filtered", m, &waiting.versions, &waiting.has_versions));
  return VerifyPart(reader, import, waiting, false);
}

absl::Status ReadKvSource(BundleStreamReader* reader, const KvImport& import, const KvSourcePart& part,
                          bool with_rows, const std::function<void(const KvChunk&)>& visit) {
  const int64_t row_bytes = with_rows ? part.values.shape.dim_size(1) * DataTypeSize(part.values.dtype) : 0;
  const int64_t chunk_rows = std::min(kMaxChunkRows, std::max<int64_t>(64, kChunkBytes / (row_bytes + 24)));
  KvChunk chunk;
  std::vector<int32_t> narrow;
  for (const auto& [first, last] : part.ranges) {
    for (int64_t begin = first; begin < last; begin += chunk_rows) {
      int64_t count = std::min(chunk_rows, last - begin);
      const auto read_numbers = [&](const BundleTensor& tensor, std::vector<int64_t>* numbers) {
        numbers->resize(count);
        return reader->Read(tensor, begin * sizeof(int64_t), count * sizeof(int64_t), numbers->data());
      };
      if (part.keys.dtype == DT_INT32) {
        narrow.resize(count);
        TF_RETURN_IF_ERROR(
            reader->Read(part.keys, begin * sizeof(int32_t), count * sizeof(int32_t), narrow.data()));
        chunk.keys.assign(narrow.begin(), narrow.end());
      } else {
        TF_RETURN_IF_ERROR(read_numbers(part.keys, &chunk.keys));
      }
      if (part.has_frequencies) TF_RETURN_IF_ERROR(read_numbers(part.frequencies, &chunk.frequencies));
      if (part.has_versions) TF_RETURN_IF_ERROR(read_numbers(part.versions, &chunk.versions));
      if (with_rows) {
        chunk.rows.resize(count * row_bytes);
        TF_RETURN_IF_ERROR(reader->Read(part.values, begin * row_bytes, count * row_bytes, chunk.rows.data()));
      }
      if (part.mixed) {
        int64_t kept = 0;
        for (int64_t i = 0; i < count; ++i) {
          if (!Wanted(import, chunk.keys[i])) continue;
          chunk.keys[kept] = chunk.keys[i];
          if (part.has_frequencies) chunk.frequencies[kept] = chunk.frequencies[i];
          if (part.has_versions) chunk.versions[kept] = chunk.versions[i];
          if (with_rows && kept != i) {
            std::copy_n(chunk.rows.begin() + i * row_bytes, row_bytes, chunk.rows.begin() + kept * row_bytes);
          }
          ++kept;
        }
        chunk.keys.resize(kept);
      }
      visit(chunk);
    }
  }
  return absl::OkStatus();
}

}  // namespace tensorflow
