// The table behind an EmbeddingVariable: rows found by key, made when a key is first trained.
//
// Layout. A key's row and all its optimizer slots lie in one block, [header | variable | slots], aligned to a
// cache line, so an update misses the cache once more than the lookup that came before it. The header (how often
// and when a key was trained) is there only if the table records it: without, a block of float rows of 16 with
// two slots is exactly three lines. An index per shard leads from key to block; a key that waits for
// admission is in it with its count in place of the address.
//
// Locks. Keys are spread over shards, a power of two of them. A batch takes each shard's lock once: shared to look up,
// save or count, exclusive to update, insert or evict. So a row is never read half written, and a snapshot of a
// key has its variable and slots of one moment. A lookup holds all locks, taken in order, for its batch; whoever
// holds one exclusively holds no other, for the part of one batch that falls to that shard or for a shard's share of an
// eviction. Slots are added under layout_mu_, exclusive.
//
// Tiers. With TableOptions::tiers the blocks are those of the first tier, and rows that it has no room for lie below, in
// files or mapped memory: see table_tiers.h. A batch then has its rows brought up, which may throw StorageError, or
// BatchTooLargeError for more keys than the first tier has room for; the table is as it was then.
//
// Keys are int64; any value is legal. Sizes and shapes are the caller's to check.

#ifndef TENSORFLOW_CORE_EMBEDDING_TABLE_H_
#define TENSORFLOW_CORE_EMBEDDING_TABLE_H_

#include <stddef.h>
#include <stdint.h>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tensorflow/core/embedding/admission.h"
#include "tensorflow/core/embedding/block_arena.h"
#include "tensorflow/core/embedding/default_rows.h"
#include "tensorflow/core/embedding/shared_mutex.h"
#include "tensorflow/core/embedding/tier_options.h"
#include "tensorflow/core/sparse/element_types.h"
#include "tensorflow/core/sparse/sparse_apply.h"

namespace deeprec {
namespace embedding {

using sparse::ElementType;
using sparse::Threads;

enum class AdmissionKind { kAll, kCounter, kBloom };

struct TableOptions {
  ElementType type = ElementType::kFloat;
  AdmissionKind admission = AdmissionKind::kAll;
  int64_t min_count = 0;  // kCounter: occurrences before a key gets a row, at most WaitingKey::kMaxFrequency
  BloomOptions bloom;     // kBloom
  bool record_frequency = false;
  bool record_version = false;
  double no_permission = 0;  // each element of what a key without admission looks up as
  int shards = 0;            // a power of two up to 256; 0: by the number of processors
  TierOptions tiers;         // not together with kBloom
  bool operator==(const TableOptions& other) const;
};

// A step that was not given.
constexpr int64_t kNoVersion = -1;

// One optimizer step.
struct TableUpdate {
  const int64_t* keys = nullptr;    // [n], repeated keys allowed
  const int64_t* counts = nullptr;  // [n] occurrences that each position stands for; null: one
  const void* grad = nullptr;       // [n, dim]
  int64_t n = 0;                    // < 2^31
  int64_t version = kNoVersion;     // stamped on the keys' rows
};

// Rows to update: chains of gradients as in sparse::RowGroup, with the address of the variable's row for `row`.
// Called once a shard, under its lock; shards may run in parallel.
using RowUpdater = std::function<void(const sparse::RowGroup* groups, int64_t n, const int32_t* next)>;

// Rows for export or saving.
struct RowReader {
  std::vector<void*> columns;    // per column: [n, dim of the column], or null to leave it out
  int64_t* frequencies = nullptr;  // [n] or null
  int64_t* versions = nullptr;
};

// A key that waits for admission, at one moment.
struct WaitingEntry {
  int64_t key;
  uintptr_t word;  // see WaitingKey
};

// The keys of a table, ordered by bucket, key mod buckets: those of bucket b are [begin[b], begin[b + 1]).
struct Snapshot {
  std::vector<int64_t> keys;  // with rows
  std::vector<int64_t> begin;
  std::vector<WaitingEntry> waiting;
  std::vector<int64_t> waiting_begin;
};

class Table {
 public:
  // Column 0 holds the variable. Throws std::bad_alloc.
  Table(const TableOptions& options, std::shared_ptr<const DefaultRows> defaults);
  ~Table();

  // Adds a slot whose rows start as `defaults` says; returns its column. Rows that exist get it too.
  int AddColumn(std::shared_ptr<const DefaultRows> defaults);

  const TableOptions& options() const { return options_; }
  int columns() const;
  int64_t dim(int column) const;
  // Where a column lies, in bytes from the variable's row. Changes with AddColumn only for columns to come.
  int64_t ColumnOffset(int column) const;

  // out[i] = row of keys[i]: the stored one, or for keys without a row the default (which `fallback`, [n, dim],
  // replaces if not null), or the no-permission value if the table admits selectively and `ask_permission`.
  void Lookup(const int64_t* keys, int64_t n, const void* fallback, void* out, const Threads& threads,
              bool ask_permission = true) const;

  // As Lookup, but first makes a row of `initial`[i] for each key that has none (admission permitting).
  void LookupOrInsert(const int64_t* keys, int64_t n, const void* initial, int64_t version, void* out,
                      const Threads& threads);

  // Counts each position, in their order, as Update does, and reads what its key has then: admitted[i] tells whether
  // that is a row, else out[i] is the no-permission value. counts: null: one each.
  void LookupAndCount(const int64_t* keys, int64_t n, const int64_t* counts, int64_t version, void* out, bool* admitted,
                      const Threads& threads);

  // Makes rows for new keys that are admitted, counts the others, and calls `update` for those with rows.
  void Update(const TableUpdate& step, const RowUpdater& update, const Threads& threads);

