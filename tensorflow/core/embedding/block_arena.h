// Blocks of one size for the rows of a shard.
//
// Memory comes in chunks that grow with the arena, so that an empty table costs next to nothing and a large one
// wastes at most an eighth. The chunks of all shards of a table are cut from the same huge pages: with 4 KiB
// pages a lookup of a random row waits for the page table as well as for the row. Freed blocks are used again;
// memory goes back to the system when the source does.

#ifndef TENSORFLOW_CORE_EMBEDDING_BLOCK_ARENA_H_
#define TENSORFLOW_CORE_EMBEDDING_BLOCK_ARENA_H_

#include <stddef.h>
#include <stdint.h>

#include <mutex>
#include <vector>

namespace deeprec {
namespace embedding {

constexpr size_t kBlockAlignment = 64;

// Chunks of memory for the arenas of one table. Thread safe.
class ChunkSource {
 public:
  ChunkSource() = default;
  ~ChunkSource();
  ChunkSource(const ChunkSource&) = delete;
  ChunkSource& operator=(const ChunkSource&) = delete;

  // `bytes`: a multiple of 4 KiB. Aligned to 4 KiB. Throws std::bad_alloc.
  char* Allocate(size_t bytes);

 private:
  struct Mapping {
    char* memory;
    size_t bytes;
  };
  std::mutex mu_;
  std::vector<Mapping> mappings_;
  char* next_ = nullptr;  // unused rest of the last mapping
  char* end_ = nullptr;
};

// Not thread safe: the lock of the shard guards it.
class BlockArena {
 public:
  // `block_bytes`: a positive multiple of kBlockAlignment. `source` outlives the arena's blocks.
  BlockArena(size_t block_bytes, ChunkSource* source) : block_bytes_(block_bytes), source_(source) {}

  // A block of unspecified content, aligned to kBlockAlignment. Throws std::bad_alloc.
  char* Allocate();
  void Free(char* block);

  // Bytes taken from the source.
  size_t bytes() const { return bytes_; }

 private:
  void Grow();

  size_t block_bytes_;
  ChunkSource* source_;
  size_t bytes_ = 0;
  char* next_ = nullptr;  // unused rest of the last chunk
  char* end_ = nullptr;
  char* free_ = nullptr;  // list through the first word of each block
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_BLOCK_ARENA_H_
