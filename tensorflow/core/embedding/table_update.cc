// Optimizer steps and imports: what makes and changes rows.

#include <string.h>

#include <algorithm>

#include "tensorflow/core/embedding/table_shard.h"

namespace deeprec {
namespace embedding {
namespace {

// The keys of a shard's part of a batch, each once, in order of first occurrence, with the chain of positions
// it occurs at. RowGroup::row holds the key.
class KeyGroups {
 public:
  KeyGroups(const int64_t* keys, const int64_t* counts, const int32_t* positions, int64_t count, int32_t* next)
      : groups_(new sparse::RowGroup[count]), counts_(new int64_t[count]) {
    // Open addressing with linear probing over group numbers, at most half full; 0 is free. Dropped after use,
    // which a general map's growth and control bytes would not pay for.
    uint64_t slots = 16;
    while (slots < 2 * uint64_t(count)) slots *= 2;
    const uint64_t mask = slots - 1;
    const std::unique_ptr<int32_t[]> table(new int32_t[slots]());
    for (int64_t i = 0; i < count; ++i) {
      const int32_t position = positions[i];
      const int64_t key = keys[position];
      const int64_t occurrences = counts == nullptr ? 1 : counts[position];
      uint64_t at = MixKey(uint64_t(key)) & mask;
      while (true) {
        const int32_t entry = table[at];
        if (entry == 0) {
          groups_[size_] = sparse::RowGroup{key, position, position};
          counts_[size_] = occurrences;
          table[at] = ++size_;
          break;
        }
        sparse::RowGroup& group = groups_[entry - 1];
        if (group.row == key) {
          next[group.last] = position;
          group.last = position;
          counts_[entry - 1] += occurrences;
          break;
        }
        at = (at + 1) & mask;
      }
    }
  }
  sparse::RowGroup* groups() { return groups_.get(); }
  int64_t occurrences(int64_t i) const { return counts_[i]; }
  int32_t size() const { return size_; }

 private:
  std::unique_ptr<sparse::RowGroup[]> groups_;
  std::unique_ptr<int64_t[]> counts_;
  int32_t size_ = 0;
};

}  // namespace

void Table::Update(const TableUpdate& step, const RowUpdater& update, const Threads& threads) {
  std::shared_lock<std::shared_mutex> layout(layout_mu_);
  const std::unique_ptr<int32_t[]> next(new int32_t[step.n]);
  const int64_t variable = columns_[0].offset;
  ForEachShard(step.keys, step.n, threads, [&](Shard* shard, const int32_t* positions, int64_t count) {
    KeyGroups keys(step.keys, step.counts, positions, count, next.get());
    sparse::RowGroup* const groups = keys.groups();
    const int64_t n = keys.size();
    std::unique_lock<std::shared_mutex> lock(shard->mu);
    for (int64_t i = 0; i < std::min(n, kFetchAhead); ++i) shard->map.prefetch(groups[i].row);
    int64_t admitted = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (i + kFetchAhead < n) shard->map.prefetch(groups[i + kFetchAhead].row);
      char* const block = Touch(shard, groups[i].row, keys.occurrences(i), step.version);
      if (block == nullptr) continue;
      groups[admitted] = groups[i];
      groups[admitted++].row = int64_t(uintptr_t(block + variable));
    }
    if (admitted > 0) update(groups, admitted, next.get());
  });
}

void Table::Insert(int column, const int64_t* keys, int64_t n, const void* rows, int64_t source_dim,
                   const int64_t* frequencies, const int64_t* versions) {
  std::shared_lock<std::shared_mutex> layout(layout_mu_);
  const Column& target = columns_[column];
  const int64_t source_bytes = source_dim * sparse::ElementSize(options_.type);
  const int64_t copied = std::min(source_bytes, target.bytes);
  const int64_t least =
      options_.admission == AdmissionKind::kCounter   ? std::max<int64_t>(1, options_.min_count)
      : options_.admission == AdmissionKind::kBloom ? std::max<int64_t>(1, options_.bloom.min_count)
                                                    : 1;
  ForEachShard(keys, n, Threads(), [&](Shard* shard, const int32_t* positions, int64_t count) {
    std::unique_lock<std::shared_mutex> lock(shard->mu);
    for (int64_t i = 0; i < count; ++i) {
      if (i + kFetchAhead < count) shard->map.prefetch(keys[positions[i + kFetchAhead]]);
      const int64_t at = positions[i];
      const int64_t key = keys[at];
      uintptr_t& word = shard->map.try_emplace(key, WaitingKey::Pack(0, kNoVersion)).first->second;
      if (WaitingKey::Is(word)) word = uintptr_t(NewBlock(shard, key, least, kNoVersion));
      char* const block = reinterpret_cast<char*>(word);
      memcpy(block + target.offset, static_cast<const char*>(rows) + at * source_bytes, copied);
      if (!has_header()) continue;
      if (frequencies != nullptr) HeaderOf(block)->frequency = std::max(frequencies[at], least);
      if (versions != nullptr) HeaderOf(block)->version = versions[at];
    }
  });
}

void Table::InsertWaiting(const int64_t* keys, int64_t n, const int64_t* frequencies,
                          const int64_t* versions) {
  std::shared_lock<std::shared_mutex> layout(layout_mu_);
  ForEachShard(keys, n, Threads(), [&](Shard* shard, const int32_t* positions, int64_t count) {
    std::unique_lock<std::shared_mutex> lock(shard->mu);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = positions[i];
      Touch(shard, keys[at], frequencies[at], versions == nullptr ? kNoVersion : versions[at]);
    }
  });
}

}  // namespace embedding
}  // namespace deeprec
