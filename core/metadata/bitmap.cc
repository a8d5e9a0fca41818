// See bitmap.h.

#include "core/metadata/bitmap.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

constexpr uint32_t kVersionHostEndian = 3;
constexpr uint32_t kVersionClustered = 5;
constexpr uint32_t kVersionLockless = 6;
constexpr uint64_t kMinChunkBytes = 512;
constexpr uint64_t kMinDefaultChunkBytes = 4096;
constexpr uint64_t kMaxChunkBytes = uint64_t{1} << 31;  // the field has 32 bits

template <typename... Parts>
absl::Status Refuse(const Parts&... parts) {
  return ErrnoStatus(EINVAL, absl::StrCat(parts...));
}

absl::Status CheckVersion(uint32_t version) {
  switch (version) {
    case kVersionHostEndian:
    case kBitmapVersion:
      return absl::OkStatus();
    case kVersionClustered:
      return Refuse(
          "bitmap version 5 is a cluster's: mdvol cannot share the array with other nodes");
    case kVersionLockless:
      return Refuse(
          "bitmap version 6 is a lockless bitmap, which mdvol does not write: change it to an "
          "internal one with mdadm --grow first");
    default:
      return Refuse("bitmap version ", version, ": mdvol knows versions 3 and 4");
  }
}

}  // namespace

uint64_t BitmapBits(uint64_t sync_bytes, uint64_t chunk_bytes) {
  MDVOL_CHECK(chunk_bytes != 0);
  return CeilDiv(sync_bytes, chunk_bytes);
}

uint64_t BitmapBytes(uint64_t sync_bytes, uint64_t chunk_bytes) {
  return kBitmapSuperBytes + CeilDiv(BitmapBits(sync_bytes, chunk_bytes), 8);
}

uint64_t DefaultBitmapRoom(uint64_t sync_bytes) {
  if (sync_bytes >= 200 * kGiB + 64 * kKiB) {
    return 128 * kKiB;
  }
  return sync_bytes > 8 * kGiB + 4 * kKiB ? 64 * kKiB : 4 * kKiB;
}

uint64_t DefaultBitmapChunk(uint64_t sync_bytes, uint64_t room_bytes) {
  for (uint64_t chunk = kMinDefaultChunkBytes; chunk <= kMaxChunkBytes; chunk *= 2) {
    if (BitmapBytes(sync_bytes, chunk) <= room_bytes) {
      return std::max(chunk, kBitmapDefaultChunkBytes);
    }
  }
  return 0;
}

absl::Status CheckBitmap(const BitmapSuperblock& super, const Uuid& array_uuid, uint64_t sync_bytes,
                         uint64_t room_bytes) {
  if (super.magic.get() != kBitmapMagic) {
    return Refuse("no bitmap: magic 0x", absl::Hex(super.magic.get()), ", expected 0x",
                  absl::Hex(kBitmapMagic));
  }
  MDVOL_RETURN_IF_ERROR(CheckVersion(super.version));
  if (super.uuid != array_uuid) {
    return Refuse("the bitmap belongs to array ", FormatUuidColons(super.uuid), ", not to ",
                  FormatUuidColons(array_uuid));
  }
  const uint64_t chunk_bytes = super.chunksize;
  if (!IsPowerOfTwo(chunk_bytes) || chunk_bytes < kMinChunkBytes) {
    return Refuse("bitmap chunksize ", chunk_bytes, ": must be a power of two of 512 or more");
  }
  if (super.daemon_sleep.get() == 0) {
    return Refuse("bitmap daemon_sleep 0: must be at least a second");
  }
  if (super.sync_size.get() < CeilDiv(sync_bytes, kSectorBytes)) {
    return Refuse("bitmap sync_size ", super.sync_size.get(), ": the array uses ",
                  CeilDiv(sync_bytes, kSectorBytes), " sectors of each member");
  }
  const uint64_t bytes = BitmapBytes(sync_bytes, chunk_bytes);
  if (const uint64_t limit = std::min(room_bytes, kMaxBitmapBytes); bytes > limit) {
    return Refuse("bitmap chunksize ", chunk_bytes, ": such a bitmap takes ", bytes,
                  " bytes, but there is room for ", limit);
  }
  return absl::OkStatus();
}

bool BitmapVouchesFor(const BitmapSuperblock& super, uint64_t array_events) {
  return super.events.get() >= array_events &&
         (super.state.get() & (kBitmapStale | kBitmapWriteError)) == 0;
}

BitmapSuperblock NewBitmapSuperblock(const Uuid& array_uuid, uint64_t sync_bytes,
                                     uint64_t chunk_bytes) {
  MDVOL_CHECK(IsPowerOfTwo(chunk_bytes) && chunk_bytes >= kMinChunkBytes &&
              chunk_bytes <= kMaxChunkBytes);
  BitmapSuperblock super{};
  super.magic = kBitmapMagic;
  super.version = kBitmapVersion;
  super.uuid = array_uuid;
  super.sync_size = sync_bytes / kSectorBytes;
  super.chunksize = static_cast<uint32_t>(chunk_bytes);
  super.daemon_sleep = kBitmapDefaultSleepSeconds;
  return super;
}

void BitmapBitsImage::Set(uint64_t bit, bool value) {
  const auto mask = static_cast<uint8_t>(1u << (bit % 8));
  uint8_t& byte = bytes_[bit / 8];
  byte = static_cast<uint8_t>(value ? byte | mask : byte & ~mask);
}

uint64_t BitmapBitsImage::CountSet() const {
  uint64_t count = 0;
  for (size_t i = 0; i < bytes_.size(); ++i) {
    uint8_t byte = bytes_[i];
    if (i + 1 == bytes_.size() && bits_ % 8 != 0) {
      byte = static_cast<uint8_t>(byte & ((1u << (bits_ % 8)) - 1));
    }
    count += static_cast<uint64_t>(std::popcount(byte));
  }
  return count;
}

void BitmapBitsImage::SetAll(bool value) {
  std::fill(bytes_.begin(), bytes_.end(), static_cast<uint8_t>(value ? 0xff : 0));
}

std::vector<uint8_t> SerializeBitmap(const BitmapSuperblock& super, const BitmapBitsImage& bits,
                                     uint64_t area_bytes) {
  MDVOL_CHECK(area_bytes >= kBitmapSuperBytes + bits.bytes().size());
  std::vector<uint8_t> area(area_bytes);
  std::memcpy(area.data(), &super, kBitmapSuperBytes);
  std::copy(bits.bytes().begin(), bits.bytes().end(), area.begin() + kBitmapSuperBytes);
  return area;
}

}  // namespace mdvol
