// The assembly decision, case by case: what each member is. assembly_run_test goes on with whether
// the array runs, assembly_table_test enumerates small arrays, assembly_property_test tries random
// ones.

#include "core/metadata/assembly.h"

#include <cerrno>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/base/units.h"
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
using ::mdvol::testing::kSampleEvents;
using ::mdvol::testing::SampleArray;
using ::mdvol::testing::SampleMember;
using ::mdvol::testing::SetBehind;
using ::mdvol::testing::SetDirty;
using ::mdvol::testing::SetRebuilding;
using ::mdvol::testing::SetRole;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Standing = MemberStanding;

constexpr AssemblyOptions kForce{.force = true};
constexpr AssemblyOptions kRun{.run = true};

TEST(AssemblyTest, AWholeCleanArrayRuns) {
  const AssemblyDecision decision = ExpectRuns(SampleArray(5));
  EXPECT_THAT(decision.slots, ElementsAre(0u, 1u, 2u, 3u, 4u));
  EXPECT_EQ(decision.reference, 0u);
  EXPECT_EQ(decision.freshest, 0u);
  EXPECT_EQ(decision.events, kSampleEvents);
  EXPECT_EQ(decision.missing, 0u);
  EXPECT_FALSE(decision.dirty);
  EXPECT_FALSE(decision.forced);
  EXPECT_FALSE(decision.bitmap_usable);
  EXPECT_THAT(decision.warnings, IsEmpty());
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(decision.members[i].slot, i);
    EXPECT_FALSE(decision.members[i].is_replacement);
  }
  EXPECT_EQ(decision.members[3].reason, "d3: in sync in slot 3, events 100");
}

TEST(AssemblyTest, NothingIsRefusedPolitely) {
  EXPECT_TRUE(IsUsageError(DecideAssembly({}, {}).status));
}

// ---- Freshness ----

TEST(AssemblyTest, OneEventBehindIsFresh) {
  auto reports = SampleArray(4);
  SetBehind(reports[0], 1);
  const AssemblyDecision decision = ExpectRuns(reports);
  ExpectStanding(decision, 0, Standing::kInSync, "events 99 of 100");
  EXPECT_EQ(decision.reference, 1u);
}

TEST(AssemblyTest, TwoEventsBehindIsStale) {
  auto reports = SampleArray(5);
  SetBehind(reports[2], 2);
  const AssemblyDecision decision = ExpectRefused(
      reports, "fewer members than were active last time: none that is fresh for slot 2");
  ExpectStanding(decision, 2, Standing::kStale,
                 "left out: 2 events behind d0 (98 of 100); --force takes it only if");
  EXPECT_EQ(decision.slots[2], std::nullopt);
  const AssemblyDecision run = ExpectRuns(reports, kRun);
  EXPECT_EQ(run.missing, 1u);
  EXPECT_FALSE(run.dirty);
  // Not needed, so not taken.
  EXPECT_EQ(ExpectRuns(reports, kForce).members[2].standing, Standing::kStale);
}

TEST(AssemblyTest, EventsAtTheEndsOfTheirRangeDoNotWrap) {
  auto reports = SampleArray(4);
  for (MemberReport& report : reports) report.super.events = 0;
  ExpectRuns(reports);
  reports[1].super.events = ~uint64_t{0};
  ExpectStanding(Decide(reports), 0, Standing::kStale, "18446744073709551615 events behind d1");
  for (MemberReport& report : reports) report.super.events = ~uint64_t{0};
  reports[2].super.events = ~uint64_t{0} - 1;
  ExpectRuns(reports);
}

TEST(AssemblyTest, OneEventBehindTakesItsRoleFromTheFreshest) {
  auto reports = SampleArray(5);
  SetRole(reports, 2, kRoleFaulty);
  SetRole(reports[2], 2, 2);  // it was not told
  SetBehind(reports[2], 1);
  const AssemblyDecision decision = ExpectRuns(reports);  // known to be gone: no --run needed
  ExpectStanding(decision, 2, Standing::kStale, "d0 says that it has failed (events 99 of 100)");
  EXPECT_EQ(decision.missing, 1u);
}

