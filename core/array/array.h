// Array: the façade of the engine. One running RAID6 array: reads, writes, flushes, zeroes a
// byte-addressed volume; keeps superblocks and bitmap true to it (docs/failure-model.md, I1..I13);
// fails members that misbehave.
//
// Callers' threads run everything: a call carries its own request from start to end. Any number of
// threads may call at once; a reader that overlaps a writer in time sees old or new bytes, as on a
// block device. The only thread of its own is the maintenance thread (safe mode, lazy clearing of
// bitmap bits), when StartMaintenance was called; otherwise the owner calls RunMaintenance.
//
// Errors are absl::Status with errno: EIO (more than two losses in the range), EROFS, ENOSPC (a
// member's file system is full: nothing was failed, I13), EINVAL (bounds). No call throws.

#ifndef MDVOL_CORE_ARRAY_ARRAY_H_
#define MDVOL_CORE_ARRAY_ARRAY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/array/doubt_map.h"
#include "core/array/events.h"
#include "core/array/member_loader.h"
#include "core/array/snapshot.h"
#include "core/array/volume.h"
#include "core/base/clock.h"
#include "core/geometry/geometry.h"
#include "core/metadata/assembly.h"

namespace mdvol {

struct ArrayOptions {
  AssemblyOptions assembly;
  // The state of the volume's policies and knobs, md's defaults.
  uint32_t rmw_level = 1;
  uint32_t safe_mode_delay_ms = 200;
};

class Array : public Volume {
 public:
  // Takes the members over, decides (DecideAssembly), and if the decision is to run: records what
  // --force did and returns the running array. After an unclean stop some stripes are in doubt then
  // (NextDoubt): StartArray in core/sync recomputes their parity and is what most callers want.
  // Nothing is written when the decision is to refuse, nor in any case when read-only. `clock` and
  // `events` must outlive the array.
  static absl::StatusOr<std::unique_ptr<Array>> Start(std::vector<LoadedMember> members,
                                                      const ArrayOptions& options, Clock& clock,
                                                      EventLog& events);
  virtual const ArrayGeometry& geometry() const = 0;
  uint64_t volume_bytes() const override { return geometry().volume_bytes(); }

  // Fails the member with this index as md's "faulty" does: durable in the survivors before it
  // returns. EBUSY when the array could not live without it, ENODEV for an unknown index; failing a
  // faulty member again is OK.
  virtual absl::Status FailMember(size_t member_index, std::string_view why) = 0;

  // The first run of stripes at or after `from_stripe` whose parity is in doubt (I12); none when
  // all is well.
  virtual std::optional<StripeRange> NextDoubt(uint64_t /*from_stripe*/) const {
    return std::nullopt;
  }
  // Recomputes P and Q of these stripes from their data, rewriting what differs. What could not be
  // told (data missing or unreadable) or written (ENOSPC, then an error too) is counted in
  // *skipped_stripes.
  virtual absl::Status RecomputeParity(StripeRange /*stripes*/, uint64_t* skipped_stripes) {
    *skipped_stripes = 0;
    return absl::OkStatus();
  }
  // Every stripe of the range has been recomputed: its parity is trusted again.
  virtual void EndDoubt(StripeRange /*stripes*/) {}

  virtual ArraySnapshot Snapshot() const = 0;

  // Knobs of md/.
  virtual absl::Status SetRmwLevel(uint32_t level) = 0;      // 0..2
  virtual void SetSafeModeDelay(uint32_t milliseconds) = 0;  // 0: never marked clean by itself
  virtual void SetMaxReadErrors(uint32_t count) = 0;
  virtual absl::Status SetBitmapTimeBase(uint32_t seconds) = 0;  // 1..; EINVAL without a bitmap
  // array_state "clean": marks clean now if nothing is in flight, "readonly" and "active": from and
  // to read-only. EBUSY, EINVAL as md.
  virtual absl::Status SetState(std::string_view word) = 0;

  virtual void StartMaintenance() = 0;
  // What is due by now: mark clean after safe_mode_delay without writes, clear idle bitmap bits,
  // retry owed parity. Returns the time on the clock at which it wants to be called next.
  virtual uint64_t RunMaintenance() = 0;

  // Flushes, clears the bitmap of a whole array, marks clean, stops maintenance. No other call may
  // be in flight or follow, but the destructor. An array destroyed without Stop is left dirty, as
  // by a crash.
  virtual absl::Status Stop() = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_ARRAY_H_
