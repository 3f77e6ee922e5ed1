// Writes a TensorFlow V2 checkpoint (a tensor bundle) whose large tensors come in pieces.
//
// TensorFlow's own BundleWriter takes whole tensors; the rows of a table would have to be copied into one first. Here
// a tensor is begun, appended to and ended. Several can be open at a time, each in a data file of its own, so that one
// pass over a table writes the variable and all its slots side by side. Tensors that are at hand anyway, those with
// strings and the slices of partitioned variables are left to BundleWriter, whose data file becomes one of ours.
//
// Everything is written under temporary names until Finish(), see bundle_commit.h: whoever is killed at any moment leaves
// an earlier checkpoint under the same prefix whole.

#ifndef TENSORFLOW_CORE_KERNELS_BUNDLE_STREAM_WRITER_H_
#define TENSORFLOW_CORE_KERNELS_BUNDLE_STREAM_WRITER_H_

#include <stdint.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_slice.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/protobuf/tensor_bundle.pb.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"

namespace tensorflow {

// Not for use by several threads at a time.
class BundleStreamWriter {
 public:
  BundleStreamWriter(Env* env, std::string prefix);
  // Without Finish(), or if it failed, removes what was written.
  ~BundleStreamWriter();

  absl::Status Add(const std::string& name, const Tensor& tensor);
  absl::Status AddSlice(const std::string& name, const TensorShape& full_shape, const TensorSlice& slice,
                        const Tensor& tensor);

  // Starts a tensor of fixed-size elements in the data file number `stream`, counted from 0, which is created when
  // it is first named. A stream has one open tensor at a time.
  absl::Status Begin(int stream, const std::string& name, DataType dtype, const TensorShape& shape);
  absl::Status Append(int stream, const void* data, int64_t bytes);
  // Errors: Internal if other than the bytes of the shape were appended.
  absl::Status End(int stream);
  // All three for a tensor at hand.
  absl::Status Write(int stream, const std::string& name, DataType dtype, const TensorShape& shape, const void* data);
  // Gives an ended tensor one more name; its bytes are not written again.
  absl::Status Alias(const std::string& name, const std::string& existing);

  absl::Status Finish();

 private:
  struct Stream {
    std::string path;
    std::unique_ptr<WritableFile> file;
    int64_t size = 0;
    std::string open;  // name of the open tensor; empty: none
    BundleEntryProto entry;
    int64_t written = 0;
    uint32_t crc = 0;
  };

  absl::Status Claim(const std::string& name);
  BundleWriter* Whole();
  std::string TemporaryPrefix() const;
  // Takes over what BundleWriter wrote; its data file.
  absl::Status FinishWhole(std::string* path);
  absl::Status Commit();

  Env* const env_;
  const std::string prefix_;
  std::unique_ptr<BundleWriter> whole_;
  bool finished_whole_ = false;
  std::vector<std::unique_ptr<Stream>> streams_;
  // Of streams, with their numbers for shard_id until all is known.
  std::map<std::string, BundleEntryProto> entries_;
  std::map<std::string, BundleEntryProto> whole_entries_;
  // Files to remove if this does not come to its end.
  std::vector<std::string> temporary_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_BUNDLE_STREAM_WRITER_H_
