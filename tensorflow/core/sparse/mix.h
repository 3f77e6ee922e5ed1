// The hash of rows and keys.

#ifndef TENSORFLOW_CORE_SPARSE_MIX_H_
#define TENSORFLOW_CORE_SPARSE_MIX_H_

#include <stdint.h>

namespace deeprec {
namespace sparse {

// Finalizer of MurmurHash3: a bijection whose every output bit depends on every input bit.
inline uint64_t Mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_MIX_H_
