// Where everything lies on one member, in bytes from its start: derived from a superblock once,
// checked for overlap, then used by everybody. Pure.

#ifndef MDVOL_CORE_METADATA_MEMBER_AREAS_H_
#define MDVOL_CORE_METADATA_MEMBER_AREAS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/metadata/superblock.h"

namespace mdvol {

struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;  // exclusive
  uint64_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct MemberAreas {
  // The superblock: 4 KiB, or as much as is free before the next area, but never less than its
  // roles need. Nothing beyond it may be written when the superblock is.
  ByteRange super;
  ByteRange bitmap;      // superblock and bits, rounded up to 4 KiB where that much room is; empty
                         // without a bitmap
  ByteRange bad_blocks;  // empty without a log
  // data_offset .. data_offset + size in whole chunks (what the array uses). A journal's: all of
  // it.
  ByteRange data;
};

// Errors (EINVAL, naming the two areas or the bound): an area off the device, or two that overlap.
// bitmap_bytes: the length of bitmap superblock and bits (BitmapBytes in bitmap.h), 0 when unknown
// yet: 256 bytes are assumed.
absl::StatusOr<MemberAreas> LayOutMember(const Superblock& super, uint64_t device_sectors,
                                         uint64_t bitmap_bytes);

// How far the bitmap may reach on this member: from its start to the next area or the end of the
// device. 0 without a bitmap. Same errors.
absl::StatusOr<uint64_t> BitmapRoomBytes(const Superblock& super, uint64_t device_sectors);

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_MEMBER_AREAS_H_
