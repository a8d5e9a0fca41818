// See admission_queue.h.

#include "core/device/admission_queue.h"

#include <algorithm>
#include <iterator>

#include "core/base/check.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

constexpr uint64_t kMostRunBytes = 16 * kMiB;

bool Follows(const WaitingWrite& write, const WaitingWrite& before) {
  return write.begin_bytes() == before.end_bytes() && write.request->kind == before.request->kind &&
         write.request->is_sync == before.request->is_sync;
}

}  // namespace

// ---- WaitingSet ----

void WaitingSet::Add(WaitingWrite& write) {
  by_place_.emplace(write.begin_bytes(), by_age_.insert(by_age_.end(), &write));
}

void WaitingSet::Remove(const WaitingWrite& write) {
  auto at = by_place_.lower_bound(write.begin_bytes());
  while (at != by_place_.end() && *at->second != &write) {
    ++at;
  }
  MDVOL_CHECK(at != by_place_.end());
  by_age_.erase(at->second);
  by_place_.erase(at);
}

WaitingWrite* WaitingSet::After(const WaitingWrite& write) const {
  const auto at = by_place_.find(write.end_bytes());
  return at != by_place_.end() && Follows(**at->second, write) && *at->second != &write
             ? *at->second
             : nullptr;
}

WaitingWrite* WaitingSet::Before(const WaitingWrite& write) const {
  const auto at = by_place_.lower_bound(write.begin_bytes());
  if (at == by_place_.begin()) {
    return nullptr;
  }
  WaitingWrite* const before = *std::prev(at)->second;
  return Follows(write, *before) ? before : nullptr;
}

uint32_t WaitingSet::CountRuns(uint64_t longest_bytes) const {
  uint32_t runs = 0;
  const WaitingWrite* before = nullptr;
  uint64_t length_bytes = 0;
  for (const auto& [begin_bytes, at] : by_place_) {
    const WaitingWrite& write = **at;
    length_bytes += write.request->length_bytes;
    if (before == nullptr || !Follows(write, *before) || length_bytes > longest_bytes) {
      ++runs;
      length_bytes = write.request->length_bytes;
    }
    before = &write;
  }
  return runs;
}

// ---- AdmissionQueue ----

