#include "tensorflow/core/embedding/record_store.h"

#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "tensorflow/core/embedding/tier_file.h"
#include "tensorflow/core/embedding/zeroed_memory.h"

namespace deeprec {
namespace embedding {
namespace {

constexpr int kSegmentBits = kLocationBits - 32;
constexpr int64_t kPage = 4096;

// A mapped segment takes its space at once.
int64_t DefaultSegmentBytes(StorageMedium medium) {
  return medium == StorageMedium::kFile ? int64_t{64} << 20 : int64_t{4} << 20;
}

uint32_t SegmentOf(RecordLocation location) { return uint32_t(location >> 32); }
int64_t IndexOf(RecordLocation location) { return int64_t(location & 0xffffffffu); }

}  // namespace

class RecordStore::Segment {
 public:
  Segment(const RecordStoreOptions& options, int64_t bytes, int64_t record_bytes, int layout)
      : record_bytes(record_bytes), layout(layout), capacity(std::max<int64_t>(1, bytes / record_bytes)) {
    const int64_t size = int64_t(RoundUp(capacity * record_bytes, kPage));
    if (options.medium != StorageMedium::kMemory) {
      file_.reset(new TierFile(options.folder, options.medium == StorageMedium::kFile ? "ssd_kv" : "pmem_kv"));
    }
    if (options.medium == StorageMedium::kMappedFile) map_ = file_->Map(size);
    if (options.medium == StorageMedium::kMemory) {
      void* const memory =
          mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      map_ = static_cast<char*>(memory);
      memory_bytes_ = size;
    }
  }
  ~Segment() {
    if (memory_bytes_ > 0) munmap(map_, memory_bytes_);
  }

  void Write(int64_t index, const char* records, int64_t n) {
    if (map_ != nullptr) {
      memcpy(map_ + index * record_bytes, records, n * record_bytes);
    } else {
      file_->Write(index * record_bytes, records, n * record_bytes);
    }
  }
  void Read(int64_t index, int64_t n, char* out) const {
    if (map_ != nullptr) {
      memcpy(out, map_ + index * record_bytes, n * record_bytes);
    } else {
      file_->Read(index * record_bytes, out, n * record_bytes);
    }
  }
  const char* Mapped(int64_t index) const { return map_ == nullptr ? nullptr : map_ + index * record_bytes; }

  const int64_t record_bytes;
  const int layout;
  const int64_t capacity;
  // Guarded by the store's mu_.
  int64_t written = 0;
  int64_t used = 0;
  bool full = false;  // nothing is appended any more
  bool due() const { return full && 3 * (written - used) > written; }

