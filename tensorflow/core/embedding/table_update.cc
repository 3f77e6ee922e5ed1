// Optimizer steps and imports: what makes and changes rows.

#include <string.h>

#include <algorithm>
#include <vector>

#include "tensorflow/core/embedding/table_shard.h"
#include "tensorflow/core/embedding/table_tiers.h"

namespace deeprec {
namespace embedding {
namespace {

// The keys of a batch that fall to one shard, each once, with the chain of positions it occurs at. RowGroup::row holds
// the key.
class KeyGroups {
 public:
  KeyGroups(const TableUpdate& step, const int32_t* positions, int32_t n, int32_t* next)
      : groups_(new sparse::RowGroup[n]), counts_(new int64_t[n]) {
    // Open addressing with linear probing over group numbers, at most half full; 0 is free. Dropped after use, which
    // a general map's growth and control bytes would not pay for.
    uint64_t slots = 16;
    while (slots < 2 * uint64_t(n)) slots *= 2;
    const uint64_t mask = slots - 1;
    const std::unique_ptr<int32_t[]> table(new int32_t[slots]());
    for (int32_t p = 0; p < n; ++p) {
      const int32_t i = positions[p];
      const int64_t key = step.keys[i];
      const int64_t occurrences = step.counts == nullptr ? 1 : step.counts[i];
      for (uint64_t at = MixKey(uint64_t(key)) & mask;; at = (at + 1) & mask) {
        const int32_t entry = table[at];
        if (entry == 0) {
          groups_[size_] = sparse::RowGroup{key, i, i};
          counts_[size_] = occurrences;
          table[at] = ++size_;
          break;
        }
        sparse::RowGroup& group = groups_[entry - 1];
        if (group.row == key) {
          next[group.last] = i;
          group.last = i;
          counts_[entry - 1] += occurrences;
          break;
        }
      }
    }
  }
  sparse::RowGroup* groups() { return groups_.get(); }
  int64_t occurrences(int64_t group) const { return counts_[group]; }
  int32_t size() const { return size_; }

 private:
  const std::unique_ptr<sparse::RowGroup[]> groups_;
  const std::unique_ptr<int64_t[]> counts_;
  int32_t size_ = 0;
};

}  // namespace

void Table::Update(const TableUpdate& step, const RowUpdater& update, const Threads& threads) {
  if (step.n == 0) return;
  const BatchPin pin = Pin(step.keys, step.n, step.counts, threads);
  std::shared_lock<SharedMutex> layout(layout_mu_);
  const std::unique_ptr<int32_t[]> next(new int32_t[step.n]);
  const int64_t variable = columns_[0].offset;
  const ShardOrder order(step.keys, step.n, num_shards_, [this](uint64_t hash) { return ShardOf(hash); });
  const auto update_shard = [&](int s) {
    if (order.size(s) == 0) return;
    KeyGroups keys(step, order.positions(s), order.size(s), next.get());
    sparse::RowGroup* const groups = keys.groups();
    const int64_t n = keys.size();
    Shard* const shard = &shards_[s];
    std::unique_lock<SharedMutex> lock(shard->mu);
    for (int64_t i = 0; i < std::min(n, kFetchAhead); ++i) shard->index.Prefetch(groups[i].row);
    int64_t admitted = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (i + kFetchAhead < n) shard->index.Prefetch(groups[i + kFetchAhead].row);
      char* const block = Touch(shard, groups[i].row, keys.occurrences(i), step.version);
      if (block == nullptr) continue;
      if (tiers_ != nullptr) tiers_->SetAge(block, pin.stamp, step.n, groups[i].first);
      groups[admitted] = groups[i];
      groups[admitted++].row = int64_t(uintptr_t(block + variable));
    }
    if (shard->touched != nullptr) {
      for (int64_t i = 0; i < admitted; ++i) {
        if (i + kFetchAhead < admitted) shard->touched->Prefetch(step.keys[groups[i + kFetchAhead].first]);
        shard->touched->Add(step.keys[groups[i].first]);
      }
    }
    if (admitted > 0) update(groups, admitted, next.get());
  };
  // A row is read and written.
  const bool alone =
      threads.run == nullptr || sparse::NumShards(2 * BatchNs(step.n, block_bytes_), threads.count) == 1;
  if (alone) {
    for (int s = 0; s < num_shards_; ++s) update_shard(s);
  } else {
    threads.run(num_shards_, update_shard);
  }
}

std::unique_lock<std::mutex> Table::BringUpToImport(const int64_t* keys, int64_t n) {
  if (tiers_ == nullptr) return std::unique_lock<std::mutex>();
  tiers_->DemoteExcess();
  auto no_demotion = tiers_->StopDemotion();
  tiers_->BringUp(keys, n);
  return no_demotion;
}

void Table::Insert(int column, const int64_t* keys, int64_t n, const void* rows, int64_t source_dim,
                   const int64_t* frequencies, const int64_t* versions) {
  const auto no_demotion = BringUpToImport(keys, n);
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
      // Entries of the index are fetched two steps ahead, the rows that are there one.
      if (i + 2 * kFetchAhead < count) shard->index.Prefetch(keys[positions[i + 2 * kFetchAhead]]);
      if (i + kFetchAhead < count) {
        const uintptr_t* const found = shard->index.Find(keys[positions[i + kFetchAhead]]);
        if (found != nullptr && IsBlock(*found)) FetchRow(reinterpret_cast<char*>(*found) + target.offset, copied);
      }
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
      if (shard->touched != nullptr) shard->touched->Add(key);
      memcpy(block + target.offset, static_cast<const char*>(rows) + at * source_bytes, copied);
      if (!has_header()) continue;
      if (frequencies != nullptr) HeaderOf(block)->frequency = std::max(frequencies[at], least);
      if (versions != nullptr) HeaderOf(block)->version = versions[at];
      if (tiers_ != nullptr && column == 0) tiers_->Imported(block);
    }
  });
}

void Table::InsertWaiting(const int64_t* keys, int64_t n, const int64_t* frequencies,
                          const int64_t* versions) {
  const auto no_demotion = BringUpToImport(keys, n);
  std::shared_lock<SharedMutex> layout(layout_mu_);
  ForEachShard(keys, n, [&](Shard* shard, const int32_t* positions, int64_t count) {
    std::unique_lock<SharedMutex> lock(shard->mu);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = positions[i];
      const char* const block = Touch(shard, keys[at], frequencies[at], versions == nullptr ? kNoVersion : versions[at]);
      if (block != nullptr && shard->touched != nullptr) shard->touched->Add(keys[at]);
    }
  });
}

}  // namespace embedding
}  // namespace deeprec
