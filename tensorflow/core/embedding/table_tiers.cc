#include "tensorflow/core/embedding/table_tiers.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tensorflow/core/embedding/zeroed_memory.h"

namespace deeprec {
namespace embedding {
namespace {

// Of rows that are read before they are put into the table.
constexpr int64_t kReadBytes = 4 << 20;
constexpr int64_t kReadsPerWorker = 256;

}  // namespace

// A row below as a batch found it.
struct Table::LowerTiers::ColdRow {
  int64_t key;
  uintptr_t word;
  int64_t position;  // the last of the key's in the batch
  int64_t uses;
};

struct Table::LowerTiers::Pinned {
  Pinned(LowerTiers* tiers, uint64_t stamp) : tiers(tiers), stamp(stamp) {
    const std::lock_guard<std::mutex> lock(tiers->pins_mu_);
    tiers->pins_.insert(stamp);
  }
  ~Pinned() {
    {
      const std::lock_guard<std::mutex> lock(tiers->pins_mu_);
      tiers->pins_.erase(tiers->pins_.find(stamp));
    }
    if (tiers->blocks_ > tiers->budget_) tiers->Request();
  }
  LowerTiers* const tiers;
  const uint64_t stamp;
};

Table::LowerTiers::LowerTiers(Table* table, const TierOptions& options)
    : table_(*table),
      options_(options),
      coldest_(options.lower.size()),
      made_(new std::vector<int64_t>[table->num_shards_]) {
  for (const LowerTierOptions& lower : options.lower) {
    RecordStoreOptions store;
    store.medium = lower.medium;
    store.folder = options.folder;
    store.segment_bytes = options.segment_bytes;
    stores_.emplace_back(new RecordStore(store));
  }
}

std::unique_lock<std::mutex> Table::LowerTiers::StopDemotion() {
  const std::lock_guard<std::mutex> turn(turn_mu_);
  return std::unique_lock<std::mutex>(demote_mu_);
}

Table::LowerTiers::~LowerTiers() {
  {
    const std::lock_guard<std::mutex> lock(wake_mu_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Table::LowerTiers::SetLayout() {
  int64_t row_bytes = 0;
  for (const Column& column : table_.columns_) row_bytes += BudgetBytes(column.bytes);
  row_bytes_ = row_bytes;
  budget_ = options_.first_bytes / row_bytes;
  const int layout = int(table_.columns_.size());
  record_bytes_ = RoundUp(sizeof(RecordHead) + UsedBytes(layout), sizeof(uint64_t));
  for (const auto& store : stores_) store->SetForm(record_bytes_, layout);
}

void Table::LowerTiers::Cleared() {
  for (const auto& store : stores_) store->Clear();
  for (ColdestRows& coldest : coldest_) coldest.Reset();
  for (int s = 0; s < table_.num_shards_; ++s) made_[s].clear();
  track_made_ = lost_made_ = false;
  blocks_ = 0;
}

int64_t Table::LowerTiers::UsedBytes(int layout) const {
  const Column& last = table_.columns_[layout - 1];
  return last.offset + last.bytes;
}

Table::LowerTiers::BlockBuffer Table::LowerTiers::NewBlocks(int64_t n) const {
  void* const memory = aligned_alloc(kBlockAlignment, std::max<int64_t>(1, n) * table_.block_bytes_);
  if (memory == nullptr) throw std::bad_alloc();
  return BlockBuffer(static_cast<char*>(memory), [](char* p) { free(p); });
}

void Table::LowerTiers::MakeRecord(int64_t key, const char* block, char* record) const {
  const RecordHead head{TagOf(key), key};
  memcpy(record, &head, sizeof(head));
  char* const out = record + sizeof(head);
  // Lookups may be stamping the row.
  const TierHeader* const from = reinterpret_cast<const TierHeader*>(block);
  TierHeader header{from->table, __atomic_load_n(&from->uses, __ATOMIC_RELAXED),
                    __atomic_load_n(&from->stamp, __ATOMIC_RELAXED)};
  memcpy(out, &header, sizeof(header));
  const int64_t used = UsedBytes(int(table_.columns_.size()));
  memcpy(out + sizeof(header), block + sizeof(header), used - int64_t(sizeof(header)));
}

void Table::LowerTiers::MakeBlock(const RecordStore::Segment& segment, const char* record, char* block) const {
  const int layout = RecordStore::Layout(segment);
  RecordHead head;
  memcpy(&head, record, sizeof(head));
  memcpy(block, record + sizeof(head), UsedBytes(layout));
  // Columns that have been added since.
  for (size_t c = layout; c < table_.columns_.size(); ++c) {
    const Column& column = table_.columns_[c];
    memcpy(block + column.offset, column.defaults->Row(head.key), column.bytes);
  }
}

int64_t Table::LowerTiers::KeyOf(const char* record) const {
  RecordHead head;
  memcpy(&head, record, sizeof(head));
  if (head.tag != TagOf(head.key)) ThrowAltered("a row that was written there");
  return head.key;
}

void Table::LowerTiers::ThrowAltered(const std::string& what) const {
  throw StorageError(StorageError::Kind::kAltered, "A file of " + options_.folder + " does not hold " + what +
                                                       " any more: it was written to by somebody else");
}

bool Table::LowerTiers::ReadRow(int64_t key, uintptr_t word, char* scratch, char* block) const {
  const RecordLocation location = ColdWord::Location(word);
  const RecordStore::SegmentRef segment = StoreOf(word).Find(location);
  if (segment == nullptr) return false;
  const char* record = RecordStore::Mapped(*segment, location);
  if (record == nullptr) {
    RecordStore::Read(*segment, location, 1, scratch);
    record = scratch;
  }
  if (KeyOf(record) != key) ThrowAltered("the row of key " + std::to_string(key));
  MakeBlock(*segment, record, block);
  return true;
}

void Table::LowerTiers::Made(Shard* shard, int64_t key, char* block) {
  TierHeader* const head = HeadOf(block);
  head->uses = uint64_t(std::max<int64_t>(1, head->table.frequency));
  head->stamp = clock_;
  ++blocks_;
  if (!track_made_) return;
  std::vector<int64_t>& made = made_[shard - table_.shards_.get()];
  // Nobody may come for them for long, as when rows are evicted as fast as others are made.
  if (int64_t(made.size()) < 1024 + budget_ / table_.num_shards_) {
    made.push_back(key);
  } else {
    lost_made_ = true;
  }
}

void Table::LowerTiers::Use(char* block, int64_t count, uint64_t stamp) {
  TierHeader* const head = HeadOf(block);
  if (count > 0) __atomic_fetch_add(&head->uses, uint64_t(count), __ATOMIC_RELAXED);
  // Never back: the row of a batch that has the later number must keep that.
  uint64_t last = __atomic_load_n(&head->stamp, __ATOMIC_RELAXED);
  while (last < stamp &&
         !__atomic_compare_exchange_n(&head->stamp, &last, stamp, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

void Table::LowerTiers::SetAge(char* block, uint64_t stamp, int64_t n, int64_t position) {
  TierHeader* const head = HeadOf(block);
  // If no other batch has begun, a stamp past those of this one is of a row just made.
  if (head->stamp >= stamp + uint64_t(n) && clock_ == stamp + uint64_t(n)) head->stamp = stamp + uint64_t(position);
}

void Table::LowerTiers::Imported(char* block) {
  TierHeader* const head = HeadOf(block);
  const uint64_t frequency = uint64_t(std::max<int64_t>(1, head->table.frequency));
  head->uses = frequency;
  if (OldestPin() == kNoPin) head->stamp = std::min(frequency, kFirstStamp - 1);
}

void Table::LowerTiers::CheckBatch(const int64_t* keys, int64_t n) const {
  const int64_t budget = budget_;
  if (n <= budget) return;
  std::vector<int64_t> sorted(keys, keys + n);
  std::sort(sorted.begin(), sorted.end());
  const int64_t unique = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  if (unique <= budget) return;
  throw BatchTooLargeError("a batch of " + std::to_string(unique) + " different ids, but the first tier holds " +
                           std::to_string(budget) + " rows: storage_size[0] is " + std::to_string(options_.first_bytes) +
                           " bytes, and a row with its slots takes " + std::to_string(row_bytes_) +
                           ". Give the first tier more, or make the batches smaller");
}

Table::BatchPin Table::LowerTiers::Pin(const int64_t* keys, int64_t n, const int64_t* counts, const Threads& threads) {
  BatchPin pin;
  if (n == 0) return pin;
  ThrowPending();
  CheckBatch(keys, n);
  // The background thread is given some rows' time; beyond that, who makes rows clears away faster than it makes.
  const int64_t slack = std::max<int64_t>(budget_ / 8, (int64_t{1} << 20) / row_bytes_);
  if (blocks_ > budget_ + slack) DemoteExcess(/*background=*/false, 2 * n);
  pin.stamp = clock_.fetch_add(uint64_t(n));
  pin.hold = std::make_shared<const Pinned>(this, pin.stamp);
  BringUp(keys, n, counts, pin.stamp, threads);
  return pin;
}

void Table::LowerTiers::BringUp(const int64_t* keys, int64_t n, const int64_t* counts, uint64_t stamp,
                                const Threads& threads) {
  const std::shared_lock<SharedMutex> layout(table_.layout_mu_);
  std::vector<ColdRow> rows;
  table_.ForEachShard(keys, n, [&](Shard* shard, const int32_t* positions, int64_t count) {
    const std::shared_lock<SharedMutex> lock(shard->mu);
    constexpr int64_t kRing = 32;
    static_assert(kRing > kFetchAhead, "a word is used before its place in the ring is taken again");
    const uintptr_t* words[kRing];
    for (int64_t i = -kFetchAhead; i < count; ++i) {
      if (i + 2 * kFetchAhead < count) shard->index.Prefetch(keys[positions[i + 2 * kFetchAhead]]);
      if (const int64_t ahead = i + kFetchAhead; ahead < count) {
        const uintptr_t* const word = words[ahead % kRing] = shard->index.Find(keys[positions[ahead]]);
        if (word != nullptr && IsBlock(*word)) __builtin_prefetch(reinterpret_cast<const char*>(*word), 1, 3);
      }
      if (i < 0) continue;
      const int64_t at = positions[i];
      const uintptr_t* const word = words[i % kRing];
      if (word == nullptr || WaitingKey::Is(*word)) continue;
      // At least 1, for one that counts nothing uses the row too.
      const int64_t uses = stamp == kNotUsed ? 0 : counts == nullptr ? 1 : std::max<int64_t>(1, counts[at]);
      if (IsBlock(*word)) {
        if (stamp != kNotUsed) Use(reinterpret_cast<char*>(*word), uses, stamp + uint64_t(at));
      } else {
        rows.push_back(ColdRow{keys[at], *word, at, uses});
      }
    }
  });

  while (!rows.empty()) {
    // In the order of the files, each row once.
    std::sort(rows.begin(), rows.end(), [](const ColdRow& x, const ColdRow& y) {
      return std::make_pair(x.word, x.position) < std::make_pair(y.word, y.position);
    });
    size_t size = 0;
    for (const ColdRow& row : rows) {
      if (size > 0 && rows[size - 1].word == row.word) {
        rows[size - 1].uses += row.uses;
        rows[size - 1].position = row.position;
      } else {
        rows[size++] = row;
      }
    }
    rows.resize(size);
    const int64_t bytes = table_.block_bytes_;
    const size_t chunk = size_t(std::max<int64_t>(1, kReadBytes / bytes));
    const BlockBuffer blocks = NewBlocks(int64_t(std::min(chunk, rows.size())));
    std::vector<ColdRow> again;
    for (size_t begin = 0; begin < rows.size(); begin += chunk) {
      const std::vector<ColdRow> part(rows.begin() + begin, rows.begin() + std::min(rows.size(), begin + chunk));
      const int64_t m = int64_t(part.size());
      std::vector<char> found(m);
      const int workers = int(std::min<int64_t>(threads.run == nullptr ? 1 : threads.count, 1 + m / kReadsPerWorker));
      const auto read = [&](int w) {
        const std::unique_ptr<char[]> scratch(new char[record_bytes_]);
        for (int64_t i = m * w / workers; i < m * (w + 1) / workers; ++i) {
          found[i] = ReadRow(part[i].key, part[i].word, scratch.get(), blocks.get() + i * bytes);
        }
      };
      if (workers == 1) {
        read(0);
      } else {
        threads.run(workers, read);
      }
      InstallRows(part, blocks.get(), found, stamp, &again);
    }
    rows.swap(again);
  }
}

void Table::LowerTiers::InstallRows(const std::vector<ColdRow>& rows, const char* blocks, const std::vector<char>& found,
                                    uint64_t stamp, std::vector<ColdRow>* again) {
  std::vector<int64_t> keys;
  for (const ColdRow& row : rows) keys.push_back(row.key);
  table_.ForEachShard(keys.data(), int64_t(keys.size()), [&](Shard* shard, const int32_t* positions, int64_t count) {
    const std::unique_lock<SharedMutex> lock(shard->mu);
    for (int64_t i = 0; i < count; ++i) {
      const int32_t at = positions[i];
      ColdRow row = rows[at];
      uintptr_t* const word = const_cast<uintptr_t*>(shard->index.Find(row.key));
      if (word == nullptr || WaitingKey::Is(*word)) continue;  // evicted
      if (ColdWord::Is(*word)) {
        if (*word != row.word || !found[at]) {
          if (*word == row.word) {
            throw StorageError(StorageError::Kind::kAltered, "The row of key " + std::to_string(row.key) + " is lost");
          }
          row.word = *word;
          again->push_back(row);
          continue;
        }
        char* const block = shard->arena.Allocate();
        memcpy(block, blocks + at * table_.block_bytes_, table_.block_bytes_);
        const TierHeader head = *HeadOf(block);
        Made(shard, row.key, block);
        *HeadOf(block) = head;
        FreeRecord(*word);
        *word = uintptr_t(block);
      }
      // Else another batch has brought it up.
      if (stamp != kNotUsed) Use(reinterpret_cast<char*>(*word), row.uses, stamp + uint64_t(row.position));
    }
  });
}

void Table::LowerTiers::VisitBelow(const int64_t* keys, std::vector<int64_t> positions, const VisitWord& visit) const {
  const BlockBuffer block = NewBlocks(1);
  const std::unique_ptr<char[]> scratch(new char[record_bytes_]);
  std::vector<std::pair<uintptr_t, int64_t>> below;
  while (!positions.empty()) {
    below.clear();
    for (const int64_t at : positions) {
      const uint64_t hash = MixKey(uint64_t(keys[at]));
      Shard& shard = table_.shards_[table_.ShardOf(hash)];
      const std::shared_lock<SharedMutex> lock(shard.mu);
      const uintptr_t* const word = shard.index.Find(keys[at], hash);
      if (word != nullptr && ColdWord::Is(*word)) {
        below.emplace_back(*word, at);
      } else {
        visit(at, word);
      }
    }
    std::sort(below.begin(), below.end());
    positions.clear();
    for (const auto& [word, at] : below) {
      // A record is the row as it was when the word was read. One that is gone has moved since.
      if (ReadRow(keys[at], word, scratch.get(), block.get())) {
        const uintptr_t copy = uintptr_t(block.get());
        visit(at, &copy);
      } else {
        positions.push_back(at);
      }
    }
  }
}

void Table::LowerTiers::Find(const int64_t* keys, int64_t n, int32_t* out) {
  try {
    DemoteExcess();
  } catch (const StorageError&) {
    // The rows are where they are; the next step is told.
    const std::lock_guard<std::mutex> lock(wake_mu_);
    error_ = std::current_exception();
    failed_ = true;
  }
  const std::shared_lock<SharedMutex> layout(table_.layout_mu_);
  table_.ForEachShard(keys, n, [&](Shard* shard, const int32_t* positions, int64_t count) {
    const std::shared_lock<SharedMutex> lock(shard->mu);
    for (int64_t i = 0; i < count; ++i) {
      if (i + kFetchAhead < count) shard->index.Prefetch(keys[positions[i + kFetchAhead]]);
      const uintptr_t* const word = shard->index.Find(keys[positions[i]]);
      out[positions[i]] = word == nullptr || WaitingKey::Is(*word) ? -1 : IsBlock(*word) ? 0 : ColdWord::Tier(*word);
    }
  });
}

}  // namespace embedding
}  // namespace deeprec
