// The working state of DecideAssembly and its steps, in the order in which they run. Internal to
// core/metadata; one thread, one call.
//
// Words used here: a member's *own* slot is the one that its own superblock claims. *Voters* are
// the members that claim a slot or to be the journal; only they have a say (a spare's superblock is
// not always updated). The *freshest* is the voter with the most events whose table of roles is
// believed.

#ifndef MDVOL_CORE_METADATA_ASSEMBLY_WORK_H_
#define MDVOL_CORE_METADATA_ASSEMBLY_WORK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/metadata/assembly.h"
#include "core/metadata/superblock.h"

namespace mdvol::assembly {

// Members are written one after the other: one event apart is as fresh as the freshest.
inline constexpr uint64_t kEventMargin = 1;

// What one member claims.
struct Claim {
  uint16_t role = kRoleSpare;
  std::optional<uint32_t> slot;
  bool is_rebuilding = false;  // in a slot, but valid only up to recovery_offset
  bool counts = true;          // of this array, and named once

  bool is_voter() const { return counts && (slot.has_value() || role == kRoleJournal); }
  bool is_in_sync() const { return counts && slot.has_value() && !is_rebuilding; }
};

struct Work {
  Work(const std::vector<MemberReport>& given_reports, const AssemblyOptions& given_options);

  const std::vector<MemberReport>& reports;
  const AssemblyOptions& options;
  std::vector<Claim> claims;       // parallel to the reports
  std::vector<size_t> best_first;  // indices of all reports, by IsBetter
  std::vector<size_t> heads;       // voters of the most events that nobody of them disowns
  std::optional<size_t> freshest;  // the best of them
  std::vector<std::optional<size_t>> replacements;  // per slot, beside decision.slots
  AssemblyDecision decision;

  const Superblock& super(size_t i) const { return reports[i].super; }
  const std::string& path(size_t i) const { return reports[i].path; }
  uint64_t events(size_t i) const { return reports[i].super.events; }
  // How many events behind the freshest; 0 for one that is ahead.
  uint64_t lag(size_t i) const;
  MemberVerdict& verdict(size_t i) { return decision.members[i]; }

  // Whether a is the better witness: events, in sync, a bitmap that vouches, then number, uuid and
  // path, so that the order of the reports plays no part.
  bool IsBetter(size_t a, size_t b) const;

  // Keeps the first refusal.
  void Refuse(absl::Status status);
  void Judge(size_t i, MemberStanding standing, std::string reason);
};

// assembly_array.cc: which reports are of one array, and each of them once.
void FindArray(Work& work);
// assembly_freshest.cc: whose table of roles is believed.
void FindFreshest(Work& work);
// assembly_standing.cc: what each member is, by its own claim and the freshest's table.
void JudgeMembers(Work& work);
// The same when there is no table to believe or no array that can run: by their own claims alone.
void JudgeWithoutArray(Work& work);
// Which difference keeps a member from serving in the array of the freshest; "" when none does.
std::string ParameterMismatch(const Work& work, size_t i);
// assembly_slots.cc: who stands in which slot.
void FillSlots(Work& work);
// No two members of one number: spares give way to members in slots, and to better spares.
void LeaveOutTwins(Work& work);
// Whether a member in a slot, or a replacement, has that number.
bool IsNumberPlaced(const Work& work, uint32_t number);
uint32_t CountInSync(const Work& work);
// assembly_force.cc: the stale members that --force would take, best first; none when they would
// not be enough or are not needed.
std::vector<size_t> ChooseForced(const Work& work);
void TakeForced(Work& work, const std::vector<size_t>& chosen);
// assembly_quorum.cc: whether what there is may run.
void DecideRun(Work& work, const std::vector<size_t>& forceable);

// Words for messages.
std::string SlotList(const std::vector<uint32_t>& slots);  // "slot 1", "slots 1, 3 and 5"
std::string EventsOf(const Work& work, size_t i);          // "events 41 of 42"
std::string EventsBehind(uint64_t lag);                    // "10 events behind"

}  // namespace mdvol::assembly

#endif  // MDVOL_CORE_METADATA_ASSEMBLY_WORK_H_
