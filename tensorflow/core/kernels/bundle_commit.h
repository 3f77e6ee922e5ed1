// The last step of writing a checkpoint: files get their names so that at any moment there is a whole one.

#ifndef TENSORFLOW_CORE_KERNELS_BUNDLE_COMMIT_H_
#define TENSORFLOW_CORE_KERNELS_BUNDLE_COMMIT_H_

#include <map>
#include <string>
#include <vector>

#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/protobuf/tensor_bundle.pb.h"

namespace tensorflow {

// Makes the data files `files`, shards 0, 1, ..., and `entries` the bundle `prefix`. The data files get names that no
// data file of an earlier bundle under this prefix has (which their number in the name allows, an empty file more if need
// be), then the index is replaced, then the earlier data files are deleted. On failure the earlier bundle stays, and
// what was made here is deleted; `files` may or may not be there still.
absl::Status CommitBundle(Env* env, const std::string& prefix, std::vector<std::string> files,
                          const std::map<std::string, BundleEntryProto>& entries);

// What files of a bundle are called while it is made.
std::string TemporaryBundlePrefix(const std::string& prefix);

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_BUNDLE_COMMIT_H_
