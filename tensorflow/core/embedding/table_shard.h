// What the parts of the table's implementation share. Not for users of the table: the map's headers stay out
// of theirs.

#ifndef TENSORFLOW_CORE_EMBEDDING_TABLE_SHARD_H_
#define TENSORFLOW_CORE_EMBEDDING_TABLE_SHARD_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "absl/container/flat_hash_map.h"
#include "tensorflow/core/embedding/block_arena.h"
#include "tensorflow/core/embedding/hashing.h"
#include "tensorflow/core/embedding/huge_page_allocator.h"
#include "tensorflow/core/embedding/table.h"

namespace deeprec {
namespace embedding {

// Word of a key: the address of its block, or a WaitingKey.
using WordMap = absl::flat_hash_map<int64_t, uintptr_t, KeyHash, std::equal_to<int64_t>,
                                    HugePageAllocator<std::pair<const int64_t, uintptr_t>>>;

struct alignas(64) Table::Shard {
  Shard() : arena(kBlockAlignment) {}
  mutable std::shared_mutex mu;
  WordMap map;
  BlockArena arena;
};

// The map's own hash uses the low bits.
inline int ShardOf(int64_t key) {
  static_assert(Table::kShards == 64, "six bits");
  return int(MixKey(uint64_t(key)) >> 58);
}

// Keys whose map entries, and then rows, are fetched ahead. 8 to 24 measured alike.
constexpr int64_t kFetchAhead = 12;

inline void FetchRow(const char* row, int64_t bytes) {
  const int64_t end = std::min<int64_t>(bytes, 256);
  for (int64_t i = 0; i < end; i += 64) __builtin_prefetch(row + i, 0, 3);
}

// Positions of a batch, ordered by shard, ascending within one.
class BatchByShard {
 public:
  BatchByShard(const int64_t* keys, int64_t n) : positions_(new int32_t[n]) {
    const std::unique_ptr<uint8_t[]> shard_of(new uint8_t[n]);
    int32_t at[Table::kShards] = {};
    for (int64_t i = 0; i < n; ++i) {
      shard_of[i] = uint8_t(ShardOf(keys[i]));
      ++at[shard_of[i]];
    }
    begin_[0] = 0;
    for (int s = 0; s < Table::kShards; ++s) {
      begin_[s + 1] = begin_[s] + at[s];
      at[s] = begin_[s];
    }
    for (int64_t i = 0; i < n; ++i) positions_[at[shard_of[i]]++] = int32_t(i);
  }
  const int32_t* positions(int shard) const { return positions_.get() + begin_[shard]; }
  int64_t size(int shard) const { return begin_[shard + 1] - begin_[shard]; }

 private:
  std::unique_ptr<int32_t[]> positions_;
  int32_t begin_[Table::kShards + 1];
};

// Calls visit(shard, positions, count) for every shard that keys of the batch fall to; n < 2^31.
template <class Visit>
void Table::ForEachShard(const int64_t* keys, int64_t n, const Threads& threads, const Visit& visit) const {
  if (n == 0) return;
  const BatchByShard batch(keys, n);
  const auto visit_shard = [&](int s) {
    if (batch.size(s) > 0) visit(&shards_[s], batch.positions(s), batch.size(s));
  };
  // Per key: two lines of the map and one or more of the row, with the latency mostly hidden.
  constexpr double kKeyNs = 30;
  const double row_ns = double(block_bytes_) / 16;
  const int workers =
      threads.run == nullptr ? 1 : sparse::NumShards(double(n) * (kKeyNs + row_ns), threads.count);
  if (workers == 1) {
    for (int s = 0; s < kShards; ++s) visit_shard(s);
    return;
  }
  std::atomic<int> next(0);
  threads.run(workers, [&](int) {
    for (int s; (s = next.fetch_add(1, std::memory_order_relaxed)) < kShards;) visit_shard(s);
  });
}

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_TABLE_SHARD_H_
