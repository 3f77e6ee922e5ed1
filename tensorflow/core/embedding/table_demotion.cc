// What goes down a tier, and the thread that does it.

#include <string.h>

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include "tensorflow/core/embedding/table_tiers.h"

namespace deeprec {
namespace embedding {
namespace {

// Rows that go down between two looks at who else wants the lock.
constexpr int64_t kRowsPerRound = 10000;
constexpr int64_t kBytesPerRound = 8 << 20;
constexpr int kTriesPerRound = 64;
// Candidates of a pass over a tier: so many that a pass over all rows is paid by those that go down.
constexpr int64_t kMinCandidates = 1 << 16;
constexpr int64_t kRowsPerCandidate = 4;
// Slots of an index that a pass looks at before it lets others at the shard.
constexpr uint64_t kSlotsPerLock = 1 << 16;

}  // namespace

int64_t Table::LowerTiers::Budget(int tier) const {
  if (tier == 0) return budget_;
  return tier == int(stores_.size()) ? std::numeric_limits<int64_t>::max() : options_.lower[tier - 1].bytes / row_bytes_;
}

Coldness Table::LowerTiers::ColdnessOf(int64_t key, uint64_t uses, uint64_t stamp) const {
  return options_.strategy == CacheStrategy::kLfu ? Coldness{uses, stamp, key} : Coldness{stamp, 0, key};
}

// Under the shard's lock. Only of blocks, and of tiers that are mapped.
Coldness Table::LowerTiers::ColdnessOf(int64_t key, uintptr_t word) const {
  if (IsBlock(word)) {
    const TierHeader* const head = reinterpret_cast<const TierHeader*>(word);
    return ColdnessOf(key, __atomic_load_n(&head->uses, __ATOMIC_RELAXED),
                      __atomic_load_n(&head->stamp, __ATOMIC_RELAXED));
  }
  const RecordLocation location = ColdWord::Location(word);
  const RecordStore::SegmentRef segment = StoreOf(word).Find(location);
  TierHeader head;
  memcpy(&head, RecordStore::Mapped(*segment, location) + sizeof(RecordHead), sizeof(head));
  return ColdnessOf(key, head.uses, head.stamp);
}

uint64_t Table::LowerTiers::OldestPin() const {
  const std::lock_guard<std::mutex> lock(pins_mu_);
  return pins_.empty() ? kNoPin : *pins_.begin();
}

void Table::LowerTiers::DemoteExcess(bool background, int64_t most) {
  for (int tier = 0; tier < int(stores_.size()); ++tier) {
    // Others may make rows all the time: no more than there are now, or this might never end.
    int64_t left = std::min(most, Rows(tier) - Budget(tier));
    while (left > 0 && !stop_) {
      const auto alone = StopDemotion();
      int64_t moved;
      try {
        moved = DemoteRound(tier, std::min(left, Rows(tier) - Budget(tier)));
      } catch (...) {
        // The candidates that it took are found again.
        coldest_[tier].Reset();
        throw;
      }
      if (moved == 0) break;
      left -= moved;
    }
  }
  if (background || !options_.async_compaction) {
    Compact();
  } else {
    RequestCompaction();
  }
}

void Table::LowerTiers::RequestCompaction() {
  for (const auto& store : stores_) {
    if (store->AnyDue()) return Request();
  }
}

// Candidates come from the rows there were at the last pass and those made since.
void Table::LowerTiers::TakeNewRows() {
  if (!track_made_) return;
  if (lost_made_.exchange(false)) coldest_[0].Reset();
  for (int s = 0; s < table_.num_shards_; ++s) {
    Shard& shard = table_.shards_[s];
    const std::unique_lock<SharedMutex> lock(shard.mu);
    for (const int64_t key : made_[s]) {
      const uintptr_t* const word = shard.index.Find(key);
      if (word != nullptr && IsBlock(*word)) coldest_[0].Add(ColdnessOf(key, *word));
    }
    made_[s].clear();
  }
}

void Table::LowerTiers::FindColdest(int tier) {
  ColdestRows& coldest = coldest_[tier];
  coldest.Begin(size_t(std::max(kMinCandidates, Rows(tier) / kRowsPerCandidate)));
  // From now on rows that are made are told; one that is told and found in the pass is a candidate twice.
  if (tier == 0) track_made_ = true;
  for (int s = 0; s < table_.num_shards_; ++s) {
    const KeyIndex& index = table_.shards_[s].index;
    uint64_t capacity = 0, at = 0;
    do {
      const std::shared_lock<SharedMutex> lock(table_.shards_[s].mu);
      if (index.capacity() != capacity) {
        capacity = index.capacity();
        at = 0;
      }
      const uint64_t end = std::min(capacity, at + kSlotsPerLock);
      index.ForEachIn(at, end, [&](int64_t key, uintptr_t word) {
        if (tier == 0 ? IsBlock(word) : ColdWord::Is(word) && ColdWord::Tier(word) == tier) {
          coldest.Offer(ColdnessOf(key, word));
        }
      });
      at = end;
    } while (at < capacity);
  }
  coldest.End();
}

int64_t Table::LowerTiers::DemoteRound(int tier, int64_t most) {
  const std::shared_lock<SharedMutex> layout(table_.layout_mu_);
  if (most <= 0) return 0;
  most = std::min({most, kRowsPerRound, std::max<int64_t>(1, kBytesPerRound / record_bytes_)});
  if (tier == 0) TakeNewRows();
  const uint64_t oldest = OldestPin();
  std::vector<Move> moves;
  std::vector<Coldness> rows, in_use, used;
  std::vector<int64_t> keys;
  const std::unique_ptr<char[]> records(new char[most * record_bytes_]);
  const BlockBuffer block = NewBlocks(1);
  ColdestRows& coldest = coldest_[tier];
  const auto is_here = [&](const uintptr_t* word) {
    return word != nullptr && (tier == 0 ? IsBlock(*word) : ColdWord::Is(*word) && ColdWord::Tier(*word) == tier);
  };
  bool all = false;
  // A row in use takes its place among those that go, so that no hotter one goes in its stead: what stays up does not
  // depend on when this is run. More than one try only for rows that were used since they became candidates.
  for (int tries = 0; tries < kTriesPerRound; ++tries) {
    // What has been brought up meanwhile makes room.
    const int64_t wanted = std::min(most, Rows(tier) - Budget(tier));
    if (int64_t(moves.size() + in_use.size()) >= wanted) break;
    rows.clear(), keys.clear(), used.clear();
    Coldness row;
    while (int64_t(moves.size() + in_use.size() + rows.size()) < wanted && coldest.Pop(&row)) {
      rows.push_back(row);
      keys.push_back(row.key);
    }
    if (rows.empty()) {
      if (all) break;
      FindColdest(tier);
      all = true;
      continue;
    }
    table_.ForEachShard(keys.data(), int64_t(keys.size()), [&](Shard* shard, const int32_t* positions, int64_t count) {
      const std::shared_lock<SharedMutex> lock(shard->mu);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t key = keys[positions[i]];
        const uintptr_t* const word = shard->index.Find(key);
        if (!is_here(word)) continue;
        const Coldness now = ColdnessOf(key, *word);
        const char* from = reinterpret_cast<const char*>(*word);
        if (tier == 0 &&
            __atomic_load_n(&reinterpret_cast<const TierHeader*>(from)->stamp, __ATOMIC_RELAXED) >= oldest) {
          in_use.push_back(now);
          continue;
        }
        if (!(now == rows[positions[i]])) {
          used.push_back(now);
          continue;
        }
        if (tier > 0) {
          ReadRow(key, *word, nullptr, block.get());
          from = block.get();
        }
        MakeRecord(key, from, records.get() + int64_t(moves.size()) * record_bytes_);
        moves.push_back(Move{key, *word});
      }
    });
    for (const Coldness& now : used) coldest.Add(now);
  }
  for (const Coldness& row : in_use) coldest.Add(row);
  return MoveRecords(tier + 1, moves, records.get());
}

// Appends the records to the tier and lets the index lead there, if the rows are as they were.
int64_t Table::LowerTiers::MoveRecords(int tier, const std::vector<Move>& moves, const char* records) {
  const int64_t n = int64_t(moves.size());
  if (n == 0) return 0;
  RecordStore& store = *stores_[tier - 1];
  std::vector<RecordLocation> locations(n);
  store.Append(records, n, locations.data());
  std::vector<int64_t> keys(n);
  for (int64_t i = 0; i < n; ++i) keys[i] = moves[i].key;
  const int64_t used = UsedBytes(int(table_.columns_.size()));
  int64_t moved = 0;
  table_.ForEachShard(keys.data(), n, [&](Shard* shard, const int32_t* positions, int64_t count) {
    const std::unique_lock<SharedMutex> lock(shard->mu);
    const uint64_t oldest = OldestPin();
    for (int64_t i = 0; i < count; ++i) {
      const int32_t at = positions[i];
      const Move& move = moves[at];
      uintptr_t* const word = const_cast<uintptr_t*>(shard->index.Find(move.key));
      bool same = word != nullptr && *word == move.from;
      if (same && IsBlock(*word)) {
        char* const block = reinterpret_cast<char*>(*word);
        same = HeadOf(block)->stamp < oldest &&
               memcmp(block, records + at * record_bytes_ + sizeof(RecordHead), used) == 0;
      }
      if (!same) {
        store.Free(locations[at]);
        // Used since: a candidate still, as it is now.
        if (word != nullptr && IsBlock(*word)) coldest_[0].Add(ColdnessOf(move.key, *word));
        continue;
      }
      if (IsBlock(*word)) {
        table_.FreeBlock(shard, *word);
      } else {
        FreeRecord(*word);
      }
      *word = ColdWord::Pack(tier, locations[at]);
      if (tier < int(stores_.size()) && coldest_[tier].active()) {
        TierHeader head;
        memcpy(&head, records + at * record_bytes_ + sizeof(RecordHead), sizeof(head));
        coldest_[tier].Add(ColdnessOf(move.key, head.uses, head.stamp));
      }
      ++moved;
    }
  });
  return moved;
}

void Table::LowerTiers::Request() {
  const std::lock_guard<std::mutex> lock(wake_mu_);
  if (requested_ || stop_) return;
  requested_ = true;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { RunBackground(); });
    } catch (const std::system_error&) {
      // Without a thread, steps clear the excess away when it gets large.
      requested_ = false;
      return;
    }
  }
  wake_.notify_one();
}

void Table::LowerTiers::RunBackground() {
  std::unique_lock<std::mutex> lock(wake_mu_);
  while (true) {
    wake_.wait(lock, [this] { return requested_ || stop_; });
    if (stop_) return;
    requested_ = false;
    lock.unlock();
    std::exception_ptr error;
    try {
      DemoteExcess(/*background=*/true, kAll);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error == nullptr) continue;
    error_ = error;
    failed_ = true;
  }
}

void Table::LowerTiers::ThrowPending() {
  if (!failed_) return;
  std::exception_ptr error;
  {
    const std::lock_guard<std::mutex> lock(wake_mu_);
    error = std::exchange(error_, nullptr);
    failed_ = false;
  }
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace embedding
}  // namespace deeprec
