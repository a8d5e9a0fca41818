// See read_runs.h.

#include "core/stripe/read_runs.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

constexpr uint64_t kForgottenNs = 1000000000;  // a run that nobody has continued for so long
constexpr uint32_t kRecentRequests = 64;

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

bool ReadRuns::Entry::Continues(Range read, uint64_t now_ns) const {
  if (requests == 0 || Since(last_ns, now_ns) > kForgottenNs) {
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

// One that is free or forgotten, else the oldest of those that are no runs: random reads are not to
// push streams out.
ReadRuns::Entry& ReadRuns::Replaced(uint64_t now_ns) {
  const auto rank = [now_ns](const Entry& entry) {
    if (entry.requests == 0 || Since(entry.last_ns, now_ns) > kForgottenNs) {
      return 0;
    }
    return entry.IsRun() ? 2 : 1;
  };
  Entry* worst = &entries_[0];
  for (Entry& entry : entries_) {
    const int order = rank(entry) - rank(*worst);
    if (order < 0 || (order == 0 && entry.last_ns < worst->last_ns)) {
      worst = &entry;
    }
  }
  return *worst;
}

// The one whose end is nearest. What is no run and could have been continued as well is one with
// it.
ReadRuns::Entry* ReadRuns::Find(Range read, uint64_t now_ns) {
  const auto distance = [read](const Entry& entry) {
    return std::max(entry.end, read.begin) - std::min(entry.end, read.begin);
  };
  absl::InlinedVector<Entry*, 4> near;
  Entry* found = nullptr;
  for (Entry& entry : entries_) {
    if (entry.Continues(read, now_ns)) {
      near.push_back(&entry);
      found = found == nullptr || distance(entry) < distance(*found) ? &entry : found;
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

ReadRun ReadRuns::Note(uint64_t offset_bytes, uint64_t length_bytes, uint64_t now_ns) {
  const Range read{offset_bytes, offset_bytes + length_bytes};
  absl::MutexLock lock(&mutex_);
  Entry* found = Find(read, now_ns);
  if (found == nullptr) {
    found = &Replaced(now_ns);
    *found = {};
  }
  ReadRun run;
  run.gap_ns = found->requests == 0 ? 0 : Since(found->last_ns, now_ns);
  found->Add(read, now_ns);
  if (found->IsRun()) {
    run.requests = found->requests;
    run.bytes = found->bytes;
  }
  for (const Entry& entry : entries_) {
    run.active_runs += entry.IsRun() && Since(entry.last_ns, now_ns) <= kForgottenNs ? 1U : 0U;
  }
  return run;
}

}  // namespace mdvol
