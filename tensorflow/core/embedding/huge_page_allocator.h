// An allocator that asks the system for huge pages where an array is large enough to fill some.

#ifndef TENSORFLOW_CORE_EMBEDDING_HUGE_PAGE_ALLOCATOR_H_
#define TENSORFLOW_CORE_EMBEDDING_HUGE_PAGE_ALLOCATOR_H_

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <new>

namespace deeprec {
namespace embedding {

template <class T>
struct HugePageAllocator {
  using value_type = T;
  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}  // NOLINT: conversions are what allocators need

  T* allocate(size_t n) {
    const size_t bytes = n * sizeof(T);
    if (bytes < kFrom) return static_cast<T*>(::operator new(bytes));
    const size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    void* const p = aligned_alloc(kHugePage, rounded);
    if (p == nullptr) throw std::bad_alloc();
    // Refused by a kernel without huge pages, which changes nothing.
    madvise(p, rounded, MADV_HUGEPAGE);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t n) {
    if (n * sizeof(T) < kFrom) {
      ::operator delete(p);
    } else {
      free(p);
    }
  }
  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }
  friend bool operator!=(const HugePageAllocator&, const HugePageAllocator&) { return false; }

 private:
  static constexpr size_t kHugePage = size_t{2} << 20;
  static constexpr size_t kFrom = 4 * kHugePage;
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_HUGE_PAGE_ALLOCATOR_H_
