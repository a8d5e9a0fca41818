// The scenarios themselves; see scenario.h.

#include <array>

#include "core/base/status.h"
#include "core/base/units.h"
#include "core/stripe/sync_types.h"
#include "tests/crash/scenario.h"
#include "tests/support/test_array/log_checks.h"

namespace mdvol::crash {
namespace {

using testing::ArraySpec;
using testing::Disks;
using testing::Prng;
using testing::TestArray;

constexpr uint64_t kSafeModeMs = 250;
constexpr uint64_t kTimeBaseMs = 5000;

// ---- Whole arrays ----

absl::Status PlayWrites(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Work(6));
  player.Pass(kSafeModeMs);  // marked clean, and dirty again by the next write
  return player.Work(6);
}

absl::Status PlayUpkeep(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.WriteSome());
  player.Pass(kTimeBaseMs);
  MDVOL_RETURN_IF_ERROR(player.WriteSome());
  player.Pass(kTimeBaseMs);
  player.Pass(kTimeBaseMs);  // the first write's bits go while the second's may stay
  MDVOL_RETURN_IF_ERROR(player.Work(2));
  MDVOL_RETURN_IF_ERROR(player.WriteSome());
  player.Pass(kTimeBaseMs);
  player.Pass(kTimeBaseMs);
  return player.Work(2);
}

absl::Status PlayBusyUpkeep(Player& player, const InitialState& /*initial*/) {
  // Never idle for long enough to be marked clean, while bits of elsewhere grow old.
  player.array()->SetSafeModeDelay(0);
  MDVOL_RETURN_IF_ERROR(player.WriteStripes(0, 2));
  for (int i = 0; i < 4; ++i) {
    MDVOL_RETURN_IF_ERROR(player.WriteSome());
    player.Pass(kTimeBaseMs);
  }
  return player.Flush();
}

absl::Status PlayStop(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Work(3));
  MDVOL_RETURN_IF_ERROR(player.WriteSome());
  return player.Stop();
}

absl::Status PlayDiscards(Player& player, const InitialState& /*initial*/) {
  for (int i = 0; i < 4; ++i) {
    MDVOL_RETURN_IF_ERROR(player.ZeroSome());
    if (player.prng().OneIn(2)) {
      MDVOL_RETURN_IF_ERROR(player.Flush());
    }
    MDVOL_RETURN_IF_ERROR(player.Work(1));
  }
  return player.Stop();
}

// ---- Silent corruption, and an unclean stop ----

// The bytes of a data chunk of stripe 1, of P of stripe 3 and of Q of stripe 5 rot.
absl::Status Corrupt(TestArray& array, Prng& prng, InitialState* initial) {
  const ArrayGeometry& geometry = array.geometry();
  std::vector<std::byte> noise(geometry.chunk_bytes());
  const uint64_t offset = geometry.stripe_bytes() + geometry.chunk_bytes();
  prng.Fill(noise);
  array.disks().Put(array.DiskOf(offset), array.DiskOffset(offset), noise);
  std::ranges::copy(noise, initial->content.begin() + static_cast<ptrdiff_t>(offset));
  const uint64_t data_begin = array.areas(0).data.begin;
  prng.Fill(noise);
  array.disks().Put(geometry.RolesOf(3).p_slot(), data_begin + 3 * noise.size(), noise);
  array.disks().Put(geometry.RolesOf(5).q_slot(), data_begin + 5 * noise.size(), noise);
  initial->unsound_stripes = {1, 3, 5};
  return absl::OkStatus();
}

absl::Status PlayRepair(Player& player, const InitialState& initial) {
  MDVOL_RETURN_IF_ERROR(player.Repair({0, 4}, RepairMode::kLocate, initial.sound));
  MDVOL_RETURN_IF_ERROR(player.Flush());
  MDVOL_RETURN_IF_ERROR(player.Repair({4, 2}, RepairMode::kParity, initial.sound));
  MDVOL_RETURN_IF_ERROR(player.WriteStripes(6, 1));
  return player.Stop();
}

