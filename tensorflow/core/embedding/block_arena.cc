#include "tensorflow/core/embedding/block_arena.h"

#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "tensorflow/core/embedding/zeroed_memory.h"

namespace deeprec {
namespace embedding {
namespace {

constexpr size_t kPage = 4096;
}  // namespace

ChunkSource::~ChunkSource() {
  for (const Mapping& mapping : mappings_) munmap(mapping.memory, mapping.bytes);
}

char* ChunkSource::Allocate(size_t bytes) {
  std::lock_guard<std::mutex> lock(mu_);
  if (size_t(end_ - next_) < bytes) {
    mappings_.reserve(mappings_.size() + 1);
    const size_t mapped = RoundUp(bytes, kHugePage);
    char* const memory = MapHugePages(mapped);
    // The first pages of a table stay small, most tables are. A kernel without huge pages refuses; the memory is as
    // good, only slower.
    if (!mappings_.empty()) madvise(memory, mapped, MADV_HUGEPAGE);
    mappings_.push_back(Mapping{memory, mapped});
    next_ = memory;
    end_ = memory + mapped;
  }
  char* const chunk = next_;
  next_ += bytes;
  return chunk;
}

char* BlockArena::Allocate() {
  if (free_ != nullptr) {
    char* const block = free_;
    memcpy(&free_, block, sizeof(free_));
    return block;
  }
  if (size_t(end_ - next_) < block_bytes_) Grow();
  char* const block = next_;
  next_ += block_bytes_;
  return block;
}

void BlockArena::Free(char* block) {
  memcpy(block, &free_, sizeof(free_));
  free_ = block;
}

void BlockArena::Grow() {
  // At most a quarter of a huge page, or the rest of one would be lost too often.
  const size_t chunk = std::min(bytes_ / 8, kHugePage / 4);
  const size_t bytes = RoundUp(std::max({kPage, chunk, block_bytes_}), kPage);
  next_ = source_->Allocate(bytes);
  end_ = next_ + bytes;
  bytes_ += bytes;
}

}  // namespace embedding
}  // namespace deeprec
