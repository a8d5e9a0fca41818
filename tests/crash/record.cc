// Record: from a scenario to everything that is known of a run of it. See scenario.h.

#include <numeric>
#include <utility>

#include "core/base/status.h"
#include "tests/crash/scenario.h"

namespace mdvol::crash {
namespace {

using testing::Opening;
using testing::Prng;
using testing::TestArray;

Opening OwnMembers(const testing::ArraySpec& spec) {
  Opening opening;
  opening.members.resize(spec.raid_disks + spec.spares);
  std::iota(opening.members.begin(), opening.members.end(), size_t{0});
  opening.options.stripe_cache_size = 64;
  return opening;
}

absl::Status Fill(TestArray& array, const Opening& opening, Prng& prng, InitialState* initial) {
  initial->content.resize(array.geometry().volume_bytes());
  prng.Fill(initial->content);
  initial->sound = initial->content;
  MDVOL_RETURN_IF_ERROR(array.Open(opening));
  MDVOL_RETURN_IF_ERROR(array->Write(0, initial->content));
  return array.Stop();
}

}  // namespace

absl::StatusOr<RecordedRun> Record(const Scenario& scenario, uint64_t seed) {
  Prng prng(seed);
  TestArray array(scenario.spec);
  Opening opening = OwnMembers(scenario.spec);
  InitialState initial;
  MDVOL_RETURN_IF_ERROR(Fill(array, opening, prng, &initial));
  if (scenario.prepare != nullptr) {
    MDVOL_RETURN_IF_ERROR(scenario.prepare(array, prng, &initial));
  }
  for (size_t i = 0; i < scenario.extra_disks; ++i) {
    array.AddDisk();
  }
  RecordedRun run{.scenario = std::string(scenario.name),
                  .spec = scenario.spec,
                  .geometry = array.geometry(),
                  .areas = array.areas(0),
                  .most_lost = scenario.most_lost,
                  .paths = {},
                  .before = {},
                  .unsound_stripes = initial.unsound_stripes,
                  .log = {},
                  .writes = {},
                  .model = VolumeModel(initial.content),
                  .promise_times = {}};
  for (size_t i = 0; i < array.disks().size(); ++i) {
    run.paths.push_back(array.disks()[i].path());
    run.before.push_back(array.disks().Bytes(i, 0, array.disks()[i].size_bytes()));
  }
  array.recording().Clear();
  Player player(array, initial.content, prng.Next());
  opening.resync = scenario.is_resynced_at_start;
  MDVOL_RETURN_IF_ERROR(array.Open(opening));
  MDVOL_RETURN_IF_ERROR(scenario.play(player, initial));
  array.Crash();
  run.log = array.recording().requests();
  run.writes = WritesOf(run.log);
  run.model = player.model();
  run.promise_times = player.promise_times();
  return run;
}

}  // namespace mdvol::crash
