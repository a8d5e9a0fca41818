// See member_io.h.

#include "core/array/member_io.h"

#include <cstring>

#include "core/base/aligned_buffer.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

ByteRange Aligned(const MemberDevice& device, const ByteRange& range) {
  const uint64_t alignment = device.alignment_bytes();
  return {RoundDown(range.begin, alignment), RoundUp(range.end, alignment)};
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> ReadAnywhere(MemberDevice& device, const ByteRange& range) {
  std::vector<uint8_t> bytes(range.size());
  if (bytes.empty()) {
    return bytes;
  }
  const ByteRange cover = Aligned(device, range);
  AlignedBuffer buffer(cover.size());
  MDVOL_RETURN_IF_ERROR(ReadMember(device, cover.begin, buffer.data(), buffer.size()));
  std::memcpy(bytes.data(), buffer.data() + (range.begin - cover.begin), bytes.size());
  return bytes;
}

absl::Status WriteAnywhere(MemberDevice& device, uint64_t offset_bytes,
                           std::span<const uint8_t> bytes) {
  if (bytes.empty()) {
    return absl::OkStatus();
  }
  const ByteRange range{offset_bytes, offset_bytes + bytes.size()};
  const ByteRange cover = Aligned(device, range);
  AlignedBuffer buffer(cover.size());
  if (cover != range) {
    MDVOL_RETURN_IF_ERROR(ReadMember(device, cover.begin, buffer.data(), buffer.size()));
  }
  std::memcpy(buffer.data() + (range.begin - cover.begin), bytes.data(), bytes.size());
  return WriteMember(device, cover.begin, buffer.data(), buffer.size());
}

}  // namespace mdvol
