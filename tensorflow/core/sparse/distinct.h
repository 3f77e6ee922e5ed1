// The different keys of a batch, in the order in which they come first.

#ifndef TENSORFLOW_CORE_SPARSE_DISTINCT_H_
#define TENSORFLOW_CORE_SPARSE_DISTINCT_H_

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "tensorflow/core/sparse/mix.h"

namespace deeprec {
namespace sparse {

// Key: int32_t or int64_t. Used once: a hash table of 4 bytes a slot, at most half full, that grows with the number of different
// keys. A map from a library would hold the keys too, four times the memory to wait for.
template <class Key>
class DistinctKeys {
 public:
  // Calls place(i, number) for i = 0 .. n - 1, where number is that of keys[i] among the different keys; n < 2^32. keys[i] is read
  // before place(i, .) is called, once.
  template <class Place>
  void Find(const Key* keys, int64_t n, const Place& place) {
    // Small batches get a table for all of their keys at once.
    const int64_t room = std::min<int64_t>(n, kFirstKeys);
    Resize(room);
    keys_.reserve(room);
    constexpr int64_t kAhead = 16;
    Key ring[kAhead];
    uint64_t hashes[kAhead];
    const auto fetch = [&](int64_t i) {
      ring[i % kAhead] = keys[i];
      hashes[i % kAhead] = Mix(uint64_t(ring[i % kAhead]));
      __builtin_prefetch(&slots_[hashes[i % kAhead] & mask_], 1);
    };
    for (int64_t i = 0; i < std::min(n, kAhead); ++i) fetch(i);
    for (int64_t i = 0; i < n; ++i) {
      const Key key = ring[i % kAhead];
      const uint64_t hash = hashes[i % kAhead];
      if (i + kAhead < n) fetch(i + kAhead);
      place(i, NumberOf(key, hash));
    }
  }

  const std::vector<Key>& keys() const { return keys_; }

 private:
  static constexpr int64_t kFirstKeys = 1 << 15;

  uint32_t NumberOf(Key key, uint64_t hash) {
    for (uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
      const uint32_t entry = slots_[at];
      if (entry == 0) {
        keys_.push_back(key);
        slots_[at] = uint32_t(keys_.size());
        if (2 * keys_.size() > slots_.size()) Resize(2 * int64_t(keys_.size()));
        return uint32_t(keys_.size() - 1);
      }
      if (keys_[entry - 1] == key) return entry - 1;
    }
  }

  // Makes room for `room` keys, and puts in those that are there.
  void Resize(int64_t room) {
    uint64_t slots = 16;
    while (slots < 2 * uint64_t(room)) slots *= 2;
    slots_.assign(slots, 0);
    mask_ = slots - 1;
    for (size_t i = 0; i < keys_.size(); ++i) {
      uint64_t at = Mix(uint64_t(keys_[i])) & mask_;
      while (slots_[at] != 0) at = (at + 1) & mask_;
      slots_[at] = uint32_t(i + 1);
    }
  }

  std::vector<Key> keys_;
  // Numbers of keys plus one; 0 is free.
  std::vector<uint32_t> slots_;
  uint64_t mask_ = 0;
};

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_DISTINCT_H_
