// Saving: EvictForSaving, SaveKvTable and SaveKvIncrement of kv_checkpoint.h.

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <memory>

#include "absl/log/log.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/kernels/kv_checkpoint.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/util/env_var.h"

namespace tensorflow {
namespace {

using deeprec::embedding::RowReader;
using deeprec::embedding::Snapshot;
using deeprec::embedding::Table;
using deeprec::embedding::WaitingKey;
using deeprec::sparse::Threads;

// Of the buffer that rows pass through.
constexpr int64_t kChunkBytes = 4 << 20;
constexpr int64_t kMaxChunkRows = 1 << 16;

// A tensor made of one number per entry, `value(i)`.
template <class T, class Value>
absl::Status WriteNumbers(BundleStreamWriter* writer, int stream, const std::string& name, int64_t n,
                          const Value& value) {
  TF_RETURN_IF_ERROR(writer->Begin(stream, name, DataTypeToEnum<T>::value, TensorShape({n})));
  const std::unique_ptr<T[]> chunk(new T[std::min(n, kMaxChunkRows)]);
  for (int64_t begin = 0; begin < n; begin += kMaxChunkRows) {
    const int64_t count = std::min(kMaxChunkRows, n - begin);
    for (int64_t i = 0; i < count; ++i) chunk[i] = T(value(begin + i));
    TF_RETURN_IF_ERROR(writer->Append(stream, chunk.get(), count * sizeof(T)));
  }
  return writer->End(stream);
}

template <class Value>
absl::Status WriteKeys(BundleStreamWriter* writer, DataType dtype, const std::string& name, int64_t n,
                       const Value& value) {
  return dtype == DT_INT32 ? WriteNumbers<int32_t>(writer, 0, name, n, value)
                           : WriteNumbers<int64_t>(writer, 0, name, n, value);
}

absl::Status WriteOffsets(BundleStreamWriter* writer, const std::string& name, const std::vector<int64_t>& begin) {
  if (begin.back() > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat(name, " counts keys in int32, which has no room for ", begin.back(),
                                                   " keys: partition the EmbeddingVariable"));
  }
  return WriteNumbers<int32_t>(writer, 0, name, int64_t(begin.size()), [&](int64_t i) { return begin[i]; });
}

// What keys that wait leave, in stream 0.
absl::Status WriteWaiting(const KvTable& kv, const Snapshot& snapshot, const std::string& name,
                          BundleStreamWriter* writer) {
  const auto& options = kv.table.options();
  const auto& waiting = snapshot.waiting;
  TF_RETURN_IF_ERROR(WriteKeys(writer, kv.key_dtype, name + "-keys_filtered", int64_t(waiting.size()),
                               [&](int64_t i) { return waiting[i].key; }));
  TF_RETURN_IF_ERROR(WriteNumbers<int64_t>(writer, 0, name + "-freqs_filtered",
                                           options.record_frequency ? int64_t(waiting.size()) : 0,
                                           [&](int64_t i) { return WaitingKey::Frequency(waiting[i].word); }));
  TF_RETURN_IF_ERROR(WriteNumbers<int64_t>(writer, 0, name + "-versions_filtered",
                                           options.record_version ? int64_t(waiting.size()) : 0,
                                           [&](int64_t i) { return WaitingKey::Version(waiting[i].word); }));
  return WriteOffsets(writer, name + "-partition_filter_offset", snapshot.waiting_begin);
}

// The rows of a chunk: buffers, and the streams they go to.
class RowPass {
 public:
  RowPass(const KvTable& kv, const std::vector<KvToSave>& columns) : table_(kv.table) {
    int64_t row_bytes = 2 * sizeof(int64_t);
    for (const KvToSave& column : columns) {
      column_bytes_.push_back(table_.dim(column.column) * DataTypeSize(kv.dtype));
      row_bytes += column_bytes_.back();
    }
    chunk_ = std::min(kMaxChunkRows, std::max<int64_t>(64, kChunkBytes / row_bytes));
    for (int64_t bytes : column_bytes_) buffers_.emplace_back(new char[chunk_ * bytes]);
    for (const KvToSave& column : columns) columns_.push_back(column.column);
    if (table_.options().record_frequency) frequencies_.reset(new int64_t[chunk_]);
    if (table_.options().record_version) versions_.reset(new int64_t[chunk_]);
  }

