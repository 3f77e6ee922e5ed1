// Columnar files, as record batches.
//
// Files are opened and decoded by pyarrow. Python registers four functions for that, which take Python's lock by themselves;
// what they hand over is an Arrow C stream, whose batches pyarrow's C++ decodes. So this library is not linked to any version
// of Arrow.

#ifndef TENSORFLOW_CORE_KERNELS_COLUMNAR_FILE_H_
#define TENSORFLOW_CORE_KERNELS_COLUMNAR_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/columnar/arrow_abi.h"
#include "tensorflow/core/columnar/column_type.h"

extern "C" {

// What Python registers. Errors are the negative of an absl::StatusCode, with a text in `error` of at most `error_size`
// bytes, the zero at the end included. Where there is none, the text is made empty; until then it is not.
struct DeeprecFileReader {
  // Opens a file and returns its number, at least 1; `num_parts` is how many row groups or stripes the partition has.
  int64_t (*open)(const char* path, const char* format, const char* const* columns, int64_t num_columns,
                  int64_t batch_size, int64_t partition_count, int64_t partition_index, int64_t* num_parts, char* error,
                  int64_t error_size);
  // Makes a stream of a part, from its row `skip` on.
  int64_t (*read)(int64_t file, int64_t part, int64_t skip, deeprec::columnar::ArrowArrayStream* stream, char* error,
                  int64_t error_size);
  void (*close)(int64_t file);
  // Tells that data of a file is passed over.
  void (*skipped)(const char* path, const char* reason);
};

// Sets the functions that all files are read with from now on; null: none. They must stay valid.
void deeprec_set_file_reader(const DeeprecFileReader* reader);

}  // extern "C"

namespace tensorflow {
namespace columnar {

struct FileOptions {
  std::string format;
  std::vector<std::string> columns;
  int64_t batch_size;
  int64_t partition_count;
  int64_t partition_index;
};

// A record batch; released with the last reference.
class Batch {
 public:
  explicit Batch(deeprec::columnar::ArrowArray array) : array_(array) {}
  ~Batch() { array_.release(&array_); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  const deeprec::columnar::ArrowArray& array() const { return array_; }

 private:
  deeprec::columnar::ArrowArray array_;
};

// The record batches of one part of a file. Not thread-safe.
class BatchStream {
 public:
  // One column: its type, and its place in the batches.
  struct Column {
    int64_t place;
    deeprec::columnar::ColumnType type;
  };

  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  // In the order of FileOptions::columns.
  const std::vector<Column>& columns() const { return columns_; }

  // The next batch, or null at the end. DataLoss if it cannot be decoded.
  absl::StatusOr<std::shared_ptr<const Batch>> Next();

 private:
  friend class File;
  explicit BatchStream(std::string path) : path_(std::move(path)) {}
  absl::Status ReadSchema(const std::vector<std::string>& columns);
  absl::Status Failed(int code);

  const std::string path_;
  deeprec::columnar::ArrowArrayStream stream_{};
  std::vector<Column> columns_;
};

// An open file. Thread-safe.
class File {
 public:
  static absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, const FileOptions& options);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int64_t num_parts() const { return num_parts_; }

  // The batches of a part, from its row `skip` on.
  absl::StatusOr<std::unique_ptr<BatchStream>> Read(int64_t part, int64_t skip) const;

 private:
  File(std::string path, std::vector<std::string> columns) : path_(std::move(path)), columns_(std::move(columns)) {}

  const std::string path_;
  const std::vector<std::string> columns_;
  int64_t number_ = 0;
  int64_t num_parts_ = 0;
};

// Tells Python that data of a file is passed over.
void ReportSkipped(const std::string& path, const absl::Status& reason);

}  // namespace columnar
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_COLUMNAR_FILE_H_
