// No function of core/parity reads or writes beyond its blocks: each block lies against a page that
// may not be touched, once before and once behind it. (ASan does not see into ISA-L.)

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/parity/parity.h"
#include "gtest/gtest.h"

namespace mdvol {
namespace {

// One page of zeroes between two that may not be touched.
class FencedPage {
 public:
  FencedPage() : page_bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* const mapped =
        mmap(nullptr, 3 * page_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MDVOL_CHECK(mapped != MAP_FAILED);
    begin_ = static_cast<std::byte*>(mapped) + page_bytes_;
    MDVOL_CHECK(mprotect(begin_, page_bytes_, PROT_READ | PROT_WRITE) == 0);
  }
  FencedPage(const FencedPage&) = delete;
  FencedPage& operator=(const FencedPage&) = delete;
  ~FencedPage() { munmap(begin_ - page_bytes_, 3 * page_bytes_); }

  // A block of `length` bytes at the end of the page, or at its beginning.
  std::byte* Block(size_t length, bool at_end) {
    return at_end ? begin_ + page_bytes_ - length : begin_;
  }

 private:
  size_t page_bytes_;
  std::byte* begin_ = nullptr;
};

class BoundsTest : public ::testing::TestWithParam<bool> {
 protected:
  // Four data blocks, P, Q.
  std::vector<std::byte*> Blocks(size_t length) {
    std::vector<std::byte*> blocks;
    for (FencedPage& page : pages_) {
      blocks.push_back(page.Block(length, GetParam()));
    }
    return blocks;
  }

  static std::vector<size_t> Lengths() {
    std::vector<size_t> lengths;
    for (size_t length = 0; length <= 300; ++length) {
      lengths.push_back(length);
    }
    lengths.insert(lengths.end(), {511, 512, 4064, 4065, 4095, 4096});
    return lengths;
  }

  std::array<FencedPage, 6> pages_;
};

constexpr std::array<BlockId, 6> kIds = {{{BlockKind::kData, 0},
                                          {BlockKind::kData, 2},
                                          {BlockKind::kData, 3},
                                          {BlockKind::kData, 4},
                                          {BlockKind::kP},
                                          {BlockKind::kQ}}};

TEST_P(BoundsTest, GenerateAndUpdateStayInside) {
  for (const size_t length : Lengths()) {
    const auto blocks = Blocks(length);
    std::vector<ConstBlock> data;
    for (size_t i = 0; i < 4; ++i) {
      data.push_back({kIds[i], blocks[i]});
    }
    GenerateParity(data, blocks[4], blocks[5], length);
    GenerateParity(data, blocks[4], nullptr, length);
    GenerateParity(data, nullptr, blocks[5], length);
    UpdateParity(2, blocks[0], blocks[4], blocks[5], length);
    UpdateParity(2, blocks[0], blocks[4], nullptr, length);
    UpdateParity(2, blocks[0], nullptr, blocks[5], length);
    XorBlocks(blocks[0], blocks[1], blocks[2], length);
    XorBlocks(blocks[0], blocks[1], blocks[0], length);
  }
}

TEST_P(BoundsTest, RecoverStaysInside) {
  for (const size_t length : Lengths()) {
    const auto blocks = Blocks(length);
    for (size_t a = 0; a < kIds.size(); ++a) {
      for (size_t b = a; b < kIds.size(); ++b) {
        std::vector<ConstBlock> survivors;
        for (size_t i = 0; i < kIds.size(); ++i) {
          if (i != a && i != b) {
            survivors.push_back({kIds[i], blocks[i]});
          }
        }
        std::vector<MutableBlock> lost = {{kIds[a], blocks[a]}};
        if (a != b) {
          lost.push_back({kIds[b], blocks[b]});
        }
        ASSERT_TRUE(Recover(survivors, lost, length));
      }
    }
  }
}

TEST_P(BoundsTest, LocateStaysInside) {
  const std::array<uint8_t, 2> exponents = {0, 1};
  for (const size_t length : Lengths()) {
    const auto blocks = Blocks(length);
    EXPECT_EQ(LocateBlock(blocks[4], blocks[5], length, exponents), Located{});
  }
}

std::string FenceName(const ::testing::TestParamInfo<bool>& at_end) {
  return at_end.param ? "Behind" : "Before";
}

INSTANTIATE_TEST_SUITE_P(Fence, BoundsTest, ::testing::Bool(), FenceName);

}  // namespace
}  // namespace mdvol
