// What the three kernels' resync_pacing policies have in common: md_do_sync of drivers/md/md.c and
// sync_request of raid5.c, as far as they decide when a resync goes on.
//
//   cadence   judged again after every 256 sectors (128 KiB) of each member
//   cache     up to 256 lanes (1 MiB of each member) in flight; whoever finds them all taken waits
//             for one, and then a jiffy longer, so as not to swamp the cache (HZ is 1000 here)
//   speed     currspeed = done since the oldest of ten marks of 3 s, over whole seconds plus one,
//             plus one, in KiB/s. At most speed_min: go on, whatever else is asked of the members
//   above     each kernel's own word: go on, sleep 500 ms and judge again, or wait until all that
//   is
//             in flight has ended and go on without judging
//
// A lane is 4 KiB here as there, but lanes come 32 at a time, as a window: what a kernel would put
// into flight one by one between two judgements. Where a stripe is larger than a window, it is one.

#ifndef MDVOL_POLICIES_MD_PACING_H_
#define MDVOL_POLICIES_MD_PACING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/policy/resync_pacing.h"

namespace mdvol {

inline constexpr uint64_t kMdWindowBytes = 128 * 1024;
inline constexpr uint64_t kMdCacheBytes = 1024 * 1024;
inline constexpr uint64_t kMdSleepNs = 500'000'000;
inline constexpr uint64_t kMdJiffyNs = 1'000'000;

// In KiB per second and member, in md's integers.
uint64_t MdCurrentSpeed(const ResyncFacts& facts);

class MdPacing : public ResyncPacing {
 public:
  ResyncDecision Decide(const ResyncFacts& facts) final;

 protected:
  enum class Word : uint8_t { kGo, kSleep, kDrain };

  // A run begins: what has happened until now is no sign of users.
  virtual void Begin(const ResyncFacts& facts) = 0;
  // Above speed_min.
  virtual Word Judge(const ResyncFacts& facts, bool is_above_max) = 0;

 private:
  enum class Phase : uint8_t { kJudge, kSleep, kDrain, kCache, kJiffy };

  ResyncDecision Step(const ResyncFacts& facts);

  uint64_t run_ = 0;
  Phase phase_ = Phase::kJudge;
  uint64_t sleep_until_ns_ = 0;
  bool was_cache_full_ = false;
};

// is_mddev_idle from 2009 to 6.15: a member is busy if more than 64 sectors have ended on it that
// were not the resync's since it was last found busy. The resync's are taken off when they are
// issued and added when they end, so what it has in flight hides as much of the users' I/O.
// Members are told apart by position, and one that fails is left out: when others may have moved
// into its place, all begin anew and none is busy.
class MdMemberIdleTest {
 public:
  void Begin(const ResyncFacts& facts) { IsBusy(facts); }
  bool IsBusy(const ResyncFacts& facts);

 private:
  // As far as can be told.
  bool AreTheSame(std::span<const ResyncMemberFacts> members) const;

  std::vector<uint64_t> last_completed_bytes_;
  std::vector<uint32_t> last_events_;  // sectors, modulo 2^32 as in md
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_MD_PACING_H_
