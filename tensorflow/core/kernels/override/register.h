// Registration of kernels that take the place of TensorFlow's own.

#ifndef TENSORFLOW_CORE_KERNELS_OVERRIDE_REGISTER_H_
#define TENSORFLOW_CORE_KERNELS_OVERRIDE_REGISTER_H_

#include <string>

#include "tensorflow/core/framework/kernel_def_builder.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace tensorflow {

// Whether `list`, comma separated, names `op` or is "all". Blanks around names do not count.
bool NamesKernel(const char* list, const std::string& op);

// Whether TF_DEEPREC_DISABLE_KERNELS names the op. The variable is read once per process.
bool KernelDisabled(const std::string& op);

using KernelFactory = OpKernel* (*)(OpKernelConstruction*);

// Registers a CPU kernel that goes before the stock one (priority 1), unless the op is disabled by name:
// then nothing is registered and the stock kernel runs. Returns true, for use in an initialiser.
bool RegisterOverride(const char* op, KernelDefBuilder& constraints, KernelFactory factory);

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_OVERRIDE_REGISTER_H_
