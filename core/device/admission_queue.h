// AdmissionQueue: the writes of one member that wait to be let on, and which go next. A data
// structure: it knows no thread, no lock and no device; AdmissionDevice acts on it.
//
// Writes that can be joined stand sorted by their offset. They go in sweeps: what is there when a
// sweep begins goes in ascending order, what comes meanwhile is for the next one, so that nobody is
// overtaken for ever by a stream that grows ahead of the sweep. What leaves is a run: neighbours of
// one kind that touch end to end, as long as the limits let it grow; one request at the member. A
// request is never cut.
//
// With waiters_join all that wait stand there, and hold nothing. Without, it is as under a kernel's
// scheduler: a write needs one of most_writes slots, which its request keeps until it has ended; it
// stands there with its slot until the member's own queue (most_in_flight) has room, joins a
// neighbour that stands there without taking a slot of its own, and sleeps, first come first served
// and out of reach of its neighbours, when there is neither. Sleepers are let on when wake_batch
// slots are free, until none is.
//
// Nothing in flight: something may go, whatever the limits say. Not synchronised.

#ifndef MDVOL_CORE_DEVICE_ADMISSION_QUEUE_H_
#define MDVOL_CORE_DEVICE_ADMISSION_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
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
};

// What is at the member.
struct InFlight {
  uint32_t writes = 0;
  uint64_t bytes = 0;
};

using WriteRun = std::vector<WaitingWrite*>;

class AdmissionQueue {
 public:
  AdmissionQueue() = default;
  AdmissionQueue(const AdmissionQueue&) = delete;
  AdmissionQueue& operator=(const AdmissionQueue&) = delete;

  const AdmissionLimits& limits() const { return limits_; }
  // Absurd limits are made possible ones.
  void SetLimits(const AdmissionLimits& limits);

  bool empty() const { return size() == 0; }
  size_t size() const { return sweeps_[0].size() + sweeps_[1].size() + sleepers_.size(); }

  // The writes that may be in flight at once.
  uint32_t MostInFlight() const;

  // Whether a write that comes now may go at once, past nobody.
  bool MayPass(const InFlight& in_flight) const;

  void Add(WaitingWrite& write, const InFlight& in_flight);

  // Whether a run may go now. Remembers that it is filling the member's queue up, and so has a say
  // only for the moment.
  bool IsReady(const InFlight& in_flight);

  // The next run. IsReady must have said yes.
  void Take(WriteRun* run);

  // A request has ended; `in_flight` is what there is without it.
  void NoteEnd(const InFlight& in_flight);

  // Visits some of those that go next, until `visit` returns true. Whether one did.
  template <typename Visit>
  bool FindNext(size_t most, Visit visit) const;

 private:
  using Sweep = absl::btree_multimap<uint64_t, WaitingWrite*>;

  bool HasSlot(const InFlight& in_flight) const;
  uint32_t CountRuns() const;
  bool Join(WaitingWrite& write);
  static bool TouchesRun(const Sweep& sweep, const WaitingWrite& write, uint64_t longest_bytes);
  void WakeSleepers(uint32_t least_free, const InFlight& in_flight);

  AdmissionLimits given_;    // as they were said
  AdmissionLimits limits_;   // and as they are kept
  Sweep sweeps_[2];          // the one that goes, and the one that comes after it
  uint32_t current_ = 0;     // which is which
  uint32_t held_slots_ = 0;  // by runs in the sweeps; without waiters_join alone
  std::deque<WaitingWrite*> sleepers_;
  bool is_filling_ = false;
};

template <typename Visit>
bool AdmissionQueue::FindNext(size_t most, Visit visit) const {
  for (const uint32_t which : {current_, 1 - current_}) {
    for (const auto& [offset_bytes, write] : sweeps_[which]) {
      if (most-- == 0) {
        return false;
      }
      if (visit(*write)) {
        return true;
      }
    }
  }
  for (const WaitingWrite* const write : sleepers_) {
    if (most-- == 0) {
      return false;
    }
    if (visit(*write)) {
      return true;
    }
  }
  return false;
}

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_ADMISSION_QUEUE_H_
