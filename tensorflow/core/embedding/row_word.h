// The words of a table's index: the address of a row's block, a WaitingKey (admission.h), or where a row lies below the first
// tier. The lowest two bits, which no address of a block has, tell them apart.

#ifndef TENSORFLOW_CORE_EMBEDDING_ROW_WORD_H_
#define TENSORFLOW_CORE_EMBEDDING_ROW_WORD_H_

#include <stdint.h>

#include "tensorflow/core/embedding/admission.h"
#include "tensorflow/core/embedding/record_store.h"

namespace deeprec {
namespace embedding {

inline bool IsBlock(uintptr_t word) { return (word & 3) == 0; }

struct ColdWord {
  static_assert(sizeof(uintptr_t) == 8 && kLocationBits == 60, "2 bits for the tier, 2 for the kind of word");
  static bool Is(uintptr_t word) { return (word & 3) == 2; }
  // tier: 1 to 3.
  static uintptr_t Pack(int tier, RecordLocation location) { return uintptr_t(tier) << 62 | location << 2 | 2; }
  static int Tier(uintptr_t word) { return int(word >> 62); }
  static RecordLocation Location(uintptr_t word) { return (word << 2) >> 4; }
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_ROW_WORD_H_
