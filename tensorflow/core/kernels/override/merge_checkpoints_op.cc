// MergeV2Checkpoints, with which a sharded save ends, such that a process killed in it leaves an earlier checkpoint under
// the same prefix whole. The stock kernel renames new data files over those of the earlier one before it replaces the
// index: in between, the index speaks of data that is gone.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/bundle_commit.h"
#include "tensorflow/core/kernels/bundle_stream_reader.h"
#include "tensorflow/core/kernels/override/register.h"
#include "tensorflow/core/lib/io/path.h"
#include "tensorflow/core/util/tensor_bundle/naming.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"

namespace tensorflow {
namespace {

absl::Status MergeOver(Env* env, const std::vector<tstring>& prefixes, const std::string& destination,
                       bool allow_missing_files) {
  const std::string temporary = TemporaryBundlePrefix(destination);
  TF_RETURN_IF_ERROR(MergeBundles(env, prefixes, temporary, allow_missing_files));
  std::vector<std::string> files;
  std::map<std::string, BundleEntryProto> entries;
  const auto commit = [&]() -> absl::Status {
    std::unique_ptr<BundleStreamReader> merged;
    TF_RETURN_IF_ERROR(BundleStreamReader::Open(env, temporary, &merged));
    for (int32_t i = 0; i < merged->num_shards(); ++i) {
      files.push_back(DataFilename(temporary, i, merged->num_shards()));
    }
    TF_RETURN_IF_ERROR(merged->ForEachEntry([&](absl::string_view name, const BundleEntryProto& entry) {
      entries[std::string(name)] = entry;
      return absl::OkStatus();
    }));
    return CommitBundle(env, destination, files, entries);
  };
  const absl::Status status = commit();
  if (!status.ok()) {
    for (const std::string& path : files) env->DeleteFile(path).IgnoreError();
  }
  env->DeleteFile(MetaFilename(temporary)).IgnoreError();
  return status;
}

class MergeV2CheckpointsOp : public OpKernel {
 public:
  explicit MergeV2CheckpointsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("delete_old_dirs", &delete_old_dirs_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("allow_missing_files", &allow_missing_files_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& prefixes = ctx->input(0);
    const Tensor& destination = ctx->input(1);
    OP_REQUIRES(ctx, TensorShapeUtils::IsVector(prefixes.shape()),
                absl::InvalidArgumentError(absl::StrCat("Input checkpoint_prefixes should be an 1-D tensor, got ",
                                                        prefixes.shape().DebugString(), " instead.")));
    OP_REQUIRES(ctx, TensorShapeUtils::IsScalar(destination.shape()),
                absl::InvalidArgumentError(absl::StrCat("Input destination_prefix should be a scalar tensor, got ",
                                                        destination.shape().DebugString(), " instead.")));
    const auto flat = prefixes.flat<tstring>();
    const std::vector<tstring> sources(flat.data(), flat.data() + flat.size());
    const std::string to = destination.scalar<tstring>()();
    Env* const env = ctx->env();
    const bool over = env->FileExists(MetaFilename(to)).ok();
    OP_REQUIRES_OK(ctx, over ? MergeOver(env, sources, to, allow_missing_files_)
                             : MergeBundles(env, sources, to, allow_missing_files_));
    if (!delete_old_dirs_) return;
    const std::string merged_directory(io::Dirname(to));
    for (const tstring& source : sources) {
      const std::string directory(io::Dirname(absl::string_view(source)));
      // One that holds something else stays.
      if (directory != merged_directory) env->DeleteDir(directory).IgnoreError();
    }
  }

 private:
  bool delete_old_dirs_, allow_missing_files_;
};

const bool registered = [] {
  KernelDefBuilder constraints("MergeV2Checkpoints");
  return RegisterOverride("MergeV2Checkpoints", constraints, [](OpKernelConstruction* ctx) -> OpKernel* {
    return new MergeV2CheckpointsOp(ctx);
  });
}();

}  // namespace
}  // namespace tensorflow
