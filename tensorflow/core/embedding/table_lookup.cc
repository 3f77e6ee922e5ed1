// Reading rows by key.

#include <string.h>

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

// A row of equal elements.
std::unique_ptr<char[]> ConstantRow(ElementType type, double value, int64_t dim) {
  std::unique_ptr<char[]> row(new char[dim * sparse::ElementSize(type)]);
  ForType(type, [&](auto element) {
    using T = decltype(element);
    using Compute = typename Stored<T>::Compute;
    std::fill_n(reinterpret_cast<T*>(row.get()), dim, Stored<T>::Store(Compute(value)));
  });
  return row;
}

// Keys that one thread looks up in a go: some 10 us.
constexpr int64_t kLookupPart = 1024;

// A length known at compile time is a few vector moves.
inline void CopyRow(char* out, const char* row, int64_t bytes) {
  switch (bytes) {
    case 32: memcpy(out, row, 32); break;
    case 64: memcpy(out, row, 64); break;
    case 128: memcpy(out, row, 128); break;
    default: memcpy(out, row, bytes);
  }
}

}  // namespace

// All shards, shared. In order, so that two who wait for each other's shards can not be.
class Table::SharedLocks {
 public:
  SharedLocks(Shard* shards, int n) : shards_(shards), n_(n) {
    for (int s = 0; s < n_; ++s) shards_[s].mu.lock_shared();
  }
  ~SharedLocks() {
    for (int s = 0; s < n_; ++s) shards_[s].mu.unlock_shared();
  }
  SharedLocks(const SharedLocks&) = delete;
  SharedLocks& operator=(const SharedLocks&) = delete;

 private:
  Shard* const shards_;
  const int n_;
};

void Table::Lookup(const int64_t* keys, int64_t n, const void* fallback, void* out, const Threads& threads,
                   bool ask_permission) const {
  const BatchPin pin = Pin(keys, n, nullptr, threads);
  std::shared_lock<SharedMutex> layout(layout_mu_);
  const Column& variable = columns_[0];
  const int64_t bytes = variable.bytes;
  const char* const fallback_rows = static_cast<const char*>(fallback);
  char* const out_rows = static_cast<char*>(out);
  const bool selective = ask_permission && options_.admission != AdmissionKind::kAll;
  const std::unique_ptr<char[]> no_permission =
      selective ? ConstantRow(options_.type, options_.no_permission, variable.defaults->dim()) : nullptr;

  // Ordering the batch by shard first would cost a third of the lookup.
  const SharedLocks locks(shards_.get(), num_shards_);
  const auto look_up = [&](int64_t begin, int64_t end) {
    constexpr int64_t kRing = 32;
    static_assert(kRing > kFetchAhead, "a place is used before it is taken again");
    uint64_t hashes[kRing];
    const char* rows[kRing];
    for (int64_t i = begin; i < end + 2 * kFetchAhead; ++i) {
      const int64_t find = i - kFetchAhead;
      if (find >= begin && find < end) {
        const uint64_t hash = hashes[find % kRing];
        const uintptr_t* const found = shards_[ShardOf(hash)].index.Find(keys[find], hash);
        const char* row = nullptr;
        if (found != nullptr && !WaitingKey::Is(*found)) {
          row = reinterpret_cast<const char*>(*found) + variable.offset;
          FetchRow(row, bytes);
        }
        rows[find % kRing] = row;
      }
      if (i < end) {
        const uint64_t hash = hashes[i % kRing] = MixKey(uint64_t(keys[i]));
        shards_[ShardOf(hash)].index.PrefetchHash(hash);
      }
      const int64_t copy = i - 2 * kFetchAhead;
      if (copy >= begin) {
        const char* row = rows[copy % kRing];
        if (row == nullptr) {
          row = selective ? no_permission.get()
                          : fallback_rows != nullptr ? fallback_rows + copy * bytes
                                                     : variable.defaults->Row(keys[copy]);
        }
        CopyRow(out_rows + copy * bytes, row, bytes);
      }
    }
  };
  if (threads.run == nullptr || sparse::NumShards(BatchNs(n, bytes), threads.count) == 1) {
    look_up(0, n);
  } else {
    const int parts = int((n + kLookupPart - 1) / kLookupPart);
    threads.run(parts, [&](int p) { look_up(p * kLookupPart, std::min(n, (p + 1) * kLookupPart)); });
  }
}