// Killed while writing: bits are set, and parity of some of those stripes is not what it should be.
absl::Status LeaveUnclean(TestArray& array, Prng& prng, InitialState* initial) {
  const ArrayGeometry& geometry = array.geometry();
  MDVOL_RETURN_IF_ERROR(array.Open());
  std::vector<std::byte> data(geometry.stripe_bytes());
  std::vector<std::byte> noise(geometry.chunk_bytes());
  for (const uint64_t stripe : {uint64_t{1}, uint64_t{2}, uint64_t{5}}) {
    const uint64_t offset = stripe * data.size();
    prng.Fill(data);
    MDVOL_RETURN_IF_ERROR(array->Write(offset, data));
    std::ranges::copy(data, initial->content.begin() + static_cast<ptrdiff_t>(offset));
    prng.Fill(noise);
    array.disks().Put(geometry.RolesOf(stripe).p_slot(),
                      array.areas(0).data.begin + stripe * noise.size(), noise);
  }
  array.Crash();
  return absl::OkStatus();
}

// The resync has run when the array is open.
absl::Status PlayAfterResync(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Work(3));
  player.Pass(kSafeModeMs);
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  return player.Stop();
}

// Power was lost at some moment: what was pending is there or not, write by write.
absl::Status LosePower(TestArray& array, Prng& prng, InitialState* initial) {
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_RETURN_IF_ERROR(array.Open());
  Player player(array, initial->content, prng.Next());
  MDVOL_RETURN_IF_ERROR(player.Work(4));
  player.Pass(kTimeBaseMs);
  MDVOL_RETURN_IF_ERROR(player.Work(4));
  array.Crash();
  const testing::RecordedRequests log = array.recording().requests();
  // Often while superblocks are being written: members are an event apart then.
  std::vector<size_t> times = {prng.Between(log.size() / 2, log.size())};
  for (size_t i = log.size() / 2; i < log.size(); ++i) {
    if (array.IsSuper(log[i])) {
      times.push_back(i + 1);
    }
  }
  const size_t time = times[prng.OneIn(2) ? 0 : prng.Below(times.size())];
  array.disks() = testing::CrashAt(before, log, time, &prng);
  // Of what it may hold now, it holds this.
  TestArray after(array, array.disks().Copy());
  MDVOL_RETURN_IF_ERROR(after.Open());
  return after->Read(0, initial->content);
}

// The array is in use before its resync has begun, and while it runs.
absl::Status PlayBeforeResync(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Work(2));
  player.Pass(kSafeModeMs);
  player.Pass(kTimeBaseMs);
  MDVOL_RETURN_IF_ERROR(player.Resync({0, 3}));
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  player.Pass(kSafeModeMs);
  MDVOL_RETURN_IF_ERROR(player.Resync({0, player.array().geometry().stripe_count()}));
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  player.Pass(kSafeModeMs);
  return player.Stop();
}

// ---- Members fail, come and go ----

absl::Status PlayDegraded(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Work(2));
  MDVOL_RETURN_IF_ERROR(player.Fail(1));
  MDVOL_RETURN_IF_ERROR(player.Work(5));
  MDVOL_RETURN_IF_ERROR(player.ZeroSome());
  player.Pass(kSafeModeMs);
  player.Pass(kTimeBaseMs);
  MDVOL_RETURN_IF_ERROR(player.Work(2));
  return player.Stop();
}

absl::Status PlayDoublyDegraded(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.WriteSome());
  MDVOL_RETURN_IF_ERROR(player.Fail(0));
  MDVOL_RETURN_IF_ERROR(player.Work(2));
  MDVOL_RETURN_IF_ERROR(player.Fail(3));
  MDVOL_RETURN_IF_ERROR(player.Work(4));
  MDVOL_RETURN_IF_ERROR(player.ZeroSome());
  return player.Stop();
}

absl::Status PlaySpareTakesOver(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  MDVOL_RETURN_IF_ERROR(player.Fail(2));
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  MDVOL_RETURN_IF_ERROR(player.Rebuild());
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  return player.Stop();
}

absl::Status PlayAddTwo(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Fail(0));
  MDVOL_RETURN_IF_ERROR(player.Fail(5));
  MDVOL_RETURN_IF_ERROR(player.Remove(0));
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  MDVOL_RETURN_IF_ERROR(player.Add(6));
  MDVOL_RETURN_IF_ERROR(player.Add(7));
  MDVOL_RETURN_IF_ERROR(player.Rebuild());
  return player.Work(2);
}

