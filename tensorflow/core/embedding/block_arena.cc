#include "tensorflow/core/embedding/block_arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace deeprec {
namespace embedding {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
// From here on a huge page is at most an eighth of the arena.
constexpr size_t kHugeFrom = 8 * kHugePage;

size_t RoundUp(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

// `bytes` of address space that begin on a huge page.
char* MapHuge(size_t bytes) {
  const size_t reserved = bytes + kHugePage;
  void* const raw =
      mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(raw);
  char* const aligned = begin + (RoundUp(uintptr_t(begin), kHugePage) - uintptr_t(begin));
  if (aligned != begin) munmap(begin, aligned - begin);
  char* const end = aligned + bytes;
  if (end != begin + reserved) munmap(end, begin + reserved - end);
  // A kernel without huge pages refuses; the memory is as good, only slower.
  madvise(aligned, bytes, MADV_HUGEPAGE);
  return aligned;
}

}  // namespace

BlockArena::~BlockArena() {
  for (const Chunk& chunk : chunks_) {
    if (chunk.mapped) {
      munmap(chunk.memory, chunk.bytes);
    } else {
      free(chunk.memory);
    }
  }
}

void BlockArena::Swap(BlockArena* other) {
  std::swap(block_bytes_, other->block_bytes_);
  std::swap(bytes_, other->bytes_);
  std::swap(next_, other->next_);
  std::swap(end_, other->end_);
  std::swap(free_, other->free_);
  chunks_.swap(other->chunks_);
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
  Chunk chunk;
  chunk.mapped = bytes_ >= kHugeFrom;
  if (chunk.mapped) {
    chunk.bytes = RoundUp(std::max(kHugePage, block_bytes_), kHugePage);
  } else {
    chunk.bytes = RoundUp(std::max({kPage, bytes_ / 8, block_bytes_}), kPage);
  }
  chunks_.reserve(chunks_.size() + 1);
  chunk.memory = chunk.mapped ? MapHuge(chunk.bytes)
                              : static_cast<char*>(aligned_alloc(kPage, chunk.bytes));
  if (chunk.memory == nullptr) throw std::bad_alloc();
  chunks_.push_back(chunk);
  bytes_ += chunk.bytes;
  next_ = chunk.memory;
  end_ = chunk.memory + chunk.bytes;
}

}  // namespace embedding
}  // namespace deeprec
