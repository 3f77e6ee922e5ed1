// Run-time choice of the instruction set of the sparse kernels.

#ifndef TENSORFLOW_CORE_SPARSE_ISA_H_
#define TENSORFLOW_CORE_SPARSE_ISA_H_

#include <string>

#include "tensorflow/core/sparse/row_update.h"

namespace deeprec {
namespace sparse {

enum class Isa : int { kScalar = 0, kAvx2, kAvx512 };

// "scalar", "avx2", "avx512".
const char* IsaName(Isa isa);

// The widest one this CPU and operating system support.
Isa BestIsa();

struct IsaChoice {
  Isa isa;
  std::string warning;  // empty, or why the request was not followed
};

// What to use when `best` is available and the user asked for `request` (null or empty: nothing asked).
IsaChoice ChooseIsa(const char* request, Isa best);

// The process's choice, from TF_DEEPREC_ISA, made at the first call.
const IsaChoice& ActiveIsa();

const KernelTable& Kernels(Isa isa);

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_ISA_H_
