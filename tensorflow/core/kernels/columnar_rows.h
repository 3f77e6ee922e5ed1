// Rows of batches of columns, gathered into one batch.

#ifndef TENSORFLOW_CORE_KERNELS_COLUMNAR_ROWS_H_
#define TENSORFLOW_CORE_KERNELS_COLUMNAR_ROWS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/framework/tensor.h"

namespace tensorflow {
namespace columnar {

// A batch: for each field its values, and then its row splits.
struct RowBatch {
  std::vector<Tensor> tensors;
  int64_t num_rows;
};

// Rows [begin, end) of a batch.
struct RowRun {
  std::shared_ptr<const RowBatch> batch;
  int64_t begin;
  int64_t end;
};

// Checks the tensors of a batch against the number of row splits of its fields, and counts its rows. InvalidArgument if they do
// not fit.
absl::Status MakeRowBatch(const std::vector<int64_t>& ragged_ranks, std::vector<Tensor> tensors,
                          std::shared_ptr<const RowBatch>* batch);

// Copies the rows of the runs, one after another, to the tensors of one batch.
absl::Status GatherRows(data::IteratorContext* ctx, const std::vector<int64_t>& ragged_ranks,
                        const std::vector<RowRun>& runs, std::vector<Tensor>* tensors);

}  // namespace columnar
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_COLUMNAR_ROWS_H_
