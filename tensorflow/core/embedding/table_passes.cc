// Passes over the rows below the first tier: compaction and eviction.

#include <algorithm>

#include "tensorflow/core/embedding/table_tiers.h"

namespace deeprec {
namespace embedding {
namespace {

// Of a file at a time.
constexpr int64_t kChunkBytes = 1 << 20;

}  // namespace

void Table::LowerTiers::KeepLive(std::vector<Below>* rows) const {
  std::vector<int64_t> keys;
  for (const Below& row : *rows) keys.push_back(row.key);
  std::vector<char> live(rows->size());
  table_.ForEachShard(keys.data(), int64_t(keys.size()), [&](Shard* shard, const int32_t* positions, int64_t count) {
    const std::shared_lock<SharedMutex> lock(shard->mu);
    for (int64_t i = 0; i < count; ++i) {
      const Below& row = (*rows)[positions[i]];
      const uintptr_t* const word = shard->index.Find(row.key);
      live[positions[i]] = word != nullptr && *word == row.word;
    }
  });
  size_t size = 0;
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i]) (*rows)[size++] = (*rows)[i];
  }
  rows->resize(size);
}

// Calls visit(rows, their blocks) with the rows in use of a part of a segment, from its record `begin` on; returns where the
// next part begins.
int64_t Table::LowerTiers::VisitChunk(int tier, const RecordStore::SegmentRange& range, int64_t begin,
                                      const std::function<void(const std::vector<Below>&, char* blocks)>& visit) const {
  const int64_t bytes = RecordStore::RecordBytes(*range.segment);
  const int64_t count = std::min(range.records - begin, std::max<int64_t>(1, kChunkBytes / bytes));
  const std::unique_ptr<char[]> records(new char[count * bytes]);
  const BlockBuffer blocks = NewBlocks(count);
  std::vector<Below> rows;
  RecordStore::Read(*range.segment, range.first + uint64_t(begin), count, records.get());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t key = KeyOf(records.get() + i * bytes);
    rows.push_back(Below{key, ColdWord::Pack(tier, range.first + uint64_t(begin + i)), i});
  }
  KeepLive(&rows);
  for (const Below& row : rows) {
    MakeBlock(*range.segment, records.get() + row.block * bytes, blocks.get() + row.block * table_.block_bytes_);
  }
  visit(rows, blocks.get());
  return begin + count;
}

void Table::LowerTiers::Compact() {
  for (int tier = 1; tier <= int(stores_.size()); ++tier) {
    for (const RecordStore::SegmentRange& range : stores_[tier - 1]->Due()) {
      for (int64_t at = 0; at < range.records && !stop_;) {
        // Step by step: a batch that has to clear rows away must not wait for a whole file.
        const auto alone = StopDemotion();
        const std::shared_lock<SharedMutex> layout(table_.layout_mu_);
        at = VisitChunk(tier, range, at, [&](const std::vector<Below>& rows, char* blocks) {
          std::vector<Move> moves;
          const std::unique_ptr<char[]> records(new char[rows.size() * record_bytes_]);
          for (const Below& row : rows) {
            MakeRecord(row.key, blocks + row.block * table_.block_bytes_,
                       records.get() + int64_t(moves.size()) * record_bytes_);
            moves.push_back(Move{row.key, row.word});
          }
          MoveRecords(tier, moves, records.get());
        });
      }
    }
  }
}

int64_t Table::LowerTiers::EvictBelow(const std::function<bool(uintptr_t*)>& evict) {
  int64_t evicted = 0;
  for (int tier = 1; tier <= int(stores_.size()); ++tier) {
    // Records that are appended meanwhile are of rows that have been looked at.
    for (const RecordStore::SegmentRange& range : stores_[tier - 1]->Segments()) {
      const auto visit = [&](const std::vector<Below>& rows, char* blocks) {
        std::vector<int64_t> gone;
        std::vector<uintptr_t> gone_words;
        std::vector<Move> changed;
        const std::unique_ptr<char[]> records(new char[rows.size() * record_bytes_]);
        for (const Below& row : rows) {
          char* const block = blocks + row.block * table_.block_bytes_;
          const Header before = HeadOf(block)->table;
          uintptr_t word = uintptr_t(block);
          if (evict(&word)) {
            gone.push_back(row.key);
            gone_words.push_back(row.word);
          } else if (HeadOf(block)->table.version != before.version) {
            MakeRecord(row.key, block, records.get() + int64_t(changed.size()) * record_bytes_);
            changed.push_back(Move{row.key, row.word});
          }
        }
        table_.ForEachShard(gone.data(), int64_t(gone.size()), [&](Shard* shard, const int32_t* positions, int64_t count) {
          const std::unique_lock<SharedMutex> lock(shard->mu);
          for (int64_t i = 0; i < count; ++i) {
            const uintptr_t* const word = shard->index.Find(gone[positions[i]]);
            if (word == nullptr || *word != gone_words[positions[i]]) continue;  // brought up: looked at there
            FreeRecord(*word);
            shard->index.Erase(gone[positions[i]]);
            ++evicted;
          }
        });
        MoveRecords(tier, changed, records.get());
      };
      for (int64_t at = 0; at < range.records;) at = VisitChunk(tier, range, at, visit);
    }
  }
  RequestCompaction();
  return evicted;
}

}  // namespace embedding
}  // namespace deeprec
