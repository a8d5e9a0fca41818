// Scenarios: what the real array does on recording members while the rig looks for moments to
// crash. Each is a little history of one array; together they cover writes of every plan kind,
// optimal, degraded by one and by two, discards, upkeep of the bitmap, failures, adding,
// rebuilding, returning and replacing members, repair, the resync after an unclean stop, and stop.
//
// A scenario and a seed give the same record every time: one thread does everything.

#ifndef MDVOL_TESTS_CRASH_SCENARIO_H_
#define MDVOL_TESTS_CRASH_SCENARIO_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/geometry/geometry.h"
#include "core/metadata/member_areas.h"
#include "tests/crash/disk_write.h"
#include "tests/crash/player.h"
#include "tests/crash/volume_model.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol::crash {

// What an array is found as when the recording begins: whole, clean and full of random bytes, but
// for what a scenario's Prepare does to it.
struct InitialState {
  std::vector<std::byte> content;  // of the volume
  std::vector<std::byte> sound;    // what it would hold without silent corruption
  // Of which parity does not agree with data, and nothing says so.
  std::vector<uint64_t> unsound_stripes;
};

struct Scenario {
  std::string_view name;
  testing::ArraySpec spec;
  size_t extra_disks = 0;  // full of noise, no members at first
  // Slots without an in-sync member that a crash may find, at most. 0: the array is always whole.
  uint32_t most_lost = 0;
  bool has_journal = false;
  bool is_resynced_at_start = true;  // otherwise `play` does it
  absl::Status (*prepare)(testing::TestArray& array, testing::Prng& prng,
                          InitialState* initial) = nullptr;
  absl::Status (*play)(Player& player, const InitialState& initial) = nullptr;
};

std::span<const Scenario> AllScenarios();

// Everything that is known of one run of a scenario. A value, constant once it is made.
struct RecordedRun {
  std::string scenario;
  testing::ArraySpec spec;
  ArrayGeometry geometry;
  MemberAreas areas;  // of every member alike
  uint32_t most_lost = 0;
  std::vector<std::string> paths;
  std::vector<std::vector<std::byte>> before;  // the disks, when the recording began
  std::vector<uint64_t> unsound_stripes;       // InitialState's
  testing::RecordedRequests log;
  std::vector<DiskWrite> writes;
  VolumeModel model;
  std::vector<size_t> promise_times;  // when the array had acknowledged that all is durable
};

absl::StatusOr<RecordedRun> Record(const Scenario& scenario, uint64_t seed);

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_SCENARIO_H_
