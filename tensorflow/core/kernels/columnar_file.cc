#include "tensorflow/core/kernels/columnar_file.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace {

std::atomic<const DeeprecFileReader*> registered{nullptr};
std::atomic<int> calls{0};

constexpr auto kLongestCall = std::chrono::seconds(10);

// The reader for as long as this lives; null if there is none.
class Registered {
 public:
  Registered() {
    calls.fetch_add(1);
    reader_ = registered.load();
  }
  ~Registered() { calls.fetch_sub(1); }
  Registered(const Registered&) = delete;
  const DeeprecFileReader* get() const { return reader_; }

 private:
  const DeeprecFileReader* reader_;
};

}  // namespace

// The one symbol that the library exports.
extern "C" __attribute__((visibility("default"))) void deeprec_set_file_reader(const DeeprecFileReader* reader) {
  registered.store(reader);
  if (reader != nullptr) return;
  // Python is about to end. A thread that waits for its lock then would wait for ever, and a session that is closed for the thread.
  const auto end = std::chrono::steady_clock::now() + kLongestCall;
  while (calls.load() > 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

namespace tensorflow {
namespace columnar {
namespace {

using deeprec::columnar::ArrowArray;
using deeprec::columnar::ArrowSchema;

constexpr int64_t kErrorSize = 4096;

absl::Status Error(int64_t code, const char* text) {
  return absl::Status(static_cast<absl::StatusCode>(-code), text);
}

// What is in the text of an error until a Python function has ended: a signal, such as that of Ctrl-C, may end one anywhere, and what
// ctypes returns then is any number.
constexpr char kNotEnded = '\1';

absl::Status Interrupted(const std::string& path) {
  return absl::CancelledError(absl::StrCat(path, ": reading was interrupted in Python"));
}

absl::Status NoReader() {
  return absl::FailedPreconditionError(
      "no reader of columnar files is registered in this process: they are read by pyarrow, so a process that reads them "
      "must run Python and have this wheel imported (import tensorflow), and not be on its way to exit");
}

}  // namespace

BatchStream::~BatchStream() {
  // Streams of file systems that Python serves take its lock.
  const Registered reader;
  if (stream_.release != nullptr && reader.get() != nullptr) stream_.release(&stream_);
}

absl::Status BatchStream::Failed(int code) {
  const char* const text = stream_.get_last_error(&stream_);
  const std::string message = absl::StrCat(path_, ": ", text == nullptr ? strerror(code) : text);
  return code == ENOMEM ? absl::ResourceExhaustedError(message) : absl::DataLossError(message);
}

absl::Status BatchStream::ReadSchema(const std::vector<std::string>& columns) {
  ArrowSchema schema{};
  const int code = stream_.get_schema(&stream_, &schema);
  if (code != 0) return Failed(code);
  absl::Status status;
  for (const std::string& name : columns) {
    Column column;
    column.place = -1;
    for (int64_t i = 0; i < schema.n_children; ++i) {
      if (name == schema.children[i]->name) column.place = i;
    }
    if (column.place < 0) {
      status = absl::InvalidArgumentError(absl::StrCat(path_, ": it has no column '", name, "'"));
      break;
    }
    const std::string error = deeprec::columnar::ParseColumnType(*schema.children[column.place], &column.type);
    if (!error.empty()) {
      status = absl::InvalidArgumentError(absl::StrCat(path_, ": column '", name, "': ", error));
      break;
    }
    columns_.push_back(std::move(column));
  }
  schema.release(&schema);
  return status;
}

absl::StatusOr<std::shared_ptr<const Batch>> BatchStream::Next() {
  const Registered reader;
  if (reader.get() == nullptr) return NoReader();
  ArrowArray array{};
  const int code = stream_.get_next(&stream_, &array);
  if (code != 0) return Failed(code);
  if (array.release == nullptr) return std::shared_ptr<const Batch>();
  return std::make_shared<const Batch>(array);
}

absl::StatusOr<std::unique_ptr<File>> File::Open(const std::string& path, const FileOptions& options) {
  const Registered reader;
  if (reader.get() == nullptr) return NoReader();
  std::unique_ptr<File> file(new File(path, options.columns));
  std::vector<const char*> columns;
  for (const std::string& column : options.columns) columns.push_back(column.c_str());
  std::vector<char> error(kErrorSize, '\0');
  error[0] = kNotEnded;
  const int64_t number =
      reader.get()->open(path.c_str(), options.format.c_str(), columns.data(), columns.size(), options.batch_size,
                   options.partition_count, options.partition_index, &file->num_parts_, error.data(), kErrorSize);
  if (error[0] == kNotEnded) return Interrupted(path);
  if (number < 0) return Error(number, error.data());
  file->number_ = number;
  return file;
}

File::~File() {
  const Registered reader;
  if (number_ > 0 && reader.get() != nullptr) reader.get()->close(number_);
}

absl::StatusOr<std::unique_ptr<BatchStream>> File::Read(int64_t part, int64_t skip) const {
  const Registered reader;
  if (reader.get() == nullptr) return NoReader();
  std::unique_ptr<BatchStream> stream(new BatchStream(path_));
  std::vector<char> error(kErrorSize, '\0');
  error[0] = kNotEnded;
  const int64_t code = reader.get()->read(number_, part, skip, &stream->stream_, error.data(), kErrorSize);
  if (error[0] == kNotEnded) return Interrupted(path_);
  if (code < 0) return Error(code, error.data());
  const absl::Status status = stream->ReadSchema(columns_);
  if (!status.ok()) return status;
  return stream;
}

void ReportSkipped(const std::string& path, const absl::Status& reason) {
  const Registered reader;
  if (reader.get() != nullptr) reader.get()->skipped(path.c_str(), std::string(reason.message()).c_str());
}

}  // namespace columnar
}  // namespace tensorflow
