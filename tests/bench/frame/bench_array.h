// BenchArray: an array on members in memory, put together as a mount puts one together: array, sync
// engine, maintenance and policies.
//
// It starts whole, clean and with valid parity, without a resync: members that read as zeroes agree
// with each other. They are sparse, so a member may have a TiB, and a check or resync over
// untouched parts costs no memory; what is written is kept, in blocks of 64 KiB. The members
// outlive Close: an array can be closed and opened again, with other members missing, on what the
// first has left.
//
// From the member outward a device's stack is: memory, disk model, tally, counter, write
// admission (as in a mount). Making the members costs no modelled time, all that comes after does,
// metadata included. One thread at a time, but for array() and sync(), and for Switch while others
// use those.

#ifndef MDVOL_TESTS_BENCH_FRAME_BENCH_ARRAY_H_
#define MDVOL_TESTS_BENCH_FRAME_BENCH_ARRAY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/array/array.h"
#include "core/base/units.h"
#include "core/device/disk_model.h"
#include "core/policy/families.h"
#include "core/sync/sync_engine.h"
#include "tests/bench/frame/tally_device.h"

namespace mdvol::bench {

struct PolicyChoice {
  PolicyFamily family = PolicyFamily::kResyncPacing;
  std::string name;
  std::vector<std::pair<std::string, double>> options = {};
};

struct BenchArraySpec {
  uint32_t members = 4;
  uint64_t chunk_bytes = 64 * kKiB;
  uint64_t member_bytes = 64 * kGiB;  // of data, on each
  bool bitmap = true;
  // How slow each member is: kSsdModel, kHddModel, Stretched(kSsdModel, 4) where the machine could
  // not keep up. None: as fast as memory.
  std::optional<DiskModelParameters> model = std::nullopt;
  bool write_admission = true;              // false: no member has a queue for its writes
  std::vector<uint32_t> missing = {};       // slots, two at most
  std::vector<PolicyChoice> policies = {};  // the others are the defaults
};

class BenchArray {
 public:
  // Makes the members and opens. Errors: a spec that `create` would refuse, an unknown policy.
  static absl::StatusOr<std::unique_ptr<BenchArray>> Make(const BenchArraySpec& spec);
  virtual ~BenchArray() = default;  // closes

  // Without these slots, two at most. Open already: a bug.
  virtual absl::Status Open(const std::vector<uint32_t>& missing) = 0;
  // Ends a sync, stops the array. Closed already: nothing.
  virtual absl::Status Close() = 0;

  virtual Array& array() = 0;
  virtual SyncEngine& sync() = 0;
  virtual const BenchArraySpec& spec() const = 0;

  // While the array runs too. Options that are not named keep what was set last, or the standard.
  virtual absl::Status Switch(const PolicyChoice& choice) = 0;
  // Takes a member away while the array runs.
  virtual absl::Status FailMember(uint32_t slot) = 0;

  // kCheck, kRepair or kResync, over all of the array; runs until it is through or StopSync.
  // sync_speed_max is off unless set on sync().
  virtual absl::Status StartSync(SyncAction action) = 0;
  virtual absl::Status StopSync() = 0;

  // Since Make, over Close and Open. A missing member stands still.
  virtual MemberTally Counts(uint32_t slot) const = 0;
  MemberTally Total() const;
  // Members that are there.
  virtual uint32_t live_members() const = 0;
  // The largest TallyDevice::MostWritesAtOnce of the members, since the last reset.
  virtual uint64_t MostWritesAtOnce() const = 0;
  virtual void ResetMostWritesAtOnce() = 0;

  // Writes pseudo-random bytes to the first `length_bytes` of the volume, so that what is decoded
  // is not zeroes; FirstDifference reads them back: the offset of a byte that differs, or
  // `length_bytes`.
  absl::Status Fill(uint64_t length_bytes, uint64_t seed);
  absl::StatusOr<uint64_t> FirstDifference(uint64_t length_bytes, uint64_t seed);
};

// The names of a family's policies, the default first.
std::vector<std::string> PolicyNamesOf(PolicyFamily family);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_BENCH_ARRAY_H_
