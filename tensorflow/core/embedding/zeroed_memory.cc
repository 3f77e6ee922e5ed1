#include "tensorflow/core/embedding/zeroed_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <new>

namespace deeprec {
namespace embedding {
namespace {

constexpr size_t kLine = 64;

}  // namespace

char* MapHugePages(size_t bytes) {
  const size_t reserved = bytes + kHugePage;
  void* const raw =
      mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(raw);
  char* const aligned = begin + (RoundUp(uintptr_t(begin), kHugePage) - uintptr_t(begin));
  if (aligned != begin) munmap(begin, aligned - begin);
  char* const end = aligned + bytes;
  if (end != begin + reserved) munmap(end, begin + reserved - end);
  return aligned;
}

ZeroedMemory::ZeroedMemory(size_t bytes) {
  if (bytes >= kHugePage) {
    bytes = RoundUp(bytes, kHugePage);
    data_ = MapHugePages(bytes);
    // A kernel without huge pages refuses; the memory is as good, only slower.
    madvise(data_, bytes, MADV_HUGEPAGE);
    mapped_ = true;
  } else {
    bytes = RoundUp(bytes, kLine);
    data_ = aligned_alloc(kLine, bytes);
    if (data_ == nullptr) throw std::bad_alloc();
    memset(data_, 0, bytes);
  }
  bytes_ = bytes;
}

ZeroedMemory::~ZeroedMemory() {
  if (mapped_) {
    munmap(data_, bytes_);
  } else {
    free(data_);
  }
}

}  // namespace embedding
}  // namespace deeprec
