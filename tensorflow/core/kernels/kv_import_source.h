// What of a checkpoint an import reads: the tensors of one source and the rows of them that are wanted.

#ifndef TENSORFLOW_CORE_KERNELS_KV_IMPORT_SOURCE_H_
#define TENSORFLOW_CORE_KERNELS_KV_IMPORT_SOURCE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/kernels/bundle_stream_reader.h"
#include "tensorflow/core/kernels/kv_checkpoint.h"

namespace tensorflow {

// Keys with rows, or keys that wait, of one source.
struct KvSourcePart {
  BundleTensor keys;
  BundleTensor values;         // rows only
  BundleTensor frequencies, versions;
  bool has_frequencies = false, has_versions = false;
  // Wanted entries, ascending: [begin, end).
  std::vector<std::pair<int64_t, int64_t>> ranges;
  // The ranges have keys of other partitions among them: checkpoints of before there were offsets.
  bool mixed = false;
};

struct KvSource {
  KvSourcePart rows;
  KvSourcePart waiting;
};

// Names of the sources of an import. Errors: NotFound; InvalidArgument if a name leads to different variables.
absl::Status FindKvSources(BundleStreamReader* reader, const KvImport& import, std::vector<std::string>* names);

// Looks up the tensors of source `name`, and verifies all that will be read.
absl::Status OpenKvSource(BundleStreamReader* reader, const KvImport& import, const KvRef& ref,
                          const std::string& name, KvSource* source);

// Entries read at a time: buffers that are used again and again.
struct KvChunk {
  std::vector<int64_t> keys, frequencies, versions;
  std::vector<char> rows;
};

// Calls visit(chunk) with the wanted entries; of `chunk`, frequencies and versions are empty if they are not stored.
absl::Status ReadKvSource(BundleStreamReader* reader, const KvImport& import, const KvSourcePart& part, bool with_rows,
                          const std::function<void(const KvChunk&)>& visit);

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_KV_IMPORT_SOURCE_H_
