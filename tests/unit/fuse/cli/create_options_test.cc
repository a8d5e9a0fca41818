// Tests of what the options of create ask for.

#include "fuse/cli/create_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "core/base/status.h"
#include "core/base/units.h"
#include "core/base/uuid.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

CreateOptions FourMembers() {
  CreateOptions options;
  options.members = {"a", "b", "missing", "d"};
  return options;
}

TEST(CreateOptionsTest, DefaultsAreMdadms) {
  const auto request = ParseCreateOptions(FourMembers());
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->raid_disks, 4U);
  EXPECT_EQ(request->spares, 0U);
  EXPECT_EQ(request->minor, 2);
  EXPECT_EQ(request->layout, Layout::kLeftSymmetric);
  EXPECT_EQ(request->chunk_bytes, 512 * kKiB);
  EXPECT_EQ(request->size_bytes, std::nullopt);
  EXPECT_EQ(request->data_offset_bytes, std::nullopt);
  EXPECT_EQ(request->name, "");
  EXPECT_TRUE(request->bitmap);
  EXPECT_FALSE(request->assume_clean);
  ASSERT_EQ(request->members.size(), 4U);
  EXPECT_EQ(request->members[1].path, "b");
  EXPECT_FALSE(request->members[1].missing);
  EXPECT_TRUE(request->members[2].missing);
}

TEST(CreateOptionsTest, EveryOptionIsTaken) {
  CreateOptions options = FourMembers();
  options.members.insert(options.members.end(), {"e", "f"});
  options.level = "raid6";
  options.raid_devices = std::string("5");
  options.spare_devices = std::string("1");
  options.chunk = "64";
  options.layout = "ra";
  options.metadata = "1.0";
  options.size = "8192";
  options.data_offset = "2M";
  options.name = "host:vol";
  options.uuid = "00010203:04050607:08090a0b:0c0d0e0f";
  options.bitmap = "internal";
  options.bitmap_chunk = "4096";
  options.assume_clean = true;
  const auto request = ParseCreateOptions(options);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->raid_disks, 5U);
  EXPECT_EQ(request->spares, 1U);
  EXPECT_EQ(request->chunk_bytes, 64 * kKiB);
  EXPECT_EQ(request->layout, Layout::kRightAsymmetric);
  EXPECT_EQ(request->minor, 0);
  EXPECT_EQ(request->size_bytes, 8 * kMiB);
  EXPECT_EQ(request->data_offset_bytes, 2 * kMiB);
  EXPECT_EQ(request->name, "host:vol");
  EXPECT_EQ(FormatUuidColons(request->array_uuid), options.uuid);
  EXPECT_EQ(request->bitmap_chunk_bytes, 4 * kMiB);
  EXPECT_TRUE(request->assume_clean);
}

TEST(CreateOptionsTest, WordsOfMdadmAreUnderstood) {
  CreateOptions options = FourMembers();
  options.metadata = std::string("1");
  options.size = "max";
  options.bitmap = "none";
  options.spare_devices = std::string("1");
  options.members.push_back("e");
  const auto request = ParseCreateOptions(options);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->minor, 2);
  EXPECT_EQ(request->size_bytes, std::nullopt);
  EXPECT_FALSE(request->bitmap);
  EXPECT_EQ(request->raid_disks, 4U);  // all that are no spares
  options.metadata = "default";
  EXPECT_EQ(ParseCreateOptions(options)->minor, 2);
}

TEST(CreateOptionsTest, WhatIsWrongIsNamed) {
  struct Wrong {
    std::string CreateOptions::*option;
    const char* value;
    const char* starts;
    const char* says;
  };
  for (const Wrong& wrong : {
           Wrong{&CreateOptions::level, "5", "--level 5", "RAID6"},
           Wrong{&CreateOptions::raid_devices, "four", "--raid-devices", "'four'"},
           Wrong{&CreateOptions::raid_devices, "-1", "--raid-devices", "'-1'"},
           Wrong{&CreateOptions::raid_devices, "4294967300", "--raid-devices", "1920"},
           Wrong{&CreateOptions::spare_devices, "1.5", "--spare-devices", "'1.5'"},
           Wrong{&CreateOptions::spare_devices, "99999", "--spare-devices", "1920"},
           Wrong{&CreateOptions::chunk, "64Q", "--chunk", "unknown unit"},
           Wrong{&CreateOptions::layout, "upside-down", "--layout", "upside-down"},
           Wrong{&CreateOptions::layout, "7", "--layout", "7"},
           Wrong{&CreateOptions::metadata, "0.90", "--metadata 0.90", "1.0, 1.1 or 1.2"},
           Wrong{&CreateOptions::metadata, "1.3", "--metadata 1.3", "1.0, 1.1 or 1.2"},
           Wrong{&CreateOptions::size, "big", "--size", "'big'"},
           Wrong{&CreateOptions::size, "-4M", "--size", "'-4M'"},
           Wrong{&CreateOptions::size, "99999999999T", "--size", "too large"},
           Wrong{&CreateOptions::data_offset, "M", "--data-offset", "'M'"},
           Wrong{&CreateOptions::uuid, "1234", "--uuid", "'1234'"},
           Wrong{&CreateOptions::bitmap, "external", "--bitmap external", "internal or none"},
           Wrong{&CreateOptions::bitmap_chunk, "x", "--bitmap-chunk", "'x'"},
           Wrong{&CreateOptions::name, "two\nlines", "--name", "one line"},
       }) {
    CreateOptions options = FourMembers();
    options.*wrong.option = wrong.value;
    const auto request = ParseCreateOptions(options);
    ASSERT_FALSE(request.ok()) << wrong.starts;
    EXPECT_TRUE(IsUsageError(request.status()));
    EXPECT_THAT(MessageOf(request.status()), StartsWith(wrong.starts));
    EXPECT_THAT(MessageOf(request.status()), HasSubstr(wrong.says));
  }
}

TEST(NameTouchedMembersTest, NamesOnlyMembersThatExistedBefore) {
  const absl::Status status = ErrnoStatus(ENOSPC, "d: write failed");
  CreateRequest request = *ParseCreateOptions(FourMembers());
  EXPECT_EQ(MessageOf(NameTouchedMembers(status, request)), "d: write failed");
  request.members[0].exists = true;
  request.members[3].exists = true;
  const absl::Status named = NameTouchedMembers(status, request);
  EXPECT_EQ(MessageOf(named), "d: write failed (may have been written: a, d)");
  EXPECT_EQ(ErrnoOf(named), ENOSPC);
  EXPECT_FALSE(IsUsageError(named));
}

TEST(CreateOptionsTest, MoreSparesThanMembersAreLeftToThePlan) {
  CreateOptions options = FourMembers();
  options.spare_devices = "10";
  const auto request = ParseCreateOptions(options);
  ASSERT_TRUE(request.ok());
  EXPECT_FALSE(PlanCreate(*request).ok());
}

}  // namespace
}  // namespace mdvol
