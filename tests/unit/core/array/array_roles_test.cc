// I7: who has a slot is said once, by the members as they were judged. What a table on some disk
// says beyond that is not handed on: a spare is never written down as a member in sync, and a
// member that --force took is one from then on.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/base/units.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::TestArray;

const std::vector<size_t> kAllButTwo = {0, 1, 3, 4, 5};
constexpr size_t kSpare = 6;

// An array with something in it and one spare, stopped.
void Prepare(TestArray& array) {
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  MDVOL_ASSERT_OK(array.Stop());
}

void ChangeSupers(TestArray& array, const std::vector<size_t>& disks,
                  const std::function<void(Superblock&)>& change) {
  for (const size_t disk : disks) {
    Superblock super = array.super(disk);
    change(super);
    array.PutSuper(disk, super);
    if (array.spec().bitmap) {
      BitmapSuperblock bitmap = array.bitmap_super(disk);
      bitmap.events = super.events;
      array.PutBitmapSuper(disk, bitmap);
    }
  }
}

std::vector<std::byte> DataOf(TestArray& array, size_t disk) {
  return array.disks().Bytes(disk, array.areas(disk).data.begin, array.areas(disk).data.size());
}

void Spoil(TestArray& array, size_t disk) {
  std::vector<std::byte> noise(array.areas(disk).data.size());
  array.prng().Fill(noise);
  array.disks().Put(disk, array.areas(disk).data.begin, noise);
}

// Written to and opened again, the array serves what was written.
void ExpectSurvivesAnotherLife(TestArray& array, const std::vector<size_t>& disks,
                               uint32_t degraded) {
  MDVOL_ASSERT_OK(array.Write(0, 100000));
  EXPECT_EQ(array.CheckSupers(), "");
  MDVOL_ASSERT_OK(array.Stop());
  MDVOL_ASSERT_OK(array.Open(disks));
  EXPECT_EQ(array->Snapshot().degraded, degraded);
  EXPECT_EQ(array.CheckVolume(), "");
  MDVOL_ASSERT_OK(array.Stop());
}

// The kernel had put the spare into the slot, and went away before the spare's own superblock.
TEST(ArrayRolesTest, ASpareThatWasOnlyChosenForASlotIsNoMemberInSync) {
  for (const bool bitmap : {true, false}) {
    TestArray array({.spares = 1, .bitmap = bitmap});
    Prepare(array);
    Spoil(array, kSpare);
    ChangeSupers(array, kAllButTwo, [](Superblock& super) {
      super.events = super.events + 1;
      super.dev_roles[2] = kRoleFaulty;
      super.dev_roles[6] = 2;
    });
    MDVOL_ASSERT_OK(array.Open({0, 1, 3, 4, 5, 6}));
    EXPECT_EQ(array->Snapshot().degraded, 1U);
    MDVOL_ASSERT_OK(array.Write(5000, 5000));
    for (const size_t disk : {0U, 5U, 6U}) {
      EXPECT_EQ(array.super(disk).dev_roles[6], kRoleSpare);
      EXPECT_EQ(array.super(disk).dev_roles[2], kRoleFaulty);
    }
    ExpectSurvivesAnotherLife(array, {0, 1, 3, 4, 5, 6}, 1);
  }
}

// md gives numbers out again: a spare that was removed has the number of who came after it.
class NumberAgainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Prepare(array_);
    Spoil(array_, kSpare);
    Superblock super = array_.super(kSpare);
    super.dev_number = 2;
    super.dev_roles.fill(kRoleSpare);
    array_.PutSuper(kSpare, super);
    ChangeSupers(array_, {0, 1, 2, 3, 4, 5},
                 [](Superblock& changed) { changed.events = changed.events + 6; });
  }

  TestArray array_{ArraySpec{.spares = 1}};
};

