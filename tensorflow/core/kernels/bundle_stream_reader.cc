#include "tensorflow/core/kernels/bundle_stream_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/versions.h"
#include "tensorflow/core/lib/hash/crc32c.h"
#include "tensorflow/core/lib/io/table_options.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/util/tensor_bundle/naming.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"

namespace tensorflow {
namespace {

absl::Status DamagedIndex(const std::string& path, absl::string_view how) {
  return absl::DataLossError(absl::StrCat("The checkpoint's index ", path, " is cut short or altered: ", how));
}

}  // namespace

absl::Status BundleStreamReader::Open(Env* env, const std::string& prefix,
                                      std::unique_ptr<BundleStreamReader>* reader) {
  std::unique_ptr<BundleStreamReader> opened(new BundleStreamReader(env, prefix));
  TF_RETURN_IF_ERROR(opened->OpenIndex());
  *reader = std::move(opened);
  return absl::OkStatus();
}

absl::Status BundleStreamReader::OpenIndex() {
  const std::string path = MetaFilename(prefix_);
  uint64_t size;
  const absl::Status found = env_->GetFileSize(path, &size);
  if (absl::IsNotFound(found)) {
    return absl::NotFoundError(absl::StrCat("There is no checkpoint ", prefix_, ": ", path, " does not exist"));
  }
  TF_RETURN_IF_ERROR(found);
  TF_RETURN_IF_ERROR(env_->NewRandomAccessFile(path, &index_file_));
  table::Table* index = nullptr;
  const absl::Status opened = table::Table::Open(table::Options(), index_file_.get(), size, &index);
  if (!opened.ok()) return DamagedIndex(path, opened.message());
  index_.reset(index);
  iterator_.reset(index->NewIterator());
  iterator_->Seek(kHeaderEntryKey);
  if (!iterator_->status().ok()) return DamagedIndex(path, iterator_->status().message());
  if (!iterator_->Valid() || iterator_->key() != kHeaderEntryKey ||
      !header_.ParseFromArray(iterator_->value().data(), int(iterator_->value().size()))) {
    return DamagedIndex(path, "it has no header");
  }
  if (header_.endianness() != BundleHeaderProto::LITTLE) {
    return absl::UnimplementedError(absl::StrCat("The checkpoint ", prefix_, " was written on a big-endian machine"));
  }
  return CheckVersions(header_.version(), kTensorBundleVersion, kTensorBundleMinProducer, "Checkpoint", prefix_.c_str());
}

absl::Status BundleStreamReader::Contains(absl::string_view name, bool* found) {
  iterator_->Seek(name);
  if (!iterator_->status().ok()) return DamagedIndex(MetaFilename(prefix_), iterator_->status().message());
  *found = iterator_->Valid() && iterator_->key() == name;
  return absl::OkStatus();
}

absl::Status BundleStreamReader::Find(absl::string_view name, BundleTensor* tensor) {
  const std::string index = MetaFilename(prefix_);
  bool found;
  TF_RETURN_IF_ERROR(Contains(name, &found));
  if (!found) {
    return absl::NotFoundError(absl::StrCat("Tensor ", name, " is not in the checkpoint ", prefix_));
  }
  BundleEntryProto entry;
  if (!entry.ParseFromArray(iterator_->value().data(), int(iterator_->value().size())) ||
      !TensorShape::IsValid(entry.shape())) {
    return DamagedIndex(index, absl::StrCat("the entry of tensor ", name, " can not be read"));
  }
  const int element_size = DataTypeSize(entry.dtype());
  if (entry.slices_size() > 0 || element_size == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Tensor ", name, " of the checkpoint ", prefix_, " must be of numbers and saved whole, but is ",
                     entry.slices_size() > 0 ? "saved in slices" : DataTypeString(entry.dtype())));
  }
  tensor->name = std::string(name);
  tensor->dtype = entry.dtype();
  tensor->shape = TensorShape(entry.shape());
  tensor->shard = entry.shard_id();
  tensor->offset = entry.offset();
  tensor->size = entry.size();
  tensor->crc = crc32c::Unmask(entry.crc32c());
  if (entry.size() != tensor->shape.num_elements() * element_size || entry.offset() < 0 || entry.shard_id() < 0 ||
      entry.shard_id() >= num_shards()) {
    return DamagedIndex(index, absl::StrCat("tensor ", name, " has shape ", tensor->shape.DebugString(), ", ",
                                            entry.size(), " bytes, in data file ", entry.shard_id(), " of ",
                                            num_shards()));
  }
  return absl::OkStatus();
}