  // Keys with rows plus keys that wait.
  int64_t size() const;
  // How often a key was trained, 0 if unknown or not recorded; when, kNoVersion likewise.
  void Frequencies(const int64_t* keys, int64_t n, int64_t* out) const;
  void Versions(const int64_t* keys, int64_t n, int64_t* out) const;
  // The tier of each key's row, 0 the first, once the first is within its budget; -1 for keys without a row.
  void Tiers(const int64_t* keys, int64_t n, int32_t* out) const;

  // Removes keys with global_step - version > max_age; a key never stamped is stamped with global_step.
  // Returns how many.
  int64_t EvictOlderThan(int64_t max_age, int64_t global_step);
  // Removes keys whose variable has half its squared norm below `threshold`.
  int64_t EvictSmallerThan(double threshold);
  // Removes keys, those that wait too; keys that are not there are passed over. For tables of one tier. Returns how many.
  int64_t Remove(const int64_t* keys, int64_t n);
  void Clear();

  // Keys that come while it is taken may be in it or not. Must not run beside an eviction, see maintenance_mutex().
  Snapshot TakeSnapshot(int64_t buckets) const;

  // Incremental checkpoints: which keys' rows have changed since all rows were last saved. Recorded from the first
  // StartRecording() to Clear(); costs nothing before. Starting again begins a generation, see touched_keys.h.
  void StartRecording();
  // What was recorded before the last StartRecording() is forgotten: all rows of that moment are saved.
  void ForgetEarlierRecords();
  bool recording() const;
  // Of recorded keys, those that have rows. As TakeSnapshot; nothing waits. Not beside the two above either.
  Snapshot TakeRecorded(int64_t buckets) const;

  // Copies the rows of keys[0, n); a row is copied under one lock. Keys without a row read as defaults.
  void Read(const int64_t* keys, int64_t n, const RowReader& reader) const;

  // Sets `column` of each key's row. Column 0 makes rows, with defaults in their other columns; a slot leaves out keys
  // that have none. rows: [n, source_dim]; where dim differs, the shorter is copied and the rest stays.
  // frequencies, versions: null leaves them, or 1 (at least min_count) and kNoVersion for new rows.
  void Insert(int column, const int64_t* keys, int64_t n, const void* rows, int64_t source_dim,
              const int64_t* frequencies, const int64_t* versions);
  // Keys that wait, with their counts; those that reach this table's threshold get default rows.
  void InsertWaiting(const int64_t* keys, int64_t n, const int64_t* frequencies, const int64_t* versions);

  // Bytes held by rows in the first tier and maps.
  int64_t MemoryBytes() const;
  int64_t RowBytes() const;
  // Rows that the first tier has room for; -1: without a bound.
  int64_t FirstTierRows() const;

  // For whoever must see no eviction, import or export besides its own: saving and restoring.
  std::mutex& maintenance_mutex() { return maintenance_mu_; }

 private:
  struct Column {
    std::shared_ptr<const DefaultRows> defaults;
    int64_t bytes;
    int64_t offset;  // from the block
  };
  struct Header {
    int64_t frequency;
    int64_t version;
  };
  struct Shard;
  class SharedLocks;
  class LowerTiers;
  // What a batch holds so that its rows stay in the first tier. `stamp`: of the batch's first position.
  struct BatchPin {
    std::shared_ptr<const void> hold;
    uint64_t stamp = 0;
  };

  bool has_header() const { return options_.record_frequency || options_.record_version || tiers_ != nullptr; }
  // Brings the rows of a batch up, to stay there while the pin is held. Before the locks. counts: null: one each.
  BatchPin Pin(const int64_t* keys, int64_t n, const int64_t* counts, const Threads& threads) const;
  static Header* HeaderOf(char* block) { return reinterpret_cast<Header*>(block); }
  char* NewBlock(Shard* shard, int64_t key, int64_t frequency, int64_t version);
  void FreeBlock(Shard* shard, uintptr_t word);
  // Counts `count` more occurrences of a key; its block if it has a row now, else null.
  char* Touch(Shard* shard, int64_t key, int64_t count, int64_t version);
  void SetLayout();
  // Has the rows of these keys in the first tier, and no row goes down while the lock is held.
  std::unique_lock<std::mutex> BringUpToImport(const int64_t* keys, int64_t n);
  // By the high bits: the index of a shard uses the low ones. In two steps, as a shift by 64 is none.
  int ShardOf(uint64_t hash) const { return int((hash >> 1) >> shard_shift_); }
  template <class Visit>
  void ForEachShard(const int64_t* keys, int64_t n, const Visit& visit) const;
  void CopyColumns(int64_t at, int64_t key, const char* block, const RowReader& reader) const;
  template <class Visit>
  void VisitWords(const int64_t* keys, int64_t n, const Visit& visit) const;
  template <class Evict>
  int64_t EvictIf(const Evict& evict);
  template <class IndexOf, class Restart, class Visit>
  void VisitInPieces(int shard, const IndexOf& index_of, const Restart& restart, const Visit& visit) const;

  const TableOptions options_;
  std::unique_ptr<CountingBloomFilter> bloom_;
  mutable SharedMutex layout_mu_;
  std::vector<Column> columns_;
  size_t block_bytes_ = 0;
  std::unique_ptr<ChunkSource> chunks_;
  int num_shards_;
  int shard_shift_;
  std::unique_ptr<Shard[]> shards_;
  std::mutex maintenance_mu_;
  std::unique_ptr<LowerTiers> tiers_;  // null: one tier. Last: its thread uses the others
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_TABLE_H_
