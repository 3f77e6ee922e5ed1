#include "tensorflow/core/embedding/table.h"

#include <string.h>

#include <thread>
#include <tuple>
#include <utility>

#include "tensorflow/core/embedding/table_shard.h"
#include "tensorflow/core/embedding/table_tiers.h"
#include "tensorflow/core/embedding/zeroed_memory.h"

namespace deeprec {
namespace embedding {
namespace {

// Every column starts at a multiple of this, so that no element straddles a line.
constexpr int64_t kColumnAlignment = 16;

// Enough that updates on all processors seldom meet.
int DefaultShards() {
  const int processors = int(std::thread::hardware_concurrency());
  int shards = 16;
  while (shards < 2 * processors && shards < 256) shards *= 2;
  return shards;
}

}  // namespace

bool TableOptions::operator==(const TableOptions& other) const {
  const auto fields = [](const TableOptions& o) {
    return std::tie(o.type, o.admission, o.min_count, o.bloom.min_count, o.bloom.max_elements,
                    o.bloom.false_positive_rate, o.bloom.counter_bits, o.record_frequency, o.record_version,
                    o.no_permission, o.shards, o.tiers);
  };
  return fields(*this) == fields(other);
}

Table::Table(const TableOptions& options, std::shared_ptr<const DefaultRows> defaults)
    : options_(options), chunks_(new ChunkSource) {
  num_shards_ = options.shards != 0 ? options.shards : DefaultShards();
  shard_shift_ = 63;
  for (int s = num_shards_; s > 1; s /= 2) --shard_shift_;
  shards_.reset(new Shard[num_shards_]);
  if (!options.tiers.lower.empty()) tiers_.reset(new LowerTiers(this, options.tiers));
  if (options.admission == AdmissionKind::kBloom) bloom_.reset(new CountingBloomFilter(options.bloom));
  const int64_t bytes = defaults->row_bytes();
  columns_.push_back(Column{std::move(defaults), bytes, 0});
  SetLayout();
  for (int s = 0; s < num_shards_; ++s) shards_[s].arena = BlockArena(block_bytes_, chunks_.get());
}

Table::~Table() = default;

void Table::SetLayout() {
  int64_t at = tiers_ != nullptr ? kTierHeaderBytes : has_header() ? RoundUp(sizeof(Header), kColumnAlignment) : 0;
  for (Column& column : columns_) {
    column.offset = at;
    at = RoundUp(at + column.bytes, kColumnAlignment);
  }
  block_bytes_ = RoundUp(at, kBlockAlignment);
  if (tiers_ != nullptr) tiers_->SetLayout();
}

int Table::AddColumn(std::shared_ptr<const DefaultRows> defaults) {
  std::unique_lock<SharedMutex> layout(layout_mu_);
  const int64_t used = columns_.back().offset + columns_.back().bytes;
  const int64_t old_block_bytes = block_bytes_;
  const int64_t bytes = defaults->row_bytes();
  columns_.push_back(Column{std::move(defaults), bytes, 0});
  SetLayout();
  const Column& added = columns_.back();
  const bool grow = int64_t(block_bytes_) != old_block_bytes;
  std::unique_ptr<ChunkSource> old_chunks;
  if (grow) {
    old_chunks = std::move(chunks_);
    chunks_.reset(new ChunkSource);
  }
  for (int s = 0; s < num_shards_; ++s) {
    Shard& shard = shards_[s];
    std::unique_lock<SharedMutex> lock(shard.mu);
    BlockArena arena(block_bytes_, chunks_.get());
    shard.index.ForEach([&](int64_t key, uintptr_t& word) {
      // Rows below get theirs when they are read.
      if (!IsBlock(word)) return;
      char* block = reinterpret_cast<char*>(word);
      if (grow) {
        char* const wider = arena.Allocate();
        memcpy(wider, block, used);
        block = wider;
        word = uintptr_t(wider);
      }
      memcpy(block + added.offset, added.defaults->Row(key), added.bytes);
    });
    if (grow) shard.arena = arena;
  }
  return int(columns_.size()) - 1;
}

int Table::columns() const {
  std::shared_lock<SharedMutex> layout(layout_mu_);
  return int(columns_.size());
}

int64_t Table::dim(int column) const {
  std::shared_lock<SharedMutex> layout(layout_mu_);
  return columns_[column].defaults->dim();
}

int64_t Table::ColumnOffset(int column) const {
  std::shared_lock<SharedMutex> layout(layout_mu_);
  return columns_[column].offset - columns_[0].offset;
}

char* Table::NewBlock(Shard* shard, int64_t key, int64_t frequency, int64_t version) {
  char* const block = shard->arena.Allocate();
  if (has_header()) *HeaderOf(block) = Header{frequency, version};
  if (tiers_ != nullptr) tiers_->Made(shard, key, block);
  for (const Column& column : columns_) {
    memcpy(block + column.offset, column.defaults->Row(key), column.bytes);
  }
  return block;
}

void Table::FreeBlock(Shard* shard, uintptr_t word) {
  if (WaitingKey::Is(word)) return;
  shard->arena.Free(reinterpret_cast<char*>(word));
  if (tiers_ != nullptr) tiers_->Freed();
}

Table::BatchPin Table::Pin(const int64_t* keys, int64_t n, const int64_t* counts, const Threads& threads) const {
  return tiers_ == nullptr ? BatchPin() : tiers_->Pin(keys, n, counts, threads);
}

char* Table::Touch(Shard* shard, int64_t key, int64_t count, int64_t version) {
  if (options_.admission == AdmissionKind::kBloom) {
    if (shard->index.Find(key) == nullptr && !bloom_->Add(key, count)) return nullptr;
  }
  // A key whose block can not be had stays behind as one that waits.
  uintptr_t& word = *shard->index.FindOrInsert(key, WaitingKey::Pack(0, kNoVersion));
  if (WaitingKey::Is(word)) {
    const int64_t frequency = WaitingKey::Frequency(word) + count;
    const int64_t last = version == kNoVersion ? WaitingKey::Version(word) : version;
    if (options_.admission == AdmissionKind::kCounter && frequency < options_.min_count) {
      word = WaitingKey::Pack(frequency, last);
      return nullptr;
    }
    word = uintptr_t(NewBlock(shard, key, frequency, last));
    return reinterpret_cast<char*>(word);
  }
  char* const block = reinterpret_cast<char*>(word);
  if (has_header()) {
    HeaderOf(block)->frequency += count;
    if (version != kNoVersion) HeaderOf(block)->version = version;
  }
  return block;
}

int64_t Table::size() const {
  int64_t total = 0;
  for (int s = 0; s < num_shards_; ++s) {
    std::shared_lock<SharedMutex> lock(shards_[s].mu);
    total += shards_[s].index.size();
  }
  return total;
}

void Table::Clear() {
  std::unique_lock<std::mutex> no_demotion;
  if (tiers_ != nullptr) no_demotion = tiers_->StopDemotion();
  std::unique_lock<SharedMutex> layout(layout_mu_);
  for (int s = 0; s < num_shards_; ++s) {
    std::unique_lock<SharedMutex> lock(shards_[s].mu);
    shards_[s].index = KeyIndex();
    // Whatever comes now is no change of what was saved.
    shards_[s].touched.reset();
  }
  chunks_.reset(new ChunkSource);
  for (int s = 0; s < num_shards_; ++s) shards_[s].arena = BlockArena(block_bytes_, chunks_.get());
  if (tiers_ != nullptr) tiers_->Cleared();
}

int64_t Table::MemoryBytes() const {
  int64_t total = bloom_ == nullptr ? 0 : bloom_->bytes();
  for (int s = 0; s < num_shards_; ++s) {
    std::shared_lock<SharedMutex> lock(shards_[s].mu);
    total += shards_[s].index.bytes() + int64_t(shards_[s].arena.bytes()) + int64_t(sizeof(Shard));
    if (shards_[s].touched != nullptr) total += shards_[s].touched->index().bytes();
  }
  return total;
}

int64_t Table::FirstTierRows() const { return tiers_ == nullptr ? -1 : tiers_->budget(); }

int64_t Table::RowBytes() const {
  std::shared_lock<SharedMutex> layout(layout_mu_);
  int64_t total = 0;
  for (const Column& column : columns_) total += column.bytes;
  return total;
}

}  // namespace embedding
}  // namespace deeprec
