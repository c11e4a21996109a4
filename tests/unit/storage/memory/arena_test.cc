// The arena: pieces are apart, aligned, stay readable, and are counted.
#include "storage/memory/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace evenkeel::storage {
namespace {

TEST(Arena, PiecesAreAlignedAndDoNotOverlap) {
  Arena arena;
  std::vector<std::pair<char*, size_t>> pieces;
  size_t used = 0;
  for (size_t i = 0; i < 3000; ++i) {
    const size_t bytes = 1 + (i * 37) % 900;
    char* piece = arena.Allocate(bytes);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(piece) % 8, 0u);
    std::memset(piece, static_cast<int>(i % 251), bytes);
    pieces.push_back({piece, bytes});
    used += (bytes + 7) / 8 * 8;
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (size_t byte = 0; byte < pieces[i].second; ++byte) {
      ASSERT_EQ(static_cast<unsigned char>(pieces[i].first[byte]), i % 251);
    }
  }
  EXPECT_EQ(arena.used_bytes(), used);
  EXPECT_GE(arena.held_bytes(), used);
  EXPECT_LE(arena.held_bytes(), used * 2 + (1 << 20));
}

TEST(Arena, LargePiecesGetTheirOwnChunk) {
  Arena arena;
  arena.Allocate(8);
  const size_t before = arena.held_bytes();
  char* large = arena.Allocate(5 << 20);
  std::memset(large, 1, 5 << 20);
  EXPECT_EQ(arena.held_bytes() - before, size_t{5} << 20);
  // The small chunk goes on being used.
  arena.Allocate(8);
  EXPECT_EQ(arena.held_bytes() - before, size_t{5} << 20);
}

TEST(Arena, AnEmptyOneHoldsNothing) {
  const Arena arena;
  EXPECT_EQ(arena.used_bytes(), 0u);
  EXPECT_EQ(arena.held_bytes(), 0u);
}

}  // namespace
}  // namespace evenkeel::storage
