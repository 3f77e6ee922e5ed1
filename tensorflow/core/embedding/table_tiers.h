// The tiers below the first of a table. Not for users of the table.
//
// The index leads to every row: a word is the address of a block, a WaitingKey, or, of a row below, a ColdWord. Rows below are
// records of a RecordStore, [tag | key | block without its padding]. They never change: a row is brought up into a block
// before it is used, for reading too, and goes down as a new record.
//
// What a batch uses stays up until it is through. The batch takes a number from the clock, announces it, and stamps its rows
// with that number or a later one; rows that are stamped with the number of the oldest batch that runs, or later, do not go
// down. The batch announces itself before it stamps, stamps under the shard's lock, shared, and the stamp is checked under
// that lock, exclusive: so a row that goes down has not been stamped, and who comes to stamp it finds the ColdWord. A batch
// may have looked for a row just before another makes it: so a new row's stamp is later than the numbers of all that run.
//
// Going down: the row is copied under the shared lock, written without one, and let go under the exclusive lock if it still is
// what was written, byte for byte. If the disk fails, nothing has happened.
//
// Locks, in this order: demote_mu_ (rows go down, records are moved: one at a time), Table::layout_mu_, the shard's, then
// those of the stores and pins_mu_. A step never holds a shard's lock while it reads or writes a file.

#ifndef TENSORFLOW_CORE_EMBEDDING_TABLE_TIERS_H_
#define TENSORFLOW_CORE_EMBEDDING_TABLE_TIERS_H_

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tensorflow/core/embedding/coldest_rows.h"
#include "tensorflow/core/embedding/table_shard.h"

namespace deeprec {
namespace embedding {

class Table::LowerTiers {
 public:
  // Throws StorageError if the folder can not be used.
  LowerTiers(Table* table, const TierOptions& options);
  ~LowerTiers();

  // The table's columns are as they are now. Under layout_mu_, exclusive, or before anybody else has the table.
  void SetLayout();
  // All rows are gone. Under layout_mu_, exclusive, and demote_mu_.
  void Cleared();

  // See Table::Pin.
  BatchPin Pin(const int64_t* keys, int64_t n, const int64_t* counts, const Threads& threads);
  // Nothing goes down while the lock is held. Before layout_mu_.
  std::unique_lock<std::mutex> StopDemotion();
  // Brings rows up without counting that as use. Under StopDemotion, so that they stay.
  void BringUp(const int64_t* keys, int64_t n) { BringUp(keys, n, nullptr, kNotUsed, Threads()); }
  // Moves the rows down that are above the budget now, as far as they may go. Throws StorageError.
  void DemoteExcess() { DemoteExcess(/*background=*/false, kAll); }

  // Under the shard's lock, exclusive: a block was made, with its header's frequency; is freed.
  void Made(Shard* shard, int64_t key, char* block);
  void Freed() { --blocks_; }
  // Gives a block that may have been made for this batch of n its place in it.
  void SetAge(char* block, uint64_t stamp, int64_t n, int64_t position);
  void Imported(char* block);
  void FreeRecord(uintptr_t word) { StoreOf(word).Free(ColdWord::Location(word)); }

  // Calls visit(position, word) for the keys at these positions: of rows below with the address of a copy. Under layout_mu_.
  using VisitWord = std::function<void(int64_t position, const uintptr_t* word)>;
  void VisitBelow(const int64_t* keys, std::vector<int64_t> positions, const VisitWord& visit) const;
  // Removes the rows below for which evict(address of a copy) says so; keeps what it changes in the header of others.
  // Under StopDemotion and layout_mu_.
  int64_t EvictBelow(const std::function<bool(uintptr_t*)>& evict);
  // See Table::Tiers.
  void Find(const int64_t* keys, int64_t n, int32_t* out);

  int64_t budget() const { return budget_; }
  int64_t blocks() const { return blocks_; }
  const RecordStore& store(int tier) const { return *stores_[tier - 1]; }