TEST(AssemblyTest, OneEventBehindAndRemovedIsLeftOut) {
  auto reports = SampleArray(5);
  SetRole(reports, 2, kRoleSpare);
  SetRole(reports[2], 2, 2);
  SetBehind(reports[2], 1);
  ExpectStanding(ExpectRuns(reports), 2, Standing::kStale, "d0 says that it was removed");
}

TEST(AssemblyTest, ASlotThatIsGivenToAnotherPlaceIsForeign) {
  auto reports = SampleArray(5);
  SetRole(reports, 2, 4);
  SetRole(reports, 4, kRoleSpare);
  SetRole(reports[2], 2, 2);
  SetBehind(reports[2], 1);
  reports.pop_back();
  ExpectStanding(Decide(reports), 2, Standing::kForeign,
                 "d0 says that its place is slot 4, but its own superblock says 2");
}

// A member that missed the write of a clean mark, for which events step back, is as fresh as the
// others when they fail it.
TEST(AssemblyTest, AMemberThatDoesNotKnowItHasFailedIsNoWitness) {
  for (const size_t lone : {size_t{0}, size_t{4}}) {
    auto reports = SampleArray(5);
    SetRole(reports, static_cast<uint32_t>(lone), kRoleFaulty);
    SetRole(reports[lone], static_cast<uint32_t>(lone), static_cast<uint16_t>(lone));
    const AssemblyDecision decision = ExpectRuns(reports);
    ExpectStanding(decision, lone, Standing::kStale, "says that it has failed (events 100)");
    EXPECT_NE(decision.freshest, lone);
    EXPECT_EQ(decision.missing, 1u);
  }
}

// Not even when only one of the others has noticed.
TEST(AssemblyTest, AnyWitnessCanContradictAMember) {
  auto reports = SampleArray(5);
  SetRole(reports[4], 2, kRoleFaulty);
  SetBehind(reports[2], 1);
  const AssemblyDecision decision = ExpectRuns(reports, {.run = true});
  EXPECT_EQ(decision.freshest, 0u);  // whose table still has it
  ExpectStanding(decision, 2, Standing::kStale, "d4 says that it has failed");
}

TEST(AssemblyTest, AmongTheFreshestAMemberInSyncIsBelievedFirst) {
  auto reports = SampleArray(5);
  SetRebuilding(reports[0], 128);
  EXPECT_EQ(ExpectRuns(reports).freshest, 1u);
}

// A spare that was just put into a slot is news to those who missed the last update.
TEST(AssemblyTest, NotKnowingAFreshlyChosenMemberIsNoContradiction) {
  auto reports = SampleArray(5);
  reports.push_back(SampleMember(reports[0], 7));
  SetRole(reports, 2, kRoleFaulty);
  SetRole(reports[5], 7, 2);
  SetRebuilding(reports[5], 0);
  for (const size_t i : {0ul, 1ul, 3ul, 4ul}) SetBehind(reports[i], 1);
  reports.erase(reports.begin() + 2);
  const AssemblyDecision decision = ExpectRuns(reports);
  EXPECT_EQ(decision.freshest, 4u);
  EXPECT_EQ(decision.slots[2], 4u);
  EXPECT_EQ(decision.missing, 1u);
}

TEST(AssemblyTest, TwoPartsThatFailedEachOtherAreRefused) {
  auto reports = SampleArray(4);
  for (const uint32_t i : {0u, 1u}) {
    SetRole(reports[i], 2, kRoleFaulty);
    SetRole(reports[i], 3, kRoleFaulty);
    SetRole(reports[i + 2], 0, kRoleFaulty);
    SetRole(reports[i + 2], 1, kRoleFaulty);
  }
  const char* const words = "d0 and d2 each say that the other is out of the array (events 100)";
  ExpectRefused(reports, words);
  ExpectRefused(reports, words, {.force = true, .run = true});
  reports.resize(2);
  EXPECT_EQ(ExpectRuns(reports).missing, 2u);
}

