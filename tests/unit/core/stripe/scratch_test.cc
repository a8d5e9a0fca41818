// Scratch: bounded, aligned, one per thread; and the zeroes that cost no memory.

#include "core/stripe/scratch.h"

#include <algorithm>
#include <cstdint>
#include <thread>

#include "core/geometry/geometry.h"
#include "gtest/gtest.h"

namespace mdvol {
namespace {

TEST(ScratchTest, GivesAlignedBytesUntilItIsEmpty) {
  Scratch scratch;
  std::byte* const first = scratch.Take(1);
  std::byte* const second = scratch.Take(kScratchBytes - 2 * kBufferAlignment);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % kBufferAlignment, 0u);
  EXPECT_EQ(second - first, static_cast<ptrdiff_t>(kBufferAlignment));
  EXPECT_EQ(scratch.Take(kBufferAlignment + 1), nullptr);
  EXPECT_NE(scratch.Take(kBufferAlignment), nullptr) << "a request that failed took something";
  EXPECT_EQ(scratch.Take(1), nullptr);
  scratch.Reset();
  EXPECT_EQ(scratch.Take(kScratchBytes), first);
}

TEST(ScratchTest, EveryThreadHasItsOwn) {
  Scratch* const mine = &Scratch::OfThisThread();
  EXPECT_EQ(mine, &Scratch::OfThisThread());
  Scratch* other = mine;
  std::thread([&] { other = &Scratch::OfThisThread(); }).join();
  EXPECT_NE(other, mine);
}

TEST(ScratchTest, PiecesFitForEveryNumberOfBlocks) {
  for (uint32_t blocks = 1; blocks <= 2 * kMaxRaidDisks + 2; ++blocks) {
    EXPECT_LE(PieceBytes(blocks) * blocks, kScratchBytes);
    EXPECT_GE(PieceBytes(blocks), kBufferAlignment);
    EXPECT_EQ(PieceBytes(blocks) % kBufferAlignment, 0u);
  }
}

TEST(ScratchTest, TheZeroChunkIsAsLargeAsAnyChunk) {
  const std::byte* const zeroes = ZeroChunk();
  EXPECT_TRUE(std::all_of(zeroes, zeroes + kMaxChunkBytes,
                          [](std::byte value) { return value == std::byte{0}; }));
}

}  // namespace
}  // namespace mdvol
