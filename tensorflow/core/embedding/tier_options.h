// The tiers of a table: how large the first is, what is below it, and which rows stay up.

#ifndef TENSORFLOW_CORE_EMBEDDING_TIER_OPTIONS_H_
#define TENSORFLOW_CORE_EMBEDDING_TIER_OPTIONS_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tensorflow/core/embedding/record_store.h"

namespace deeprec {
namespace embedding {

// Which rows are the coldest: those used the longest ago, or the least often (of equals, those used the longest ago).
enum class CacheStrategy { kLru = 0, kLfu = 1 };

// A tier below the first.
struct LowerTierOptions {
  StorageMedium medium = StorageMedium::kFile;
  // Of rows as the budget counts them; the last tier has no bound.
  int64_t bytes = 0;
  bool operator==(const LowerTierOptions& other) const { return medium == other.medium && bytes == other.bytes; }
};

struct TierOptions {
  std::vector<LowerTierOptions> lower;  // at most 2, all but the last in memory or mapped; none: one tier without a bound
  int64_t first_bytes = 0;              // of rows in memory
  std::string folder;                   // of kFile and kMappedFile
  CacheStrategy strategy = CacheStrategy::kLfu;
  // Compaction of the lower tiers by the background thread; else by whoever moves rows.
  bool async_compaction = true;
  int64_t segment_bytes = 0;  // RecordStoreOptions
  bool operator==(const TierOptions& other) const {
    return lower == other.lower && first_bytes == other.first_bytes && folder == other.folder &&
           strategy == other.strategy && async_compaction == other.async_compaction &&
           segment_bytes == other.segment_bytes;
  }
};

// Bytes of a row of `row_bytes` as budgets count them: DeepRec's rows begin at multiples of 16.
constexpr int64_t BudgetBytes(int64_t row_bytes) { return (row_bytes + 15) / 16 * 16; }

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_TIER_OPTIONS_H_