absl::Status PlayReturn(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  MDVOL_RETURN_IF_ERROR(player.Fail(4));
  MDVOL_RETURN_IF_ERROR(player.Remove(4));
  MDVOL_RETURN_IF_ERROR(player.Work(2));
  for (int i = 0; i < 3; ++i) {
    player.Pass(kTimeBaseMs);  // its bits must not grow old
  }
  MDVOL_RETURN_IF_ERROR(player.Add(4));
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  MDVOL_RETURN_IF_ERROR(player.Rebuild());
  player.Pass(kSafeModeMs);
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  return player.Stop();
}

absl::Status PlayReplace(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Add(6));
  MDVOL_RETURN_IF_ERROR(player.Replace(3));
  MDVOL_RETURN_IF_ERROR(player.Rebuild());
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  MDVOL_RETURN_IF_ERROR(player.Remove(3));
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  return player.Stop();
}

// The member fails while its replacement is half filled.
absl::Status PlayReplaceAndFail(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Add(6));
  MDVOL_RETURN_IF_ERROR(player.Replace(3));
  MDVOL_RETURN_IF_ERROR(player.array()->BeginRecovery());
  SyncFindings findings;
  MDVOL_RETURN_IF_ERROR(player.array()->RecoverStripes({0, 4}, &findings));
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  MDVOL_RETURN_IF_ERROR(player.array()->CheckpointRecovery());
  MDVOL_RETURN_IF_ERROR(player.Fail(3));
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  MDVOL_RETURN_IF_ERROR(player.Rebuild());
  return player.Stop();
}

// The same by a write that came neither to the member nor to its replacement.
absl::Status PlayReplaceAndWriteError(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Add(6));
  MDVOL_RETURN_IF_ERROR(player.Replace(3));
  MDVOL_RETURN_IF_ERROR(player.array()->BeginRecovery());
  SyncFindings findings;
  MDVOL_RETURN_IF_ERROR(player.array()->RecoverStripes({0, 6}, &findings));
  player.BreakDataWrites(3);
  MDVOL_RETURN_IF_ERROR(player.WriteStripes(player.prng().Below(5), 1));
  MDVOL_RETURN_IF_ERROR(player.Flush());
  player.EndFaults(3);
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  MDVOL_RETURN_IF_ERROR(player.Rebuild());
  return player.Stop();
}

// ---- Members that fail by themselves ----

// With a bad-block log what could not be written is noted there, and the member stays.
absl::Status PlayWriteErrors(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Work(1));
  player.BreakDataWrites(2);
  MDVOL_RETURN_IF_ERROR(player.WriteStripes(1, 1));
  MDVOL_RETURN_IF_ERROR(player.Work(2));
  player.EndFaults(2);
  MDVOL_RETURN_IF_ERROR(player.WriteStripes(1, 1));
  MDVOL_RETURN_IF_ERROR(player.Work(3));
  return player.Stop();
}

absl::Status PlayFlushErrors(Player& player, const InitialState& /*initial*/) {
  MDVOL_RETURN_IF_ERROR(player.Work(2));
  player.BreakFlushes(5);
  MDVOL_RETURN_IF_ERROR(player.WriteSome());
  MDVOL_RETURN_IF_ERROR(player.Flush());
  MDVOL_RETURN_IF_ERROR(player.Work(2));
  return player.Stop();
}

// Two, one after the other, in the middle of generations.
absl::Status PlayMetadataErrors(Player& player, const InitialState& /*initial*/) {
  player.BreakSuperblockWrites(1);
  MDVOL_RETURN_IF_ERROR(player.Work(3));
  player.Pass(kSafeModeMs);
  player.BreakSuperblockWrites(4);
  MDVOL_RETURN_IF_ERROR(player.Work(3));
  return player.Stop();
}

constexpr ArraySpec kSix{.stripes = 8, .bitmap_chunk_bytes = 4096};
constexpr ArraySpec kSixCoarse{.stripes = 8, .bitmap_chunk_bytes = 16384};
constexpr ArraySpec kSixBare{.stripes = 8, .bitmap = false};
constexpr ArraySpec kFive{.layout = Layout::kRightAsymmetric6,
                          .raid_disks = 5,
                          .chunk_bytes = 16384,
                          .stripes = 6,
                          .bitmap_chunk_bytes = 16384,
                          .minor = 1};
