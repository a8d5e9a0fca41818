// Parity is judged as the oracle judges it.

#include "tests/crash/parity_check.h"

#include <gtest/gtest.h>

#include "tests/support/oracle/array.h"
#include "tests/support/seed.h"

namespace mdvol::crash {
namespace {

using testing::Prng;
using testing::TestSeed;

class ParityCheckTest : public ::testing::TestWithParam<Layout> {
 protected:
  ParityCheckTest() {
    std::vector<std::byte> volume(geometry_.volume_bytes());
    prng_.Fill(volume);
    members_ = testing::oracle::MembersOf(
        {.layout_id = static_cast<int>(GetParam()), .members = 6, .chunk_bytes = 4096}, volume);
  }

  std::vector<uint64_t> Judge(const std::vector<size_t>& missing = {}) const {
    std::vector<std::span<const std::byte>> slots(members_.begin(), members_.end());
    for (const size_t slot : missing) {
      slots[slot] = {};
    }
    return StripesThatDisagree(geometry_, slots);
  }

  Prng prng_{TestSeed("ParityCheck")};
  const ArrayGeometry geometry_ = *ArrayGeometry::Make(GetParam(), 6, 4096, 7 * 4096);
  std::vector<testing::oracle::Bytes> members_;
};

INSTANTIATE_TEST_SUITE_P(Layouts, ParityCheckTest,
                         ::testing::Values(Layout::kLeftSymmetric, Layout::kParityFirst,
                                           Layout::kDdfZeroRestart, Layout::kDdfNContinue,
                                           Layout::kRightAsymmetric6));

TEST_P(ParityCheckTest, AgreesWithOneMissingOrNone) {
  EXPECT_TRUE(Judge().empty());
  for (size_t slot = 0; slot < members_.size(); ++slot) {
    EXPECT_TRUE(Judge({slot}).empty()) << slot;
  }
}

TEST_P(ParityCheckTest, SeesOneWrongBitAnywhereThatIsThere) {
  for (size_t slot = 0; slot < members_.size(); ++slot) {
    const size_t at = 3 * 4096 + prng_.Below(4096);
    members_[slot][at] ^= std::byte{0x10};
    EXPECT_EQ(Judge(), std::vector<uint64_t>{3}) << slot;
    const size_t other = (slot + 1) % members_.size();
    EXPECT_EQ(Judge({other}), std::vector<uint64_t>{3}) << slot;
    EXPECT_TRUE(Judge({slot}).empty());
    EXPECT_TRUE(Judge({other, (slot + 2) % members_.size()}).empty());
    members_[slot][at] ^= std::byte{0x10};
  }
}

}  // namespace
}  // namespace mdvol::crash
