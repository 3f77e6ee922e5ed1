// Passes over all keys: eviction and snapshots.

#include <algorithm>

#include "tensorflow/core/embedding/table_shard.h"
#include "tensorflow/core/embedding/table_tiers.h"

namespace deeprec {
namespace embedding {
namespace {

using sparse::BFloat16;
using sparse::Half;

#include "tensorflow/core/sparse/element_convert.h"
#include "tensorflow/core/sparse/stored_element.h"

double SquaredNorm(ElementType type, const char* row, int64_t dim) {
  double sum = 0;
  ForType(type, [&](auto element) {
    using T = decltype(element);
    for (int64_t i = 0; i < dim; ++i) {
      const double x = Stored<T>::Load(reinterpret_cast<const T*>(row)[i]);
      sum += x * x;
    }
  });
  return sum;
}

// Slots of an index that a snapshot looks at before it lets others at the shard: 1 MiB of them.
constexpr uint64_t kSlotsPerLock = 1 << 16;

inline int64_t KeyOf(int64_t key) { return key; }
inline int64_t KeyOf(const WaitingEntry& entry) { return entry.key; }

// Orders the entries by bucket in place (American flag sort): a copy of the keys of a large table would be most of
// what a snapshot may cost.
template <class Entry>
void SortByBucket(int64_t buckets, std::vector<Entry>* entries, std::vector<int64_t>* begin) {
  begin->assign(buckets + 1, 0);
  for (const Entry& entry : *entries) ++(*begin)[FloorMod(KeyOf(entry), buckets) + 1];
  for (int64_t b = 0; b < buckets; ++b) (*begin)[b + 1] += (*begin)[b];
  std::vector<int64_t> at(begin->begin(), begin->end() - 1);
  for (int64_t b = 0; b < buckets; ++b) {
    while (at[b] < (*begin)[b + 1]) {
      Entry& entry = (*entries)[at[b]];
      const int64_t bucket = FloorMod(KeyOf(entry), buckets);
      if (bucket == b) {
        ++at[b];
      } else {
        std::swap(entry, (*entries)[at[bucket]++]);
      }
    }
  }
  // One order whatever the history of the maps.
  for (int64_t b = 0; b < buckets; ++b) {
    std::sort(entries->begin() + (*begin)[b], entries->begin() + (*begin)[b + 1],
              [](const Entry& x, const Entry& y) { return KeyOf(x) < KeyOf(y); });
  }
}

}  // namespace

template <class Evict>
int64_t Table::EvictIf(const Evict& evict) {
  // So that a row that is in neither place when that is looked at can not be.
  std::unique_lock<std::mutex> no_demotion;
  if (tiers_ != nullptr) no_demotion = tiers_->StopDemotion();
  std::shared_lock<SharedMutex> layout(layout_mu_);
  int64_t evicted = tiers_ == nullptr ? 0 : tiers_->EvictBelow(evict);
  for (int s = 0; s < num_shards_; ++s) {
    Shard& shard = shards_[s];
    std::unique_lock<SharedMutex> lock(shard.mu);
    // Erasing moves other keys about, so not while the keys are gone through.
    std::vector<int64_t> gone;
    shard.index.ForEach([&](int64_t key, uintptr_t& word) {
      if (ColdWord::Is(word) || !evict(&word)) return;
      FreeBlock(&shard, word);
      gone.push_back(key);
    });
    for (const int64_t key : gone) shard.index.Erase(key);
    evicted += int64_t(gone.size());
  }
  return evicted;
}

int64_t Table::EvictOlderThan(int64_t max_age, int64_t global_step) {
  if (!options_.record_version) return 0;
  return EvictIf([&](uintptr_t* word) {
    if (WaitingKey::Is(*word)) {
      if (WaitingKey::Version(*word) == kNoVersion) {
        *word = WaitingKey::Pack(WaitingKey::Frequency(*word), global_step);
      }
      return global_step - WaitingKey::Version(*word) > max_age;
    }
    Header* const header = HeaderOf(reinterpret_cast<char*>(*word));
    if (header->version == kNoVersion) header->version = global_step;
    return global_step - header->version > max_age;
  });
}

int64_t Table::EvictSmallerThan(double threshold) {
  // Columns can not change while EvictIf holds the layout; the first one never does.
  const int64_t offset = [&] {
    std::shared_lock<SharedMutex> layout(layout_mu_);
    return columns_[0].offset;
  }();
  return EvictIf([&](uintptr_t* word) {
    if (WaitingKey::Is(*word)) return false;
    const char* const row = reinterpret_cast<const char*>(*word) + offset;
    return 0.5 * SquaredNorm(options_.type, row, columns_[0].defaults->dim()) < threshold;
  });
}

int64_t Table::Remove(const int64_t* keys, int64_t n) {
  std::shared_lock<SharedMutex> layout(layout_mu_);
  int64_t removed = 0;
  ForEachShard(keys, n, [&](Shard* shard, const int32_t* positions, int64_t count) {
    std::unique_lock<SharedMutex> lock(shard->mu);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t key = keys[positions[i]];
      const uintptr_t* const word = shard->index.Find(key);
      if (word == nullptr) continue;
      FreeBlock(shard, *word);
      shard->index.Erase(key);
      ++removed;
    }
  });
  return removed;
}

// In pieces: a step that waits for this shard, and then meets the pass again at the next one, would otherwise be held up for
// all of them. restart() if keys have moved and are visited anew.
template <class IndexOf, class Restart, class Visit>
void Table::VisitInPieces(int shard, const IndexOf& index_of, const Restart& restart, const Visit& visit) const {
  uint64_t capacity = 0, at = 0;
  do {
    std::shared_lock<SharedMutex> lock(shards_[shard].mu);
    const KeyIndex* const index = index_of(shards_[shard]);
    if (index == nullptr) return;
    if (index->capacity() != capacity) {
      capacity = index->capacity();
      restart();
      at = 0;
    }
    const uint64_t end = std::min(capacity, at + kSlotsPerLock);
    index->ForEachIn(at, end, visit);
    at = end;
  } while (at < capacity);
}

Snapshot Table::TakeSnapshot(int64_t buckets) const {
  Snapshot snapshot;
  snapshot.keys.reserve(size());
  for (int s = 0; s < num_shards_; ++s) {
    const size_t keys_before = snapshot.keys.size(), waiting_before = snapshot.waiting.size();
    VisitInPieces(
        s, [](const Shard& shard) { return &shard.index; },
        [&] {
          snapshot.keys.resize(keys_before);
          snapshot.waiting.resize(waiting_before);
        },
        [&](int64_t key, uintptr_t word) {
          if (WaitingKey::Is(word)) {
            snapshot.waiting.push_back(WaitingEntry{key, word});
          } else {
            snapshot.keys.push_back(key);
          }
        });
  }
  SortByBucket(buckets, &snapshot.keys, &snapshot.begin);
  SortByBucket(buckets, &snapshot.waiting, &snapshot.waiting_begin);
  return snapshot;
}

void Table::StartRecording() {
  for (int s = 0; s < num_shards_; ++s) {
    std::unique_lock<SharedMutex> lock(shards_[s].mu);
    if (shards_[s].touched == nullptr) {
      shards_[s].touched.reset(new TouchedKeys);
    } else {
      shards_[s].touched->StartGeneration();
    }
  }
}

void Table::ForgetEarlierRecords() {
  for (int s = 0; s < num_shards_; ++s) {
    std::unique_lock<SharedMutex> lock(shards_[s].mu);
    if (shards_[s].touched != nullptr) shards_[s].touched->DropEarlierGenerations();
  }
}

bool Table::recording() const {
  std::shared_lock<SharedMutex> lock(shards_[0].mu);
  return shards_[0].touched != nullptr;
}

Snapshot Table::TakeRecorded(int64_t buckets) const {
  Snapshot snapshot;
  for (int s = 0; s < num_shards_; ++s) {
    const size_t keys_before = snapshot.keys.size();
    const KeyIndex& rows = shards_[s].index;
    VisitInPieces(
        s, [](const Shard& shard) { return shard.touched == nullptr ? nullptr : &shard.touched->index(); },
        [&] { snapshot.keys.resize(keys_before); },
        [&](int64_t key, uintptr_t) {
          // Keys may have been evicted since.
          const uintptr_t* const word = rows.Find(key);
          if (word != nullptr && !WaitingKey::Is(*word)) snapshot.keys.push_back(key);
        });
  }
  SortByBucket(buckets, &snapshot.keys, &snapshot.begin);
  snapshot.waiting_begin.assign(buckets + 1, 0);
  return snapshot;
}

}  // namespace embedding
}  // namespace deeprec