  // Streams in this order: frequencies, versions (if recorded), columns.
  absl::Status Write(const std::vector<int64_t>& keys, int first_stream, BundleStreamWriter* writer,
                     const Threads& threads) {
    const int64_t n = int64_t(keys.size());
    for (int64_t begin = 0; begin < n; begin += chunk_) {
      const int64_t count = std::min(chunk_, n - begin);
      Read(keys.data() + begin, count, threads);
      int stream = first_stream;
      for (const auto* numbers : {&frequencies_, &versions_}) {
        if (*numbers == nullptr) continue;
        TF_RETURN_IF_ERROR(writer->Append(stream++, numbers->get(), count * sizeof(int64_t)));
      }
      for (size_t c = 0; c < buffers_.size(); ++c) {
        TF_RETURN_IF_ERROR(writer->Append(stream++, buffers_[c].get(), count * column_bytes_[c]));
      }
    }
    return absl::OkStatus();
  }

 private:
  void Read(const int64_t* keys, int64_t n, const Threads& threads) {
    const auto read = [&](int64_t begin, int64_t end) {
      RowReader reader;
      reader.columns.resize(1 + *std::max_element(columns_.begin(), columns_.end()));
      for (size_t c = 0; c < columns_.size(); ++c) {
        reader.columns[columns_[c]] = buffers_[c].get() + begin * column_bytes_[c];
      }
      if (frequencies_ != nullptr) reader.frequencies = frequencies_.get() + begin;
      if (versions_ != nullptr) reader.versions = versions_.get() + begin;
      table_.Read(keys + begin, end - begin, reader);
    };
    const int workers = threads.run == nullptr ? 1 : int(std::min<int64_t>(threads.count, 1 + n / 4096));
    if (workers == 1) return read(0, n);
    threads.run(workers, [&](int w) { read(n * w / workers, n * (w + 1) / workers); });
  }