void AdmissionQueue::SetLimits(const AdmissionLimits& limits) {
  if (limits == given_) {
    return;
  }
  given_ = limits;
  limits_ = limits;
  limits_.most_writes = std::max(limits_.most_writes, 1U);
  limits_.most_in_flight = std::max(limits_.most_in_flight, 1U);
  limits_.longest_bytes = std::min(limits_.longest_bytes, kMostRunBytes);
  limits_.wake_batch = std::clamp(limits_.wake_batch, 1U, MostInFlight());
  is_filling_ = false;
  held_slots_ = 0;
  if (!limits_.waiters_join) {
    // Who stands already is not sent to sleep, even if there are more than slots.
    held_slots_ = standing_.CountRuns(limits_.longest_bytes);
    return;
  }
  for (WaitingWrite* const write : direct_) {
    standing_.Add(*write);
  }
  direct_.clear();
  for (WaitingWrite* const write : sleeping_.by_age()) {
    standing_.Add(*write);
  }
  sleeping_ = WaitingSet();
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

uint64_t AdmissionQueue::UsedSlots(const InFlight& in_flight) const {
  return uint64_t{held_slots_} + direct_.size() + in_flight.writes;
}

bool AdmissionQueue::HasRoom(const InFlight& in_flight) const {
  return held_slots_ == 0 && direct_.size() + in_flight.writes < limits_.most_in_flight;
}

// A write that has a slot.
void AdmissionQueue::Place(WaitingWrite& write, const InFlight& in_flight) {
  if (HasRoom(in_flight)) {
    direct_.push_back(&write);
    return;
  }
  standing_.Add(write);
  ++held_slots_;
}

void AdmissionQueue::Add(WaitingWrite& write, const InFlight& in_flight) {
  if (limits_.waiters_join) {
    standing_.Add(write);
  } else if (Join(write)) {
    return;
  } else if (sleeping_.empty() && UsedSlots(in_flight) < limits_.most_writes) {
    Place(write, in_flight);
  } else {
    sleeping_.Add(write);
  }
}

// Puts the write beside a neighbour that stands, if that makes no run too long.
bool AdmissionQueue::Join(WaitingWrite& write) {
  uint64_t length_bytes = write.request->length_bytes;
  bool touches = false;
  for (const WaitingWrite* at = standing_.Before(write); at != nullptr;
       at = standing_.Before(*at)) {
    length_bytes += at->request->length_bytes;
    touches = true;
  }
  for (const WaitingWrite* at = standing_.After(write); at != nullptr; at = standing_.After(*at)) {
    length_bytes += at->request->length_bytes;
    touches = true;
  }
  if (!touches || length_bytes > limits_.longest_bytes) {
    return false;
  }
  standing_.Add(write);
  return true;
}

bool AdmissionQueue::IsReady(const InFlight& in_flight) {
  if (in_flight.writes == 0) {
    WakeSleepers(1, in_flight);
  }
  if (direct_.empty() && standing_.empty()) {
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
  if (!direct_.empty()) {
    run->assign(1, direct_.front());
    direct_.pop_front();
    return;
  }
  MDVOL_CHECK(!standing_.empty());
  WaitingWrite* const oldest = standing_.by_age().front();
  run->assign(1, oldest);
  uint64_t length_bytes = oldest->request->length_bytes;
  const auto fits = [&](const WaitingWrite* write) {
    return write != nullptr && length_bytes + write->request->length_bytes <= limits_.longest_bytes;
  };
  for (WaitingWrite* at = standing_.After(*oldest); fits(at); at = standing_.After(*at)) {
    length_bytes += at->request->length_bytes;
    run->push_back(at);
  }
  for (WaitingWrite* at = standing_.Before(*oldest); fits(at); at = standing_.Before(*at)) {
    length_bytes += at->request->length_bytes;
    run->push_back(at);
  }
  std::sort(run->begin(), run->end(), [](const WaitingWrite* a, const WaitingWrite* b) {
    return a->begin_bytes() < b->begin_bytes();
  });
  for (const WaitingWrite* const write : *run) {
    standing_.Remove(*write);
  }
  if (!limits_.waiters_join) {
    // Counted anew: a write may have closed the gap between two runs, and a run been left in part.
    held_slots_ = standing_.CountRuns(limits_.longest_bytes);
  }
}

void AdmissionQueue::NoteEnd(const InFlight& in_flight) {
  if (in_flight.writes + 1 >= MostInFlight()) {
    is_filling_ = false;  // it was full
  }
  WakeSleepers(limits_.wake_batch, in_flight);
}

// One that joins a neighbour leaves the slot that it was woken for to the next.
void AdmissionQueue::WakeSleepers(uint32_t least_free, const InFlight& in_flight) {
  if (UsedSlots(in_flight) + least_free > limits_.most_writes) {
    return;
  }
  while (!sleeping_.empty()) {
    WaitingWrite& sleeper = *sleeping_.by_age().front();
    bool stands = Join(sleeper);
    if (!stands) {
      if (UsedSlots(in_flight) >= limits_.most_writes) {
        return;
      }
      stands = !HasRoom(in_flight);
      Place(sleeper, in_flight);
    }
    sleeping_.Remove(sleeper);
    if (stands) {
      BringAlong(sleeper);
    }
  }
}

// The sleepers that continue one who stands.
void AdmissionQueue::BringAlong(const WaitingWrite& woken) {
  for (WaitingWrite* next = sleeping_.After(woken); next != nullptr;) {
    if (!Join(*next)) {
      return;
    }
    sleeping_.Remove(*next);
    next = sleeping_.After(*next);
  }
}

}  // namespace mdvol
