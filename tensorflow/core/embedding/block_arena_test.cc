#include "tensorflow/core/embedding/block_arena.h"

#include <string.h>

#include <set>
#include <utility>

#include "gtest/gtest.h"

namespace deeprec {
namespace embedding {
namespace {

TEST(BlockArena, BlocksAreAlignedAndApart) {
  for (const size_t bytes : {64, 192, 4096, 1 << 20}) {
    BlockArena arena(bytes);
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
  BlockArena arena(64);
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
  BlockArena arena(64);
  EXPECT_EQ(arena.bytes(), 0u);
  constexpr size_t kBlocks = 2000000;
  for (size_t i = 1; i <= kBlocks; ++i) {
    memset(arena.Allocate(), 1, 64);
    if (i % 100000 == 0) {
      EXPECT_LE(arena.bytes(), 64 * i * 5 / 4) << i;
    }
  }
}

TEST(BlockArena, MovesWithItsBlocks) {
  BlockArena arena(64);
  char* const block = arena.Allocate();
  strcpy(block, "kept");
  BlockArena other(64);
  other = std::move(arena);
  EXPECT_STREQ(block, "kept");
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