TEST_F(NumberAgainTest, ASpareOfAMissingMembersNumberDoesNotHideTheLoss) {
  const absl::Status status = array_.Open({0, 1, 3, 4, 5, 6});
  MDVOL_EXPECT_ERRNO(status, EIO);
  EXPECT_TRUE(absl::StrContains(MessageOf(status), "--run")) << status;
  MDVOL_ASSERT_OK(array_.Open({0, 1, 3, 4, 5, 6}, {.run = true}));
  EXPECT_EQ(array_->Snapshot().degraded, 1U);
  MDVOL_ASSERT_OK(array_.Write(5000, 5000));
  EXPECT_EQ(array_.super(0).dev_roles[2], kRoleSpare);
  EXPECT_EQ(array_.super(kSpare).dev_roles[2], kRoleSpare);
  ExpectSurvivesAnotherLife(array_, {0, 1, 3, 4, 5, 6}, 1);
  MDVOL_ASSERT_OK(array_.Open());  // the missing one is back: too late, and no reason to refuse
  EXPECT_EQ(array_->Snapshot().degraded, 1U);
  EXPECT_EQ(array_.CheckVolume(), "");
}

TEST_F(NumberAgainTest, ASpareOfAPresentMembersNumberIsLeftOut) {
  MDVOL_ASSERT_OK(array_.Open());
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_->Snapshot().members.size(), 6U);
  EXPECT_TRUE(absl::StrContains(array_.EventText("member left out"), "d6")) << "";
  ExpectSurvivesAnotherLife(array_, {}, 0);
}

// A replacement that is whole takes the slot; what the member that was being rebuilt there holds is
// worth nothing from then on, and it must not be found in the slot again.
TEST(ArrayRolesTest, AMemberWhosePlaceWasTakenIsASpareOnItsDiskToo) {
  TestArray array({.spares = 1});
  Prepare(array);
  array.disks().Put(kSpare, array.areas(kSpare).data.begin, DataOf(array, 2));
  ChangeSupers(array, {0, 1, 2, 3, 4, 5, 6}, [](Superblock& super) {
    super.dev_roles[6] = 2;
    if (super.dev_number == 6U) {
      super.feature_map = super.feature_map | kFeatureReplacement;
    }
    if (super.dev_number == 2U) {
      super.feature_map = super.feature_map | kFeatureRecoveryOffset;
      super.recovery_offset = 64;
    }
  });
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(array->Snapshot().degraded, 0U);
  MDVOL_ASSERT_OK(array.Write(5000, 5000));
  for (const size_t disk : {0U, 2U, 6U}) {
    EXPECT_EQ(array.super(disk).dev_roles[2], kRoleSpare);
    EXPECT_EQ(array.super(disk).dev_roles[6], 2U);
    EXPECT_FALSE(array.super(disk).has_feature(kFeatureRecoveryOffset | kFeatureReplacement));
  }
  ExpectSurvivesAnotherLife(array, {}, 0);
  // Without the replacement the slot is empty.
  MDVOL_ASSERT_OK(array.Open({0, 1, 2, 3, 4, 5}, {.run = true}));
  EXPECT_EQ(array->Snapshot().degraded, 1U);
  EXPECT_EQ(array.CheckVolume(), "");
}

TEST(ArrayRolesTest, MembersThatForceTookAreMembersFromThenOn) {
  TestArray array;
  Prepare(array);
  ChangeSupers(array, {0, 1, 2}, [](Superblock& super) {
    super.events = super.events + 10;
    for (const size_t lost : {3U, 4U, 5U}) {
      super.dev_roles[lost] = kRoleFaulty;
    }
  });
  MDVOL_EXPECT_ERRNO(array.Open(), EIO);
  MDVOL_ASSERT_OK(array.Open({}, {.force = true}));
  EXPECT_EQ(array->Snapshot().degraded, 0U);
  MDVOL_ASSERT_OK(array.Write(5000, 5000));
  for (const size_t disk : {0U, 4U}) {
    for (uint16_t slot = 0; slot < 6; ++slot) {
      EXPECT_EQ(array.super(disk).dev_roles[slot], slot);
    }
  }
  ExpectSurvivesAnotherLife(array, {}, 0);
}

// Numbers that were faulty stay so, whoever else comes.
TEST(ArrayRolesTest, WhoIsNotThereStaysFaulty) {
  TestArray array;
  Prepare(array);
  ChangeSupers(array, {0, 1, 2, 3, 4, 5},
               [](Superblock& super) { super.dev_roles[9] = kRoleFaulty; });
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 1));
  EXPECT_EQ(array.super(0).dev_roles[9], kRoleFaulty);
  EXPECT_EQ(array.super(0).dev_roles[8], kRoleSpare);
}

}  // namespace
}  // namespace mdvol
