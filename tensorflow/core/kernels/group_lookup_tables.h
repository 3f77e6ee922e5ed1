// The tables of the columns of a grouped lookup, whatever they are made of.

#ifndef TENSORFLOW_CORE_KERNELS_GROUP_LOOKUP_TABLES_H_
#define TENSORFLOW_CORE_KERNELS_GROUP_LOOKUP_TABLES_H_

#include <memory>
#include <string>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/kernels/kv_variable.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {

enum class TableKind { kEmbeddingVariable, kResource, kTensor };

// Rows that were found, and memory for those that Find copies. Kept by a thread for its pieces of work.
struct FoundRows {
  std::vector<const void*> rows;
  std::unique_ptr<char[]> copies;
  int64_t capacity = 0;  // of copies

  char* Copies(int64_t bytes) {
    if (bytes > capacity) {
      capacity = bytes;
      copies.reset(new char[bytes]);
    }
    return copies.get();
  }
};

// The table of one column.
class ColumnTable {
 public:
  struct Place {
    int part;
    int64_t key;  // in the part
  };

  // parts: inputs `first` .. of the op. serves_only: ServesOnly(), as the op found it when it was made.
  absl::Status Open(OpKernelContext* ctx, int first, int parts, TableKind kind, bool div, int64_t dim, DataType dtype,
                    bool serves_only);

  // The mutexes of resource variables, to be held while rows are used.
  void AddMutexes(std::vector<mutex*>* mutexes) const;
  // After they are held: takes the variables' values.
  absl::Status Lock();

  int64_t dim() const { return dim_; }
  int parts() const { return parts_; }

  // Where a key is. InvalidArgument if a variable or tensor has no such row.
  absl::Status Locate(int64_t key, Place* place) const;

  // found->rows[i] = row of keys[i]; an EmbeddingVariable's are copied, defaults and all.
  absl::Status Find(const int64_t* keys, int64_t n, FoundRows* found) const;

 private:
  absl::Status FindInEmbeddingVariables(const int64_t* keys, int64_t n, FoundRows* found) const;

  TableKind kind_ = TableKind::kTensor;
  bool div_ = false;
  bool serves_only_ = false;
  int parts_ = 1;
  int64_t dim_ = 0, row_bytes_ = 0, rows_ = 0;
  std::string name_;
  DataType dtype_ = DT_FLOAT;
  std::vector<KvRef> embedding_;
  std::vector<core::RefCountPtr<Var>> variables_;
  std::vector<Tensor> values_;
};

// Takes shared locks on mutexes in one order, each once, and holds them as long as it lives.
class SharedMutexes {
 public:
  explicit SharedMutexes(std::vector<mutex*> mutexes);

 private:
  std::vector<std::unique_ptr<tf_shared_lock>> locks_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_GROUP_LOOKUP_TABLES_H_
