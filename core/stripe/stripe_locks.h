// StripeLocks: who may work on which stripe. Writers to one stripe form a group: the first leads,
// those that arrive while it works wait, and when it is done the first of them leads all that wait
// by then, plans once, and answers for all (LevelDB's writer queue, per stripe). Readers that
// reconstruct share a stripe among themselves but not with a leader. Reads of healthy chunks take
// no lock at all.
//
// Deadlock freedom: nobody may block here (Join, LockShared) while leading or sharing a stripe;
// several stripes are taken at once with TryLead or TryLockShared alone, in ascending order. But
// recovery, which must have a window as a whole, waits while leading the stripes before; it goes
// upwards, and nobody waits for anything while holding a stripe above, unless for a window of the
// recovery that is below his own.
// Waiters are served first come first served, so neither readers nor writers starve. Thread-safe;
// entries exist only for stripes in use, in shards to keep threads apart.

#ifndef MDVOL_CORE_STRIPE_STRIPE_LOCKS_H_
#define MDVOL_CORE_STRIPE_STRIPE_LOCKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "core/stripe/write_plan.h"

namespace mdvol {

// A member that failed an I/O and has to be failed durably before anything that skipped it is
// acknowledged (I3).
struct MemberError {
  uint32_t slot = 0;
  int error = 0;
  bool is_read = false;  // a rewrite after a read error failed
  ByteRange bad = {};    // of what could be neither read nor rewritten, absolute on the member
};
using MemberErrors = absl::InlinedVector<MemberError, 1>;

// One caller's part in one stripe. Lives on the caller's stack from Join until it is answered.
struct StripeWrite {
  uint64_t stripe = 0;
  absl::InlinedVector<NewExtent, 8> extents;  // in one stripe, flat
  bool zero_stripe = false;  // the extents make the whole stripe zero: holes where possible

  // The answer, written by the leader.
  int error = 0;
  MemberErrors member_errors;
};

using WriteGroup = absl::InlinedVector<StripeWrite*, 4>;

class StripeLocks {
 public:
  StripeLocks() = default;
  StripeLocks(const StripeLocks&) = delete;
  StripeLocks& operator=(const StripeLocks&) = delete;

  // Becomes the leader if the stripe is free; never blocks.
  bool TryLead(uint64_t stripe);

  // Waits for its turn. True: leader now, `group` holds `write` and everybody who waited with it,
  // oldest first. False: another leader has answered `write`.
  bool Join(StripeWrite& write, WriteGroup* group);

  // Leads without a write of one's own (resync, repair of a read error).
  void Lead(uint64_t stripe);

  // Ends leadership. Everybody in `group` but `self` has been answered by the leader and is
  // released.
  void Finish(uint64_t stripe, std::span<StripeWrite* const> group, const StripeWrite* self);

  void LockShared(uint64_t stripe);
  // Takes a share if nobody leads or awaits the stripe; never blocks.
  bool TryLockShared(uint64_t stripe);
  void UnlockShared(uint64_t stripe);

  // How many callers wait for the stripe at this moment; followers of a leader do not count.
  size_t CountWaiting(uint64_t stripe);

 private:
  enum class Kind : uint8_t { kWriter, kExclusive, kShared };
  enum class Turn : uint8_t { kWaiting, kGranted, kFollowing, kAnswered };

  struct Waiter {
    Kind kind;
    StripeWrite* write;
    Turn turn = Turn::kWaiting;
    WriteGroup* group = nullptr;
    absl::CondVar wake{};
  };

  struct Entry {
    bool led = false;
    uint32_t shared = 0;
    std::vector<Waiter*> queue;  // first come first served; short, so popping the front is cheap
    std::vector<Waiter*> followers;  // of the present leader, to be released by Finish
  };

  struct alignas(64) Shard {
    absl::Mutex mutex;
    absl::flat_hash_map<uint64_t, Entry> entries ABSL_GUARDED_BY(mutex);
  };

  static constexpr size_t kShards = 64;

  Shard& ShardOf(uint64_t stripe) { return shards_[stripe % kShards]; }
  // Gives the stripe to whoever waits first, or forgets it when nobody does.
  static void PassOn(Shard& shard, uint64_t stripe, Entry& entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  static void GrantWriters(Entry& entry, Waiter& leader);

  std::array<Shard, kShards> shards_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_STRIPE_LOCKS_H_
