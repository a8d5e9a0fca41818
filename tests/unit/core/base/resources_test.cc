// AlignedBuffer, UniqueFd, RetryOnEintr and MDVOL_CHECK.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "core/base/aligned_buffer.h"
#include "core/base/check.h"
#include "core/base/huge_pages.h"
#include "core/base/retry.h"
#include "core/base/unique_fd.h"

namespace mdvol {
namespace {

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

int OpenNull() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(AlignedBufferTest, StartsAtAPageBoundary) {
  for (const size_t size_bytes : {size_t{1}, size_t{512}, size_t{4096}, size_t{5000}}) {
    AlignedBuffer buffer(size_bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % kBufferAlignment, 0u);
    EXPECT_EQ(buffer.size(), size_bytes);
    EXPECT_EQ(buffer.span().size(), size_bytes);
  }
}

TEST(AlignedBufferTest, TellsWhatIsAligned) {
  AlignedBuffer buffer(4096);
  EXPECT_TRUE(IsAligned(buffer.data(), 4096));
  EXPECT_FALSE(IsAligned(buffer.data() + 512, 4096));
  EXPECT_TRUE(IsAligned(buffer.data() + 512, 512));
  EXPECT_TRUE(IsAligned(uint64_t{0}, 4096) && IsAligned(uint64_t{7}, 1));
  EXPECT_FALSE(IsAligned(uint64_t{512 + 4096}, 1024));
}

// Whether the system has them is its own affair.
TEST(AlignedBufferTest, LivesOnHugePagesAsOnOthers) {
  AlignedBuffer none;
  PreferHugePages(none);
  for (const size_t size_bytes : {size_t{100}, size_t{5} << 20}) {
    AlignedBuffer buffer(size_bytes);
    PreferHugePages(buffer);
    buffer.span().front() = std::byte{1};
    buffer.span().back() = std::byte{2};
    EXPECT_EQ(buffer.span().back(), std::byte{2});
  }
}

TEST(AlignedBufferTest, MovesItsBytes) {
  AlignedBuffer first(16);
  first.span()[15] = std::byte{7};
  const std::byte* const data = first.data();
  AlignedBuffer second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(first.size(), 0u);  // NOLINT(bugprone-use-after-move): empty by contract
  EXPECT_EQ(first.data(), nullptr);
  AlignedBuffer third;
  third = std::move(second);
  EXPECT_EQ(std::as_const(third).span()[15], std::byte{7});
  EXPECT_EQ(second.size(), 0u);  // NOLINT(bugprone-use-after-move)
}

TEST(UniqueFdTest, ClosesWhatItOwns) {
  const int raw = OpenNull();
  {
    const UniqueFd fd(raw);
    EXPECT_TRUE(fd.valid());
    EXPECT_EQ(fd.get(), raw);
  }
  EXPECT_FALSE(IsOpen(raw));
}

TEST(UniqueFdTest, MovesAndReleases) {
  UniqueFd first(OpenNull());
  const int raw = first.get();
  UniqueFd second(std::move(first));
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): empty by contract
  UniqueFd third(OpenNull());
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_EQ(third.get(), raw);
  EXPECT_FALSE(IsOpen(replaced));
  UniqueFd& itself = third;
  third = std::move(itself);
  EXPECT_TRUE(IsOpen(raw));
  EXPECT_EQ(third.release(), raw);
  EXPECT_FALSE(third.valid());
  EXPECT_TRUE(IsOpen(raw));
  UniqueFd(raw).reset();
  EXPECT_FALSE(IsOpen(raw));
}

TEST(RetryOnEintrTest, RepeatsInterruptedCallsOnly) {
  int calls = 0;
  EXPECT_EQ(RetryOnEintr([&] {
              errno = EINTR;
              return ++calls < 3 ? -1 : calls;
            }),
            3);
  calls = 0;
  EXPECT_EQ(RetryOnEintr([&] {
              ++calls;
              errno = EIO;
              return -1;
            }),
            -1);
  EXPECT_EQ(calls, 1);
}

TEST(CheckTest, PassesWhenTrue) { MDVOL_CHECK(1 + 1 == 2); }

TEST(CheckDeathTest, NamesTheExpressionAndDies) {
  EXPECT_DEATH(MDVOL_CHECK(1 + 1 == 3), "internal error: .*resources_test.cc.*: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace mdvol