TEST(AssemblyTest, VotersThatDisagreeInACircleAreRefused) {
  auto reports = SampleArray(5);
  for (uint32_t i = 0; i < 5; ++i) SetRole(reports[i], (i + 1) % 5, kRoleFaulty);
  ExpectRefused(reports, "do not agree on who is in the array");
}

TEST(AssemblyTest, AMemberThatSaysTheFreshestHasFailedIsLeftOut) {
  auto reports = SampleArray(5);
  SetBehind(reports[3], 1);
  SetRole(reports[3], 0, kRoleFaulty);
  const AssemblyDecision decision = ExpectRuns(reports, kRun);
  ExpectStanding(decision, 3, Standing::kStale, "it says that d0 is out of the array");
}

TEST(AssemblyTest, AFailedMemberKnowsItself) {
  auto reports = SampleArray(5);
  SetRole(reports, 1, kRoleFaulty);
  const AssemblyDecision decision = ExpectRuns(reports);
  ExpectStanding(decision, 1, Standing::kStale, "its own superblock says that it has failed");
}

// ---- Spares ----

TEST(AssemblyTest, SparesNeverDecide) {
  auto reports = SampleArray(5);
  reports.push_back(SampleMember(reports[0], 5));
  reports[5].super.events = 1'000'000;
  SetRole(reports[5], 0, kRoleFaulty);
  SetDirty(reports, kResyncDone);
  reports[5].super.resync_offset = 0;
  const AssemblyDecision decision = ExpectRuns(reports);
  ExpectStanding(decision, 5, Standing::kSpare, "d5: spare");
  EXPECT_EQ(decision.events, kSampleEvents);
  EXPECT_FALSE(decision.dirty);
  EXPECT_EQ(decision.missing, 0u);
}

TEST(AssemblyTest, SparesMayBeOld) {
  auto reports = SampleArray(4);
  reports.push_back(SampleMember(reports[0], 4));
  reports[4].super.events = 0;
  reports[4].super.raid_disks = 3;  // from before a reshape
  reports[4].super.size = 128;
  ExpectStanding(ExpectRuns(reports), 4, Standing::kSpare, "spare");
}

TEST(AssemblyTest, ASpareThatWasChosenForASlotIsStillASpare) {
  auto reports = SampleArray(5);
  reports.push_back(SampleMember(reports[0], 5));
  SetRole(reports, 2, kRoleFaulty);
  SetRole(reports, 5, 2);
  SetRole(reports[5], 5, kRoleSpare);  // the crash came before its own superblock
  SetBehind(reports[5], 1);
  reports.erase(reports.begin() + 2);
  const AssemblyDecision decision = ExpectRuns(reports);
  ExpectStanding(decision, 4, Standing::kSpare, "chosen for slot 2, nothing rebuilt yet");
  EXPECT_EQ(decision.slots[2], std::nullopt);
  EXPECT_EQ(decision.missing, 1u);
}

// Numbers are given out again. The spare left before the member of its number came.
TEST(AssemblyTest, AnOldSpareDoesNotStandForTheMemberThatHasItsNumberNow) {
  auto reports = SampleArray(5);
  reports.push_back(SampleMember(reports[0], 5));
  reports[5].super.dev_number = 2;
  SetRole(reports[5], 2, kRoleSpare);
  SetBehind(reports[5], 2);
  const AssemblyDecision whole = ExpectRuns(reports);
  ExpectStanding(whole, 5, Standing::kForeign, "whose number, 2, another member has got since");
  EXPECT_EQ(whole.missing, 0u);
  reports.erase(reports.begin() + 2);
  ExpectRefused(reports, "none that is fresh for slot 2");
  ExpectStanding(ExpectRuns(reports, kRun), 4, Standing::kSpare, "spare");
}

