// Sparseness and threads; what all devices do is in conformance_test.cc.

#include "core/device/memory_device.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "core/base/units.h"
#include "tests/unit/core/device/test_devices.h"

namespace mdvol {
namespace {

using testing::Read;
using testing::Write;
using testing::Zero;

constexpr uint64_t kBlockBytes = 64 * kKiB;

TEST(MemoryDeviceTest, IsWhatItWasMadeAs) {
  const auto device = NewMemoryDevice("d0", 12345, {.alignment_bytes = 8, .read_only = true});
  EXPECT_EQ(device->path(), "d0");
  EXPECT_EQ(device->size_bytes(), 12345u);
  EXPECT_EQ(device->alignment_bytes(), 8u);
  EXPECT_TRUE(device->read_only());
}

TEST(MemoryDeviceTest, HasDataInTheBlocksThatWereWritten) {
  const auto device = NewMemoryDevice("d0", 100 * kBlockBytes + 10);
  std::vector<std::byte> data(2 * kBlockBytes, std::byte{1});
  EXPECT_EQ(*device->NextData(0), device->size_bytes());
  EXPECT_EQ(*device->NextHole(0), 0u);
  ASSERT_EQ(Write(*device, 70 * kBlockBytes + 5, data), 0);
  EXPECT_EQ(*device->NextData(0), 70 * kBlockBytes);
  EXPECT_EQ(*device->NextData(70 * kBlockBytes + 7), 70 * kBlockBytes + 7);
  EXPECT_EQ(*device->NextHole(70 * kBlockBytes + 7), 73 * kBlockBytes);
  ASSERT_EQ(Zero(*device, 71 * kBlockBytes, kBlockBytes), 0);
  EXPECT_EQ(*device->NextHole(70 * kBlockBytes), 71 * kBlockBytes);
  EXPECT_EQ(*device->NextData(71 * kBlockBytes), 72 * kBlockBytes);
  ASSERT_EQ(Write(*device, 100 * kBlockBytes, std::span(data).first(10)), 0);
  EXPECT_EQ(*device->NextHole(100 * kBlockBytes), device->size_bytes());
}

TEST(MemoryDeviceTest, HasRoomForManyTiB) {
  constexpr uint64_t kSizeBytes = uint64_t{1} << 60;
  const auto device = NewMemoryDevice("d0", kSizeBytes);
  std::array<std::byte, 2> data = {std::byte{1}, std::byte{2}};
  ASSERT_EQ(Write(*device, 3, data), 0);
  ASSERT_EQ(Write(*device, 5 * kTiB + kBlockBytes - 1, data), 0);
  ASSERT_EQ(Write(*device, kSizeBytes - 2, data), 0);
  std::array<std::byte, 2> back = {};
  ASSERT_EQ(Read(*device, 5 * kTiB + kBlockBytes - 1, back), 0);
  EXPECT_EQ(back, data);
  EXPECT_EQ(*device->NextData(kBlockBytes), 5 * kTiB);
  EXPECT_EQ(*device->NextData(6 * kTiB), kSizeBytes - kBlockBytes);
  // All but the first and the last two bytes.
  ASSERT_EQ(Zero(*device, 4, kSizeBytes - 5), 0);
  EXPECT_EQ(*device->NextData(kBlockBytes), kSizeBytes - kBlockBytes);
  ASSERT_EQ(Read(*device, 3, back), 0);
  EXPECT_EQ(back, (std::array<std::byte, 2>{std::byte{1}, std::byte{0}}));
  ASSERT_EQ(Read(*device, kSizeBytes - 2, back), 0);
  EXPECT_EQ(back, (std::array<std::byte, 2>{std::byte{0}, std::byte{2}}));
}

// Overlapping requests leave either's bytes, and never anything worse.
TEST(MemoryDeviceTest, OverlappingRequestsLeaveEithersBytes) {
  const auto device = NewMemoryDevice("d0", 4 * kBlockBytes);
  std::vector<std::thread> threads;
  for (const int value : {1, 2}) {
    threads.emplace_back([&device, value] {
      std::vector<std::byte> data(kBlockBytes, std::byte(static_cast<unsigned char>(value)));
      for (int i = 0; i < 300; ++i) {
        ASSERT_EQ(Write(*device, kBlockBytes, data), 0);
        ASSERT_EQ(Zero(*device, 0, 3 * kBlockBytes), 0);
      }
    });
  }
  std::vector<std::byte> back(kBlockBytes);
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(Read(*device, kBlockBytes, back), 0);
    for (const std::byte byte : back) {
      ASSERT_LE(byte, std::byte{2});
    }
    ASSERT_TRUE(device->NextData(0).ok());
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace mdvol
