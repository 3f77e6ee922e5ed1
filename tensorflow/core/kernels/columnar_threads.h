// The fields of a batch, on threads of the iterator's pool.

#ifndef TENSORFLOW_CORE_KERNELS_COLUMNAR_THREADS_H_
#define TENSORFLOW_CORE_KERNELS_COLUMNAR_THREADS_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/framework/tensor.h"

namespace tensorflow {
namespace columnar {

// Appends the tensors of fields 0 to count - 1, which `make` makes, in their order. The first error is returned.
//
// `elements`: how many have to be copied one by one; other threads are woken only where there are many.
absl::Status MakeFields(data::IteratorContext* ctx, int count, int64_t elements,
                        const std::function<absl::Status(int, std::vector<Tensor>*)>& make, std::vector<Tensor>* tensors);

}  // namespace columnar
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_COLUMNAR_THREADS_H_
