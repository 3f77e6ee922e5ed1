#include "tensorflow/core/embedding/block_arena.h"

#include <string.h>

#include <set>

#include "gtest/gtest.h"

namespace deeprec {
namespace embedding {
namespace {

TEST(BlockArena, BlocksAreAlignedAndApart) {
  for (const size_t bytes : {64, 192, 4096, 1 << 20}) {
    ChunkSource source;
    BlockArena arena(bytes, &source);
    std::set<char*> blocks;
    for (int i = 0; i < 200; ++i) {
      char* const block = arena.Allocate();
      EXPECT_EQ(uintptr_t(block) % kBlockAlignment, 0u);
      memset(block, i, bytes);
      blocks.insert(block);
    }
    char* last = nullptr;
    for (char* block : blocks) {
      if (last != nullptr) {
        EXPECT_GE(size_t(block - last), bytes);
      }
      last = block;
    }
  }
}

TEST(BlockArena, FreedBlocksAreUsedAgain) {
  ChunkSource source;
  BlockArena arena(64, &source);
  char* const a = arena.Allocate();
  char* const b = arena.Allocate();
  arena.Free(a);
  arena.Free(b);
  const size_t bytes = arena.bytes();
  const std::set<char*> again = {arena.Allocate(), arena.Allocate()};
  EXPECT_EQ(again, (std::set<char*>{a, b}));
  EXPECT_EQ(arena.bytes(), bytes);
}

TEST(BlockArena, WastesLittle) {
  ChunkSource source;
  BlockArena arena(64, &source);
  EXPECT_EQ(arena.bytes(), 0u);
  constexpr size_t kBlocks = 2000000;
  for (size_t i = 1; i <= kBlocks; ++i) {
    memset(arena.Allocate(), 1, 64);
    if (i % 100000 == 0) {
      EXPECT_LE(arena.bytes(), 64 * i * 5 / 4) << i;
    }
  }
}

TEST(ChunkSource, ChunksAreApartAndAligned) {
  ChunkSource source;
  std::set<char*> chunks;
  for (int i = 0; i < 2000; ++i) {
    char* const chunk = source.Allocate(4096 * (1 + i % 3));
    EXPECT_EQ(uintptr_t(chunk) % 4096, 0u);
    memset(chunk, i, 4096 * (1 + i % 3));
    for (int j = 0; j < 1 + i % 3; ++j) EXPECT_TRUE(chunks.insert(chunk + 4096 * j).second);
  }
  char* const huge = source.Allocate(5 << 20);
  memset(huge, 1, 5 << 20);
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