 private:
  struct TierHeader {
    Header table;
    uint64_t uses;
    uint64_t stamp;
  };
  static_assert(sizeof(TierHeader) == kTierHeaderBytes, "where the rows begin");
  struct RecordHead {
    uint64_t tag;  // TagOf(key): tells a record from what is not one
    int64_t key;
  };
  static uint64_t TagOf(int64_t key) { return MixKey(uint64_t(key) ^ 0x9e3779b97f4a7c15ULL); }
  // A row and its word as its new record was made.
  struct Move {
    int64_t key;
    uintptr_t from;
  };
  // A row that a pass has read, and which of the blocks it is in.
  struct Below {
    int64_t key;
    uintptr_t word;
    int64_t block;
  };
  struct ColdRow;
  struct Pinned;
  using BlockBuffer = std::unique_ptr<char[], void (*)(char*)>;
  static constexpr uint64_t kNotUsed = 0;
  static constexpr int64_t kAll = int64_t{1} << 62;
  static constexpr uint64_t kNoPin = ~uint64_t{0};
  // Of the clock. Imported rows have stamps below: their frequencies, so that LRU too keeps the most frequent of them.
  static constexpr uint64_t kFirstStamp = uint64_t{1} << 40;

  static TierHeader* HeadOf(char* block) { return reinterpret_cast<TierHeader*>(block); }
  RecordStore& StoreOf(uintptr_t word) const { return *stores_[ColdWord::Tier(word) - 1]; }
  int64_t UsedBytes(int layout) const;
  BlockBuffer NewBlocks(int64_t n) const;
  void MakeRecord(int64_t key, const char* block, char* record) const;
  // Throws StorageError if it is no record.
  int64_t KeyOf(const char* record) const;
  [[noreturn]] void ThrowAltered(const std::string& what) const;
  void MakeBlock(const RecordStore::Segment& segment, const char* record, char* block) const;
  bool ReadRow(int64_t key, uintptr_t word, char* scratch, char* block) const;

  static void Use(char* block, int64_t count, uint64_t stamp);
  void CheckBatch(const int64_t* keys, int64_t n) const;
  void BringUp(const int64_t* keys, int64_t n, const int64_t* counts, uint64_t stamp, const Threads& threads);
  void InstallRows(const std::vector<ColdRow>& rows, const char* blocks, const std::vector<char>& found, uint64_t stamp,
                   std::vector<ColdRow>* again);

  int64_t Rows(int tier) const { return tier == 0 ? int64_t(blocks_) : stores_[tier - 1]->records(); }
  int64_t Budget(int tier) const;
  Coldness ColdnessOf(int64_t key, uintptr_t word) const;
  Coldness ColdnessOf(int64_t key, uint64_t uses, uint64_t stamp) const;
  uint64_t OldestPin() const;
  // At most `most` rows of each tier.
  void DemoteExcess(bool background, int64_t most);
  int64_t DemoteRound(int tier, int64_t most);
  void TakeNewRows();
  void FindColdest(int tier);
  int64_t MoveRecords(int tier, const std::vector<Move>& moves, const char* records);
  void Compact();
  int64_t VisitChunk(int tier, const RecordStore::SegmentRange& range, int64_t begin,
                     const std::function<void(const std::vector<Below>&, char* blocks)>& visit) const;
  void KeepLive(std::vector<Below>* rows) const;

  void Request();
  void RequestCompaction();
  void RunBackground();
  void ThrowPending();

  Table& table_;
  const TierOptions options_;
  std::vector<std::unique_ptr<RecordStore>> stores_;
  std::atomic<int64_t> row_bytes_{0}, budget_{0}, blocks_{0};
  int64_t record_bytes_ = 0;

  std::atomic<uint64_t> clock_{kFirstStamp};
  mutable std::mutex pins_mu_;
  std::multiset<uint64_t> pins_;

  // Who waits for demote_mu_ waits with turn_mu_, so that who just had it can not have it again first.
  std::mutex turn_mu_, demote_mu_;
  std::vector<ColdestRows> coldest_;  // per tier but the last
  // Keys of blocks made since the pass of coldest_[0]; guarded by the shard's lock.
  std::unique_ptr<std::vector<int64_t>[]> made_;
  std::atomic<bool> track_made_{false}, lost_made_{false};

  std::mutex wake_mu_;
  std::condition_variable wake_;
  bool requested_ = false;
  std::atomic<bool> stop_{false};
  std::thread thread_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;  // of the background thread, for the next step; guarded by wake_mu_
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_TABLE_TIERS_H_
