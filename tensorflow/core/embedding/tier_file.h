// Files of the tiers below memory: temporary storage of one process.
//
// A file is named <prefix>_<time>_<host>_<process>_<number>.emb, made anew, and locked (flock) for as long as it is in use.
// It is removed with its object, or when the process exits; what a killed process left behind is removed by the next one that
// uses the folder, if it is of the same host and nobody has it locked. So tables and processes may share a folder.

#ifndef TENSORFLOW_CORE_EMBEDDING_TIER_FILE_H_
#define TENSORFLOW_CORE_EMBEDDING_TIER_FILE_H_

#include <stdint.h>

#include <memory>
#include <string>

#include "tensorflow/core/embedding/storage_error.h"

namespace deeprec {
namespace embedding {

// Makes the folder and those above it. Throws StorageError if it is not there then or can not be written.
void MakeTierFolder(const std::string& folder);

// Removes the files that processes of this host left behind in `folder`. Errors are not reported: nothing depends on it.
void RemoveDeadTierFiles(const std::string& folder);

class TierFile {
 public:
  // An empty file in `folder`. prefix: letters and "_". Throws StorageError.
  TierFile(const std::string& folder, const std::string& prefix);
  ~TierFile();
  TierFile(const TierFile&) = delete;
  TierFile& operator=(const TierFile&) = delete;

  // All of it, or StorageError. Reads and writes may run at the same time.
  void Write(int64_t offset, const char* data, int64_t bytes);
  void Read(int64_t offset, char* data, int64_t bytes) const;

  // Maps the first `bytes`, for which space is set aside, so that writing to them can not fail. Until the file's end.
  char* Map(int64_t bytes);

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1;
  char* map_ = nullptr;
  int64_t mapped_ = 0;
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_TIER_FILE_H_
