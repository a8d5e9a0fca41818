// The assembly decision on random reports, most of which no history could have left behind: what
// must never happen does not, and the order of the reports plays no part.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/geometry/layout.h"
#include "core/metadata/assembly.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"
#include "tests/unit/core/metadata/sample_array.h"

namespace mdvol {
namespace {

using ::mdvol::testing::FullRun;
using ::mdvol::testing::GiveBitmap;
using ::mdvol::testing::kSampleEvents;
using ::mdvol::testing::Prng;
using ::mdvol::testing::SampleArray;
using ::mdvol::testing::SampleMember;
using ::mdvol::testing::SetRebuilding;
using ::mdvol::testing::SetRole;
using ::mdvol::testing::TestSeed;

using Standing = MemberStanding;

struct Case {
  std::vector<MemberReport> reports;
  AssemblyOptions options;
};

uint16_t RandomRole(Prng& prng, uint32_t raid_disks) {
  switch (prng.Below(8)) {
    case 0:
    case 1:
      return kRoleFaulty;
    case 2:
    case 3:
      return kRoleSpare;
    case 4:
      return prng.OneIn(3) ? kRoleJournal : static_cast<uint16_t>(prng.Next());
    default:
      return static_cast<uint16_t>(prng.Below(raid_disks + 1));
  }
}

// Changes to one report that leave the array's shape alone.
void Disturb(Prng& prng, MemberReport& report, uint32_t raid_disks, uint64_t one_in) {
  constexpr uint64_t kLags[] = {0, 0, 1, 1, 2, 10};
  Superblock& super = report.super;
  if (prng.OneIn(3)) super.events = kSampleEvents - kLags[prng.Below(6)];
  if (prng.OneIn(40)) super.events = prng.Next();
  for (uint32_t number = 0; number < raid_disks + 3; ++number) {
    if (prng.OneIn(one_in)) SetRole(report, number, RandomRole(prng, raid_disks));
  }
  if (prng.OneIn(8)) SetRebuilding(report, prng.Below(20'000));
  if (prng.OneIn(8)) super.feature_map = super.feature_map | kFeatureReplacement;
  if (prng.OneIn(6)) super.resync_offset = prng.OneIn(2) ? 0 : prng.Below(20'000);
  if (prng.OneIn(60)) super.set_uuid.bytes[3] = static_cast<uint8_t>(prng.Below(2));
  if (prng.OneIn(60)) super.size = 128 * prng.Between(1, 64);
  if (prng.OneIn(60)) super.dev_number = static_cast<uint32_t>(prng.Below(raid_disks + 3));
  if (prng.OneIn(90)) super.max_dev = static_cast<uint32_t>(prng.Below(raid_disks));
  if (report.bitmap.has_value() && prng.OneIn(4)) report.bitmap->events = kSampleEvents - 1;
  if (prng.OneIn(10)) report.bitmap.reset();
}

Case RandomCase(Prng& prng) {
  Case c;
  const auto raid_disks = static_cast<uint32_t>(prng.Between(4, 6));
  std::vector<MemberReport> all = SampleArray(raid_disks);
  const Layout layout = AllLayouts()[prng.Below(AllLayouts().size())];
  for (MemberReport& report : all) report.super.layout = static_cast<int32_t>(layout);
  for (uint32_t number = raid_disks; number < raid_disks + 3; ++number) {
    all.push_back(SampleMember(all[0], number));
    if (prng.OneIn(2)) SetRole(all, number, static_cast<uint16_t>(prng.Below(raid_disks)));
  }
  if (prng.OneIn(2)) GiveBitmap(all);
  if (prng.OneIn(12)) {
    for (MemberReport& report : all) report.super.feature_map = kFeatureJournal;
    SetRole(all, raid_disks, kRoleJournal);
  }
  const uint64_t one_in = prng.Between(4, 60);
  for (size_t i = 0; i < all.size(); ++i) {
    Disturb(prng, all[i], raid_disks, one_in);
    const bool is_extra = i >= raid_disks;
    if (!prng.OneIn(is_extra ? 2 : 7)) c.reports.push_back(all[i]);
  }
  if (c.reports.empty()) c.reports.push_back(all[0]);
  if (prng.OneIn(25)) {
    c.reports.push_back(c.reports[prng.Below(c.reports.size())]);
    if (prng.OneIn(2)) c.reports.back().path = "copy";
  }
  c.options = {.force = prng.OneIn(2), .run = prng.OneIn(2), .read_only = prng.OneIn(3)};
  return c;
}

uint64_t MostEvents(const Case& c, const Uuid& array) {
  uint64_t most = 0;
  for (const MemberReport& report : c.reports) {
    const bool is_voter =
        OwnSlot(report.super).has_value() || OwnRole(report.super) == kRoleJournal;
    if (is_voter && report.super.set_uuid == array) {
      most = std::max<uint64_t>(most, report.super.events);
    }
  }
  return most;
}

void CheckPlacedMember(const Case& c, const AssemblyDecision& decision, uint32_t slot, size_t i) {
  const Superblock& super = c.reports[i].super;
  const Superblock& freshest = c.reports[decision.freshest].super;
  const MemberVerdict& verdict = decision.members[i];
  ASSERT_TRUE(verdict.standing == Standing::kInSync || verdict.standing == Standing::kRecovering);
  ASSERT_EQ(verdict.slot, slot);
  ASSERT_FALSE(verdict.is_replacement);
  ASSERT_EQ(OwnSlot(super), slot);
  ASSERT_EQ(super.set_uuid, freshest.set_uuid);
  ASSERT_EQ(super.size, freshest.size);
  ASSERT_EQ(verdict.standing == Standing::kRecovering, super.has_feature(kFeatureRecoveryOffset));
  if (verdict.forced) {
    ASSERT_TRUE(c.options.force);
    ASSERT_EQ(verdict.standing, Standing::kInSync);
    ASSERT_TRUE(decision.forced);
    return;
  }
  ASSERT_GE(super.events + 1, decision.events);
  ASSERT_EQ(RoleOfDevice(freshest, super.dev_number), slot);
}

// No decision may break these, whether it is to run or not.
void CheckDecision(const Case& c, const AssemblyDecision& decision) {
  const size_t n = decision.slots.size();
  size_t in_sync = 0;
  size_t harmless = 0;
  for (uint32_t slot = 0; slot < n; ++slot) {
    if (!decision.slots[slot].has_value()) continue;
    const size_t i = *decision.slots[slot];
    ASSERT_NO_FATAL_FAILURE(CheckPlacedMember(c, decision, slot, i));
    const bool is_in_sync = decision.members[i].standing == Standing::kInSync;
    in_sync += is_in_sync;
    const auto layout = static_cast<Layout>(c.reports[i].super.layout.get());
    harmless += !is_in_sync && HoldsOnlyParity(layout, static_cast<uint32_t>(n), slot);
  }
  ASSERT_EQ(decision.missing, n - in_sync);
  for (size_t i = 0; i < c.reports.size(); ++i) {
    const MemberVerdict& verdict = decision.members[i];
    ASSERT_FALSE(verdict.reason.empty());
    const bool is_placed = verdict.slot.has_value() && !verdict.is_replacement;
    ASSERT_TRUE(!is_placed || decision.slots[*verdict.slot] == i);
    ASSERT_TRUE(verdict.slot.has_value() || verdict.recovery_bytes == 0);
    if (verdict.standing == Standing::kSpare && !OwnSlot(c.reports[i].super).has_value()) {
      ASSERT_FALSE(verdict.slot.has_value());
    }
  }
  if (!decision.status.ok()) {
    ASSERT_NE(ErrnoOf(decision.status), 0);
    return;
  }
  const Superblock& reference = c.reports[decision.reference].super;
  ASSERT_EQ(n, reference.raid_disks);
  ASSERT_GE(in_sync + 2, n);
  ASSERT_EQ(decision.events, MostEvents(c, reference.set_uuid));
  ASSERT_EQ(decision.members[decision.reference].standing, Standing::kInSync);
  if (decision.dirty && decision.missing > harmless) {
    ASSERT_TRUE(c.options.force || c.options.read_only);
  }
  for (const MemberReport& report : c.reports) {
    ASSERT_EQ(report.super.set_uuid, reference.set_uuid);
  }
}

// The decision without indices: what must not depend on the order of the reports.
std::string Summary(const Case& c, const AssemblyDecision& decision) {
  const auto path = [&](size_t i) { return c.reports[i].path; };
  std::vector<std::string> lines;
  for (size_t i = 0; i < c.reports.size(); ++i) {
    const MemberVerdict& v = decision.members[i];
    lines.push_back(absl::StrCat(v.reason, "|", static_cast<int>(v.standing), "|",
                                 v.slot.value_or(999), "|", v.is_replacement, "|", v.recovery_bytes,
                                 "|", v.forced, "\n"));
  }
  std::sort(lines.begin(), lines.end());
  std::string text = absl::StrCat(
      ErrnoOf(decision.status), " ", MessageOf(decision.status), "\nreference ",
      path(decision.reference), " freshest ", path(decision.freshest), " events ", decision.events,
      " missing ", decision.missing, " dirty ", decision.dirty, " ", decision.resync_bytes,
      " bitmap ", decision.bitmap_usable, " forced ", decision.forced, "\n");
  for (const std::optional<size_t>& i : decision.slots) {
    absl::StrAppend(&text, i.has_value() ? path(*i) : "-", " ");
  }
  for (const std::string& warning : decision.warnings) absl::StrAppend(&text, "\n! ", warning);
  for (const std::string& line : lines) absl::StrAppend(&text, "\n", line);
  return text;
}

TEST(AssemblyPropertyTest, NothingStaleIsEverBlessedInWhateverOrder) {
  Prng prng(TestSeed("AssemblyPropertyTest.NothingStaleIsEverBlessedInWhateverOrder"));
  const int rounds = FullRun() ? 1'000'000 : 20'000;
  int run = 0;
  int forced = 0;
  for (int round = 0; round < rounds; ++round) {
    Case c = RandomCase(prng);
    const AssemblyDecision decision = DecideAssembly(c.reports, c.options);
    run += decision.status.ok();
    forced += decision.status.ok() && decision.forced;
    ASSERT_NO_FATAL_FAILURE(CheckDecision(c, decision)) << Summary(c, decision);
    Case shuffled = c;
    std::shuffle(shuffled.reports.begin(), shuffled.reports.end(), prng);
    ASSERT_EQ(Summary(shuffled, DecideAssembly(shuffled.reports, shuffled.options)),
              Summary(c, decision));
  }
  EXPECT_GT(run, rounds / 20);  // the cases are not all hopeless
  EXPECT_GT(forced, rounds / 200);
}

// Superblocks of any contents, as a fuzzer would give them: decided without undefined behaviour.
TEST(AssemblyPropertyTest, AnyReportsAreDecided) {
  Prng prng(TestSeed("AssemblyPropertyTest.AnyReportsAreDecided"));
  const int rounds = FullRun() ? 200'000 : 5'000;
  for (int round = 0; round < rounds; ++round) {
    Case c = RandomCase(prng);
    for (MemberReport& report : c.reports) {
      uint8_t bytes[kSuperBytes];
      std::memcpy(bytes, &report.super, sizeof(bytes));
      for (uint64_t change = prng.Below(3); change > 0; --change) {
        const uint64_t at = prng.Below(272);
        std::memset(bytes + at, static_cast<int>(prng.OneIn(2) ? 0xff : prng.Below(256)),
                    1 + prng.Below(8));
      }
      std::memcpy(&report.super, bytes, sizeof(bytes));
    }
    const AssemblyDecision decision = DecideAssembly(c.reports, c.options);
    for (const MemberVerdict& verdict : decision.members) ASSERT_FALSE(verdict.reason.empty());
  }
}

}  // namespace
}  // namespace mdvol
