// What the parts of the table's implementation share. Not for users of the table: the map's headers stay out
// of theirs.

#ifndef TENSORFLOW_CORE_EMBEDDING_TABLE_SHARD_H_
#define TENSORFLOW_CORE_EMBEDDING_TABLE_SHARD_H_

#include <algorithm>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "tensorflow/core/embedding/block_arena.h"
#include "tensorflow/core/embedding/hashing.h"
#include "tensorflow/core/embedding/key_index.h"
#include "tensorflow/core/embedding/row_word.h"
#include "tensorflow/core/embedding/table.h"
#include "tensorflow/core/embedding/touched_keys.h"

namespace deeprec {
namespace embedding {

struct alignas(64) Table::Shard {
  Shard() : arena(kBlockAlignment, nullptr) {}
  mutable SharedMutex mu;
  KeyIndex index;  // to a word of row_word.h
  BlockArena arena;
  std::unique_ptr<TouchedKeys> touched;  // null: not recorded
};

// What a block begins with in a table of several tiers.
constexpr int64_t kTierHeaderBytes = 32;

// Keys whose index entries, and then rows, are fetched ahead.
constexpr int64_t kFetchAhead = 24;

inline void FetchRow(const char* row, int64_t bytes) {
  const int64_t end = std::min<int64_t>(bytes, 256);
  for (int64_t i = 0; i < end; i += 64) __builtin_prefetch(row + i, 0, 3);
}

// Time of a batch on one thread: per key a line of the index and the row's, with the latency mostly hidden.
inline double BatchNs(int64_t n, int64_t block_bytes) { return double(n) * (20 + double(block_bytes) / 16); }

// The positions of a batch of n < 2^31 keys by shard, ascending: those of shard s are [begin(s), begin(s + 1)).
class ShardOrder {
 public:
  template <class ShardOf>
  ShardOrder(const int64_t* keys, int64_t n, int num_shards, const ShardOf& shard_of)
      : positions_(new int32_t[n]), begin_(num_shards + 1) {
    const std::unique_ptr<uint8_t[]> shards(new uint8_t[n]);
    for (int64_t i = 0; i < n; ++i) {
      shards[i] = uint8_t(shard_of(MixKey(uint64_t(keys[i]))));
      ++begin_[shards[i] + 1];
    }
    for (int s = 0; s < num_shards; ++s) begin_[s + 1] += begin_[s];
    std::vector<int32_t> at(begin_.begin(), begin_.end() - 1);
    for (int64_t i = 0; i < n; ++i) positions_[at[shards[i]]++] = int32_t(i);
  }
  const int32_t* positions(int shard) const { return positions_.get() + begin_[shard]; }
  int32_t size(int shard) const { return begin_[shard + 1] - begin_[shard]; }

 private:
  std::unique_ptr<int32_t[]> positions_;
  std::vector<int32_t> begin_;
};

// Calls visit(shard, positions, count) for every shard that keys of the batch fall to, one after the other.
template <class Visit>
void Table::ForEachShard(const int64_t* keys, int64_t n, const Visit& visit) const {
  if (n == 0) return;
  const ShardOrder order(keys, n, num_shards_, [this](uint64_t hash) { return ShardOf(hash); });
  for (int s = 0; s < num_shards_; ++s) {
    if (order.size(s) > 0) visit(&shards_[s], order.positions(s), order.size(s));
  }
}

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_TABLE_SHARD_H_
