// See crash_point.h.

#include "tests/crash/crash_point.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/units.h"

namespace mdvol::crash {
namespace {

constexpr uint64_t kHashPageBytes = 4096;  // Image's

std::vector<const DiskWrite*> PendingAt(const RecordedRun& run, size_t time) {
  std::vector<const DiskWrite*> pending;
  for (const DiskWrite& write : run.writes) {
    if (write.IsPending(time)) {
      pending.push_back(&write);
    }
  }
  return pending;
}

std::vector<size_t> AtomsOf(const std::vector<const DiskWrite*>& writes) {
  std::vector<size_t> atoms;
  for (const DiskWrite* write : writes) {
    atoms.push_back(write->Atoms());
  }
  return atoms;
}

std::vector<uint64_t> StripesOf(const RecordedRun& run,
                                const std::vector<const DiskWrite*>& writes) {
  std::set<uint64_t> stripes;
  for (const DiskWrite* write : writes) {
    const uint64_t begin = std::max(write->offset_bytes, run.areas.data.begin);
    const uint64_t end = std::min(write->offset_bytes + write->bytes.size(), run.areas.data.end);
    for (uint64_t at = begin; at < end; at = RoundDown(at, kAtomBytes) + kAtomBytes) {
      stripes.insert((at - run.areas.data.begin) >> run.geometry.chunk_shift());
    }
  }
  return {stripes.begin(), stripes.end()};
}

// Of the write, the atoms that are kept.
void Apply(const DiskWrite& write, const std::vector<bool>& kept, Image* image) {
  const uint64_t end = write.offset_bytes + write.bytes.size();
  uint64_t begin = write.offset_bytes;
  for (const bool is_kept : kept) {
    const uint64_t next = std::min(RoundDown(begin, kAtomBytes) + kAtomBytes, end);
    if (is_kept) {
      image->Write(begin, std::span(write.bytes).subspan(begin - write.offset_bytes, next - begin));
    }
    begin = next;
  }
}

}  // namespace

std::vector<size_t> CrashTimes(const RecordedRun& run) {
  std::set<size_t> times = {0};
  for (const DiskWrite& write : run.writes) {
    times.insert(write.visible_at + 1);
    times.insert(write.durable_at);
  }
  times.insert(run.promise_times.begin(), run.promise_times.end());
  times.erase(times.upper_bound(run.log.size()), times.end());
  return {times.begin(), times.end()};
}

CrashPoint::CrashPoint(const RecordedRun& run, size_t time, size_t bound, uint64_t seed)
    : run_(run),
      time_(time),
      pending_(PendingAt(run, time)),
      pending_stripes_(StripesOf(run, pending_)),
      choices_(AtomsOf(pending_), bound, seed + time),
      images_(MakeImages()) {
  for (size_t i = 0; i < images_.size(); ++i) {
    const std::span<const std::byte> bytes = images_[i].bytes();
    for (size_t page = 0; page * kHashPageBytes < bytes.size(); ++page) {
      const size_t begin = page * kHashPageBytes;
      const size_t length = std::min(kHashPageBytes, bytes.size() - begin);
      base_hash_ += (i + 1) * HashBytes(bytes.subspan(begin, length), page);
    }
  }
}

std::vector<Image> CrashPoint::MakeImages() const {
  std::vector<std::vector<std::byte>> disks = run_.before;
  for (const DiskWrite& write : run_.writes) {
    if (write.IsDurable(time_)) {
      std::ranges::copy(write.bytes,
                        disks[write.member].begin() + static_cast<ptrdiff_t>(write.offset_bytes));
    }
  }
  std::vector<Image> images;
  for (size_t i = 0; i < disks.size(); ++i) {
    images.emplace_back(run_.paths[i], std::move(disks[i]));
  }
  return images;
}

void CrashPoint::Choose(size_t index) {
  for (Image& image : images_) {
    image.Reset();
  }
  const KeptAtoms kept = choices_.Get(index);
  for (size_t i = 0; i < kept.size(); ++i) {
    Apply(*pending_[i], kept[i], &images_[pending_[i]->member]);
  }
}

uint64_t CrashPoint::StateHash() const {
  uint64_t hash = base_hash_;
  for (size_t i = 0; i < images_.size(); ++i) {
    hash += (i + 1) * images_[i].ChangeHash();
  }
  return hash;
}

}  // namespace mdvol::crash
