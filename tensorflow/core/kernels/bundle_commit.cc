#include "tensorflow/core/kernels/bundle_commit.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/kernels/bundle_stream_reader.h"
#include "tensorflow/core/lib/io/table_builder.h"
#include "tensorflow/core/lib/io/table_options.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/util/tensor_bundle/naming.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"

namespace tensorflow {
namespace {

// Deletes files unless told that they have found their use.
class Leftovers {
 public:
  explicit Leftovers(Env* env) : env_(env) {}
  ~Leftovers() {
    for (const std::string& path : paths_) env_->DeleteFile(path).IgnoreError();
  }
  void Add(const std::string& path) { paths_.push_back(path); }
  void Keep() { paths_.clear(); }

 private:
  Env* const env_;
  std::vector<std::string> paths_;
};

absl::Status WriteIndex(Env* env, const std::string& path, int32_t num_shards,
                        const std::map<std::string, BundleEntryProto>& entries) {
  std::unique_ptr<WritableFile> file;
  TF_RETURN_IF_ERROR(env->NewWritableFile(path, &file));
  table::Options options;
  options.compression = table::kNoCompression;
  table::TableBuilder builder(options, file.get());
  BundleHeaderProto header;
  header.set_num_shards(num_shards);
  header.set_endianness(BundleHeaderProto::LITTLE);
  header.mutable_version()->set_producer(kTensorBundleVersion);
  header.mutable_version()->set_min_consumer(kTensorBundleMinConsumer);
  builder.Add(kHeaderEntryKey, header.SerializeAsString());
  for (const auto& [name, entry] : entries) builder.Add(name, entry.SerializeAsString());
  TF_RETURN_IF_ERROR(builder.Finish());
  return file->Close();
}

}  // namespace

std::string TemporaryBundlePrefix(const std::string& prefix) { return prefix + ".tempstate"; }

absl::Status CommitBundle(Env* env, const std::string& prefix, std::vector<std::string> files,
                          const std::map<std::string, BundleEntryProto>& entries) {
  int32_t earlier_shards = 0;
  if (env->FileExists(MetaFilename(prefix)).ok()) {
    std::unique_ptr<BundleStreamReader> earlier;
    // One that can not be read has nothing to be kept.
    if (BundleStreamReader::Open(env, prefix, &earlier).ok()) earlier_shards = earlier->num_shards();
  }
  Leftovers leftovers(env);
  if (earlier_shards == int32_t(files.size())) {
    const std::string path = TemporaryBundlePrefix(prefix) + "-empty";
    std::unique_ptr<WritableFile> file;
    leftovers.Add(path);
    TF_RETURN_IF_ERROR(env->NewWritableFile(path, &file));
    TF_RETURN_IF_ERROR(file->Close());
    files.push_back(path);
  }
  const int32_t num_shards = int32_t(files.size());
  const std::string index = TemporaryBundlePrefix(prefix) + "-index";
  leftovers.Add(index);
  TF_RETURN_IF_ERROR(WriteIndex(env, index, num_shards, entries));
  for (int32_t i = 0; i < num_shards; ++i) {
    const std::string path = DataFilename(prefix, i, num_shards);
    TF_RETURN_IF_ERROR(env->RenameFile(files[i], path));
    leftovers.Add(path);
  }
  TF_RETURN_IF_ERROR(env->RenameFile(index, MetaFilename(prefix)));
  leftovers.Keep();
  for (int32_t i = 0; i < earlier_shards; ++i) {
    env->DeleteFile(DataFilename(prefix, i, earlier_shards)).IgnoreError();
  }
  return absl::OkStatus();
}

}  // namespace tensorflow
