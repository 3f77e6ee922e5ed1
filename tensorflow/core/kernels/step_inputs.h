// Inputs that the optimizer ops of variables and of EmbeddingVariables have in common.

#ifndef TENSORFLOW_CORE_KERNELS_STEP_INPUTS_H_
#define TENSORFLOW_CORE_KERNELS_STEP_INPUTS_H_

#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/sparse/row_update.h"

namespace tensorflow {

// What core/sparse calls a floating dtype.
deeprec::sparse::ElementType ElementTypeOf(DataType dtype);

// The first element of a tensor of a floating dtype; it must have one.
double FloatingValue(const Tensor& tensor);

// The value of the input `name`, a scalar of a floating dtype.
absl::Status ReadScalar(OpKernelContext* ctx, const char* name, double* value);

// The value of the input `name`, an int32 or int64 scalar.
absl::Status ReadStep(OpKernelContext* ctx, const char* name, int64_t* value);

// The inputs accum_decay_step (positive), accum_decay_rate and accum_baseline of AdagradDecay.
absl::Status ReadDecay(OpKernelContext* ctx, int64_t* decay_step, double* rate, double* baseline);

// The powers of beta of AdamAsync: the inputs beta1_power and beta2_power, variables of one element that hold
// beta^t for the step t that comes next. Reads them into `hyper`, and if `advance` makes them beta^(t+1) in the same
// moment, so that no two steps take one t, and none waits for another's rows. A step that fails later has used up its t.
// They must not be variables whose mutexes are in `others`, which may be held already.
absl::Status TakeBetaPowers(OpKernelContext* ctx, bool advance, deeprec::sparse::Hyper* hyper,
                            const std::vector<mutex*>& others = {});

// AdamAsync with apply_sparse_rmsprop is RMSProp's formula with beta2 for rho and beta1 for momentum; v is the mean square
// and m the momentum, so the caller gives the slots in the other order.
void SetRmsPropOfAdamAsync(deeprec::sparse::Hyper* hyper);

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_STEP_INPUTS_H_