TEST(AssemblyTest, OfTwoSparesOfOneNumberTheFresherStays) {
  auto reports = SampleArray(4);
  for (const uint32_t i : {4u, 5u}) {
    reports.push_back(SampleMember(reports[0], i));
    reports[i].super.dev_number = 4;
  }
  SetBehind(reports[4], 1);
  const AssemblyDecision decision = ExpectRuns(reports);
  ExpectStanding(decision, 4, Standing::kForeign, "left out: a spare whose number");
  ExpectStanding(decision, 5, Standing::kSpare, "spare");
}

TEST(AssemblyTest, AReplacementOfTheNumberOfItsOriginalIsRefused) {
  auto reports = SampleArray(4);
  reports.push_back(SampleMember(reports[0], 4));
  reports[4].super.dev_number = 1;
  reports[4].super.feature_map = reports[4].super.feature_map | kFeatureReplacement;
  ExpectRefused(reports, "both claim slot 1");
}

TEST(AssemblyTest, ForceTakesNoMemberWhoseNumberAnotherHasNow) {
  auto reports = SampleArray(5);
  for (const uint32_t i : {2u, 3u, 4u}) {
    SetBehind(reports[i], 20);
    for (const uint32_t fresh : {0u, 1u}) SetRole(reports[fresh], i, kRoleFaulty);
  }
  reports[3].super.dev_number = 1;  // slot 1 by its own table, long ago
  SetRole(reports[3], 1, 3);
  const AssemblyDecision decision = ExpectRuns(reports, {.force = true});
  EXPECT_FALSE(decision.slots[3].has_value());
  EXPECT_EQ(decision.missing, 1u);
}

TEST(AssemblyTest, AFailedSpareIsLeftOut) {
  auto reports = SampleArray(4);
  SetRole(reports, 4, kRoleFaulty);
  reports.push_back(SampleMember(reports[0], 4));
  SetRole(reports[4], 4, kRoleSpare);
  ExpectStanding(ExpectRuns(reports), 4, Standing::kStale, "says that it has failed");
}

TEST(AssemblyTest, ASpareOfAnotherShapeIsLeftOut) {
  auto reports = SampleArray(4);
  reports.push_back(SampleMember(reports[0], 4));
  reports[4].super.chunksize = 256;
  ExpectStanding(ExpectRuns(reports), 4, Standing::kForeign,
                 "a spare with chunksize 256, but d0 has chunksize 128");
}

TEST(AssemblyTest, SparesAndFailedMembersAloneAreNoArray) {
  auto reports = SampleArray(4);
  for (uint32_t i = 0; i < 3; ++i) SetRole(reports[i], i, kRoleSpare);
  SetRole(reports[3], 3, kRoleFaulty);
  const AssemblyDecision decision = ExpectRefused(reports, "spares and failed members alone");
  ExpectStanding(decision, 0, Standing::kSpare, "d0: spare");
  ExpectStanding(decision, 3, Standing::kStale, "failed");
  ExpectRefused(reports, "spares", {.force = true, .run = true, .read_only = true});
}

TEST(AssemblyTest, RolesThatAreNoneAreSpares) {
  for (const uint16_t role : {uint16_t{4}, uint16_t{0xfe00}, uint16_t{0xff00}, uint16_t{0xfffc}}) {
    auto reports = SampleArray(4);
    reports.push_back(SampleMember(reports[0], 4));
    SetRole(reports[4], 4, role);
    ExpectStanding(ExpectRuns(reports), 4, Standing::kSpare, "spare");
    reports[4].super.dev_number = 0xffffffff;
    ExpectStanding(ExpectRuns(reports), 4, Standing::kSpare, "spare");
  }
}

