#include "tensorflow/core/kernels/override/register.h"

#include <stdlib.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace tensorflow {

bool NamesKernel(const char* list, const std::string& op) {
  if (list == nullptr) return false;
  for (absl::string_view name : absl::StrSplit(list, ',')) {
    name = absl::StripAsciiWhitespace(name);
    if (name == op || name == "all") return true;
  }
  return false;
}

bool KernelDisabled(const std::string& op) {
  static const std::string* const list = [] {
    const char* const value = getenv("TF_DEEPREC_DISABLE_KERNELS");
    return new std::string(value == nullptr ? "" : value);
  }();
  return NamesKernel(list->c_str(), op);
}

bool RegisterOverride(const char* op, KernelDefBuilder& constraints, KernelFactory factory) {
  const KernelDef* const kernel = constraints.Device(DEVICE_CPU).Priority(1).Build();
  if (KernelDisabled(op)) {
    delete kernel;
  } else {
    // Takes ownership of `kernel`.
    kernel_factory::OpKernelRegistrar(kernel, op, factory);
  }
  return true;
}

}  // namespace tensorflow
