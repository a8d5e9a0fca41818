// The reports of a small array, whole and clean to start from, for tests of the assembly decision.

#ifndef MDVOL_TESTS_UNIT_CORE_METADATA_SAMPLE_ARRAY_H_
#define MDVOL_TESTS_UNIT_CORE_METADATA_SAMPLE_ARRAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/metadata/assembly.h"

namespace mdvol::testing {

inline constexpr uint64_t kSampleEvents = 100;

// Members d0, d1, … in slots 0, 1, …: 1.2, left-symmetric, chunks of 64 KiB, 8 MiB each, events
// 100, without a bitmap. Superblocks are not sealed: the decision does not look.
std::vector<MemberReport> SampleArray(uint32_t raid_disks);

// A further report with number `number`, uuid and path d`number`, events 100, the roles of `like`.
MemberReport SampleMember(const MemberReport& like, uint32_t number);

// Writes `role` for device `number` into the table of one report, or of all.
void SetRole(MemberReport& report, uint32_t number, uint16_t role);
void SetRole(std::vector<MemberReport>& reports, uint32_t number, uint16_t role);

// Takes report `number` back by `events` events.
void SetBehind(MemberReport& report, uint64_t events);

void SetDirty(std::vector<MemberReport>& reports, uint64_t resync_sectors = 0);

// Marks the member as being rebuilt.
void SetRebuilding(MemberReport& report, uint64_t valid_sectors);

// Gives every report the bitmap feature and a bitmap of `events`.
void GiveBitmap(std::vector<MemberReport>& reports, uint64_t events = kSampleEvents);

// The index of the report with that path.
size_t IndexOf(const std::vector<MemberReport>& reports, const std::string& path);

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_METADATA_SAMPLE_ARRAY_H_