// ---- Members being rebuilt ----

TEST(AssemblyTest, AMemberBeingRebuiltIsInItsSlotButNotInSync) {
  auto reports = SampleArray(5);
  SetRebuilding(reports[1], 4097);
  const AssemblyDecision decision = ExpectRuns(reports);
  ExpectStanding(decision, 1, Standing::kRecovering,
                 "d1: being rebuilt in slot 1, 25% done, events 100");
  EXPECT_EQ(decision.members[1].slot, 1u);
  EXPECT_EQ(decision.members[1].recovery_bytes, 2 * kMiB + 512);
  EXPECT_EQ(decision.slots[1], 1u);
  EXPECT_EQ(decision.missing, 1u);
}

TEST(AssemblyTest, RebuiltBytesEndWithTheComponent) {
  for (const uint64_t sectors : {uint64_t{16384}, uint64_t{16385}, ~uint64_t{0}}) {
    auto reports = SampleArray(5);
    SetRebuilding(reports[1], sectors);
    const AssemblyDecision decision = ExpectRuns(reports);
    EXPECT_EQ(decision.members[1].recovery_bytes, 8 * kMiB);
    ExpectStanding(decision, 1, Standing::kRecovering, "99% done");
  }
}

TEST(AssemblyTest, AMemberBeingRebuiltMayBeTheFreshestButNotTheReference) {
  auto reports = SampleArray(5);
  for (const size_t i : {0ul, 2ul, 3ul, 4ul}) SetBehind(reports[i], 1);
  SetRole(reports[1], 4, kRoleFaulty);
  SetRebuilding(reports[1], 0);
  const AssemblyDecision decision = ExpectRuns(reports);
  EXPECT_EQ(decision.freshest, 1u);
  EXPECT_EQ(decision.reference, 0u);
  EXPECT_EQ(decision.events, kSampleEvents);
  ExpectStanding(decision, 4, Standing::kStale, "d1 says that it has failed (events 99 of 100)");
  ExpectStanding(decision, 0, Standing::kInSync, "events 99 of 100");
  for (const size_t i : {0ul, 2ul, 3ul, 4ul}) SetBehind(reports[i], 2);
  ExpectRefused(reports, "too few members: 0 of 5 are in sync");
}

TEST(AssemblyTest, MembersBeingRebuiltDoNotCountForTheQuorum) {
  auto reports = SampleArray(5);
  for (const size_t i : {1ul, 2ul, 3ul}) SetRebuilding(reports[i], 16000);
  ExpectRefused(reports,
                "too few members: 2 of 5 are in sync, 3 are needed, missing from slots 1, "
                "2 and 3; --force would not help");
  ExpectRefused(reports, "no stale member could fill them, even with --force", kForce);
}

// ---- Replacements ----

std::vector<MemberReport> WithReplacement(bool rebuilding) {
  auto reports = SampleArray(4);
  reports.push_back(SampleMember(reports[0], 6));
  SetRole(reports, 6, 2);
  reports[4].super.feature_map = kFeatureReplacement;
  if (rebuilding) SetRebuilding(reports[4], 128);
  return reports;
}

TEST(AssemblyTest, AReplacementSharesItsSlot) {
  const AssemblyDecision decision = ExpectRuns(WithReplacement(true));
  EXPECT_EQ(decision.slots[2], 2u);
  EXPECT_TRUE(decision.members[4].is_replacement);
  EXPECT_EQ(decision.members[4].slot, 2u);
  ExpectStanding(decision, 4, Standing::kRecovering, "to replace d2");
  EXPECT_EQ(decision.missing, 0u);
  const AssemblyDecision whole = ExpectRuns(WithReplacement(false));
  EXPECT_EQ(whole.slots[2], 2u);
  EXPECT_TRUE(whole.members[4].is_replacement);
  EXPECT_EQ(whole.members[4].standing, Standing::kInSync);
}

