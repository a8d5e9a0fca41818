// Images change, are hashed and go back.

#include "tests/crash/image.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "core/base/status.h"

namespace mdvol::crash {
namespace {

class ImageTest : public ::testing::Test {
 protected:
  ImageTest() {
    for (size_t i = 0; i < base_.size(); ++i) {
      base_[i] = std::byte{static_cast<uint8_t>(i * 7)};
    }
  }

  std::vector<std::byte> base_ = std::vector<std::byte>(10000);
};

TEST_F(ImageTest, GoesBackToItsBase) {
  Image image("/m/d0", base_);
  image.Write(4090, std::vector<std::byte>(100, std::byte{1}));
  image.Zero(9000, 1000);
  EXPECT_NE(image.ChangeHash(), 0U);
  image.Reset();
  EXPECT_TRUE(std::ranges::equal(image.bytes(), base_));
  EXPECT_EQ(image.ChangeHash(), 0U);
}

TEST_F(ImageTest, EqualBytesHashEquallyHoweverTheyCame) {
  Image image("/m/d0", base_);
  Image other("/m/d0", base_);
  image.Write(100, std::vector<std::byte>(200));
  other.Zero(100, 200);
  other.Write(5000, std::span(base_).subspan(5000, 10));
  EXPECT_EQ(image.ChangeHash(), other.ChangeHash());
  other.Write(5000, std::vector<std::byte>(1, ~base_[5000]));
  EXPECT_NE(image.ChangeHash(), other.ChangeHash());
}

TEST_F(ImageTest, IsReadAndWrittenThroughItsDevice) {
  Image image("/m/d0", base_);
  const auto device = OpenImage(image);
  EXPECT_EQ(device->path(), "/m/d0");
  EXPECT_EQ(device->size_bytes(), base_.size());
  const std::vector<std::byte> data(50, std::byte{9});
  EXPECT_TRUE(WriteMember(*device, 60, data.data(), data.size()).ok());
  EXPECT_TRUE(ZeroMember(*device, 110, 10).ok());
  EXPECT_TRUE(FlushMember(*device).ok());
  std::vector<std::byte> read(70);
  EXPECT_TRUE(ReadMember(*device, 55, read.data(), read.size()).ok());
  EXPECT_TRUE(std::ranges::equal(read, image.bytes().subspan(55, 70)));
  EXPECT_EQ(read[5], std::byte{9});
  EXPECT_EQ(read[60], std::byte{0});
  EXPECT_EQ(ErrnoOf(ReadMember(*device, base_.size(), read.data(), 1)), EIO);
}

}  // namespace
}  // namespace mdvol::crash
