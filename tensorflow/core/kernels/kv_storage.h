// Where an EmbeddingVariable keeps its rows: the storage attributes of its initializer.

#ifndef TENSORFLOW_CORE_KERNELS_KV_STORAGE_H_
#define TENSORFLOW_CORE_KERNELS_KV_STORAGE_H_

#include "tensorflow/core/embedding/table.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace tensorflow {

// Sets options->tiers, and that frequencies are recorded if there is more than one tier. Also reads
// TF_SSDHASH_ASYNC_COMPACTION. Errors: InvalidArgument.
absl::Status ReadTiers(OpKernelConstruction* ctx, deeprec::embedding::TableOptions* options);

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_KV_STORAGE_H_