TEST(AssemblyTest, AReplacementAloneHoldsTheSlot) {
  auto reports = WithReplacement(true);
  reports.erase(reports.begin() + 2);
  const AssemblyDecision decision = ExpectRuns(reports);  // slot 2 still has a member: no --run
  EXPECT_EQ(decision.slots[2], 3u);
  EXPECT_FALSE(decision.members[3].is_replacement);
  EXPECT_EQ(decision.missing, 1u);
}

TEST(AssemblyTest, AWholeReplacementTakesTheSlotOfAMemberBeingRebuilt) {
  auto reports = WithReplacement(false);
  SetRebuilding(reports[2], 128);
  const AssemblyDecision decision = ExpectRuns(reports);
  EXPECT_EQ(decision.slots[2], 4u);
  EXPECT_FALSE(decision.members[4].is_replacement);
  ExpectStanding(decision, 2, Standing::kSpare, "d6 has replaced it in slot 2");
  EXPECT_EQ(decision.members[2].slot, std::nullopt);
  EXPECT_EQ(decision.missing, 0u);
}

TEST(AssemblyTest, TwoReplacementsOfOneSlotAreRefused) {
  auto reports = WithReplacement(true);
  reports.push_back(SampleMember(reports[4], 7));
  SetRole(reports, 7, 2);
  ExpectRefused(reports, "d6 and d7 both claim slot 2");
}

// ---- Who belongs to the array ----

TEST(AssemblyTest, MembersOfAnotherArrayAreRefused) {
  auto reports = SampleArray(4);
  reports[1].super.set_uuid.bytes.fill(0xbb);
  const AssemblyDecision decision =
      ExpectRefused(reports,
                    "d1: belongs to array bbbbbbbb:bbbbbbbb:bbbbbbbb:bbbbbbbb, but d0 to "
                    "array aaaaaaaa:aaaaaaaa:aaaaaaaa:aaaaaaaa: name the members of one");
  ExpectStanding(decision, 1, Standing::kForeign, "belongs to array bbbbbbbb");
  ExpectStanding(decision, 0, Standing::kInSync, "in sync");
  EXPECT_EQ(ErrnoOf(decision.status), EINVAL);
  reports[2].super.set_uuid.bytes.fill(0xbb);  // two against two: d0 and d3 have the smaller uuid
  ExpectStanding(Decide(reports), 1, Standing::kForeign, "belongs to array bbbbbbbb");
}

TEST(AssemblyTest, TheSameMemberTwiceIsRefused) {
  auto reports = SampleArray(4);
  reports.push_back(reports[2]);
  reports[4].path = "copy";
  const AssemblyDecision decision = ExpectRefused(reports, "copy and d2 are the same member");
  ExpectStanding(decision, 2, Standing::kForeign, "d2: the same member as copy");
  ExpectStanding(decision, 4, Standing::kForeign, "copy: the same member as d2");
  reports[4].path = "d2";
  ExpectRefused(reports, "d2 and d2 are the same member");
  reports[4].super.device_uuid.bytes.fill(9);
  ExpectRefused(reports, "d2 and d2 are the same member");
  ExpectRefused(reports, "are the same member", {.force = true, .run = true});
}

TEST(AssemblyTest, AStaleCopyOfAMemberIsTheSameMemberToo) {
  auto reports = SampleArray(4);
  reports.push_back(reports[2]);
  reports[4].path = "copy";
  SetBehind(reports[4], 50);
  reports.push_back(reports[4]);
  reports[5].path = "copy2";
  const AssemblyDecision decision = ExpectRefused(reports, "d2 and copy are the same member");
  for (const size_t i : {2ul, 4ul, 5ul})
    ExpectStanding(decision, i, Standing::kForeign, "same member");
}

