// Numbers for keys: 0, 1, 2, ... in the order in which they are first seen. Where the rows of a dense table of fixed size are
// given out to keys as they come.
//
// Thread safe. A batch holds the lock once: shared to find, exclusive as soon as it has a key to number.

#ifndef TENSORFLOW_CORE_EMBEDDING_KEY_NUMBERS_H_
#define TENSORFLOW_CORE_EMBEDDING_KEY_NUMBERS_H_

#include <stdint.h>

#include <vector>

#include "tensorflow/core/embedding/key_index.h"
#include "tensorflow/core/embedding/shared_mutex.h"

namespace deeprec {
namespace embedding {

class KeyNumbers {
 public:
  // numbers[i] = that of keys[i], or -1 if it has none.
  void Find(const int64_t* keys, int64_t n, int64_t* numbers) const;

  // As Find, but numbers the keys that have none, below `capacity`. False, and nothing is numbered, if that is too few for them.
  // Throws std::bad_alloc.
  bool FindOrNumber(const int64_t* keys, int64_t n, int64_t capacity, int64_t* numbers);

  // Replaces all: keys[i], which differ, has number i. False if they do not; nothing changes then.
  bool Assign(const int64_t* keys, int64_t n);

  // The keys in the order of their numbers.
  std::vector<int64_t> Keys() const;
  int64_t size() const;
  int64_t MemoryBytes() const;

 private:
  // Words of the index are numbers plus one, as 0 is none. Returns whether all were found.
  bool FindLocked(const int64_t* keys, int64_t n, int64_t* numbers) const;

  mutable SharedMutex mu_;
  KeyIndex index_;
  std::vector<int64_t> keys_;
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_KEY_NUMBERS_H_