absl::Status BundleStreamReader::ForEachName(absl::string_view start,
                                             const std::function<void(absl::string_view)>& visit) {
  for (iterator_->Seek(start); iterator_->Valid() && absl::StartsWith(iterator_->key(), start); iterator_->Next()) {
    visit(iterator_->key());
  }
  if (iterator_->status().ok()) return absl::OkStatus();
  return DamagedIndex(MetaFilename(prefix_), iterator_->status().message());
}

absl::Status BundleStreamReader::ForEachEntry(
    const std::function<absl::Status(absl::string_view, const BundleEntryProto&)>& visit) {
  for (iterator_->SeekToFirst(); iterator_->Valid(); iterator_->Next()) {
    if (iterator_->key() == kHeaderEntryKey) continue;
    BundleEntryProto entry;
    if (!entry.ParseFromArray(iterator_->value().data(), int(iterator_->value().size()))) {
      return DamagedIndex(MetaFilename(prefix_), absl::StrCat("the entry of tensor ", iterator_->key(), " can not be read"));
    }
    TF_RETURN_IF_ERROR(visit(iterator_->key(), entry));
  }
  if (iterator_->status().ok()) return absl::OkStatus();
  return DamagedIndex(MetaFilename(prefix_), iterator_->status().message());
}

absl::Status BundleStreamReader::DataFile(const BundleTensor& tensor, RandomAccessFile** file, std::string* path) {
  *path = DataFilename(prefix_, tensor.shard, num_shards());
  std::unique_ptr<RandomAccessFile>& opened = data_files_[tensor.shard];
  if (opened == nullptr) {
    const absl::Status status = env_->NewRandomAccessFile(*path, &opened);
    if (absl::IsNotFound(status)) {
      return absl::NotFoundError(
          absl::StrCat("The checkpoint ", prefix_, " lacks its data file ", *path, ", which holds tensor ", tensor.name));
    }
    TF_RETURN_IF_ERROR(status);
  }
  *file = opened.get();
  return absl::OkStatus();
}

absl::Status BundleStreamReader::Read(const BundleTensor& tensor, int64_t begin, int64_t bytes, void* out) {
  if (bytes == 0) return absl::OkStatus();
  RandomAccessFile* file;
  std::string path;
  TF_RETURN_IF_ERROR(DataFile(tensor, &file, &path));
  absl::string_view got;
  char* const to = static_cast<char*>(out);
  const absl::Status status = file->Read(tensor.offset + begin, got, absl::MakeSpan(to, bytes));
  if (!status.ok() && !absl::IsOutOfRange(status)) return status;
  if (int64_t(got.size()) != bytes) {
    return absl::DataLossError(absl::StrCat("The checkpoint's data file ", path, " is cut short: tensor ", tensor.name,
                                            " has its bytes [", tensor.offset, ", ", tensor.offset + tensor.size,
                                            "), but only ", tensor.offset + begin + int64_t(got.size()), " are there"));
  }
  if (got.data() != to) std::copy(got.begin(), got.end(), to);
  return absl::OkStatus();
}

absl::Status BundleStreamReader::Verify(const BundleTensor& tensor) {
  constexpr int64_t kPiece = 1 << 20;
  const int64_t piece = std::min(kPiece, tensor.size);
  const std::unique_ptr<char[]> buffer(new char[piece]);
  uint32_t crc = 0;
  for (int64_t begin = 0; begin < tensor.size; begin += piece) {
    const int64_t bytes = std::min(piece, tensor.size - begin);
    TF_RETURN_IF_ERROR(Read(tensor, begin, bytes, buffer.get()));
    crc = crc32c::Extend(crc, buffer.get(), bytes);
  }
  if (crc == tensor.crc) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("Tensor ", tensor.name, " in the checkpoint's data file ",
                                          DataFilename(prefix_, tensor.shard, num_shards()),
                                          " has been altered: its checksum is ", crc, ", it should be ", tensor.crc));
}

}  // namespace tensorflow