 private:
  std::unique_ptr<TierFile> file_;
  char* map_ = nullptr;
  int64_t memory_bytes_ = 0;
};

RecordStore::RecordStore(const RecordStoreOptions& options) : options_(options) {
  if (options_.medium == StorageMedium::kMemory) return;
  MakeTierFolder(options_.folder);
  RemoveDeadTierFiles(options_.folder);
}

RecordStore::~RecordStore() = default;

void RecordStore::SetForm(int64_t record_bytes, int layout) {
  const std::lock_guard<std::mutex> one(append_mu_);
  const std::lock_guard<std::mutex> lock(mu_);
  record_bytes_ = record_bytes;
  layout_ = layout;
  const auto current = segments_.find(current_);
  current_ = 0;
  if (current == segments_.end()) return;
  const std::shared_ptr<Segment> segment = current->second;
  segment->full = true;
  if (segment->used == 0) Drop(current->first, *segment);
}

std::shared_ptr<RecordStore::Segment> RecordStore::NewSegment() {
  const int64_t least = options_.segment_bytes > 0 ? options_.segment_bytes : DefaultSegmentBytes(options_.medium);
  int64_t bytes;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    bytes = std::max(least, std::min(16 * least, bytes_ / 8));
    if (next_ >> kSegmentBits != 0) {
      throw StorageError(StorageError::Kind::kNoSpace, "A storage tier has used up the numbers of its files");
    }
  }
  const auto segment = std::make_shared<Segment>(options_, bytes, record_bytes_, layout_);
  const std::lock_guard<std::mutex> lock(mu_);
  current_ = next_++;
  segments_[current_] = segment;
  return segment;
}

void RecordStore::Append(const char* records, int64_t n, RecordLocation* locations) {
  const std::lock_guard<std::mutex> one(append_mu_);
  int64_t done = 0;
  try {
    while (done < n) {
      std::shared_ptr<Segment> segment;
      int64_t index = 0;
      {
        const std::lock_guard<std::mutex> lock(mu_);
        const auto found = segments_.find(current_);
        if (found != segments_.end()) {
          segment = found->second;
          index = segment->written;
        }
      }
      if (segment == nullptr) segment = NewSegment();
      const int64_t count = std::min(n - done, segment->capacity - index);
      segment->Write(index, records + done * record_bytes_, count);
      const std::lock_guard<std::mutex> lock(mu_);
      // Clear and SetForm wait for appends, so this is still the current segment.
      for (int64_t i = 0; i < count; ++i) locations[done + i] = uint64_t(current_) << 32 | uint64_t(index + i);
      segment->written += count;
      segment->used += count;
      records_ += count;
      bytes_ += count * record_bytes_;
      done += count;
      if (segment->written == segment->capacity) {
        segment->full = true;
        current_ = 0;
      }
    }
  } catch (...) {
    for (int64_t i = 0; i < done; ++i) Free(locations[i]);
    throw;
  }
}

void RecordStore::Drop(uint32_t id, const Segment& segment) {
  bytes_ -= segment.written * segment.record_bytes;
  segments_.erase(id);
}

void RecordStore::Free(RecordLocation location) {
  std::shared_ptr<Segment> segment;  // its file is removed without the lock
  const std::lock_guard<std::mutex> lock(mu_);
  const auto found = segments_.find(SegmentOf(location));
  if (found == segments_.end()) return;
  segment = found->second;
  --records_;
  if (--segment->used == 0 && segment->full) Drop(found->first, *segment);
}

RecordStore::SegmentRef RecordStore::Find(RecordLocation location) const {
  const std::lock_guard<std::mutex> lock(mu_);
  const auto found = segments_.find(SegmentOf(location));
  return found == segments_.end() ? nullptr : found->second;
}

int64_t RecordStore::RecordBytes(const Segment& segment) { return segment.record_bytes; }
int RecordStore::Layout(const Segment& segment) { return segment.layout; }

void RecordStore::Read(const Segment& segment, RecordLocation first, int64_t n, char* out) {
  segment.Read(IndexOf(first), n, out);
}

const char* RecordStore::Mapped(const Segment& segment, RecordLocation location) {
  return segment.Mapped(IndexOf(location));
}

RecordStore::SegmentRange RecordStore::RangeOf(uint32_t id, const std::shared_ptr<Segment>& segment) const {
  return SegmentRange{segment, uint64_t(id) << 32, segment->written};
}

std::vector<RecordStore::SegmentRange> RecordStore::Segments() const {
  const std::lock_guard<std::mutex> lock(mu_);
  std::vector<SegmentRange> ranges;
  for (const auto& [id, segment] : segments_) ranges.push_back(RangeOf(id, segment));
  return ranges;
}

std::vector<RecordStore::SegmentRange> RecordStore::Due() const {
  const std::lock_guard<std::mutex> lock(mu_);
  std::vector<SegmentRange> ranges;
  for (const auto& [id, segment] : segments_) {
    if (segment->due()) ranges.push_back(RangeOf(id, segment));
  }
  return ranges;
}

bool RecordStore::AnyDue() const {
  const std::lock_guard<std::mutex> lock(mu_);
  return std::any_of(segments_.begin(), segments_.end(), [](const auto& entry) { return entry.second->due(); });
}

void RecordStore::Clear() {
  std::unordered_map<uint32_t, std::shared_ptr<Segment>> segments;  // their files are removed without the locks
  const std::lock_guard<std::mutex> one(append_mu_);
  const std::lock_guard<std::mutex> lock(mu_);
  segments.swap(segments_);
  current_ = 0;
  records_ = 0;
  bytes_ = 0;
}

int64_t RecordStore::records() const {
  const std::lock_guard<std::mutex> lock(mu_);
  return records_;
}

int64_t RecordStore::bytes() const {
  const std::lock_guard<std::mutex> lock(mu_);
  return bytes_;
}

int64_t RecordStore::segments() const {
  const std::lock_guard<std::mutex> lock(mu_);
  return int64_t(segments_.size());
}

}  // namespace embedding
}  // namespace deeprec
