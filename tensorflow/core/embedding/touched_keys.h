// The keys of a shard whose rows have changed since a moment, for checkpoints of no more than these.
//
// A key has the number of the generation in which it last changed. Whoever saves all rows starts a generation first and
// drops the earlier ones when everything is safely written: if it is not, nothing has been forgotten, and a key that
// changes meanwhile is kept.
//
// Not thread safe: the lock of the shard guards it.

#ifndef TENSORFLOW_CORE_EMBEDDING_TOUCHED_KEYS_H_
#define TENSORFLOW_CORE_EMBEDDING_TOUCHED_KEYS_H_

#include <stdint.h>

#include <utility>

#include "tensorflow/core/embedding/key_index.h"

namespace deeprec {
namespace embedding {

class TouchedKeys {
 public:
  void StartGeneration() { ++generation_; }
  // Throws std::bad_alloc, and is unchanged then.
  void DropEarlierGenerations() {
    KeyIndex kept;
    index_.ForEach([&](int64_t key, uintptr_t generation) {
      if (generation == generation_) kept.FindOrInsert(key, generation);
    });
    index_ = std::move(kept);
  }

  void Prefetch(int64_t key) const { index_.Prefetch(key); }
  // Throws std::bad_alloc, and is unchanged then.
  void Add(int64_t key) { *index_.FindOrInsert(key, generation_) = generation_; }

  // The keys, as words of their generations.
  const KeyIndex& index() const { return index_; }

 private:
  KeyIndex index_;
  uintptr_t generation_ = 1;
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_TOUCHED_KEYS_H_
