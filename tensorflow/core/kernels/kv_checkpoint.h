// EmbeddingVariables in checkpoints.
//
// A variable, or a slot, of name P is stored as the tensors P-keys [n], P-values [n, dim], P-freqs and P-versions ([n],
// or [0] if not recorded), the same but values for keys that wait for admission (P-keys_filtered ...), and
// P-partition_offset and P-partition_filter_offset, int32 [1001]: keys are in order of their bucket, key mod 1000 (never
// negative), and those of bucket b are [offset[b], offset[b + 1]). A slot's tensors hold the same keys in the same order.
//
// An incremental checkpoint has, of the keys that changed since the last full one, P-sparse_incr_keys, -sparse_incr_values,
// -sparse_incr_freqs, -sparse_incr_versions and P-incr_partition_offset, alike. It has none of keys that wait.

#ifndef TENSORFLOW_CORE_KERNELS_KV_CHECKPOINT_H_
#define TENSORFLOW_CORE_KERNELS_KV_CHECKPOINT_H_

#include <string>
#include <vector>

#include "tensorflow/core/embedding/hashing.h"
#include "tensorflow/core/kernels/bundle_stream_writer.h"
#include "tensorflow/core/kernels/kv_variable.h"

namespace tensorflow {

constexpr int64_t kKvBuckets = deeprec::embedding::kBuckets;

// What follows P in the names of tensors.
struct KvSuffixes {
  const char *keys, *values, *frequencies, *versions, *offset;
};
constexpr KvSuffixes kFullKv = {"-keys", "-values", "-freqs", "-versions", "-partition_offset"};
constexpr KvSuffixes kIncrementalKv = {"-sparse_incr_keys", "-sparse_incr_values", "-sparse_incr_freqs",
                                       "-sparse_incr_versions", "-incr_partition_offset"};

// A variable or slot and the name it is saved under.
struct KvToSave {
  std::string name;
  int column;
};

// Applies the table's eviction policy. global_step: kNoVersion if not known, which leaves out eviction by age.
void EvictForSaving(KvTable* kv, int64_t global_step);

// Writes variables and slots of one table in one pass over its keys: value and slots of a key are of one moment. Extra
// memory: 8 bytes a key, 16 a key that waits, and a few MB. The caller holds the table's maintenance_mutex().
absl::Status SaveKvTable(const KvTable& kv, const std::vector<KvToSave>& columns, BundleStreamWriter* writer,
                         const deeprec::sparse::Threads& threads);
// The same for what is recorded as changed. Errors: FailedPrecondition if nothing is being recorded.
absl::Status SaveKvIncrement(const KvTable& kv, const std::vector<KvToSave>& columns, BundleStreamWriter* writer,
                             const deeprec::sparse::Threads& threads);

// What to restore, from where.
struct KvImport {
  std::string prefix;
  // Of the sources, as they are in the checkpoint; or one name, of the variable that is restored, to find them by: itself,
  // or all its partitions.
  std::vector<std::string> names;
  // Only keys with (key mod 1000) mod partition_num == partition_id are wanted.
  int64_t partition_id = 0;
  int64_t partition_num = 1;
  bool reset_version = false;     // versions become 0
  bool allow_other_dim = false;   // of two widths the smaller is copied, what is left keeps the default
  bool incremental = false;       // an incremental checkpoint: what it holds is put over what is there

  const KvSuffixes& suffixes() const { return incremental ? kIncrementalKv : kFullKv; }
};

// Replaces the content of a variable's table by what a checkpoint holds; for a slot, sets its rows of those keys that the
// table has. Reads everything twice, first to verify it: whatever is wrong with the checkpoint leaves the table as it
// was. For an incremental checkpoint nothing is removed. The caller holds the table's maintenance_mutex().
absl::Status ImportKv(Env* env, const KvImport& import, const KvRef& ref);

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_KV_CHECKPOINT_H_
