// Optimizer steps and imports: what makes and changes rows.

#include <string.h>

#include <algorithm>
#include <vector>

#include "tensorflow/core/embedding/table_shard.h"

namespace deeprec {
namespace embedding {
namespace {

// The keys of a batch that fall to some of the shards, each once, with the chain of positions it occurs at, by shard.
// RowGroup::row holds the key. Workers that own different shards need no common pass over the batch: each reads all
// keys, at a nanosecond a key, and keeps its own.
class KeyGroups {
 public:
  // Shards [first, last) are owned; shard_of(hash) gives a key's.
  template <class ShardOf>
  KeyGroups(const TableUpdate& step, int first, int last, const ShardOf& shard_of, int32_t* next)
      : first_(first), begin_(last - first + 1) {
    // Open addressing with linear probing over group numbers, at most half full; 0 is free. Dropped after use, which
    // a general map's growth and control bytes would not pay for.
    uint64_t slots = 16;
    while (slots < 2 * uint64_t(step.n)) slots *= 2;
    const uint64_t mask = slots - 1;
    const std::unique_ptr<int32_t[]> table(new int32_t[slots]());
    const std::unique_ptr<sparse::RowGroup[]> groups(new sparse::RowGroup[step.n]);
    const std::unique_ptr<int64_t[]> counts(new int64_t[step.n]);
    const uint64_t owned = uint64_t(last - first);
    int32_t size = 0;
    for (int32_t i = 0; i < int32_t(step.n); ++i) {
      const int64_t key = step.keys[i];
      const uint64_t hash = MixKey(uint64_t(key));
      const uint64_t shard = uint64_t(shard_of(hash)) - uint64_t(first);
      if (shard >= owned) continue;
      const int64_t occurrences = step.counts == nullptr ? 1 : step.counts[i];
      uint64_t at = hash & mask;
      while (true) {
        const int32_t entry = table[at];
        if (entry == 0) {
          groups[size] = sparse::RowGroup{key, i, i};
          counts[size] = occurrences;
          table[at] = ++size;
          ++begin_[shard + 1];
          break;
        }
        sparse::RowGroup& group = groups[entry - 1];
        if (group.row == key) {
          next[group.last] = i;
          group.last = i;
          counts[entry - 1] += occurrences;
          break;
        }
        at = (at + 1) & mask;
      }
    }
    for (size_t s = 1; s < begin_.size(); ++s) begin_[s] += begin_[s - 1];
    std::vector<int32_t> to(begin_.begin(), begin_.end() - 1);
    groups_.reset(new sparse::RowGroup[size]);
    counts_.reset(new int64_t[size]);
    for (int32_t i = 0; i < size; ++i) {
      const int32_t at = to[shard_of(MixKey(uint64_t(groups[i].row))) - first]++;
      groups_[at] = groups[i];
      counts_[at] = counts[i];
    }
  }
  sparse::RowGroup* groups(int shard) { return groups_.get() + begin_[shard - first_]; }
  const int64_t* occurrences(int shard) const { return counts_.get() + begin_[shard - first_]; }
  int32_t size(int shard) const { return begin_[shard - first_ + 1] - begin_[shard - first_]; }

 private:
  const int first_;
  std::vector<int32_t> begin_;
  std::unique_ptr<sparse::RowGroup[]> groups_;
  std::unique_ptr<int64_t[]> counts_;
};

}  // namespace

void Table::Update(const TableUpdate& step, const RowUpdater& update, const Threads& threads) {
  if (step.n == 0) return;
  std::shared_lock<SharedMutex> layout(layout_mu_);
  const std::unique_ptr<int32_t[]> next(new int32_t[step.n]);
  const int64_t variable = columns_[0].offset;
  const auto update_shard = [&](Shard* shard, sparse::RowGroup* groups, const int64_t* occurrences, int64_t n) {
    std::unique_lock<SharedMutex> lock(shard->mu);
    for (int64_t i = 0; i < std::min(n, kFetchAhead); ++i) shard->index.Prefetch(groups[i].row);
    int64_t admitted = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (i + kFetchAhead < n) shard->index.Prefetch(groups[i + kFetchAhead].row);
      char* const block = Touch(shard, groups[i].row, occurrences[i], step.version);
      if (block == nullptr) continue;
      groups[admitted] = groups[i];
      groups[admitted++].row = int64_t(uintptr_t(block + variable));
    }
    if (admitted > 0) update(groups, admitted, next.get());
  };
  // A row is read and written.
  const int workers = threads.run == nullptr
                          ? 1
                          : std::min(num_shards_, sparse::NumShards(2 * BatchNs(step.n, block_bytes_), threads.count));
  const auto work = [&](int w) {
    const int first = num_shards_ * w / workers;
    const int last = num_shards_ * (w + 1) / workers;
    KeyGroups groups(step, first, last, [this](uint64_t hash) { return ShardOf(hash); }, next.get());
    for (int s = first; s < last; ++s) {
      if (groups.size(s) > 0) update_shard(&shards_[s], groups.groups(s), groups.occurrences(s), groups.size(s));
    }
  };
  if (workers == 1) {
    work(0);
  } else {
    threads.run(workers, work);
  }
}

void Table::Insert(int column, const int64_t* keys, int64_t n, const void* rows, int64_t source_dim,
                   const int64_t* frequencies, const int64_t* versions) {
  std::shared_lock<SharedMutex> layout(layout_mu_);
  const Column& target = columns_[column];
  const int64_t source_bytes = source_dim * sparse::ElementSize(options_.type);
  const int64_t copied = std::min(source_bytes, target.bytes);
  const int64_t least =
      options_.admission == AdmissionKind::kCounter   ? std::max<int64_t>(1, options_.min_count)
      : options_.admission == AdmissionKind::kBloom ? std::max<int64_t>(1, options_.bloom.min_count)
                                                    : 1;
  ForEachShard(keys, n, [&](Shard* shard, const int32_t* positions, int64_t count) {
    std::unique_lock<SharedMutex> lock(shard->mu);
    for (int64_t i = 0; i < count; ++i) {
      if (i + kFetchAhead < count) shard->index.Prefetch(keys[positions[i + kFetchAhead]]);
      const int64_t at = positions[i];
      const int64_t key = keys[at];
      char* block;
      if (column == 0) {
        uintptr_t& word = *shard->index.FindOrInsert(key, WaitingKey::Pack(0, kNoVersion));
        if (WaitingKey::Is(word)) word = uintptr_t(NewBlock(shard, key, least, kNoVersion));
        block = reinterpret_cast<char*>(word);
      } else {
        const uintptr_t* const found = shard->index.Find(key);
        if (found == nullptr || WaitingKey::Is(*found)) continue;
        block = reinterpret_cast<char*>(*found);
      }
      memcpy(block + target.offset, static_cast<const char*>(rows) + at * source_bytes, copied);
      if (!has_header()) continue;
      if (frequencies != nullptr) HeaderOf(block)->frequency = std::max(frequencies[at], least);
      if (versions != nullptr) HeaderOf(block)->version = versions[at];
    }
  });
}

void Table::InsertWaiting(const int64_t* keys, int64_t n, const int64_t* frequencies,
                          const int64_t* versions) {
  std::shared_lock<SharedMutex> layout(layout_mu_);
  ForEachShard(keys, n, [&](Shard* shard, const int32_t* positions, int64_t count) {
    std::unique_lock<SharedMutex> lock(shard->mu);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = positions[i];
      Touch(shard, keys[at], frequencies[at], versions == nullptr ? kNoVersion : versions[at]);
    }
  });
}

}  // namespace embedding
}  // namespace deeprec
