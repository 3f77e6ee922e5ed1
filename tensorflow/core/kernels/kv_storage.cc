#include "tensorflow/core/kernels/kv_storage.h"

#include <string>
#include <vector>

#include "tensorflow/core/util/env_var.h"

namespace tensorflow {
namespace {

using deeprec::embedding::CacheStrategy;
using deeprec::embedding::LowerTierOptions;
using deeprec::embedding::StorageMedium;
using deeprec::embedding::TierOptions;

// Numbers of config_pb2.StorageType. LevelDB's tier is that of SSDHASH.
enum StorageType { kDefault = 0, kDram = 1, kDramPmem = 11, kDramSsdHash = 12, kDramLevelDb = 14, kDramPmemSsdHash = 101 };

}  // namespace

absl::Status ReadTiers(OpKernelConstruction* ctx, deeprec::embedding::TableOptions* options) {
  int64_t type, strategy;
  std::string path;
  std::vector<int64_t> sizes;
  TF_RETURN_IF_ERROR(ctx->GetAttr("storage_type", &type));
  TF_RETURN_IF_ERROR(ctx->GetAttr("storage_path", &path));
  TF_RETURN_IF_ERROR(ctx->GetAttr("storage_size", &sizes));
  TF_RETURN_IF_ERROR(ctx->GetAttr("cache_strategy", &strategy));
  if (type == kDefault || type == kDram) return absl::OkStatus();
  TierOptions& tiers = options->tiers;
  const StorageMedium pmem = path.empty() ? StorageMedium::kMemory : StorageMedium::kMappedFile;
  switch (type) {
    case kDramPmem: tiers.lower = {{pmem, 0}}; break;
    case kDramSsdHash:
    case kDramLevelDb: tiers.lower = {{StorageMedium::kFile, 0}}; break;
    case kDramPmemSsdHash: tiers.lower = {{pmem, 0}, {StorageMedium::kFile, 0}}; break;
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "storage_type must be DEFAULT (0), DRAM (1), DRAM_PMEM (11), DRAM_SSDHASH (12), DRAM_LEVELDB (14) or "
          "DRAM_PMEM_SSDHASH (101), got ",
          type));
  }
  if (path.empty() && type != kDramPmem) {
    return absl::InvalidArgumentError(absl::StrCat("storage_path must be given with storage_type ", type, ", got ''"));
  }
  // All tiers but the last have a bound.
  const size_t bounded = tiers.lower.size();
  for (size_t i = 0; i < bounded; ++i) {
    if (i < sizes.size() && sizes[i] > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("storage_size must have ", bounded, " positive numbers of bytes with storage_type ", type, ", got [",
                     absl::StrJoin(sizes, ", "), "]"));
  }
  if (strategy != int64_t(CacheStrategy::kLru) && strategy != int64_t(CacheStrategy::kLfu)) {
    return absl::InvalidArgumentError(absl::StrCat("cache_strategy must be LRU (0) or LFU (1), got ", strategy));
  }
  if (options->admission == deeprec::embedding::AdmissionKind::kBloom) {
    return absl::InvalidArgumentError(
        absl::StrCat("A counting Bloom filter (false_positive_probability) needs all rows in memory, got storage_type ", type));
  }
  tiers.first_bytes = sizes[0];
  if (bounded == 2) tiers.lower[0].bytes = sizes[1];
  tiers.folder = path;
  tiers.strategy = CacheStrategy(strategy);
  TF_RETURN_IF_ERROR(ReadBoolFromEnvVar("TF_SSDHASH_ASYNC_COMPACTION", true, &tiers.async_compaction));
  options->record_frequency = true;
  return absl::OkStatus();
}

}  // namespace tensorflow
