// The superblock codec: checksum vectors, places, small accessors.

#include "core/metadata/superblock.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/base/status.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"
#include "tests/unit/core/metadata/sample_super.h"

namespace mdvol {
namespace {

using ::mdvol::testing::Prng;
using ::mdvol::testing::SampleSuper;
using ::mdvol::testing::TestSeed;

TEST(SuperblockTest, ChecksumEqualsTheKnownVectors) {
  Superblock super = SampleSuper();
  EXPECT_EQ(SuperblockChecksum(super), 0x84f73420u);
  super.super_offset = 0;
  EXPECT_EQ(SuperblockChecksum(super), 0x84f73418u);
}

TEST(SuperblockTest, ChecksumIgnoresTheFieldThatHoldsIt) {
  Superblock super = SampleSuper();
  super.sb_csum = 0xdeadbeef;
  EXPECT_EQ(SuperblockChecksum(super), 0x84f73420u);
}

TEST(SuperblockTest, ChecksumEndsWithTheLastRole) {
  Superblock super = SampleSuper();
  super.dev_roles[128] = 0x1234;  // beyond max_dev
  EXPECT_EQ(SuperblockChecksum(super), 0x84f73420u);
  super.dev_roles[127] = 0x1234;
  EXPECT_NE(SuperblockChecksum(super), 0x84f73420u);
}

TEST(SuperblockTest, ChecksumAddsAnOddLastRoleAsAHalfWord) {
  Superblock super{};
  super.max_dev = 1;
  super.dev_roles[0] = 0x0102;
  super.dev_roles[1] = 0x7777;  // not summed
  EXPECT_EQ(SuperblockChecksum(super), 1u + 0x0102u);
}

TEST(SuperblockTest, ChecksumFoldsTheCarriesOnce) {
  Superblock super{};
  super.magic = 0xffffffff;
  super.major_version = 0xffffffff;
  EXPECT_EQ(SuperblockChecksum(super), 0xffffffffu);  // 0x1_ffff_fffe -> 0xfffffffe + 1
}

TEST(SuperblockTest, ChecksumSeesEveryByteItCovers) {
  Prng prng(TestSeed("SuperblockTest.ChecksumSeesEveryByteItCovers"));
  const Superblock sample = SampleSuper();
  const size_t covered = 256 + 2 * size_t{128};
  for (size_t i = 0; i < covered; ++i) {
    if (i >= offsetof(Superblock, sb_csum) && i < offsetof(Superblock, sb_csum) + 4) {
      continue;
    }
    if (i >= offsetof(Superblock, max_dev) && i < offsetof(Superblock, max_dev) + 4) {
      continue;  // decides what is covered
    }
    Superblock super = sample;
    uint8_t bytes[kSuperBytes];
    std::memcpy(bytes, &super, sizeof(super));
    bytes[i] = static_cast<uint8_t>(bytes[i] ^ (1u << prng.Below(8)));
    std::memcpy(&super, bytes, sizeof(super));
    EXPECT_NE(SuperblockChecksum(super), 0x84f73420u) << "byte " << i;
  }
}

TEST(SuperblockTest, LiesWhereMdPutsIt) {
  EXPECT_EQ(*SuperblockSector(0, 131072), 131056u);
  EXPECT_EQ(*SuperblockSector(0, 131079), 131056u);
  EXPECT_EQ(*SuperblockSector(0, 131080), 131064u);
  EXPECT_EQ(*SuperblockSector(0, 24), 8u);
  EXPECT_EQ(*SuperblockSector(1, 24), 0u);
  EXPECT_EQ(*SuperblockSector(2, 24), 8u);
  EXPECT_EQ(*SuperblockSector(0, ~uint64_t{0}), (~uint64_t{0} - 16) & ~uint64_t{7});
}

TEST(SuperblockTest, HasNoPlaceOnATinyMemberOrForAnUnknownVersion) {
  for (const int minor : {0, 1, 2}) {
    const auto sector = SuperblockSector(minor, 23);
    ASSERT_FALSE(sector.ok());
    EXPECT_EQ(ErrnoOf(sector.status()), EINVAL);
    EXPECT_NE(MessageOf(sector.status()).find("23 sectors"), std::string::npos);
  }
  for (const int minor : {-1, 3, 90}) {
    EXPECT_FALSE(SuperblockSector(minor, 1000).ok()) << minor;
  }
}

TEST(SuperblockTest, RolesBeyondTheTableAreSpares) {
  Superblock super = SampleSuper();
  EXPECT_EQ(RoleOfDevice(super, 5), 5u);
  EXPECT_EQ(RoleOfDevice(super, 6), kRoleSpare);
  EXPECT_EQ(RoleOfDevice(super, 128), kRoleSpare);
  EXPECT_EQ(RoleOfDevice(super, 0xffffffff), kRoleSpare);
  super.max_dev = 0xffffffff;  // hostile: nothing is read beyond the struct
  EXPECT_EQ(RoleOfDevice(super, kMaxDevices), kRoleSpare);
  EXPECT_EQ(RoleOfDevice(super, 0xfffffffe), kRoleSpare);
}

TEST(SuperblockTest, OnlyRolesBelowRaidDisksAreSlots) {
  Superblock super = SampleSuper();
  EXPECT_EQ(OwnSlot(super), 3u);
  super.dev_roles[3] = 6;
  EXPECT_EQ(OwnSlot(super), std::nullopt);
  for (const uint16_t role : {kRoleFaulty, kRoleSpare, kRoleJournal, kRoleMax}) {
    super.dev_roles[3] = role;
    EXPECT_EQ(OwnSlot(super), std::nullopt) << role;
    EXPECT_EQ(OwnRole(super), role);
  }
}

TEST(SuperblockTest, WritesWholeSectorsThatHoldAllRoles) {
  Superblock super = SampleSuper();
  EXPECT_EQ(SuperblockWriteBytes(super), 512u);
  super.max_dev = 129;
  EXPECT_EQ(SuperblockWriteBytes(super), 1024u);
  super.max_dev = 0;
  EXPECT_EQ(SuperblockWriteBytes(super), 512u);
  super.max_dev = kMaxDevices;
  EXPECT_EQ(SuperblockWriteBytes(super), kSuperBytes);
}

TEST(SuperblockTest, ComponentIsWholeChunks) {
  Superblock super = SampleSuper();
  EXPECT_EQ(ComponentBytes(super), uint64_t{126976} * 512);
  super.size = 126976 + 1023;
  EXPECT_EQ(ComponentBytes(super), uint64_t{126976} * 512);
}

TEST(SuperblockTest, ProvidesRolesAsMdadmDoes) {
  EXPECT_EQ(MaxDevFor(1), 128u);
  EXPECT_EQ(MaxDevFor(128), 128u);
  EXPECT_EQ(MaxDevFor(129), 384u);
  EXPECT_EQ(MaxDevFor(384), 384u);
  EXPECT_EQ(MaxDevFor(385), 640u);
  EXPECT_EQ(MaxDevFor(kMaxDevices), kMaxDevices);
}

TEST(SuperblockTest, NameEndsAtTheFirstNul) {
  Superblock super = SampleSuper();
  EXPECT_EQ(SetName(super), "host:vol");
  super.set_name.fill('x');
  EXPECT_EQ(SetName(super), std::string(32, 'x'));
  super.set_name.fill('\0');
  EXPECT_EQ(SetName(super), "");
}

TEST(SuperblockTest, TimesArePackedAsMdPacksThem) {
  EXPECT_EQ(PackMdTime(1'700'000'000'000'123), (uint64_t{123} << 40) | 1'700'000'000);
  EXPECT_EQ(PackMdTime(999'999), uint64_t{999'999} << 40);
  EXPECT_EQ(MdTimeSeconds((uint64_t{123} << 40) | 1'700'000'000), 1'700'000'000u);
  EXPECT_EQ(MdTimeSeconds(~uint64_t{0}), (uint64_t{1} << 40) - 1);
}

TEST(SuperblockTest, MagicTellsMetadataFromNone) {
  Superblock super{};
  EXPECT_FALSE(HasSuperMagic(super));
  super.magic = kSuperMagic;
  EXPECT_TRUE(HasSuperMagic(super));
}

}  // namespace
}  // namespace mdvol
