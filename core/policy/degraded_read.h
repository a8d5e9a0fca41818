// degraded_read: how a read is served while members are missing. Asked by many threads at once, for
// each stripe that a read touches, in arrays that are degraded; an array that is whole never asks.
// With no policy: what DegradedReadDecision{} says.
//
// A decision is a wish. The engine rounds it to what can be done, and serves stripes whose parity
// it does not trust, or where members end or have bad blocks, without the stripe cache.

#ifndef MDVOL_CORE_POLICY_DEGRADED_READ_H_
#define MDVOL_CORE_POLICY_DEGRADED_READ_H_

#include <cstdint>

#include "core/policy/families.h"
#include "core/policy/policy.h"

namespace mdvol {

struct DegradedReadFacts {
  uint64_t now_ns = 0;
  uint32_t raid_disks = 0;
  uint64_t chunk_bytes = 0;
  uint32_t degraded = 0;  // slots of the array without a member that is in sync

  // The stripe. Chunks are numbered in the order of the volume, 0 to raid_disks - 3.
  uint32_t lost_chunks = 0;  // of its data; lost parity does not count
  uint32_t first_lost = 0;   // meaningful if any is lost
  uint32_t last_lost = 0;

  // The part of the request that lies in the stripe.
  uint32_t first_chunk = 0;
  uint32_t last_chunk = 0;
  uint64_t part_bytes = 0;
  bool wants_lost = false;  // some of a lost chunk

  // The run of neighbouring reads that the request continues, itself included: a stream. 0 and 0
  // when it continues none.
  uint32_t run_requests = 0;
  uint64_t run_bytes = 0;
  uint64_t run_gap_ns = 0;   // since the run's last request before this one
  uint32_t active_runs = 0;  // how many there are

  uint32_t cache_lanes = 0;  // what the stripe cache may hold
};

struct DegradedReadDecision {
  // Not through the stripe cache. What a request reads of a stripe's live chunks also serves to
  // rebuild the lost ones that it wants; if apart, each chunk is read as if it were the only one.
  bool apart = false;
  // To rebuild a lost chunk, read all blocks of the others, those not needed too.
  bool all_survivors = false;

  // Through the stripe cache: what it holds is not read, what is read is kept.
  bool keep = false;
  // With keep: from what is wanted up to the next multiple of so many bytes of a chunk, the same
  // bytes of all chunks are read and rebuilt at once, whether they are wanted yet or not. 0:
  // nothing but what is wanted.
  uint64_t ahead_bytes = 0;
  // With ahead_bytes: who has nothing to do but to wait for what others read in the stripe reads
  // the beginning of the next one meanwhile, if that has lost data too.
  bool next_stripe = false;
  // With keep: what is dropped when its stripe has not been read for so long. 0: only when room is
  // needed.
  uint64_t retention_ns = 0;
  // With keep: a lane is dropped as soon as all its data has been read.
  bool until_delivered = false;
};

class DegradedRead : public Policy {
 public:
  static constexpr PolicyFamily kFamily = PolicyFamily::kDegradedRead;
  virtual DegradedReadDecision Decide(const DegradedReadFacts& facts) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_DEGRADED_READ_H_
