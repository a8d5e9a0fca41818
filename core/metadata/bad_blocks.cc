// See bad_blocks.h.

#include "core/metadata/bad_blocks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/little_endian.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

constexpr unsigned kLengthBits = 10;
constexpr uint64_t kLengthMask = (uint64_t{1} << kLengthBits) - 1;
constexpr uint64_t kMaxEntryUnits = 512;  // what the kernel holds in one entry
constexpr uint32_t kMaxShift = 31;
constexpr uint64_t kListEnd = ~uint64_t{0};

absl::Status CheckShift(uint32_t shift) {
  if (shift > kMaxShift) {
    return ErrnoStatus(EINVAL,
                       absl::StrCat("bblog_shift ", shift, ": must be at most ", kMaxShift));
  }
  return absl::OkStatus();
}

// The bytes that an entry stands for; EINVAL when they end beyond the device.
absl::StatusOr<ByteRange> RangeOf(uint64_t entry, uint32_t shift, uint64_t device_bytes) {
  const uint64_t sector = entry >> kLengthBits;
  const uint64_t length = entry & kLengthMask;
  const uint64_t unit_bytes = kSectorBytes << shift;
  const uint64_t device_units = device_bytes / unit_bytes + (device_bytes % unit_bytes != 0);
  if (sector >= device_units || length > device_units - sector) {
    return ErrnoStatus(EINVAL, absl::StrCat("bad-block log entry 0x", absl::Hex(entry), ": ",
                                            length, " sectors at ", sector, " (shifted by ", shift,
                                            ") end beyond the member of ", device_bytes, " bytes"));
  }
  return ByteRange{sector * unit_bytes, std::min((sector + length) * unit_bytes, device_bytes)};
}

}  // namespace

bool BadBlockList::Touches(uint64_t begin, uint64_t end) const {
  const auto first = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [begin](const ByteRange& r) { return r.end <= begin; });
  return begin < end && first != ranges_.end() && first->begin < end;
}

bool BadBlockList::Covers(const ByteRange& range) const {
  const auto first = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const ByteRange& r) { return r.end <= range.begin; });
  return first != ranges_.end() && first->begin <= range.begin && range.end <= first->end;
}

void BadBlockList::Add(ByteRange range) {
  if (range.begin >= range.end) {
    return;
  }
  const auto first = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const ByteRange& r) { return r.end < range.begin; });
  auto last = first;
  for (; last != ranges_.end() && last->begin <= range.end; ++last) {
    range.begin = std::min(range.begin, last->begin);
    range.end = std::max(range.end, last->end);
  }
  ranges_.insert(ranges_.erase(first, last), range);
}

void BadBlockList::Remove(ByteRange range) {
  if (range.begin >= range.end) {
    return;
  }
  const auto first = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const ByteRange& r) { return r.end <= range.begin; });
  const auto last = std::partition_point(first, ranges_.end(),
                                         [&](const ByteRange& r) { return r.begin < range.end; });
  if (first == last) {
    return;
  }
  const ByteRange before{first->begin, range.begin};
  const ByteRange after{range.end, std::prev(last)->end};
  auto at = ranges_.erase(first, last);
  if (after.begin < after.end) {
    at = ranges_.insert(at, after);
  }
  if (before.begin < before.end) {
    ranges_.insert(at, before);
  }
}

absl::StatusOr<BadBlockList> ParseBadBlockLog(std::span<const uint8_t> log, uint32_t shift,
                                              uint64_t device_bytes) {
  MDVOL_RETURN_IF_ERROR(CheckShift(shift));
  BadBlockList list;
  for (size_t at = 0; at + sizeof(le64) <= log.size(); at += sizeof(le64)) {
    le64 entry;
    std::memcpy(&entry, log.data() + at, sizeof(entry));
    if (entry.get() == kListEnd) {
      break;
    }
    if ((entry.get() & kLengthMask) == 0) {
      continue;
    }
    MDVOL_ASSIGN_OR_RETURN(const ByteRange range, RangeOf(entry, shift, device_bytes));
    list.Add(range);
  }
  return list;
}

absl::StatusOr<std::vector<uint8_t>> SerializeBadBlockLog(const BadBlockList& list, uint32_t shift,
                                                          uint64_t log_bytes) {
  MDVOL_RETURN_IF_ERROR(CheckShift(shift));
  std::vector<uint8_t> log(log_bytes, 0xff);
  const uint64_t unit_bytes = kSectorBytes << shift;
  size_t at = 0;
  for (const ByteRange& range : list.ranges()) {
    uint64_t unit = range.begin / unit_bytes;
    const uint64_t end = CeilDiv(range.end, unit_bytes);
    while (unit < end) {
      if (at + sizeof(le64) > log.size()) {
        return ErrnoStatus(ENOSPC, absl::StrCat("the bad-block log is full: it holds ",
                                                log_bytes / sizeof(le64), " ranges"));
      }
      const uint64_t length = std::min(end - unit, kMaxEntryUnits);
      const le64 entry = unit << kLengthBits | length;
      std::memcpy(log.data() + at, &entry, sizeof(entry));
      at += sizeof(entry);
      unit += length;
    }
  }
  return log;
}

}  // namespace mdvol