  const Table& table_;
  std::vector<int> columns_;
  std::vector<int64_t> column_bytes_;
  int64_t chunk_;
  std::vector<std::unique_ptr<char[]>> buffers_;
  std::unique_ptr<int64_t[]> frequencies_, versions_;
};

// Slots have what the first column has, under their names.
absl::Status AliasSlots(const std::vector<KvToSave>& columns, std::initializer_list<const char*> suffixes,
                        BundleStreamWriter* writer) {
  for (size_t c = 1; c < columns.size(); ++c) {
    for (const char* const suffix : suffixes) {
      TF_RETURN_IF_ERROR(writer->Alias(columns[c].name + suffix, columns[0].name + suffix));
    }
  }
  return absl::OkStatus();
}

// Writes keys, what there is of each of them, and where buckets begin.
absl::Status WriteRows(const KvTable& kv, const Snapshot& snapshot, const std::vector<KvToSave>& columns,
                       const KvSuffixes& suffixes, BundleStreamWriter* writer, const Threads& threads) {
  const Table& table = kv.table;
  const int64_t n = int64_t(snapshot.keys.size());
  const std::string& first = columns[0].name;
  TF_RETURN_IF_ERROR(
      WriteKeys(writer, kv.key_dtype, first + suffixes.keys, n, [&](int64_t i) { return snapshot.keys[i]; }));
  TF_RETURN_IF_ERROR(WriteOffsets(writer, first + suffixes.offset, snapshot.begin));

  // A column that is saved under several names is written once.
  std::vector<KvToSave> written;
  std::vector<std::pair<std::string, std::string>> aliases;
  for (const KvToSave& column : columns) {
    const auto same = std::find_if(written.begin(), written.end(),
                                   [&](const KvToSave& other) { return other.column == column.column; });
    if (same == written.end()) {
      written.push_back(column);
    } else {
      aliases.emplace_back(column.name, same->name);
    }
  }
  const int first_stream = 1;
  int stream = first_stream;
  const struct {
    const char* suffix;
    bool recorded;
  } numbers[] = {{suffixes.frequencies, table.options().record_frequency},
                 {suffixes.versions, table.options().record_version}};
  for (const auto& [suffix, recorded] : numbers) {
    if (recorded) {
      TF_RETURN_IF_ERROR(writer->Begin(stream++, first + suffix, DT_INT64, TensorShape({n})));
    } else {
      TF_RETURN_IF_ERROR(writer->Write(0, first + suffix, DT_INT64, TensorShape({0}), nullptr));
    }
  }
  for (const KvToSave& column : written) {
    TF_RETURN_IF_ERROR(
        writer->Begin(stream++, column.name + suffixes.values, kv.dtype, TensorShape({n, table.dim(column.column)})));
  }
  TF_RETURN_IF_ERROR(RowPass(kv, written).Write(snapshot.keys, first_stream, writer, threads));
  for (int s = first_stream; s < stream; ++s) TF_RETURN_IF_ERROR(writer->End(s));

  for (const auto& [name, same] : aliases) {
    TF_RETURN_IF_ERROR(writer->Alias(name + suffixes.values, same + suffixes.values));
  }
  return AliasSlots(columns, {suffixes.keys, suffixes.frequencies, suffixes.versions, suffixes.offset}, writer);
}

}  // namespace

void EvictForSaving(KvTable* kv, int64_t global_step) {
  const EvictionPolicy& policy = kv->eviction;
  if (policy.steps_to_live > 0) {
    if (global_step >= 0) {
      kv->table.EvictOlderThan(policy.steps_to_live, global_step);
    } else {
      LOG(WARNING) << "Keys not trained for more than " << policy.steps_to_live
                   << " steps are not evicted: this save does not know the global step.";
    }
  }
  if (policy.l2_weight_threshold > 0) kv->table.EvictSmallerThan(policy.l2_weight_threshold);
}

absl::Status SaveKvTable(const KvTable& kv, const std::vector<KvToSave>& columns, BundleStreamWriter* writer,
                         const Threads& threads) {
  bool save_waiting;
  TF_RETURN_IF_ERROR(ReadBoolFromEnvVar("TF_EV_SAVE_FILTERED_FEATURES", true, &save_waiting));
  Snapshot snapshot = kv.table.TakeSnapshot(kKvBuckets);
  if (!save_waiting) {
    snapshot.waiting.clear();
    snapshot.waiting_begin.assign(kKvBuckets + 1, 0);
  }
  TF_RETURN_IF_ERROR(WriteRows(kv, snapshot, columns, kFullKv, writer, threads));
  TF_RETURN_IF_ERROR(WriteWaiting(kv, snapshot, columns[0].name, writer));
  return AliasSlots(columns, {"-keys_filtered", "-freqs_filtered", "-versions_filtered", "-partition_filter_offset"},
                    writer);
}

absl::Status SaveKvIncrement(const KvTable& kv, const std::vector<KvToSave>& columns, BundleStreamWriter* writer,
                             const Threads& threads) {
  if (!kv.table.recording()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "EmbeddingVariable ", columns[0].name, " has not been saved by a Saver(incremental_save_restore=True) since it was "
        "initialized or restored: an incremental checkpoint needs a full one to start from"));
  }
  return WriteRows(kv, kv.table.TakeRecorded(kKvBuckets), columns, kIncrementalKv, writer, threads);
}

}  // namespace tensorflow
