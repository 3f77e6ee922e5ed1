// Rows of a batch over the op's threads, and their shapes.

#ifndef TENSORFLOW_CORE_KERNELS_ROW_SHARDS_H_
#define TENSORFLOW_CORE_KERNELS_ROW_SHARDS_H_

#include <functional>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {

// work(begin, end) for parts of [0, rows), each of which costs about `cost` cycles.
inline void ForRows(OpKernelContext* ctx, int64_t rows, int64_t cost,
                    const std::function<void(int64_t, int64_t)>& work) {
  if (rows == 0) return;
  auto* workers = ctx->device()->tensorflow_cpu_worker_threads();
  Shard(workers->num_threads, workers->workers, rows, cost, work);
}

// Appends dimensions [begin, end) of `from` to `to`. Without the dimension 0 that a shape has, the rest
// of it may be of more elements than there are numbers.
inline absl::Status AppendDims(const TensorShape& from, int begin, int end, TensorShape* to) {
  for (int d = begin; d < end; ++d) TF_RETURN_IF_ERROR(to->AddDimWithStatus(from.dim_size(d)));
  return absl::OkStatus();
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_ROW_SHARDS_H_
