// The threads of an op, as the pure C++ takes them.

#ifndef TENSORFLOW_CORE_KERNELS_POOL_THREADS_H_
#define TENSORFLOW_CORE_KERNELS_POOL_THREADS_H_

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/sparse/sparse_apply.h"

namespace tensorflow {

// The op's intra-op pool. The calling thread takes part, so a busy pool delays but never blocks a step.
deeprec::sparse::Threads PoolThreads(OpKernelContext* ctx);

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_POOL_THREADS_H_
