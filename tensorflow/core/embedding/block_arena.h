// Blocks of one size for the rows of a shard.
//
// Memory comes in chunks that grow with the arena, so that an empty table costs nothing and a large one wastes
// at most an eighth. Chunks of a large arena are whole huge pages: with 4 KiB pages a lookup of a random row
// waits for the page table as well as for the row. Freed blocks are used again; chunks go back to the system
// when the arena does.
//
// Not thread safe: the lock of the shard guards it.

#ifndef TENSORFLOW_CORE_EMBEDDING_BLOCK_ARENA_H_
#define TENSORFLOW_CORE_EMBEDDING_BLOCK_ARENA_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace deeprec {
namespace embedding {

constexpr size_t kBlockAlignment = 64;

class BlockArena {
 public:
  // `block_bytes`: a positive multiple of kBlockAlignment.
  explicit BlockArena(size_t block_bytes) : block_bytes_(block_bytes) {}
  ~BlockArena();
  BlockArena(BlockArena&& other) noexcept { Swap(&other); }
  BlockArena& operator=(BlockArena&& other) noexcept {
    Swap(&other);
    return *this;
  }
  BlockArena(const BlockArena&) = delete;
  BlockArena& operator=(const BlockArena&) = delete;

  // A block of unspecified content, aligned to kBlockAlignment. Throws std::bad_alloc.
  char* Allocate();
  void Free(char* block);

  // Bytes asked from the system.
  size_t bytes() const { return bytes_; }

 private:
  struct Chunk {
    char* memory;
    size_t bytes;
    bool mapped;
  };

  void Swap(BlockArena* other);
  void Grow();

  size_t block_bytes_ = 0;
  size_t bytes_ = 0;
  char* next_ = nullptr;  // unused rest of the last chunk
  char* end_ = nullptr;
  char* free_ = nullptr;  // list through the first word of each block
  std::vector<Chunk> chunks_;
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_BLOCK_ARENA_H_
