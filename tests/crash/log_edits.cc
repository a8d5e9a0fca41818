// See log_edits.h.

#include "tests/crash/log_edits.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

#include "core/metadata/bitmap.h"
#include "core/metadata/superblock.h"

namespace mdvol::crash {

using testing::RecordedRequest;

namespace {

bool IsSuper(const RecordedWrites& run, const DiskWrite& write) {
  return write.offset_bytes == run.areas.super.begin;
}

bool IsBitmap(const RecordedWrites& run, const DiskWrite& write) {
  return write.Touches(run.areas.bitmap.begin, run.areas.bitmap.end);
}

void MarkClean(DiskWrite* write) {
  Superblock super{};
  const size_t length = std::min(write->bytes.size(), sizeof(super));
  std::memcpy(&super, write->bytes.data(), length);
  super.resync_offset = kResyncDone;
  SealSuperblock(super);
  std::memcpy(write->bytes.data(), &super, length);
}

// The bytes of the write that hold bits.
std::span<std::byte> BitsIn(const RecordedWrites& run, DiskWrite* write) {
  const uint64_t begin = run.areas.bitmap.begin + kBitmapSuperBytes;
  const uint64_t skipped = begin > write->offset_bytes ? begin - write->offset_bytes : 0;
  return std::span(write->bytes).subspan(std::min<size_t>(skipped, write->bytes.size()));
}

// Of the flushes and bitmap writes that come right before the log's entry `at`, the first.
size_t BeginOfUpkeep(const RecordedWrites& run, size_t at) {
  size_t first = at;
  for (size_t i = at; i > 0; --i) {
    const RecordedRequest& request = (*run.log)[i - 1];
    if (request.kind == IoKind::kFlush) {
      first = i - 1;
    } else if (!request.Touches(run.areas.bitmap.begin, run.areas.bitmap.end)) {
      break;
    }
  }
  return first;
}

void Sort(RecordedWrites* run) {
  std::stable_sort(
      run->writes.begin(), run->writes.end(),
      [](const DiskWrite& a, const DiskWrite& b) { return a.visible_at < b.visible_at; });
}

}  // namespace

void SuppressMarks(RecordedWrites* run) {
  for (DiskWrite& write : run->writes) {
    if (IsSuper(*run, write)) {
      MarkClean(&write);
    } else if (IsBitmap(*run, write)) {
      std::ranges::fill(BitsIn(*run, &write), std::byte{0});
    }
  }
}

void PlantEarlyBitClear(RecordedWrites* run) {
  std::map<size_t, std::vector<std::byte>> bits_of;  // by member: what was written last
  for (DiskWrite& write : run->writes) {
    if (!IsBitmap(*run, write)) {
      continue;
    }
    const std::span<std::byte> bits = BitsIn(*run, &write);
    const std::vector<std::byte>& before = bits_of[write.member];
    bool is_clearing = false;
    for (size_t i = 0; i < std::min(before.size(), bits.size()); ++i) {
      is_clearing |= (before[i] & ~bits[i]) != std::byte{0};
    }
    bits_of[write.member].assign(bits.begin(), bits.end());
    if (is_clearing) {
      write.visible_at = BeginOfUpkeep(*run, write.visible_at);
    }
  }
  Sort(run);
}

void PlantLateSuperblock(RecordedWrites* run) {
  std::map<size_t, size_t> next_of;  // by member: when its next superblock was written
  for (auto write = run->writes.rbegin(); write != run->writes.rend(); ++write) {
    if (!IsSuper(*run, *write)) {
      continue;
    }
    const auto next = next_of.try_emplace(write->member, run->log->size()).first;
    const size_t late = next->second;
    next->second = write->visible_at;
    write->visible_at = late;
    write->durable_at = std::max(write->durable_at, late + 1);
  }
  Sort(run);
}

}  // namespace mdvol::crash