TEST(AssemblyTest, TwoMembersThatClaimOneSlotAreRefused) {
  auto reports = SampleArray(5);
  reports.push_back(SampleMember(reports[0], 9));
  SetRole(reports, 9, 3);
  const AssemblyDecision decision =
      ExpectRefused(reports, "d3 and d9 both claim slot 3 (events 100 and 100)");
  EXPECT_EQ(decision.slots[3], 3u);
  ExpectStanding(decision, 5, Standing::kForeign, "claims slot 3 as d3 does");
  EXPECT_EQ(decision.members[5].slot, std::nullopt);
}

TEST(AssemblyTest, OfTwoClaimsTheOneThatTheFreshestKnowsCounts) {
  auto reports = SampleArray(5);
  reports.push_back(SampleMember(reports[3], 9));
  SetRole(reports, 3, kRoleFaulty);
  SetRole(reports, 9, 3);
  SetRole(reports[3], 3, 3);  // the old member of the slot, one event behind
  SetRole(reports[3], 9, kRoleSpare);
  SetBehind(reports[3], 1);
  const AssemblyDecision decision = ExpectRuns(reports);
  EXPECT_EQ(decision.slots[3], 5u);
  ExpectStanding(decision, 3, Standing::kStale, "says that it has failed");
}

TEST(AssemblyTest, ParametersThatDisagreeAreRefused) {
  const std::pair<std::function<void(MemberReport&)>, const char*> changes[] = {
      {[](MemberReport& r) { r.super.layout = 3; }, "d2 has layout 3, but d0 has layout 2"},
      {[](MemberReport& r) { r.super.chunksize = 64; }, "chunksize 64"},
      {[](MemberReport& r) { r.super.level = 5; }, "level 5"},
      {[](MemberReport& r) { r.super.raid_disks = 6; }, "raid_disks 6, but d0 has raid_disks 5"},
      {[](MemberReport& r) { r.super.size = 256; }, "size 256"},
      {[](MemberReport& r) { r.super.ctime = 7; }, "ctime 7"},
      {[](MemberReport& r) { r.minor = 0; }, "metadata 1.0, but d0 has metadata 1.2"},
  };
  for (const auto& [change, words] : changes) {
    auto reports = SampleArray(5);
    change(reports[2]);
    const AssemblyDecision decision = ExpectRefused(reports, words);
    ExpectStanding(decision, 2, Standing::kForeign, words + (words[0] == 'd' ? 3 : 0));
    ExpectRefused(reports, words, {.force = true, .run = true});
    SetBehind(reports[2], 5);  // an old one does no harm
    ExpectRuns(reports, kRun);
  }
}

TEST(AssemblyTest, ArraysThatCannotRunAreRefusedByName) {
  const std::pair<std::function<void(MemberReport&)>, const char*> changes[] = {
      {[](MemberReport& r) { r.super.level = 5; }, "d0: level 5"},
      {[](MemberReport& r) { r.super.raid_disks = 0x10000; }, "raid_disks 65536"},
      {[](MemberReport& r) { r.super.chunksize = 0; }, "chunk size 0"},
      {[](MemberReport& r) { r.super.layout = 99; }, "layout 99"},
      {[](MemberReport& r) { r.super.feature_map = kFeatureReshapeActive; },
       "d0: a reshape is in progress: finish it with mdadm first"},
      {[](MemberReport& r) { r.super.feature_map = kFeatureClustered; }, "cluster"},
      {[](MemberReport& r) { r.super.feature_map = kFeaturePpl; }, "partial parity log"},
  };
  for (const auto& [change, words] : changes) {
    auto reports = SampleArray(5);
    for (MemberReport& report : reports) change(report);
    const AssemblyDecision decision =
        ExpectRefused(reports, words, {.force = true, .run = true, .read_only = true});
    EXPECT_THAT(decision.slots, IsEmpty());
    ExpectStanding(decision, 1, Standing::kStale, "d1: not judged, events 100");
  }
}

}  // namespace
}  // namespace mdvol
