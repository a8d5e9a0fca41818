// The assembly decision, case by case: whether what there is may run. What each member is:
// assembly_test.

#include "core/metadata/assembly.h"

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/units.h"
#include "core/geometry/layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/core/metadata/assembly_expect.h"
#include "tests/unit/core/metadata/sample_array.h"

namespace mdvol {
namespace {

using ::mdvol::testing::Decide;
using ::mdvol::testing::ExpectRefused;
using ::mdvol::testing::ExpectRuns;
using ::mdvol::testing::ExpectStanding;
using ::mdvol::testing::GiveBitmap;
using ::mdvol::testing::kSampleEvents;
using ::mdvol::testing::SampleArray;
using ::mdvol::testing::SampleMember;
using ::mdvol::testing::SetBehind;
using ::mdvol::testing::SetDirty;
using ::mdvol::testing::SetRebuilding;
using ::mdvol::testing::SetRole;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Standing = MemberStanding;

constexpr AssemblyOptions kForce{.force = true};
constexpr AssemblyOptions kRun{.run = true};
constexpr AssemblyOptions kReadOnly{.read_only = true};

// ---- Quorum ----

TEST(AssemblyRunTest, KnownToBeDegradedNeedsNoRun) {
  auto reports = SampleArray(5);
  SetRole(reports, 4, kRoleSpare);
  SetRole(reports, 1, kRoleFaulty);
  reports = {reports[0], reports[2], reports[3]};
  const AssemblyDecision decision = ExpectRuns(reports);
  EXPECT_EQ(decision.missing, 2u);
  EXPECT_THAT(decision.slots, ElementsAre(0u, std::nullopt, 1u, 2u, std::nullopt));
}

TEST(AssemblyRunTest, FewerThanLastTimeNeedRun) {
  auto reports = SampleArray(6);
  reports.erase(reports.begin() + 4);
  reports.erase(reports.begin() + 1);
  const std::string words =
      "none that is fresh for slots 1 and 4; name the missing ones too, or "
      "start without them with --run";
  ExpectRefused(reports, words);
  ExpectRefused(reports, words, kReadOnly);
  EXPECT_EQ(ExpectRuns(reports, kRun).missing, 2u);
  const AssemblyDecision forced = ExpectRuns(reports, kForce);
  EXPECT_FALSE(forced.forced);  // there was nothing to force
}

TEST(AssemblyRunTest, MoreThanTwoMissingAreNeverEnough) {
  auto reports = SampleArray(6);
  reports.resize(3);
  for (int bits = 0; bits < 8; ++bits) {
    const AssemblyOptions options{
        .force = (bits & 1) != 0, .run = (bits & 2) != 0, .read_only = (bits & 4) != 0};
    const AssemblyDecision decision =
        ExpectRefused(reports,
                      "too few members: 3 of 6 are in sync, 4 are needed, missing from "
                      "slots 3, 4 and 5",
                      options);
    EXPECT_EQ(decision.missing, 3u);
    EXPECT_EQ(ErrnoOf(decision.status), EIO);
  }
}

// ---- Dirty ----

TEST(AssemblyRunTest, ADirtyWholeArrayRunsAndIsResynced) {
  auto reports = SampleArray(4);
  SetDirty(reports, 2000);
  const AssemblyDecision decision = ExpectRuns(reports);
  EXPECT_TRUE(decision.dirty);
  EXPECT_EQ(decision.resync_bytes, uint64_t{2000} * 512);
  SetDirty(reports, ~uint64_t{1});  // beyond the end, but not the mark of a clean array
  EXPECT_TRUE(ExpectRuns(reports).dirty);
  EXPECT_EQ(ExpectRuns(reports).resync_bytes, 8 * kMiB);
}

TEST(AssemblyRunTest, TheDirtiestOfTheFreshestCounts) {
  auto reports = SampleArray(4);
  reports[2].super.resync_offset = 700;
  reports[3].super.resync_offset = 900;
  EXPECT_EQ(ExpectRuns(reports).resync_bytes, uint64_t{700} * 512);
  SetBehind(reports[2], 1);  // from before the clean mark
  SetBehind(reports[3], 1);
  EXPECT_FALSE(ExpectRuns(reports).dirty);
}

TEST(AssemblyRunTest, DirtyAndDegradedNeedsForce) {
  for (const size_t missing : {size_t{1}, size_t{2}}) {
    auto reports = SampleArray(6);
    SetDirty(reports);
    for (size_t i = 0; i < missing; ++i) SetRole(reports, static_cast<uint32_t>(i), kRoleFaulty);
    reports.erase(reports.begin(), reports.begin() + static_cast<std::ptrdiff_t>(missing));
    const std::string words = missing == 1 ? "no member in sync in slot 0: what is rebuilt"
                                           : "no member in sync in slots 0 and 1: what is rebuilt";
    ExpectRefused(reports, words);
    const AssemblyDecision refused = ExpectRefused(reports, "start it as it is with --force", kRun);
    EXPECT_EQ(ErrnoOf(refused.status), EIO);
    const AssemblyDecision forced = ExpectRuns(reports, kForce);
    EXPECT_TRUE(forced.forced);
    EXPECT_TRUE(forced.dirty);
    EXPECT_THAT(forced.warnings, ElementsAre(HasSubstr("not shut down cleanly")));
    const AssemblyDecision looked_at = ExpectRuns(reports, kReadOnly);
    EXPECT_FALSE(looked_at.forced);
    EXPECT_THAT(looked_at.warnings, ElementsAre(HasSubstr(words)));
  }
}

TEST(AssemblyRunTest, ParityAloneBeingRebuiltDoesNotMakeDirtyDangerous) {
  const struct {
    Layout layout;
    std::vector<size_t> slots;
    bool runs;
  } cases[] = {
      {Layout::kParityLast, {3, 4}, true},      {Layout::kParityLast, {4}, true},
      {Layout::kParityLast, {2, 4}, false},     {Layout::kParityFirst, {0, 1}, true},
      {Layout::kParityFirst, {2}, false},       {Layout::kParityFirst6, {0, 4}, true},
      {Layout::kLeftSymmetric6, {4}, true},     {Layout::kLeftSymmetric6, {0}, false},
      {Layout::kRightAsymmetric6, {4}, true},   {Layout::kLeftSymmetric, {4}, false},
      {Layout::kDdfZeroRestart, {3, 4}, false},
  };
  for (const auto& c : cases) {
    auto reports = SampleArray(5);
    SetDirty(reports);
    for (MemberReport& report : reports) report.super.layout = static_cast<int32_t>(c.layout);
    for (const size_t slot : c.slots) SetRebuilding(reports[slot], 128);
    EXPECT_EQ(Decide(reports).status.ok(), c.runs)
        << LayoutName(c.layout) << " " << c.slots.front();
    // Absent altogether, it is not exempt.
    for (const size_t slot : c.slots) SetRole(reports, static_cast<uint32_t>(slot), kRoleFaulty);
    reports.erase(reports.begin() + static_cast<std::ptrdiff_t>(c.slots.back()));
    EXPECT_FALSE(Decide(reports).status.ok());
  }
}

// ---- Force ----

TEST(AssemblyRunTest, ForceTakesTheNewestStaleMembersThatAreNeeded) {
  auto reports = SampleArray(6);
  SetBehind(reports[1], 10);
  SetBehind(reports[2], 30);
  SetBehind(reports[3], 20);
  const AssemblyDecision refused =
      ExpectRefused(reports,
                    "too few members: 3 of 6 are in sync, 4 are needed, missing from slots "
                    "1, 2 and 3; --force would take d1 (slot 1, events 90 of 100)");
  EXPECT_FALSE(refused.forced);
  const AssemblyDecision decision = ExpectRuns(reports, kForce);
  EXPECT_TRUE(decision.forced);
  EXPECT_TRUE(decision.members[1].forced);
  EXPECT_FALSE(decision.members[0].forced);
  ExpectStanding(decision, 1, Standing::kInSync,
                 "in sync in slot 1 by --force, although 10 events behind (events 90 of 100)");
  ExpectStanding(decision, 2, Standing::kStale, "30 events behind");
  ExpectStanding(decision, 3, Standing::kStale, "20 events behind");
  EXPECT_EQ(decision.missing, 2u);
  EXPECT_TRUE(decision.dirty);
  EXPECT_EQ(decision.resync_bytes, 0u);
  EXPECT_EQ(decision.reference, 0u);
  EXPECT_THAT(decision.warnings.front(), HasSubstr("d1: in sync in slot 1 by --force"));
}

TEST(AssemblyRunTest, ForceTakesAllOfTheSameAge) {
  auto reports = SampleArray(6);
  for (const size_t i : {1ul, 2ul, 3ul}) SetBehind(reports[i], 10);
  const AssemblyDecision decision = ExpectRuns(reports, kForce);
  EXPECT_EQ(decision.missing, 0u);
  for (const size_t i : {1ul, 2ul, 3ul}) EXPECT_TRUE(decision.members[i].forced);
}

TEST(AssemblyRunTest, ForceTakesFailedMembersToo) {
  auto reports = SampleArray(4);
  for (const uint32_t i : {1u, 2u, 3u}) {
    SetRole(reports[0], i, kRoleFaulty);
    SetBehind(reports[i], 1);
  }
  ExpectRefused(reports, "--force would take d1 (slot 1, events 99 of 100), d2");
  const AssemblyDecision decision = ExpectRuns(reports, kForce);
  EXPECT_EQ(decision.missing, 0u);
}

TEST(AssemblyRunTest, ForceMakesTheFreshestKnowThoseThatContradictIt) {
  auto reports = SampleArray(4);
  for (const uint32_t i : {1u, 2u, 3u}) {
    SetRole(reports[i], 0, kRoleFaulty);
    SetBehind(reports[i], 1);
  }
  ExpectRefused(reports, "too few members: 1 of 4");
  EXPECT_TRUE(ExpectRuns(reports, kForce).forced);
}

TEST(AssemblyRunTest, ForceDoesNothingWhenItWouldNotBeEnough) {
  auto reports = SampleArray(6);
  for (const size_t i : {1ul, 2ul}) SetBehind(reports[i], 10);
  reports = {reports[0], reports[1], reports[2]};
  const AssemblyDecision decision =
      ExpectRefused(reports, "no stale member could fill them, even with --force", kForce);
  EXPECT_FALSE(decision.forced);
  EXPECT_EQ(decision.members[1].standing, Standing::kStale);
}

TEST(AssemblyRunTest, ForceLeavesWhatCannotHelp) {
  auto reports = SampleArray(5);
  for (const size_t i : {1ul, 2ul, 3ul}) SetBehind(reports[i], 10);
  SetRebuilding(reports[1], 16384);  // was never whole
  reports[2].super.size = 128;       // another shape
  reports[3].super.feature_map = kFeatureReplacement;
  ExpectRefused(reports, "too few members: 2 of 5", kForce);
  reports = SampleArray(5);
  for (const size_t i : {1ul, 2ul, 3ul}) SetBehind(reports[i], 10);
  reports.push_back(SampleMember(reports[0], 8));
  SetBehind(reports[5], 10);
  SetRole(reports[5], 8, 2);  // of the same age as d2 in the same slot: which one is right?
  const AssemblyDecision decision = ExpectRuns(reports, kForce);
  EXPECT_EQ(decision.slots[2], std::nullopt);
  EXPECT_TRUE(decision.members[1].forced);
  EXPECT_TRUE(decision.members[3].forced);
}

TEST(AssemblyRunTest, ForceTakesTheNewerOfTwoStaleClaims) {
  auto reports = SampleArray(5);
  for (const size_t i : {1ul, 2ul, 3ul}) SetBehind(reports[i], 10);
  reports.push_back(SampleMember(reports[0], 8));
  SetBehind(reports[5], 9);
  SetRole(reports[5], 8, 2);
  const AssemblyDecision decision = ExpectRuns(reports, kForce);
  EXPECT_EQ(decision.slots[2], 5u);
  EXPECT_EQ(decision.members[2].standing, Standing::kStale);
}

TEST(AssemblyRunTest, ForceDoesNotPushOutAMemberBeingRebuilt) {
  auto reports = SampleArray(5);
  reports.push_back(SampleMember(reports[0], 8));
  SetRole(reports, 8, 2);
  SetRole(reports, 2, kRoleFaulty);
  SetRole(reports[2], 2, 2);
  SetRebuilding(reports[5], 128);
  for (const size_t i : {1ul, 2ul, 3ul}) SetBehind(reports[i], 10);
  const AssemblyDecision decision = ExpectRuns(reports, kForce);
  EXPECT_EQ(decision.slots[2], 5u);
  EXPECT_EQ(decision.members[2].standing, Standing::kStale);
}

TEST(AssemblyRunTest, ForceCanBringBackAnArrayWithoutAnyFreshMemberInSync) {
  auto reports = SampleArray(4);
  for (const size_t i : {1ul, 2ul, 3ul}) SetBehind(reports[i], 10);
  SetRebuilding(reports[0], 128);
  ExpectRefused(reports, "too few members: 0 of 4");
  const AssemblyDecision decision = ExpectRuns(reports, kForce);
  EXPECT_EQ(decision.reference, 1u);
  EXPECT_EQ(decision.freshest, 0u);
  EXPECT_EQ(decision.missing, 1u);
}

// ---- Bitmap ----

TEST(AssemblyRunTest, TheReferencesBitmapMustVouch) {
  auto reports = SampleArray(4);
  GiveBitmap(reports);
  EXPECT_TRUE(ExpectRuns(reports).bitmap_usable);
  GiveBitmap(reports, kSampleEvents + 1);
  EXPECT_TRUE(ExpectRuns(reports).bitmap_usable);
  GiveBitmap(reports, kSampleEvents - 1);
  const AssemblyDecision stale = ExpectRuns(reports);
  EXPECT_FALSE(stale.bitmap_usable);
  EXPECT_THAT(stale.warnings, ElementsAre(HasSubstr("the bitmap (events 99, state 0) does not")));
  GiveBitmap(reports);
  reports[0].bitmap->state = kBitmapStale;
  EXPECT_TRUE(ExpectRuns(reports).bitmap_usable);  // another member's is better: it is asked
  EXPECT_EQ(ExpectRuns(reports).reference, 1u);
  for (MemberReport& report : reports) report.bitmap.reset();
  const AssemblyDecision none = ExpectRuns(reports);
  EXPECT_FALSE(none.bitmap_usable);
  EXPECT_THAT(none.warnings, ElementsAre(HasSubstr("damaged or missing")));
}

TEST(AssemblyRunTest, ForcedMembersMakeTheBitmapUseless) {
  auto reports = SampleArray(4);
  GiveBitmap(reports);
  for (const size_t i : {1ul, 2ul, 3ul}) SetBehind(reports[i], 10);
  EXPECT_FALSE(ExpectRuns(reports, kForce).bitmap_usable);
}

TEST(AssemblyRunTest, ABitmapOlderThanAFresherMemberBeingRebuiltIsUseless) {
  auto reports = SampleArray(4);
  for (const size_t i : {0ul, 1ul, 2ul}) SetBehind(reports[i], 1);
  SetRebuilding(reports[3], 0);
  GiveBitmap(reports, kSampleEvents - 1);
  EXPECT_FALSE(ExpectRuns(reports).bitmap_usable);
  GiveBitmap(reports, kSampleEvents);  // md writes it first
  EXPECT_TRUE(ExpectRuns(reports).bitmap_usable);
}

// ---- Journal ----

std::vector<MemberReport> WithJournal() {
  auto reports = SampleArray(4);
  reports.push_back(SampleMember(reports[0], 4));
  for (MemberReport& report : reports) report.super.feature_map = kFeatureJournal;
  SetRole(reports, 4, kRoleJournal);
  return reports;
}

TEST(AssemblyRunTest, AJournalStandsBesideTheSlots) {
  const AssemblyDecision decision = ExpectRuns(WithJournal());
  ExpectStanding(decision, 4, Standing::kJournal, "d4: write journal, events 100");
  EXPECT_EQ(decision.members[4].slot, std::nullopt);
  EXPECT_EQ(decision.missing, 0u);
}

TEST(AssemblyRunTest, WithoutItsJournalAnArrayIsReadOnly) {
  auto reports = WithJournal();
  reports.pop_back();
  ExpectRefused(reports, "write journal is missing: name it too, or look at the array with");
  ExpectRefused(reports, "write journal is missing", {.force = true, .run = true});
  EXPECT_THAT(ExpectRuns(reports, kReadOnly).warnings,
              ElementsAre(HasSubstr("write journal is missing")));
}

TEST(AssemblyRunTest, AStaleJournalIsNone) {
  auto reports = WithJournal();
  SetBehind(reports[4], 2);
  const AssemblyDecision decision = ExpectRefused(reports, "write journal is missing");
  ExpectStanding(decision, 4, Standing::kStale, "2 events behind");
  SetBehind(reports[4], 1);
  ExpectRuns(reports);
  for (size_t i = 0; i < 4; ++i) SetRole(reports[i], 4, kRoleFaulty);
  ExpectStanding(ExpectRefused(reports, "write journal"), 4, Standing::kStale, "has failed");
}

TEST(AssemblyRunTest, AJournalThatTheArrayDoesNotHaveIsLeftOut) {
  auto reports = WithJournal();
  for (MemberReport& report : reports) report.super.feature_map = 0;
  ExpectStanding(ExpectRuns(reports), 4, Standing::kForeign, "but the array has none");
}

TEST(AssemblyRunTest, TwoJournalsAreRefused) {
  auto reports = WithJournal();
  SetRole(reports, 5, kRoleJournal);
  reports.push_back(SampleMember(reports[4], 5));
  ExpectRefused(reports, "d4 and d5 are both the array's write journal");
}

TEST(AssemblyRunTest, AJournalMayBeTheFreshestButNotTheReference) {
  auto reports = WithJournal();
  for (size_t i = 0; i < 4; ++i) SetBehind(reports[i], 1);
  const AssemblyDecision decision = ExpectRuns(reports);
  EXPECT_EQ(decision.freshest, 4u);
  EXPECT_EQ(decision.reference, 0u);
  for (size_t i = 0; i < 4; ++i) SetBehind(reports[i], 2);
  ExpectRefused(reports, "too few members: 0 of 4");
}

}  // namespace
}  // namespace mdvol
