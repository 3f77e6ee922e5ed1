// The rows that new keys start from: a pool, from which a key picks one.

#ifndef TENSORFLOW_CORE_EMBEDDING_DEFAULT_ROWS_H_
#define TENSORFLOW_CORE_EMBEDDING_DEFAULT_ROWS_H_

#include <stdint.h>
#include <string.h>

#include <memory>

#include "tensorflow/core/embedding/hashing.h"
#include "tensorflow/core/sparse/element_types.h"

namespace deeprec {
namespace embedding {

class DefaultRows {
 public:
  // values: [rows, dim], copied; rows >= 1, dim >= 1.
  DefaultRows(sparse::ElementType type, const void* values, int64_t rows, int64_t dim)
      : rows_(rows), dim_(dim), row_bytes_(dim * sparse::ElementSize(type)), data_(new char[rows * row_bytes_]) {
    memcpy(data_.get(), values, rows * row_bytes_);
  }

  // Row `key mod rows`.
  const char* Row(int64_t key) const {
    return data_.get() + (rows_ == 1 ? 0 : FloorMod(key, rows_) * row_bytes_);
  }
  int64_t rows() const { return rows_; }
  int64_t dim() const { return dim_; }
  int64_t row_bytes() const { return row_bytes_; }

 private:
  int64_t rows_, dim_, row_bytes_;
  std::unique_ptr<char[]> data_;
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_DEFAULT_ROWS_H_