constexpr ArraySpec kFour{.layout = Layout::kDdfNContinue,
                          .raid_disks = 4,
                          .stripes = 12,
                          .bitmap_chunk_bytes = 8192,
                          .minor = 0};
constexpr ArraySpec kSixAndSpare{.spares = 1, .stripes = 8, .bitmap_chunk_bytes = 8192};
constexpr ArraySpec kSixAndSpareBare{.spares = 1, .stripes = 8, .bitmap = false};

constexpr std::array kScenarios = {
    Scenario{.name = "writes", .spec = kSix, .play = PlayWrites},
    Scenario{.name = "writes-four", .spec = kFour, .play = PlayWrites},
    Scenario{.name = "writes-lanes", .spec = kFive, .play = PlayWrites},
    Scenario{.name = "writes-bare", .spec = kSixBare, .play = PlayWrites},
    Scenario{.name = "upkeep", .spec = kSix, .play = PlayUpkeep},
    Scenario{.name = "upkeep-busy", .spec = kSix, .play = PlayBusyUpkeep},
    Scenario{.name = "stop", .spec = kSixCoarse, .play = PlayStop},
    Scenario{.name = "discards", .spec = kSix, .play = PlayDiscards},
    Scenario{.name = "discards-four", .spec = kFour, .play = PlayDiscards},
    Scenario{.name = "repair", .spec = kSix, .prepare = Corrupt, .play = PlayRepair},
    Scenario{.name = "resync", .spec = kSix, .prepare = LeaveUnclean, .play = PlayAfterResync},
    Scenario{
        .name = "resync-bare", .spec = kSixBare, .prepare = LeaveUnclean, .play = PlayAfterResync},
    Scenario{.name = "resync-in-use",
             .spec = kSix,
             .is_resynced_at_start = false,
             .prepare = LosePower,
             .play = PlayBeforeResync},
    Scenario{.name = "again", .spec = kSix, .prepare = LosePower, .play = PlayAfterResync},
    Scenario{.name = "again-four", .spec = kFour, .prepare = LosePower, .play = PlayUpkeep},
    Scenario{.name = "again-bare", .spec = kSixBare, .prepare = LosePower, .play = PlayAfterResync},
    Scenario{.name = "degraded", .spec = kSix, .most_lost = 1, .play = PlayDegraded},
    Scenario{.name = "degraded-bare", .spec = kSixBare, .most_lost = 1, .play = PlayDegraded},
    Scenario{.name = "degraded-twice", .spec = kSix, .most_lost = 2, .play = PlayDoublyDegraded},
    Scenario{
        .name = "degraded-twice-lanes", .spec = kFive, .most_lost = 2, .play = PlayDoublyDegraded},
    Scenario{.name = "spare", .spec = kSixAndSpare, .most_lost = 1, .play = PlaySpareTakesOver},
    Scenario{
        .name = "spare-bare", .spec = kSixAndSpareBare, .most_lost = 1, .play = PlaySpareTakesOver},
    Scenario{.name = "add-two", .spec = kSix, .extra_disks = 2, .most_lost = 2, .play = PlayAddTwo},
    Scenario{.name = "return", .spec = kSix, .most_lost = 1, .play = PlayReturn},
    Scenario{.name = "write-errors", .spec = kSix, .most_lost = 1, .play = PlayWriteErrors},
    Scenario{.name = "flush-errors", .spec = kSix, .most_lost = 1, .play = PlayFlushErrors},
    Scenario{.name = "metadata-errors", .spec = kSix, .most_lost = 2, .play = PlayMetadataErrors},
    Scenario{.name = "replace", .spec = kSix, .extra_disks = 1, .play = PlayReplace},
    Scenario{.name = "replace-bare", .spec = kSixBare, .extra_disks = 1, .play = PlayReplace},
    Scenario{.name = "replace-and-fail",
             .spec = kSix,
             .extra_disks = 1,
             .most_lost = 1,
             .play = PlayReplaceAndFail},
    Scenario{.name = "replace-and-write-error",
             .spec = kSix,
             .extra_disks = 1,
             .most_lost = 1,
             .play = PlayReplaceAndWriteError},
};

}  // namespace

std::span<const Scenario> AllScenarios() { return kScenarios; }

}  // namespace mdvol::crash
