#include "tensorflow/core/sparse/isa.h"

#include <stdlib.h>
#include <string.h>

namespace deeprec {
namespace sparse {

const char* IsaName(Isa isa) {
  switch (isa) {
    case Isa::kAvx512: return "avx512";
    case Isa::kAvx2: return "avx2";
    case Isa::kScalar: break;
  }
  return "scalar";
}

Isa BestIsa() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx512 ? Isa::kAvx512 : avx2 ? Isa::kAvx2 : Isa::kScalar;
}

IsaChoice ChooseIsa(const char* request, Isa best) {
  if (request == nullptr || *request == '\0') return {best, ""};
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (strcmp(request, IsaName(isa)) != 0) continue;
    if (isa <= best) return {isa, ""};
    return {best, std::string("TF_DEEPREC_ISA=") + request + " is not supported by this CPU; using " +
                      IsaName(best)};
  }
  return {best, std::string("TF_DEEPREC_ISA=") + request +
                    " is not one of scalar, avx2, avx512; using " + IsaName(best)};
}

const IsaChoice& ActiveIsa() {
  static const IsaChoice* const choice =
      new IsaChoice(ChooseIsa(getenv("TF_DEEPREC_ISA"), BestIsa()));
  return *choice;
}

const KernelTable& Kernels(Isa isa) {
  switch (isa) {
    case Isa::kAvx512: return kAvx512Kernels;
    case Isa::kAvx2: return kAvx2Kernels;
    case Isa::kScalar: break;
  }
  return kScalarKernels;
}

}  // namespace sparse
}  // namespace deeprec
