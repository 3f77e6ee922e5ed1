// Records of one size in files, or in memory: what a tier below the first is made of.
//
// Records are appended to segments and never change: to change one is to append another and to free it. So they are read
// without a lock, and whoever reads a record that was freed meanwhile sees the old one, whole, or is told that its segment is
// gone. A segment goes when none of its records is in use; one with more than a third free is due for compaction: its owner,
// who knows which records are in use, appends those again and frees them here.
//
// Thread safe.

#ifndef TENSORFLOW_CORE_EMBEDDING_RECORD_STORE_H_
#define TENSORFLOW_CORE_EMBEDDING_RECORD_STORE_H_

#include <stdint.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tensorflow/core/embedding/storage_error.h"

namespace deeprec {
namespace embedding {

enum class StorageMedium {
  kFile,        // read and written by system calls
  kMappedFile,  // mapped into memory, for persistent memory
  kMemory,      // of the process
};

struct RecordStoreOptions {
  StorageMedium medium = StorageMedium::kFile;
  std::string folder;  // kFile, kMappedFile; it exists
  // Of the first segments, at least; those of a large store are larger, so that their number stays in bounds.
  int64_t segment_bytes = 0;  // 0: by the medium
};

// Below 2^kLocationBits: the segment's number and the record's.
using RecordLocation = uint64_t;
constexpr int kLocationBits = 60;

class RecordStore {
 public:
  explicit RecordStore(const RecordStoreOptions& options);
  ~RecordStore();

  // The form of records appended from now on; those that are there keep theirs. `layout` is the caller's name for it.
  void SetForm(int64_t record_bytes, int layout);

  // Appends n records of the form, which lie one after the other. Throws StorageError, and has appended none then.
  void Append(const char* records, int64_t n, RecordLocation* locations);

  // The record is not needed any more. Each once.
  void Free(RecordLocation location);

  // A segment as its readers hold it: the file is there for as long as they do.
  class Segment;
  using SegmentRef = std::shared_ptr<const Segment>;
  // Null if it is gone.
  SegmentRef Find(RecordLocation location) const;
  static int64_t RecordBytes(const Segment& segment);
  static int Layout(const Segment& segment);
  // Copies n records from `first` on. Throws StorageError.
  static void Read(const Segment& segment, RecordLocation first, int64_t n, char* out);
  // A record of kMappedFile or kMemory where it lies; null for kFile.
  static const char* Mapped(const Segment& segment, RecordLocation location);

  // For passes over all records, free ones too.
  struct SegmentRange {
    SegmentRef segment;
    RecordLocation first;
    int64_t records;
  };
  std::vector<SegmentRange> Segments() const;
  // Those due for compaction.
  std::vector<SegmentRange> Due() const;
  bool AnyDue() const;

  // Frees all records.
  void Clear();

  // Records in use; bytes of the segments.
  int64_t records() const;
  int64_t bytes() const;
  int64_t segments() const;

 private:
  std::shared_ptr<Segment> NewSegment();
  void Drop(uint32_t id, const Segment& segment);
  SegmentRange RangeOf(uint32_t id, const std::shared_ptr<Segment>& segment) const;

  const RecordStoreOptions options_;
  // One append at a time; then mu_, for what follows.
  std::mutex append_mu_;
  mutable std::mutex mu_;
  std::unordered_map<uint32_t, std::shared_ptr<Segment>> segments_;
  uint32_t current_ = 0;  // the segment that is appended to, if it exists
  uint32_t next_ = 1;
  int64_t record_bytes_ = 0;
  int layout_ = 0;
  int64_t records_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_RECORD_STORE_H_
