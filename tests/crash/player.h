// Player: acts a scenario out on an array and writes down what has to be known of it: what was
// written to the volume when, and when the array promised that it is durable. One thread at a time.

#ifndef MDVOL_TESTS_CRASH_PLAYER_H_
#define MDVOL_TESTS_CRASH_PLAYER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "tests/crash/volume_model.h"
#include "tests/support/seed.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol::crash {

class Player {
 public:
  // `content`: what the volume holds. `array` outlives the player.
  Player(testing::TestArray& array, std::vector<std::byte> content, uint64_t seed);

  // Of the volume. Each write is of another kind: full stripes, all but a chunk of one, half of
  // one, some sectors, some bytes, some bytes of several stripes.
  absl::Status WriteSome();
  absl::Status WriteStripes(uint64_t first, uint64_t count);
  absl::Status Write(uint64_t offset_bytes, uint64_t length_bytes);
  absl::Status Zero(uint64_t offset_bytes, uint64_t length_bytes);
  absl::Status ZeroSome();
  absl::Status Flush();
  // `count` writes, now and then a flush.
  absl::Status Work(int count);

  // The time passes, and maintenance does what is due.
  void Pass(uint64_t milliseconds);
  absl::Status Stop();

  // Members, by their disks.
  absl::Status Fail(size_t disk);
  absl::Status Remove(size_t disk);
  absl::Status Add(size_t disk, AddMode mode = AddMode::kAdd);
  absl::Status Replace(size_t disk);
  // From now on, until EndFaults, these requests of the disk fail with EIO.
  void BreakDataWrites(size_t disk);
  void BreakSuperblockWrites(size_t disk);
  void BreakFlushes(size_t disk);
  void EndFaults(size_t disk) { array_.fault(disk).ClearRules(); }
  // Until nothing is pending, with writes between the windows.
  absl::Status Rebuild();
  // Of these stripes, those that are in doubt.
  absl::Status Resync(StripeRange stripes);
  // Mends the stripes; `content` is what the volume holds afterwards.
  absl::Status Repair(StripeRange stripes, RepairMode mode, std::span<const std::byte> content);

  testing::Prng& prng() { return prng_; }
  testing::TestArray& array() { return array_; }
  const VolumeModel& model() const { return model_; }
  const std::vector<size_t>& promise_times() const { return promise_times_; }

 private:
  void Promise();
  absl::StatusOr<size_t> MemberOf(size_t disk) const;

  testing::TestArray& array_;
  testing::Prng prng_;
  VolumeModel model_;
  std::vector<size_t> promise_times_;
};

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_PLAYER_H_
