// The hash of keys, and the buckets that checkpoints are ordered by.

#ifndef TENSORFLOW_CORE_EMBEDDING_HASHING_H_
#define TENSORFLOW_CORE_EMBEDDING_HASHING_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/core/sparse/mix.h"

namespace deeprec {
namespace embedding {

inline uint64_t MixKey(uint64_t key) { return sparse::Mix(key); }

struct KeyHash {
  size_t operator()(int64_t key) const { return MixKey(uint64_t(key)); }
};

// key mod n with the result in [0, n), for negative keys too.
inline int64_t FloorMod(int64_t key, int64_t n) {
  const int64_t rest = key % n;
  return rest < 0 ? rest + n : rest;
}

// Checkpoints order keys by these, and they are spread over the parts of a variable by them.
constexpr int64_t kBuckets = 1000;

// The part of a key, of `parts`.
inline int64_t PartOf(int64_t key, int64_t parts) { return FloorMod(key, kBuckets) % parts; }

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_HASHING_H_
