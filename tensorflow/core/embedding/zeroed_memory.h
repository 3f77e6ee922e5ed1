// Memory that reads as zero, in huge pages where it is large enough to fill some.

#ifndef TENSORFLOW_CORE_EMBEDDING_ZEROED_MEMORY_H_
#define TENSORFLOW_CORE_EMBEDDING_ZEROED_MEMORY_H_

#include <stddef.h>

#include <utility>

namespace deeprec {
namespace embedding {

constexpr size_t RoundUp(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

class ZeroedMemory {
 public:
  ZeroedMemory() = default;
  // Aligned to a cache line. Throws std::bad_alloc.
  explicit ZeroedMemory(size_t bytes);
  ~ZeroedMemory();
  ZeroedMemory(ZeroedMemory&& other) noexcept { Swap(&other); }
  ZeroedMemory& operator=(ZeroedMemory&& other) noexcept {
    ZeroedMemory moved(std::move(other));
    Swap(&moved);
    return *this;
  }
  void Swap(ZeroedMemory* other) {
    std::swap(data_, other->data_);
    std::swap(bytes_, other->bytes_);
    std::swap(mapped_, other->mapped_);
  }

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  bool mapped_ = false;
};

// Address space of `bytes`, a multiple of kHugePage, that begins on one; zero, and not in memory until it is touched.
// Throws std::bad_alloc.
constexpr size_t kHugePage = size_t{2} << 20;
char* MapHugePages(size_t bytes);

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_ZEROED_MEMORY_H_
