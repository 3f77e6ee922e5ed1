#include "tensorflow/core/kernels/bundle_stream_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/kernels/bundle_commit.h"
#include "tensorflow/core/kernels/bundle_stream_reader.h"
#include "tensorflow/core/lib/hash/crc32c.h"
#include "tensorflow/core/lib/io/path.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/util/tensor_bundle/naming.h"

namespace tensorflow {

std::string BundleStreamWriter::TemporaryPrefix() const { return TemporaryBundlePrefix(prefix_); }

BundleStreamWriter::BundleStreamWriter(Env* env, std::string prefix) : env_(env), prefix_(std::move(prefix)) {}

BundleStreamWriter::~BundleStreamWriter() {
  // BundleWriter writes to a name of its own until it is finished, which is how to get rid of that file.
  if (whole_ != nullptr && !finished_whole_) whole_->Finish().IgnoreError();
  for (auto& stream : streams_) {
    if (stream->file != nullptr) stream->file->Close().IgnoreError();
  }
  for (const std::string& path : temporary_) env_->DeleteFile(path).IgnoreError();
}

absl::Status BundleStreamWriter::Claim(const std::string& name) {
  if (name.empty()) return absl::InvalidArgumentError("A tensor of a checkpoint must have a name, got an empty one");
  if (entries_.try_emplace(name).second) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Tensor ", name, " is to be saved twice in ", prefix_));
}

BundleWriter* BundleStreamWriter::Whole() {
  if (whole_ == nullptr) {
    const std::string prefix = TemporaryPrefix();
    whole_.reset(new BundleWriter(env_, prefix));
    temporary_.push_back(MetaFilename(prefix));
    temporary_.push_back(DataFilename(prefix, 0, 1));
  }
  return whole_.get();
}

absl::Status BundleStreamWriter::Add(const std::string& name, const Tensor& tensor) {
  BundleWriter* const whole = Whole();
  TF_RETURN_IF_ERROR(whole->status());
  return whole->Add(name, tensor);
}

absl::Status BundleStreamWriter::AddSlice(const std::string& name, const TensorShape& full_shape,
                                          const TensorSlice& slice, const Tensor& tensor) {
  BundleWriter* const whole = Whole();
  TF_RETURN_IF_ERROR(whole->status());
  return whole->AddSlice(name, full_shape, slice, tensor);
}

absl::Status BundleStreamWriter::Begin(int stream, const std::string& name, DataType dtype, const TensorShape& shape) {
  while (int(streams_.size()) <= stream) {
    auto added = std::make_unique<Stream>();
    added->path = absl::StrCat(TemporaryPrefix(), "-", streams_.size());
    if (streams_.empty()) {
      const std::string directory(io::Dirname(prefix_));
      const absl::Status made = directory.empty() ? absl::OkStatus() : env_->RecursivelyCreateDir(directory);
      if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
    }
    temporary_.push_back(added->path);
    TF_RETURN_IF_ERROR(env_->NewWritableFile(added->path, &added->file));
    streams_.push_back(std::move(added));
  }
  Stream& to = *streams_[stream];
  if (!to.open.empty()) {
    return absl::InternalError(absl::StrCat("Tensor ", name, " was begun while ", to.open, " was open"));
  }
  TF_RETURN_IF_ERROR(Claim(name));
  to.open = name;
  to.entry.Clear();
  to.entry.set_dtype(dtype);
  shape.AsProto(to.entry.mutable_shape());
  to.entry.set_shard_id(stream);
  to.entry.set_offset(to.size);
  to.entry.set_size(shape.num_elements() * DataTypeSize(dtype));
  to.written = 0;
  to.crc = 0;
  return absl::OkStatus();
}

absl::Status BundleStreamWriter::Append(int stream, const void* data, int64_t bytes) {
  Stream& to = *streams_[stream];
  if (bytes == 0) return absl::OkStatus();
  const absl::string_view piece(static_cast<const char*>(data), bytes);
  TF_RETURN_IF_ERROR(to.file->Append(piece));
  to.crc = crc32c::Extend(to.crc, piece.data(), piece.size());
  to.written += bytes;
  return absl::OkStatus();
}

absl::Status BundleStreamWriter::End(int stream) {
  Stream& to = *streams_[stream];
  if (to.written != to.entry.size()) {
    return absl::InternalError(
        absl::StrCat("Tensor ", to.open, " has ", to.entry.size(), " bytes, but ", to.written, " were written"));
  }
  to.entry.set_crc32c(crc32c::Mask(to.crc));
  entries_[to.open] = to.entry;
  to.size += to.written;
  to.open.clear();
  return absl::OkStatus();
}

absl::Status BundleStreamWriter::Write(int stream, const std::string& name, DataType dtype, const TensorShape& shape,
                                       const void* data) {
  TF_RETURN_IF_ERROR(Begin(stream, name, dtype, shape));
  TF_RETURN_IF_ERROR(Append(stream, data, shape.num_elements() * DataTypeSize(dtype)));
  return End(stream);
}

absl::Status BundleStreamWriter::Alias(const std::string& name, const std::string& existing) {
  const auto found = entries_.find(existing);
  if (found == entries_.end() || found->second.dtype() == DT_INVALID) {
    return absl::InternalError(absl::StrCat("Tensor ", name, " can not share the bytes of ", existing, ", which has none"));
  }
  const BundleEntryProto entry = found->second;
  TF_RETURN_IF_ERROR(Claim(name));
  entries_[name] = entry;
  return absl::OkStatus();
}

absl::Status BundleStreamWriter::FinishWhole(std::string* path) {
  finished_whole_ = true;
  TF_RETURN_IF_ERROR(whole_->Finish());
  std::unique_ptr<BundleStreamReader> reader;
  TF_RETURN_IF_ERROR(BundleStreamReader::Open(env_, TemporaryPrefix(), &reader));
  TF_RETURN_IF_ERROR(reader->ForEachEntry([&](absl::string_view name, const BundleEntryProto& entry) {
    whole_entries_[std::string(name)] = entry;
    return absl::OkStatus();
  }));
  *path = DataFilename(TemporaryPrefix(), 0, 1);
  return absl::OkStatus();
}

absl::Status BundleStreamWriter::Commit() {
  std::vector<std::string> files;
  if (streams_.empty()) Whole();  // a bundle has at least one data file
  if (whole_ != nullptr) {
    std::string path;
    TF_RETURN_IF_ERROR(FinishWhole(&path));
    files.push_back(path);
  }
  const int32_t first_stream = int32_t(files.size());
  for (auto& stream : streams_) {
    if (!stream->open.empty()) return absl::InternalError(absl::StrCat("Tensor ", stream->open, " was not ended"));
    TF_RETURN_IF_ERROR(std::exchange(stream->file, nullptr)->Close());
    files.push_back(stream->path);
  }
  for (auto& [name, entry] : entries_) entry.set_shard_id(entry.shard_id() + first_stream);
  for (const auto& [name, entry] : whole_entries_) {
    if (!entries_.emplace(name, entry).second) {
      return absl::InvalidArgumentError(absl::StrCat("Tensor ", name, " is to be saved twice in ", prefix_));
    }
  }
  TF_RETURN_IF_ERROR(CommitBundle(env_, prefix_, files, entries_));
  temporary_.clear();
  if (whole_ != nullptr) env_->DeleteFile(MetaFilename(TemporaryPrefix())).IgnoreError();
  return absl::OkStatus();
}

absl::Status BundleStreamWriter::Finish() {
  const absl::Status status = Commit();
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("While saving ", prefix_, ": ", status.message()));
}

}  // namespace tensorflow
