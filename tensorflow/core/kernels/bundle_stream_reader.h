// Reads tensors of a TensorFlow V2 checkpoint (a tensor bundle) in pieces, after checking them as a whole.
//
// TensorFlow's own BundleReader gives whole tensors.

#ifndef TENSORFLOW_CORE_KERNELS_BUNDLE_STREAM_READER_H_
#define TENSORFLOW_CORE_KERNELS_BUNDLE_STREAM_READER_H_

#include <stdint.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/lib/io/iterator.h"
#include "tensorflow/core/lib/io/table.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/protobuf/tensor_bundle.pb.h"

namespace tensorflow {

// A tensor of fixed-size elements, stored whole.
struct BundleTensor {
  std::string name;
  DataType dtype = DT_INVALID;
  TensorShape shape;
  int32_t shard = 0;
  int64_t offset = 0;
  int64_t size = 0;  // bytes
  uint32_t crc = 0;
};

// Errors name the file and the tensor. Not for use by several threads at a time.
class BundleStreamReader {
 public:
  // Errors: NotFound if there is no index file, DataLoss if it is damaged, Unimplemented for one of another byte order.
  static absl::Status Open(Env* env, const std::string& prefix, std::unique_ptr<BundleStreamReader>* reader);

  int32_t num_shards() const { return header_.num_shards(); }
  const std::string& prefix() const { return prefix_; }

  // Errors: DataLoss. That part of the index can not be read does not mean that a name is not there.
  absl::Status Contains(absl::string_view name, bool* found);
  // Errors: NotFound, InvalidArgument if the tensor is of strings or saved in slices, DataLoss if its size does not
  // fit its shape.
  absl::Status Find(absl::string_view name, BundleTensor* tensor);
  // Names that begin with `start`, in order.
  absl::Status ForEachName(absl::string_view start, const std::function<void(absl::string_view)>& visit);
  absl::Status ForEachEntry(const std::function<absl::Status(absl::string_view, const BundleEntryProto&)>& visit);

  // Reads the tensor once and compares its checksum. Errors: DataLoss.
  absl::Status Verify(const BundleTensor& tensor);
  // Bytes [begin, begin + bytes) of a tensor. Errors: DataLoss if the file is too short.
  absl::Status Read(const BundleTensor& tensor, int64_t begin, int64_t bytes, void* out);

 private:
  BundleStreamReader(Env* env, std::string prefix) : env_(env), prefix_(std::move(prefix)) {}
  absl::Status OpenIndex();
  absl::Status DataFile(const BundleTensor& tensor, RandomAccessFile** file, std::string* path);

  Env* const env_;
  const std::string prefix_;
  // In the order they depend on each other.
  std::unique_ptr<RandomAccessFile> index_file_;
  std::unique_ptr<table::Table> index_;
  std::unique_ptr<table::Iterator> iterator_;
  BundleHeaderProto header_;
  std::map<int32_t, std::unique_ptr<RandomAccessFile>> data_files_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_BUNDLE_STREAM_READER_H_
