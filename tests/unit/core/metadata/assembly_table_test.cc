// The assembly decision for all small arrays: four to six slots, each in one of ten states, clean
// or dirty, with each combination of options, against a restatement of the rules that counts
// instead of judging.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/metadata/assembly.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/unit/core/metadata/sample_array.h"

namespace mdvol {
namespace {

using ::mdvol::testing::FullRun;
using ::mdvol::testing::SampleArray;
using ::mdvol::testing::SetBehind;
using ::mdvol::testing::SetDirty;
using ::mdvol::testing::SetRebuilding;
using ::mdvol::testing::SetRole;

using Standing = MemberStanding;

// What became of the member of a slot. "Latest" is what the members of the most events wrote.
enum class Fate : uint8_t {
  kFresh,
  kBehind1,     // did not get the latest superblock
  kBehind2,     // was lost without a record
  kBehind10,    // the same, longer ago
  kFailed,      // one event behind, and the latest tables say that it failed
  kRebuilding,  // fresh, but not whole
  kSpare,       // fresh, but no longer in the slot
  kBroken,      // its own superblock says that it failed
  kGone,        // not here, but the tables name it
  kUnknown,     // not here, and in no table
};
constexpr uint8_t kFates = 10;

bool IsHere(Fate fate) { return fate != Fate::kGone && fate != Fate::kUnknown; }

uint64_t Lag(Fate fate) {
  switch (fate) {
    case Fate::kBehind1:
    case Fate::kFailed:
      return 1;
    case Fate::kBehind2:
      return 2;
    case Fate::kBehind10:
      return 10;
    default:
      return 0;
  }
}

bool ClaimsSlot(Fate fate) { return IsHere(fate) && fate != Fate::kSpare && fate != Fate::kBroken; }

// The role in the tables that the fresh members carry, or the older ones.
uint16_t RoleIn(bool latest, Fate fate, uint32_t slot) {
  switch (fate) {
    case Fate::kSpare:
    case Fate::kUnknown:
      return kRoleSpare;
    case Fate::kBroken:
      return kRoleFaulty;
    case Fate::kFailed:
      return latest ? kRoleFaulty : static_cast<uint16_t>(slot);
    default:
      return static_cast<uint16_t>(slot);
  }
}

std::vector<MemberReport> ReportsOf(const std::vector<Fate>& fates, bool dirty) {
  const auto n = static_cast<uint32_t>(fates.size());
  std::vector<MemberReport> all = SampleArray(n);
  std::vector<MemberReport> reports;
  for (uint32_t i = 0; i < n; ++i) {
    if (!IsHere(fates[i])) continue;
    MemberReport& report = all[i];
    for (uint32_t slot = 0; slot < n; ++slot) {
      SetRole(report, slot, RoleIn(Lag(fates[i]) == 0, fates[slot], slot));
    }
    SetBehind(report, Lag(fates[i]));
    if (fates[i] == Fate::kRebuilding) SetRebuilding(report, 128);
    reports.push_back(report);
  }
  if (dirty) SetDirty(reports);
  return reports;
}

// The rules once more.
struct Expected {
  bool runs = false;
  bool dirty = false;
  bool forced = false;
  uint32_t missing = 0;
  std::vector<std::optional<Standing>> standings;  // per slot, absent when not here
  std::vector<bool> is_forced;                     // per slot
};

Expected Expect(const std::vector<Fate>& fates, bool dirty, const AssemblyOptions& options) {
  const size_t n = fates.size();
  Expected expected;
  expected.standings.resize(n);
  expected.is_forced.resize(n);
  uint64_t least_lag = ~uint64_t{0};
  for (const Fate fate : fates) {
    if (ClaimsSlot(fate)) least_lag = std::min(least_lag, Lag(fate));
  }
  const bool latest = least_lag == 0;  // the tables that are believed
  size_t in_sync = 0;
  bool is_any_lost = false;
  for (size_t i = 0; i < n; ++i) {
    const Fate fate = fates[i];
    const bool is_named = RoleIn(latest, fate, static_cast<uint32_t>(i)) == i;
    const bool is_accepted = ClaimsSlot(fate) && Lag(fate) <= least_lag + 1 && is_named;
    is_any_lost = is_any_lost || (is_named && !is_accepted);
    if (!IsHere(fate)) continue;
    if (fate == Fate::kSpare) {
      expected.standings[i] = Standing::kSpare;
    } else if (!is_accepted) {
      expected.standings[i] = Standing::kStale;
    } else if (fate == Fate::kRebuilding) {
      expected.standings[i] = Standing::kRecovering;
    } else {
      expected.standings[i] = Standing::kInSync;
      ++in_sync;
    }
  }
  const size_t needed = n - 2;
  if (options.force && in_sync < needed && least_lag != ~uint64_t{0}) {
    for (const uint64_t lag : {1u, 2u, 10u}) {  // whole generations, newest first
      if (in_sync + static_cast<size_t>(
                        std::count(expected.is_forced.begin(), expected.is_forced.end(), true)) >=
          needed) {
        break;
      }
      for (size_t i = 0; i < n; ++i) {
        if (expected.standings[i] == Standing::kStale && ClaimsSlot(fates[i]) &&
            Lag(fates[i]) == lag) {
          expected.is_forced[i] = true;
        }
      }
    }
    const auto taken =
        static_cast<size_t>(std::count(expected.is_forced.begin(), expected.is_forced.end(), true));
    if (in_sync + taken < needed) {
      expected.is_forced.assign(n, false);
    } else {
      in_sync += taken;
      for (size_t i = 0; i < n; ++i) {
        if (expected.is_forced[i]) expected.standings[i] = Standing::kInSync;
      }
      expected.forced = taken > 0;
    }
  }
  expected.missing = static_cast<uint32_t>(n - in_sync);
  expected.dirty = (dirty && in_sync > 0) || expected.forced;
  expected.runs = in_sync >= needed;
  if (expected.dirty && expected.missing > 0 && !options.read_only) {
    expected.runs = expected.runs && options.force;
    expected.forced = expected.forced || options.force;
  }
  expected.runs = expected.runs && (!is_any_lost || options.run || options.force);
  return expected;
}

std::string Describe(const std::vector<Fate>& fates, bool dirty, const AssemblyOptions& options) {
  std::string text =
      absl::StrCat(dirty ? "dirty" : "clean", options.force ? " --force" : "",
                   options.run ? " --run" : "", options.read_only ? " --read-only" : "", ", fates");
  for (const Fate fate : fates) absl::StrAppend(&text, " ", static_cast<int>(fate));
  return text;
}

// What the decision says and the restatement does not; "" when they agree.
std::string Difference(const AssemblyDecision& decision, const Expected& expected) {
  if (decision.status.ok() != expected.runs) {
    return absl::StrCat("runs: ", MessageOf(decision.status));
  }
  if (decision.status.ok() &&
      (decision.forced != expected.forced ||
       decision.members[decision.reference].standing != Standing::kInSync)) {
    return "force or reference";
  }
  const bool has_slots = !decision.slots.empty();
  if (has_slots && (decision.missing != expected.missing || decision.dirty != expected.dirty)) {
    return absl::StrCat("missing ", decision.missing, ", dirty ", decision.dirty);
  }
  size_t i = 0;
  for (uint32_t slot = 0; slot < expected.standings.size(); ++slot) {
    if (!expected.standings[slot].has_value()) {
      continue;
    }
    const MemberVerdict& verdict = decision.members[i];
    const bool is_placed =
        verdict.standing == Standing::kInSync || verdict.standing == Standing::kRecovering;
    if (verdict.standing != *expected.standings[slot] ||
        verdict.forced != expected.is_forced[slot] ||
        verdict.slot != (is_placed ? std::optional<uint32_t>(slot) : std::nullopt) ||
        (has_slots && decision.slots[slot] != (is_placed ? std::optional(i) : std::nullopt))) {
      return verdict.reason;
    }
    ++i;
  }
  return "";
}

bool Agree(const std::vector<Fate>& fates, bool dirty) {
  const std::vector<MemberReport> reports = ReportsOf(fates, dirty);
  for (unsigned bits = 0; bits < 8 && !reports.empty(); ++bits) {
    const AssemblyOptions options{
        .force = (bits & 1) != 0, .run = (bits & 2) != 0, .read_only = (bits & 4) != 0};
    const std::string difference =
        Difference(DecideAssembly(reports, options), Expect(fates, dirty, options));
    if (!difference.empty()) {
      ADD_FAILURE() << Describe(fates, dirty, options) << ": " << difference;
      return false;
    }
  }
  return true;
}

// All assignments of fates to `n` slots; for more than four slots only those in ascending order,
// unless the full form is asked for: which slot it is plays no part with this layout.
void CheckAll(size_t n) {
  std::vector<uint8_t> digits(n, 0);
  while (true) {
    if (n == 4 || FullRun() || std::is_sorted(digits.begin(), digits.end())) {
      std::vector<Fate> fates;
      for (const uint8_t digit : digits) fates.push_back(static_cast<Fate>(digit));
      if (!Agree(fates, false) || !Agree(fates, true)) return;
    }
    size_t at = 0;
    while (at < n && ++digits[at] == kFates) digits[at++] = 0;
    if (at == n) return;
  }
}

TEST(AssemblyTableTest, FourSlots) { CheckAll(4); }
TEST(AssemblyTableTest, FiveSlots) { CheckAll(5); }
TEST(AssemblyTableTest, SixSlots) { CheckAll(6); }

}  // namespace
}  // namespace mdvol
