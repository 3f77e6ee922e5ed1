// From key to word: the index of a shard.
//
// Open addressing with linear probing over slots of 16 bytes, key and word side by side and four to a cache line, at most
// three quarters full. A lookup of a random key so waits for one line, where maps with control bytes apart from the slots
// (absl::flat_hash_map, boost::unordered_flat_map) wait for two: measured, half the time of a lookup of the whole table
// (docs/notes/embedding-table.md). That is why this is not one of those. Erasing moves the rest of a run up, so there are
// no tombstones and a table that evicts does not get slower.
//
// Not thread safe: the lock of the shard guards it.

#ifndef TENSORFLOW_CORE_EMBEDDING_KEY_INDEX_H_
#define TENSORFLOW_CORE_EMBEDDING_KEY_INDEX_H_

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <utility>

#include "tensorflow/core/embedding/hashing.h"
#include "tensorflow/core/embedding/zeroed_memory.h"

namespace deeprec {
namespace embedding {

class KeyIndex {
 public:
  // A word of 0 marks a free slot: no word that is stored is 0.
  struct Slot {
    int64_t key;
    uintptr_t word;
  };

  KeyIndex() = default;
  KeyIndex(KeyIndex&& other) noexcept { Swap(&other); }
  KeyIndex& operator=(KeyIndex&& other) noexcept {
    KeyIndex moved(std::move(other));
    Swap(&moved);
    return *this;
  }

  int64_t size() const { return size_; }
  int64_t bytes() const { return int64_t(slots_.bytes()); }

  // `hash` is the key's, MixKey(key); the forms without compute it.

  // Fetches the line that Find will look at.
  void PrefetchHash(uint64_t hash) const { __builtin_prefetch(data_ + (hash & mask_)); }
  void Prefetch(int64_t key) const { PrefetchHash(MixKey(uint64_t(key))); }

  // The word of a key, or null.
  const uintptr_t* Find(int64_t key, uint64_t hash) const {
    for (uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = data_[at];
      if (slot.word == 0) return nullptr;
      if (slot.key == key) return &slot.word;
    }
  }
  const uintptr_t* Find(int64_t key) const { return Find(key, MixKey(uint64_t(key))); }

  // The word of a key, which becomes `word` if it had none. Pointers to other words are void afterwards. Throws
  // std::bad_alloc, and is unchanged then.
  uintptr_t* FindOrInsert(int64_t key, uintptr_t word);

  // False if there was no such key.
  bool Erase(int64_t key);

  // Slots, free ones too. Keys stay in theirs until this changes or one is erased.
  uint64_t capacity() const { return capacity_; }

  // Calls visit(key, word&) for the keys in slots [begin, end). The words may be changed, the keys not.
  template <class Visit>
  void ForEachIn(uint64_t begin, uint64_t end, const Visit& visit) {
    for (uint64_t at = begin; at < end; ++at) {
      if (data_[at].word != 0) visit(data_[at].key, data_[at].word);
    }
  }
  template <class Visit>
  void ForEachIn(uint64_t begin, uint64_t end, const Visit& visit) const {
    for (uint64_t at = begin; at < end; ++at) {
      if (data_[at].word != 0) visit(data_[at].key, uintptr_t(data_[at].word));
    }
  }
  // For all keys, in no order.
  template <class Visit>
  void ForEach(const Visit& visit) {
    ForEachIn(0, capacity_, visit);
  }
  template <class Visit>
  void ForEach(const Visit& visit) const {
    ForEachIn(0, capacity_, visit);
  }

 private:
  void Swap(KeyIndex* other);
  void Grow();
  Slot* FreeSlot(uint64_t hash) {
    uint64_t at = hash & mask_;
    while (data_[at].word != 0) at = (at + 1) & mask_;
    return data_ + at;
  }

  // Of an index that has no memory yet: always free.
  static Slot kNoSlots[1];

  ZeroedMemory slots_;
  Slot* data_ = kNoSlots;
  uint64_t mask_ = 0;
  uint64_t capacity_ = 0;
  int64_t size_ = 0;
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_KEY_INDEX_H_
