// The resource behind the handle of an EmbeddingVariable, and of each of its optimizer slots: a table and a column.

#ifndef TENSORFLOW_CORE_KERNELS_KV_VARIABLE_H_
#define TENSORFLOW_CORE_KERNELS_KV_VARIABLE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/core/embedding/table.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace tensorflow {

// What saving does to the table first.
struct EvictionPolicy {
  int64_t steps_to_live = 0;        // <= 0: none
  double l2_weight_threshold = -1;  // <= 0: none
  bool operator==(const EvictionPolicy& other) const {
    return steps_to_live == other.steps_to_live && l2_weight_threshold == other.l2_weight_threshold;
  }
};

// A table with what its variable, and all its slots, need to know.
struct KvTable {
  KvTable(const deeprec::embedding::TableOptions& options,
          std::shared_ptr<const deeprec::embedding::DefaultRows> defaults)
      : table(options, std::move(defaults)) {}
  deeprec::embedding::Table table;
  EvictionPolicy eviction;
  DataType dtype = DT_FLOAT;
  DataType key_dtype = DT_INT64;
  // Whether the variable has its content, of an initializer or of a checkpoint: slots are restored only then.
  std::atomic<bool> has_content{false};
};

class KvVariable : public ResourceBase {
 public:
  explicit KvVariable(std::string name) : name_(std::move(name)) {}

  // Sets or, at a second initialisation, replaces the table. Steps that run keep the old one.
  void Set(std::shared_ptr<KvTable> table, int column, bool initialized);
  // After a table was set to be restored: it has been.
  void SetInitialized();
  // Null before initialisation.
  std::shared_ptr<KvTable> table() const;
  // Also the one that is to be restored.
  std::shared_ptr<KvTable> table_to_restore() const;
  int column() const;
  const std::string& name() const { return name_; }
  // Held by an initializer from its look at the table to Set: the one for a restore must not undo the other.
  mutex* initializers() { return &initializers_; }

  std::string DebugString() const override;
  int64_t MemoryUsed() const override;

 private:
  const std::string name_;
  mutex initializers_;
  mutable mutex mu_;
  std::shared_ptr<KvTable> table_ TF_GUARDED_BY(mu_);
  int column_ TF_GUARDED_BY(mu_) = 0;
  bool initialized_ TF_GUARDED_BY(mu_) = false;
};

// A variable or slot that can be used: its table and column at one moment.
struct KvRef {
  std::shared_ptr<KvTable> kv;
  int column = 0;
  std::string name;
  deeprec::embedding::Table& table() const { return kv->table; }
};

// Errors: FailedPrecondition if it is not initialized.
absl::Status GetKv(OpKernelContext* ctx, int input, KvRef* ref);
absl::Status GetKv(OpKernelContext* ctx, const ResourceHandle& handle, KvRef* ref);
// Also that its dtypes are the op's.
absl::Status CheckKvTypes(const KvRef& ref, DataType dtype, DataType key_dtype);

// Status of `use`, with what a table may throw as errors that name the variable: ResourceExhausted if memory or the disk is
// full, InvalidArgument for a batch that the first tier has no room for, Internal or DataLoss for its files.
absl::Status CatchTableErrors(const std::string& name, const std::function<absl::Status()>& use);

// What a lookup of input 1, keys, in input 0, a variable, begins with: the variable, and the shape of its rows. Errors: as of
// GetKv and CheckKvTypes; InvalidArgument for a slot, and for 2^31 keys or more.
absl::Status OpenLookup(OpKernelContext* ctx, DataType dtype, DataType key_dtype, KvRef* ref, TensorShape* rows);

// Keys as int64: the tensor's own if it holds int64, else a copy.
class KvKeys {
 public:
  explicit KvKeys(const Tensor& keys);
  const int64_t* data() const { return data_; }
  int64_t size() const { return size_; }

 private:
  std::unique_ptr<int64_t[]> copy_;
  const int64_t* data_;
  int64_t size_;
};

// Keys back in the dtype of the variable; `to` holds as many.
void CopyKeys(const int64_t* keys, int64_t n, Tensor* to);

// Whether the process serves (INFERENCE_MODE): EmbeddingVariables do not change, and filters do not hide default rows.
bool ServesOnly();

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_KV_VARIABLE_H_
