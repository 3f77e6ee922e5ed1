// From columns of record batches to tensors.

#ifndef TENSORFLOW_CORE_KERNELS_COLUMNAR_TENSORS_H_
#define TENSORFLOW_CORE_KERNELS_COLUMNAR_TENSORS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/columnar/column_type.h"
#include "tensorflow/core/columnar/cut.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/kernels/columnar_file.h"

namespace tensorflow {
namespace columnar {

// A column as a dataset gives it.
struct Field {
  std::string name;
  DataType dtype;
  size_t ragged_rank;
  std::vector<int64_t> shape;  // of what stands for one value
};

// Rows [begin, end) of a record batch.
struct Rows {
  std::shared_ptr<const Batch> batch;
  int64_t begin;
  int64_t end;
};

// The dtype of tensors with elements of this kind.
DataType DataTypeOf(deeprec::columnar::Element element);

// Appends the values of the rows, and then the row splits, to `tensors`.
//
// A tensor shares the memory of a batch where its values lie there as they are, and are most of what the tensor would keep
// alive. InvalidArgument if the rows do not fit the field.
absl::Status AppendTensors(const Field& field, const BatchStream::Column& column, const std::vector<Rows>& rows,
                           Allocator* allocator, std::vector<Tensor>* tensors);

}  // namespace columnar
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_COLUMNAR_TENSORS_H_