void Table::LookupOrInsert(const int64_t* keys, int64_t n, const void* initial, int64_t version, void* out,
                           const Threads& threads) {
  if (options_.admission == AdmissionKind::kAll) {
    const BatchPin pin = Pin(keys, n, nullptr, threads);
    std::shared_lock<SharedMutex> layout(layout_mu_);
    const Column& variable = columns_[0];
    const char* const initial_rows = static_cast<const char*>(initial);
    ForEachShard(keys, n, [&](Shard* shard, const int32_t* positions, int64_t count) {
      std::unique_lock<SharedMutex> lock(shard->mu);
      for (int64_t i = 0; i < count; ++i) {
        if (i + kFetchAhead < count) shard->index.Prefetch(keys[positions[i + kFetchAhead]]);
        const int64_t key = keys[positions[i]];
        const uintptr_t* const found = shard->index.Find(key);
        if (found != nullptr && !WaitingKey::Is(*found)) continue;
        char* const block = NewBlock(shard, key, 0, version);
        memcpy(block + variable.offset, initial_rows + positions[i] * variable.bytes, variable.bytes);
        *shard->index.FindOrInsert(key, uintptr_t(block)) = uintptr_t(block);
        if (shard->touched != nullptr) shard->touched->Add(key);
      }
    });
  }
  Lookup(keys, n, nullptr, out, threads);
}

void Table::LookupAndCount(const int64_t* keys, int64_t n, const int64_t* counts, int64_t version, void* out,
                           bool* admitted, const Threads& threads) {
  const BatchPin pin = Pin(keys, n, counts, threads);
  std::shared_lock<SharedMutex> layout(layout_mu_);
  const Column& variable = columns_[0];
  char* const out_rows = static_cast<char*>(out);
  const std::unique_ptr<char[]> no_permission =
      ConstantRow(options_.type, options_.no_permission, variable.defaults->dim());
  // Keys of a shard are one after the other, so a key's occurrences are in their order.
  ForEachShard(keys, n, [&](Shard* shard, const int32_t* positions, int64_t count) {
    std::unique_lock<SharedMutex> lock(shard->mu);
    for (int64_t i = 0; i < count; ++i) {
      if (i + kFetchAhead < count) shard->index.Prefetch(keys[positions[i + kFetchAhead]]);
      const int64_t at = positions[i];
      char* const block = Touch(shard, keys[at], counts == nullptr ? 1 : counts[at], version);
      if (block != nullptr && tiers_ != nullptr) tiers_->SetAge(block, pin.stamp, n, at);
      if (block != nullptr && shard->touched != nullptr) shard->touched->Add(keys[at]);
      admitted[at] = block != nullptr;
      CopyRow(out_rows + at * variable.bytes, block == nullptr ? no_permission.get() : block + variable.offset,
              variable.bytes);
    }
  });
}

template <class Visit>
void Table::VisitWords(const int64_t* keys, int64_t n, const Visit& visit) const {
  std::shared_lock<SharedMutex> layout(layout_mu_);
  std::vector<int64_t> below;
  ForEachShard(keys, n, [&](Shard* shard, const int32_t* positions, int64_t count) {
    std::shared_lock<SharedMutex> lock(shard->mu);
    for (int64_t i = 0; i < count; ++i) {
      if (i + kFetchAhead < count) shard->index.Prefetch(keys[positions[i + kFetchAhead]]);
      const int64_t key = keys[positions[i]];
      const uintptr_t* const word = shard->index.Find(key);
      if (word != nullptr && ColdWord::Is(*word)) {
        below.push_back(positions[i]);
      } else {
        visit(positions[i], key, word);
      }
    }
  });
  if (below.empty()) return;
  tiers_->VisitBelow(keys, std::move(below), [&](int64_t i, const uintptr_t* word) { visit(i, keys[i], word); });
}

