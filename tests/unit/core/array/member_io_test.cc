// Tests of I/O at any place of a member, whatever the member's alignment.

#include "core/array/member_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/fault_device.h"
#include "core/device/memory_device.h"
#include "tests/support/fake_clock.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using testing::FakeClock;
using testing::Prng;

constexpr uint64_t kDeviceBytes = 64 * kKiB;

class MemberIoTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  std::unique_ptr<MemberDevice> device_ =
      NewMemoryDevice("m", kDeviceBytes, {.alignment_bytes = GetParam()});
};

INSTANTIATE_TEST_SUITE_P(Alignments, MemberIoTest, ::testing::Values(1, 512, 4096));

TEST_P(MemberIoTest, WritesWhatIsAskedAndNothingElse) {
  Prng prng(testing::TestSeed("MemberIo"));
  std::vector<uint8_t> model(kDeviceBytes);
  for (int round = 0; round < 300; ++round) {
    const uint64_t begin = prng.Below(kDeviceBytes);
    const uint64_t length = prng.Below(std::min<uint64_t>(9000, kDeviceBytes - begin) + 1);
    std::vector<uint8_t> bytes(length);
    prng.Fill(std::as_writable_bytes(std::span(bytes)));
    ASSERT_TRUE(WriteAnywhere(*device_, begin, bytes).ok());
    std::copy(bytes.begin(), bytes.end(), model.begin() + static_cast<ptrdiff_t>(begin));
    const auto whole = ReadAnywhere(*device_, {0, kDeviceBytes});
    ASSERT_TRUE(whole.ok());
    ASSERT_TRUE(*whole == model) << begin << " " << length;
    const auto part = ReadAnywhere(*device_, {begin, begin + length});
    ASSERT_TRUE(part.ok());
    ASSERT_TRUE(*part == bytes) << begin << " " << length;
  }
}

TEST_P(MemberIoTest, NothingIsReadOrWrittenForAnEmptyRange) {
  EXPECT_TRUE(ReadAnywhere(*device_, {kDeviceBytes, kDeviceBytes})->empty());
  EXPECT_TRUE(WriteAnywhere(*device_, kDeviceBytes, {}).ok());
}

TEST_P(MemberIoTest, ReportsWhatTheMemberReports) {
  FakeClock clock;
  const std::vector<uint8_t> bytes(10);
  const bool reads_around = GetParam() > 1;
  for (const FaultOp op : {FaultOp::kRead, FaultOp::kWrite}) {
    const auto faulty = NewFaultDevice(
        NewMemoryDevice("m", kDeviceBytes, {.alignment_bytes = GetParam()}), 1, clock);
    faulty->AddRule({.op = op});
    EXPECT_EQ(ErrnoOf(ReadAnywhere(*faulty, {100, 110}).status()), op == FaultOp::kRead ? EIO : 0);
    EXPECT_EQ(ErrnoOf(WriteAnywhere(*faulty, 100, bytes)),
              op == FaultOp::kWrite || reads_around ? EIO : 0);
  }
  EXPECT_FALSE(ReadAnywhere(*device_, {kDeviceBytes - 5, kDeviceBytes + 5}).ok());
}

}  // namespace
}  // namespace mdvol
