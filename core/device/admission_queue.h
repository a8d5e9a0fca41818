// AdmissionQueue: the writes of one member that wait to be let on, and which go next. A data
// structure: it knows no thread, no lock and no device; AdmissionDevice acts on it.
//
// Writes that can be joined stand sorted by their place. What leaves is a run: the one that has
// waited longest, and its neighbours of the same kind that touch it end to end, those behind it
// first, as far as the limits let it grow; one request at the member. So nobody is overtaken for
// ever, and waiting times differ as little as under first come first served. A write is never cut.
//
// With waiters_join all that wait stand there, and hold nothing. Without, it is as under a kernel's
// scheduler: a write needs one of most_writes slots, which its request keeps until it has ended.
//   - With a slot, while the member's own queue (most_in_flight) has room, it goes at once and
//   alone.
//   - With a slot and no room there it stands, and neighbours join it without a slot.
//   - Without a slot it sleeps, first come first served, out of reach of its neighbours.
// Sleepers are let on when wake_batch slots are free, until none is. Under a kernel one thread
// hands in a sequence, write after write, and it is the thread that sleeps; here each write has a
// thread. So when one that is let on stands, the sleepers that continue it come along: they are
// what its thread would hand in next.
//
// Nothing in flight: something may go, whatever the limits say. Not synchronised.

#ifndef MDVOL_CORE_DEVICE_ADMISSION_QUEUE_H_
#define MDVOL_CORE_DEVICE_ADMISSION_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <vector>

#include "absl/container/btree_map.h"
#include "core/device/admission_judge.h"
#include "core/device/member_device.h"

namespace mdvol {

class AdmissionThread;

// One caller's write that waits. Belongs to the caller.
struct WaitingWrite {
  IoRequest* request = nullptr;
  AdmissionThread* owner = nullptr;
  bool is_done = false;

  uint64_t begin_bytes() const { return request->offset_bytes; }
  uint64_t end_bytes() const { return request->offset_bytes + request->length_bytes; }
};

// What is at the member.
struct InFlight {
  uint32_t writes = 0;
  uint64_t bytes = 0;
};

using WriteRun = std::vector<WaitingWrite*>;

// Writes by their age and by their place.
class WaitingSet {
 public:
  using Place = absl::btree_multimap<uint64_t, std::list<WaitingWrite*>::iterator>;

  bool empty() const { return by_age_.empty(); }
  size_t size() const { return by_age_.size(); }
  const std::list<WaitingWrite*>& by_age() const { return by_age_; }

  void Add(WaitingWrite& write);
  void Remove(const WaitingWrite& write);
  // The write that continues `write`, or that it continues; null if there is none.
  WaitingWrite* After(const WaitingWrite& write) const;
  WaitingWrite* Before(const WaitingWrite& write) const;
  // How many runs there are, none longer than that.
  uint32_t CountRuns(uint64_t longest_bytes) const;

 private:
  std::list<WaitingWrite*> by_age_;
  Place by_place_;
};

class AdmissionQueue {
 public:
  AdmissionQueue() = default;
  AdmissionQueue(const AdmissionQueue&) = delete;
  AdmissionQueue& operator=(const AdmissionQueue&) = delete;

  const AdmissionLimits& limits() const { return limits_; }
  // Absurd limits are made possible ones.
  void SetLimits(const AdmissionLimits& limits);

  bool empty() const { return size() == 0; }
  size_t size() const { return direct_.size() + standing_.size() + sleeping_.size(); }

  // The writes that may be in flight at once.
  uint32_t MostInFlight() const;

  // Whether a write that comes now may go at once, past nobody.
  bool MayPass(const InFlight& in_flight) const;

  void Add(WaitingWrite& write, const InFlight& in_flight);

  // Whether a run may go now. Remembers that it is filling the member's queue up, and so has a say
  // only for the moment.
  bool IsReady(const InFlight& in_flight);

  // The next run, in ascending order. IsReady must have said yes.
  void Take(WriteRun* run);

  // A request has ended; `in_flight` is what there is without it.
  void NoteEnd(const InFlight& in_flight);

  // Visits some of those that go next, until `visit` returns true. Whether one did.
  template <typename Visit>
  bool FindNext(size_t most, Visit visit) const {
    return FindIn(direct_, &most, visit) || FindIn(standing_.by_age(), &most, visit) ||
           FindIn(sleeping_.by_age(), &most, visit);
  }

 private:
  template <typename Writes, typename Visit>
  static bool FindIn(const Writes& writes, size_t* most, Visit& visit) {
    for (const WaitingWrite* const write : writes) {
      if ((*most)-- == 0) {
        *most = 0;
        return false;
      }
      if (visit(*write)) {
        return true;
      }
    }
    return false;
  }

  uint64_t UsedSlots(const InFlight& in_flight) const;
  bool HasRoom(const InFlight& in_flight) const;
  void Place(WaitingWrite& write, const InFlight& in_flight);
  bool Join(WaitingWrite& write);
  void WakeSleepers(uint32_t least_free, const InFlight& in_flight);
  void BringAlong(const WaitingWrite& woken);

  AdmissionLimits given_;   // as they were said
  AdmissionLimits limits_;  // and as they are kept
  WaitingSet standing_;
  // Without waiters_join alone:
  std::deque<WaitingWrite*> direct_;  // have a slot, and room at the member: go first, and alone
  WaitingSet sleeping_;
  uint32_t held_slots_ = 0;  // by the runs that stand
  bool is_filling_ = false;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_ADMISSION_QUEUE_H_