void Table::Frequencies(const int64_t* keys, int64_t n, int64_t* out) const {
  VisitWords(keys, n, [&](int64_t i, int64_t key, const uintptr_t* word) {
    if (word == nullptr) {
      out[i] = bloom_ == nullptr ? 0 : bloom_->Count(key);
    } else if (WaitingKey::Is(*word)) {
      out[i] = WaitingKey::Frequency(*word);
    } else {
      out[i] = options_.record_frequency ? HeaderOf(reinterpret_cast<char*>(*word))->frequency : 0;
    }
  });
}

void Table::Versions(const int64_t* keys, int64_t n, int64_t* out) const {
  VisitWords(keys, n, [&](int64_t i, int64_t, const uintptr_t* word) {
    if (word == nullptr || !options_.record_version) {
      out[i] = kNoVersion;
    } else if (WaitingKey::Is(*word)) {
      out[i] = WaitingKey::Version(*word);
    } else {
      out[i] = HeaderOf(reinterpret_cast<char*>(*word))->version;
    }
  });
}

void Table::Tiers(const int64_t* keys, int64_t n, int32_t* out) const {
  if (tiers_ != nullptr) return tiers_->Find(keys, n, out);
  VisitWords(keys, n, [&](int64_t i, int64_t, const uintptr_t* word) {
    out[i] = word == nullptr || WaitingKey::Is(*word) ? -1 : 0;
  });
}

inline void Table::CopyColumns(int64_t at, int64_t key, const char* block, const RowReader& reader) const {
  for (size_t c = 0; c < reader.columns.size(); ++c) {
    if (reader.columns[c] == nullptr) continue;
    const Column& column = columns_[c];
    memcpy(static_cast<char*>(reader.columns[c]) + at * column.bytes,
           block == nullptr ? column.defaults->Row(key) : block + column.offset, column.bytes);
  }
  const Header none{0, kNoVersion};
  const Header& header = block != nullptr && has_header() ? *HeaderOf(const_cast<char*>(block)) : none;
  if (reader.frequencies != nullptr) reader.frequencies[at] = header.frequency;
  if (reader.versions != nullptr) reader.versions[at] = header.version;
}

void Table::Read(const int64_t* keys, int64_t n, const RowReader& reader) const {
  std::shared_lock<SharedMutex> layout(layout_mu_);
  std::vector<int64_t> below;
  ForEachShard(keys, n, [&](Shard* shard, const int32_t* positions, int64_t count) {
    std::shared_lock<SharedMutex> lock(shard->mu);
    // Map entries are fetched two steps ahead, rows one.
    constexpr int64_t kRing = 32;
    static_assert(kRing > kFetchAhead, "a block is used before its place in the ring is taken again");
    const char* blocks[kRing];
    for (int64_t i = -kFetchAhead; i < count; ++i) {
      if (i + 2 * kFetchAhead < count) shard->index.Prefetch(keys[positions[i + 2 * kFetchAhead]]);
      if (const int64_t ahead = i + kFetchAhead; ahead < count) {
        const uintptr_t* const found = shard->index.Find(keys[positions[ahead]]);
        const char*& block = blocks[ahead % kRing];
        block = found == nullptr || !IsBlock(*found) ? nullptr : reinterpret_cast<const char*>(*found);
        if (block != nullptr) FetchRow(block, block_bytes_);
        if (found != nullptr && ColdWord::Is(*found)) below.push_back(positions[ahead]);
      }
      if (i < 0) continue;
      const int64_t at = positions[i];
      const char* const block = blocks[i % kRing];
      CopyColumns(at, keys[at], block, reader);
    }
  });
  if (below.empty()) return;
  tiers_->VisitBelow(keys, std::move(below), [&](int64_t at, const uintptr_t* word) {
    const bool has_row = word != nullptr && IsBlock(*word);
    CopyColumns(at, keys[at], has_row ? reinterpret_cast<const char*>(*word) : nullptr, reader);
  });
}

}  // namespace embedding
}  // namespace deeprec
