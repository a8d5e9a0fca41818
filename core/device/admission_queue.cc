// See admission_queue.h.

#include "core/device/admission_queue.h"

#include <algorithm>
#include <iterator>

#include "core/base/check.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

constexpr uint64_t kMostRunBytes = 16 * kMiB;

uint64_t EndBytes(const WaitingWrite& write) {
  return write.request->offset_bytes + write.request->length_bytes;
}

bool Follows(const WaitingWrite& write, const WaitingWrite& before) {
  return write.request->offset_bytes == EndBytes(before) &&
         write.request->kind == before.request->kind;
}

}  // namespace

void AdmissionQueue::SetLimits(const AdmissionLimits& limits) {
  if (limits == given_) {
    return;
  }
  given_ = limits;
  const bool joined = limits_.waiters_join;
  limits_ = limits;
  limits_.most_writes = std::max(limits_.most_writes, 1U);
  limits_.most_in_flight = std::max(limits_.most_in_flight, 1U);
  limits_.longest_bytes = std::min(limits_.longest_bytes, kMostRunBytes);
  limits_.wake_batch = std::clamp(limits_.wake_batch, 1U, MostInFlight());
  is_filling_ = false;
  if (limits_.waiters_join) {
    held_slots_ = 0;
    for (WaitingWrite* const sleeper : sleepers_) {
      sweeps_[1 - current_].emplace(sleeper->request->offset_bytes, sleeper);
    }
    sleepers_.clear();
  } else if (joined) {
    // They stand there already and are not sent to sleep, even if they are more than the slots.
    held_slots_ = CountRuns();
  }
}

uint32_t AdmissionQueue::MostInFlight() const {
  return std::min(limits_.most_writes, limits_.most_in_flight);
}

bool AdmissionQueue::MayPass(const InFlight& in_flight) const {
  if (!empty()) {
    return false;
  }
  return in_flight.writes == 0 ||
         (in_flight.writes < MostInFlight() && in_flight.bytes < limits_.most_bytes);
}

bool AdmissionQueue::HasSlot(const InFlight& in_flight) const {
  return uint64_t{held_slots_} + in_flight.writes < limits_.most_writes;
}

void AdmissionQueue::Add(WaitingWrite& write, const InFlight& in_flight) {
  if (limits_.waiters_join) {
    sweeps_[1 - current_].emplace(write.request->offset_bytes, &write);
    return;
  }
  if (Join(write)) {
    return;
  }
  if (!sleepers_.empty() || !HasSlot(in_flight)) {
    sleepers_.push_back(&write);
    return;
  }
  sweeps_[1 - current_].emplace(write.request->offset_bytes, &write);
  ++held_slots_;
}

// How many requests those in the sweeps would be.
uint32_t AdmissionQueue::CountRuns() const {
  uint32_t runs = 0;
  for (const Sweep& sweep : sweeps_) {
    const WaitingWrite* before = nullptr;
    uint64_t length_bytes = 0;
    for (const auto& [offset_bytes, write] : sweep) {
      length_bytes += write->request->length_bytes;
      if (before == nullptr || !Follows(*write, *before) || length_bytes > limits_.longest_bytes) {
        ++runs;
        length_bytes = write->request->length_bytes;
      }
      before = write;
    }
  }
  return runs;
}

// Puts the write beside a neighbour that stands in a sweep, if that makes no run too long.
bool AdmissionQueue::Join(WaitingWrite& write) {
  for (Sweep& sweep : sweeps_) {
    if (TouchesRun(sweep, write, limits_.longest_bytes)) {
      sweep.emplace(write.request->offset_bytes, &write);
      return true;
    }
  }
  return false;
}

bool AdmissionQueue::TouchesRun(const Sweep& sweep, const WaitingWrite& write,
                                uint64_t longest_bytes) {
  uint64_t joined_bytes = write.request->length_bytes;
  const WaitingWrite* edge = &write;
  const auto behind = sweep.lower_bound(write.request->offset_bytes);
  for (auto at = behind; at != sweep.begin() && Follows(*edge, *std::prev(at)->second); --at) {
    edge = std::prev(at)->second;
    joined_bytes += edge->request->length_bytes;
  }
  const bool touches_before = edge != &write;
  const WaitingWrite* last = &write;
  for (auto at = behind; at != sweep.end() && Follows(*at->second, *last); ++at) {
    last = at->second;
    joined_bytes += last->request->length_bytes;
  }
  return (touches_before || last != &write) && joined_bytes <= longest_bytes;
}

bool AdmissionQueue::IsReady(const InFlight& in_flight) {
  if (in_flight.writes == 0) {
    WakeSleepers(1, in_flight);
  }
  if (sweeps_[0].empty() && sweeps_[1].empty()) {
    is_filling_ = false;
    return false;
  }
  if (in_flight.writes == 0) {
    is_filling_ = true;
    return true;
  }
  const uint32_t most = MostInFlight();
  if (in_flight.writes >= most) {
    is_filling_ = false;
    return false;
  }
  // A run of full length has to fit, or everything would go in what little is free of the bytes.
  if (in_flight.bytes > limits_.most_bytes - std::min(limits_.longest_bytes, limits_.most_bytes)) {
    return false;
  }
  // Those without a slot go in batches; those with one as soon as the member takes them.
  const bool has_batch = most - in_flight.writes >= limits_.wake_batch;
  is_filling_ = is_filling_ || has_batch || !limits_.waiters_join;
  return is_filling_;
}

void AdmissionQueue::Take(WriteRun* run) {
  if (sweeps_[current_].empty()) {
    current_ = 1 - current_;
  }
  Sweep& sweep = sweeps_[current_];
  MDVOL_CHECK(!sweep.empty());
  run->clear();
  uint64_t length_bytes = 0;
  auto at = sweep.begin();
  do {
    run->push_back(at->second);
    length_bytes += at->second->request->length_bytes;
    ++at;
  } while (at != sweep.end() && Follows(*at->second, *run->back()) &&
           length_bytes + at->second->request->length_bytes <= limits_.longest_bytes);
  sweep.erase(sweep.begin(), at);
  if (!limits_.waiters_join) {
    // Counted anew: a write may have closed the gap between two runs, and a run been left in part.
    held_slots_ = CountRuns();
  }
}

void AdmissionQueue::NoteEnd(const InFlight& in_flight) {
  if (in_flight.writes + 1 >= MostInFlight()) {
    is_filling_ = false;  // it was full
  }
  WakeSleepers(limits_.wake_batch, in_flight);
}

// One that joins a neighbour gives the slot that it was woken for to the next.
void AdmissionQueue::WakeSleepers(uint32_t least_free, const InFlight& in_flight) {
  if (uint64_t{held_slots_} + in_flight.writes + least_free > limits_.most_writes) {
    return;
  }
  while (!sleepers_.empty()) {
    WaitingWrite* const sleeper = sleepers_.front();
    if (!Join(*sleeper)) {
      if (!HasSlot(in_flight)) {
        return;
      }
      sweeps_[1 - current_].emplace(sleeper->request->offset_bytes, sleeper);
      ++held_slots_;
    }
    sleepers_.pop_front();
  }
}

}  // namespace mdvol
