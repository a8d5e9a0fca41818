// What a volume may hold after a crash.

#include "tests/crash/volume_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/crash/disk_write.h"

namespace mdvol::crash {
namespace {

std::vector<std::byte> Atoms(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) {
    bytes.insert(bytes.end(), kAtomBytes, std::byte{static_cast<uint8_t>(value)});
  }
  return bytes;
}

bool IsExempt(uint64_t /*offset_bytes*/) { return false; }

std::optional<uint64_t> Forbidden(const VolumeModel& model, size_t time,
                                  std::initializer_list<int> values) {
  return model.At(time).FirstForbidden(Atoms(values), IsExempt);
}

class VolumeModelTest : public ::testing::Test {
 protected:
  VolumeModelTest() {
    model_.Write(512, Atoms({4, 5}), /*begun_at=*/10);
    model_.Settle(/*acknowledged_at=*/20);
    model_.Write(512, Atoms({6}), /*begun_at=*/25);
    model_.Write(512, Atoms({7}), /*begun_at=*/30);
  }

  VolumeModel model_{Atoms({1, 2, 3})};
};

TEST_F(VolumeModelTest, AllowsNothingNewBeforeAWriteHasBegun) {
  EXPECT_EQ(Forbidden(model_, 10, {1, 2, 3}), std::nullopt);
  EXPECT_EQ(Forbidden(model_, 10, {1, 4, 3}), 512U);
}

TEST_F(VolumeModelTest, AllowsOldAndNewAtomByAtomUntilTheFlush) {
  EXPECT_EQ(Forbidden(model_, 11, {1, 4, 3}), std::nullopt);
  EXPECT_EQ(Forbidden(model_, 19, {1, 2, 5}), std::nullopt);
  EXPECT_EQ(Forbidden(model_, 19, {1, 5, 4}), 512U);
}

TEST_F(VolumeModelTest, ForbidsTheOldAfterTheFlush) {
  EXPECT_EQ(Forbidden(model_, 20, {1, 4, 5}), std::nullopt);
  EXPECT_EQ(Forbidden(model_, 20, {1, 2, 5}), 512U);
  EXPECT_EQ(Forbidden(model_, 20, {1, 4, 3}), 1024U);
}

TEST_F(VolumeModelTest, AllowsAnyLaterWriteOfTheSamePlace) {
  EXPECT_EQ(Forbidden(model_, 31, {1, 4, 5}), std::nullopt);
  EXPECT_EQ(Forbidden(model_, 31, {1, 6, 5}), std::nullopt);
  EXPECT_EQ(Forbidden(model_, 31, {1, 7, 5}), std::nullopt);
  EXPECT_EQ(Forbidden(model_, 31, {6, 7, 5}), 0U);
  EXPECT_EQ(Forbidden(model_, 30, {1, 7, 5}), 512U);
}

TEST_F(VolumeModelTest, TellsTimesApartThatPromiseOtherThings) {
  EXPECT_EQ(model_.At(20).window(), model_.At(25).window());
  EXPECT_NE(model_.At(25).window(), model_.At(26).window());
  EXPECT_NE(model_.At(19).window(), model_.At(20).window());
}

TEST_F(VolumeModelTest, DoesNotLookAtWhatIsExempt) {
  const auto is_exempt = [](uint64_t offset) { return offset == 512; };
  EXPECT_EQ(model_.At(20).FirstForbidden(Atoms({1, 9, 5}), is_exempt), std::nullopt);
  EXPECT_EQ(model_.At(20).FirstForbidden(Atoms({1, 9, 9}), is_exempt), 1024U);
}

TEST_F(VolumeModelTest, AUnalignedWriteKeepsTheRestOfItsAtoms) {
  model_.Write(1000, std::vector<std::byte>(100, std::byte{8}), /*begun_at=*/40);
  std::vector<std::byte> expected = Atoms({1, 7, 5});
  std::fill_n(expected.begin() + 1000, 100, std::byte{8});
  EXPECT_EQ(model_.newest(), expected);
  EXPECT_EQ(model_.At(41).FirstForbidden(expected, IsExempt), std::nullopt);
  expected[1001] = std::byte{9};
  EXPECT_EQ(model_.At(41).FirstForbidden(expected, IsExempt), 512U);
}

}  // namespace
}  // namespace mdvol::crash
