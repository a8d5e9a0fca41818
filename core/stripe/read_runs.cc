// See read_runs.h.

#include "core/stripe/read_runs.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

constexpr uint64_t kForgottenNs = 1000000000;  // a run that nobody has continued for so long
constexpr uint64_t kCountEveryNs = 100000000;
constexpr uint32_t kRecentRequests = 64;
constexpr uint64_t kPlaceBytes = 32 * kMiB;  // more than what comes out of order

// How far from the end of a run a read may lie: as far as so many of its like that came earlier or
// later than it. Before the run is known for one, chance is to be kept out.
uint64_t Slack(uint64_t length_bytes, bool is_run) {
  constexpr uint64_t kMost = 32 * kMiB;
  return std::min(length_bytes * (is_run ? 32 : 8), kMost);
}

uint64_t Since(uint64_t then_ns, uint64_t now_ns) {
  return now_ns > then_ns ? now_ns - then_ns : 0;  // callers race for the lock
}

}  // namespace

// Of reads in a row, in any order, all but one add a joint.
bool ReadRuns::Entry::IsRun() const {
  return recent >= 2 && recent_joints + 1 >= recent - recent / 4;
}

bool ReadRuns::Entry::IsForgotten(uint64_t now_ns) const {
  return requests == 0 || Since(last_ns, now_ns) > kForgottenNs;
}

bool ReadRuns::Entry::Continues(Range read, uint64_t now_ns) const {
  if (IsForgotten(now_ns)) {
    return false;
  }
  const uint64_t slack = Slack(read.end - read.begin, IsRun());
  return read.begin + slack >= end && read.begin <= end + slack;
}

// Two beginnings of what may turn out to be one stream.
void ReadRuns::Entry::Absorb(const Entry& other) {
  for (uint32_t i = 0; i < std::min(other.requests, kRing); ++i) {
    Add(other.ring[i], other.last_ns);
  }
}

void ReadRuns::Entry::Add(Range read, uint64_t now_ns) {
  bool follows = false;
  bool precedes = false;
  for (const Range& other : ring) {
    follows |= other.end == read.begin && other.end != 0;
    precedes |= other.begin == read.end;  // no read ends at 0
  }
  recent_joints += (follows ? 1U : 0U) + (precedes ? 1U : 0U);
  ++recent;
  ring[requests % kRing] = read;
  ++requests;
  bytes += read.end - read.begin;
  end = std::max(end, read.end);
  last_ns = std::max(last_ns, now_ns);
  if (recent >= kRecentRequests) {
    recent /= 2;
    recent_joints /= 2;
  }
}

uint32_t ReadRuns::PlaceOf(uint64_t offset_bytes) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // spreads neighbours (Knuth 6.4)
  return static_cast<uint32_t>((offset_bytes / kPlaceBytes * kGolden) >> 32) % kPlaces;
}

// One that is free or forgotten, else the older of those that are no runs: random reads are not to
// push streams out. Null when all are runs.
ReadRuns::Entry* ReadRuns::Replaced(uint32_t place, uint64_t now_ns) {
  Entry* worst = nullptr;
  for (Entry& entry : places_[place]) {
    if (entry.IsForgotten(now_ns)) {
      return &entry;
    }
    if (!entry.IsRun() && (worst == nullptr || entry.last_ns < worst->last_ns)) {
      worst = &entry;
    }
  }
  return worst;
}

// The one whose end is nearest. What is no run and could have been continued as well is one with
// it.
ReadRuns::Entry* ReadRuns::Find(Range read, uint64_t now_ns) {
  const auto distance = [read](const Entry& entry) {
    return std::max(entry.end, read.begin) - std::min(entry.end, read.begin);
  };
  absl::InlinedVector<Entry*, 6> near;
  Entry* found = nullptr;
  const uint64_t before = read.begin - std::min(read.begin, kPlaceBytes);
  uint32_t last_place = kPlaces;
  for (const uint64_t at : {before, read.begin, read.begin + kPlaceBytes}) {
    const uint32_t place = PlaceOf(at);
    if (place == last_place) {
      continue;
    }
    last_place = place;
    for (Entry& entry : places_[place]) {
      if (entry.Continues(read, now_ns)) {
        near.push_back(&entry);
        found = found == nullptr || distance(entry) < distance(*found) ? &entry : found;
      }
    }
  }
  for (Entry* const entry : near) {
    if (entry != found && !entry->IsRun()) {
      if (!found->IsRun()) {
        found->Absorb(*entry);
      }
      *entry = {};
    }
  }
  return found;
}

// To where its end is now, if there is room.
ReadRuns::Entry* ReadRuns::MoveOn(Entry* entry, uint32_t from, uint64_t now_ns) {
  const uint32_t place = PlaceOf(entry->end);
  if (place == from) {
    return entry;
  }
  Entry* const into = Replaced(place, now_ns);
  if (into == nullptr) {
    return entry;
  }
  *into = *entry;
  *entry = {};
  return into;
}

void ReadRuns::CountRuns(uint64_t now_ns) {
  if (was_counted_ && Since(counted_ns_, now_ns) < kCountEveryNs) {
    return;
  }
  was_counted_ = true;
  counted_ns_ = now_ns;
  active_runs_ = 0;
  for (const Set& set : places_) {
    for (const Entry& entry : set) {
      active_runs_ += entry.IsRun() && !entry.IsForgotten(now_ns) ? 1U : 0U;
    }
  }
}

ReadRun ReadRuns::Note(uint64_t offset_bytes, uint64_t length_bytes, uint64_t now_ns) {
  const Range read{offset_bytes, offset_bytes + length_bytes};
  absl::MutexLock lock(&mutex_);
  CountRuns(now_ns);
  ReadRun run{.active_runs = active_runs_};
  Entry* found = Find(read, now_ns);
  if (found == nullptr) {
    found = Replaced(PlaceOf(read.end), now_ns);
    if (found == nullptr) {
      return run;
    }
    *found = {};
  }
  run.gap_ns = found->requests == 0 ? 0 : Since(found->last_ns, now_ns);
  const bool was_run = found->IsRun();
  const uint32_t from = PlaceOf(found->requests == 0 ? read.end : found->end);
  found->Add(read, now_ns);
  found = MoveOn(found, from, now_ns);
  if (was_run != found->IsRun()) {
    active_runs_ = was_run ? std::max(active_runs_, 1U) - 1 : active_runs_ + 1;
  }
  if (found->IsRun()) {
    run.requests = found->requests;
    run.bytes = found->bytes;
    run.active_runs = std::max(active_runs_, 1U);
  }
  return run;
}

}  // namespace mdvol
