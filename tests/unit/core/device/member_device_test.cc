// The conveniences of member_device.h.

#include "core/device/member_device.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <memory>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "tests/unit/core/device/test_devices.h"

namespace mdvol {
namespace {

using testing::LoggedCall;
using testing::LoggingDevice;

TEST(MemberDeviceTest, ReadsWritesFlushesAndZeroes) {
  const auto device = NewMemoryDevice("d0.img", kMiB);
  const std::array<char, 4> data = {'a', 'b', 'c', 'd'};
  ASSERT_TRUE(WriteMember(*device, 100, data.data(), data.size()).ok());
  ASSERT_TRUE(FlushMember(*device).ok());
  ASSERT_TRUE(ZeroMember(*device, 101, 2).ok());
  std::array<char, 4> back = {};
  ASSERT_TRUE(ReadMember(*device, 100, back.data(), back.size()).ok());
  EXPECT_EQ(back, (std::array<char, 4>{'a', 0, 0, 'd'}));
}

TEST(MemberDeviceTest, ErrorsNameThePathTheOperationAndThePlace) {
  std::vector<LoggedCall> log;
  LoggingDevice device(NewMemoryDevice("d0.img", kMiB), &log);
  device.set_fails([](const IoRequest&) { return ENOSPC; });
  std::array<char, 512> data = {};
  const absl::Status read = ReadMember(device, 4096, data.data(), data.size());
  EXPECT_EQ(MessageOf(read), "d0.img: read of 512 bytes at 4096: No space left on device");
  EXPECT_EQ(ErrnoOf(read), ENOSPC);
  EXPECT_EQ(MessageOf(WriteMember(device, 0, data.data(), data.size())),
            "d0.img: write of 512 bytes at 0: No space left on device");
  EXPECT_EQ(MessageOf(FlushMember(device)), "d0.img: flush: No space left on device");
  EXPECT_EQ(MessageOf(ZeroMember(device, 1, 2)),
            "d0.img: zeroing of 2 bytes at 1: No space left on device");
  EXPECT_EQ(log.size(), 8u);  // one request each
}

TEST(MemberDeviceTest, TakesBuffersAtAnyAddress) {
  const auto device = NewMemoryDevice("d0.img", kMiB, {.alignment_bytes = 512});
  AlignedBuffer data(2048);
  std::byte* const odd = data.data() + 3;
  odd[0] = std::byte{1};
  odd[511] = std::byte{2};
  ASSERT_TRUE(WriteMember(*device, 512, odd, 512).ok());
  std::byte* const other = data.data() + 1025;
  ASSERT_TRUE(ReadMember(*device, 512, other, 512).ok());
  EXPECT_EQ(other[0], std::byte{1});
  EXPECT_EQ(other[511], std::byte{2});
  EXPECT_EQ(ErrnoOf(ReadMember(*device, 511, other, 512)), EINVAL);
  EXPECT_EQ(ErrnoOf(WriteMember(*device, 512, other, 511)), EINVAL);
}

}  // namespace
}  // namespace mdvol
