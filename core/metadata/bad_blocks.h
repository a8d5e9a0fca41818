// md's bad-block log: ranges of one member that cannot be trusted. On disk an array of
// little-endian 64-bit entries, (sector << 10) | length, both shifted by bblog_shift; sectors are
// absolute on the member; all-ones ends the list. In memory: sorted, disjoint byte ranges, absolute
// on the member. Pure values.

#ifndef MDVOL_CORE_METADATA_BAD_BLOCKS_H_
#define MDVOL_CORE_METADATA_BAD_BLOCKS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/metadata/member_areas.h"

namespace mdvol {

class BadBlockList {
 public:
  bool empty() const { return ranges_.empty(); }
  std::span<const ByteRange> ranges() const { return ranges_; }
  // Whether [begin, end) touches a bad range.
  bool Touches(uint64_t begin, uint64_t end) const;
  // Whether all of `range` is bad.
  bool Covers(const ByteRange& range) const;
  // Adding joins what touches; removing splits.
  void Add(ByteRange range);
  void Remove(ByteRange range);

 private:
  std::vector<ByteRange> ranges_;
};

// Entries of length 0 and zeroed entries are passed over (old writers leave them). EINVAL for an
// entry beyond `device_bytes` or a shift that cannot be (> 31).
absl::StatusOr<BadBlockList> ParseBadBlockLog(std::span<const uint8_t> log, uint32_t shift,
                                              uint64_t device_bytes);

// The log of `log_bytes` bytes: entries of at most 512 sectors each, the rest 0xff. ENOSPC when
// they do not fit.
absl::StatusOr<std::vector<uint8_t>> SerializeBadBlockLog(const BadBlockList& list, uint32_t shift,
                                                          uint64_t log_bytes);

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_BAD_BLOCKS_H_
