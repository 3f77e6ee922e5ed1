// Restoring: ImportKv of kv_checkpoint.h.

#include <memory>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/kernels/kv_import_source.h"
#include "tensorflow/core/platform/errors.h"

namespace tensorflow {
namespace {

using deeprec::embedding::Table;

// Pointers of Table::Insert: null leaves new rows with 1 and kNoVersion.
const int64_t* OrNull(bool has, const std::vector<int64_t>& numbers) { return has ? numbers.data() : nullptr; }

absl::Status InsertSource(BundleStreamReader* reader, const KvImport& import, const KvRef& ref,
                          const KvSource& source) {
  Table& table = ref.table();
  std::vector<int64_t> versions;
  const auto versions_of = [&](const KvSourcePart& part, const KvChunk& chunk) {
    if (!import.reset_version) return OrNull(part.has_versions, chunk.versions);
    versions.assign(chunk.keys.size(), 0);
    return OrNull(true, versions);
  };
  TF_RETURN_IF_ERROR(ReadKvSource(reader, import, source.rows, true, [&](const KvChunk& chunk) {
    const int64_t n = int64_t(chunk.keys.size()), dim = source.rows.values.shape.dim_size(1);
    if (ref.column != 0) {
      table.Insert(ref.column, chunk.keys.data(), n, chunk.rows.data(), dim, nullptr, nullptr);
    } else {
      table.Insert(0, chunk.keys.data(), n, chunk.rows.data(), dim,
                   OrNull(source.rows.has_frequencies, chunk.frequencies), versions_of(source.rows, chunk));
    }
  }));
  return ReadKvSource(reader, import, source.waiting, false, [&](const KvChunk& chunk) {
    const std::vector<int64_t> none(source.waiting.has_frequencies ? 0 : chunk.keys.size(), 0);
    table.InsertWaiting(chunk.keys.data(), int64_t(chunk.keys.size()),
                        source.waiting.has_frequencies ? chunk.frequencies.data() : none.data(),
                        versions_of(source.waiting, chunk));
  });
}

}  // namespace

absl::Status ImportKv(Env* env, const KvImport& import, const KvRef& ref) {
  std::unique_ptr<BundleStreamReader> reader;
  TF_RETURN_IF_ERROR(BundleStreamReader::Open(env, import.prefix, &reader));
  std::vector<std::string> names;
  TF_RETURN_IF_ERROR(FindKvSources(reader.get(), import, &names));
  std::vector<KvSource> sources(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    TF_RETURN_IF_ERROR(OpenKvSource(reader.get(), import, ref, names[i], &sources[i]));
  }

  const bool replace = ref.column == 0 && !import.incremental;
  if (replace) ref.table().Clear();
  const absl::Status status = CatchTableErrors(ref.name, [&] {
    for (const KvSource& source : sources) TF_RETURN_IF_ERROR(InsertSource(reader.get(), import, ref, source));
    return absl::OkStatus();
  });
  if (status.ok()) return status;
  // The checkpoint was whole a moment ago. Half of it is worse than nothing.
  if (replace) ref.table().Clear();
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; EmbeddingVariable ", ref.name,
                                   replace ? " is left without its content" : " is left with a part of its changes"));
}

}  // namespace tensorflow
