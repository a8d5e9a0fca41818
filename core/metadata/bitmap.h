// md's internal write-intent bitmap, version 4 (3 is read where it was written little-endian):
// superblock and bits as on disk. Bit i covers the bytes [i, i + 1) * chunk of every member's data
// area; 1 = parity there may be out of date. Pure codec: what bits mean over time is core/array's.

#ifndef MDVOL_CORE_METADATA_BITMAP_H_
#define MDVOL_CORE_METADATA_BITMAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/little_endian.h"
#include "core/base/uuid.h"

namespace mdvol {

inline constexpr uint32_t kBitmapMagic = 0x6d746962;
inline constexpr uint32_t kBitmapVersion = 4;
inline constexpr size_t kBitmapSuperBytes = 256;
inline constexpr uint32_t kBitmapStale = 1u << 1;  // bits of BitmapSuperblock::state
inline constexpr uint32_t kBitmapWriteError = 1u << 2;
inline constexpr uint32_t kBitmapDefaultSleepSeconds = 5;
inline constexpr uint64_t kBitmapDefaultChunkBytes = uint64_t{64} << 20;
// The longest bitmap that is read: superblock and bits. It is held in memory.
inline constexpr uint64_t kMaxBitmapBytes = uint64_t{64} << 20;

struct BitmapSuperblock {
  le32 magic;
  le32 version;
  Uuid uuid;  // the array's
  le64 events;
  le64 events_cleared;
  le64 sync_size;  // sectors per member
  le32 state;
  le32 chunksize;     // bytes
  le32 daemon_sleep;  // seconds
  le32 write_behind;
  le32 sectors_reserved;
  le32 nodes;
  std::array<char, 64> cluster_name;
  std::array<uint8_t, 120> pad;
};

static_assert(sizeof(BitmapSuperblock) == kBitmapSuperBytes && alignof(BitmapSuperblock) == 1);
static_assert(offsetof(BitmapSuperblock, uuid) == 8);
static_assert(offsetof(BitmapSuperblock, events) == 24);
static_assert(offsetof(BitmapSuperblock, events_cleared) == 32);
static_assert(offsetof(BitmapSuperblock, sync_size) == 40);
static_assert(offsetof(BitmapSuperblock, state) == 48);
static_assert(offsetof(BitmapSuperblock, chunksize) == 52);
static_assert(offsetof(BitmapSuperblock, daemon_sleep) == 56);
static_assert(offsetof(BitmapSuperblock, write_behind) == 60);
static_assert(offsetof(BitmapSuperblock, sectors_reserved) == 64);
static_assert(offsetof(BitmapSuperblock, nodes) == 68);
static_assert(offsetof(BitmapSuperblock, cluster_name) == 72);
static_assert(offsetof(BitmapSuperblock, pad) == 136);

// How many bits, and how many bytes superblock and bits take. chunk_bytes must not be 0.
uint64_t BitmapBits(uint64_t sync_bytes, uint64_t chunk_bytes);
uint64_t BitmapBytes(uint64_t sync_bytes, uint64_t chunk_bytes);

// The room that mdadm sets aside for a bitmap on members of this size: 4, 64 or 128 KiB.
uint64_t DefaultBitmapRoom(uint64_t sync_bytes);

// The chunk that mdadm would choose: the smallest power of two >= 4 KiB whose bitmap fits into
// `room_bytes`, raised to 64 MiB. 0 when none does: less room than superblock and one bit take, or
// a chunk of 4 GiB or more.
uint64_t DefaultBitmapChunk(uint64_t sync_bytes, uint64_t room_bytes);

// Checks magic, version, array uuid, chunk (power of two >= 512), sync size, and that the bits fit
// into `room_bytes` and kMaxBitmapBytes. `sync_bytes` is what the array uses of each member, in
// whole array chunks. A bitmap for more than that is accepted, one for less is not. The message
// names the field.
absl::Status CheckBitmap(const BitmapSuperblock& super, const Uuid& array_uuid, uint64_t sync_bytes,
                         uint64_t room_bytes);

// Whether a bitmap that passed CheckBitmap knows of every write that an array at `array_events` has
// seen: it was updated with the array and never failed to be written. Otherwise all bits count as
// set.
bool BitmapVouchesFor(const BitmapSuperblock& super, uint64_t array_events);

// A fresh bitmap superblock for an array, as mdadm writes it.
BitmapSuperblock NewBitmapSuperblock(const Uuid& array_uuid, uint64_t sync_bytes,
                                     uint64_t chunk_bytes);

// Bits in memory, byte for byte as on disk.
class BitmapBitsImage {
 public:
  BitmapBitsImage() = default;
  explicit BitmapBitsImage(uint64_t bits) : bits_(bits), bytes_((bits + 7) / 8) {}

  uint64_t size() const { return bits_; }
  bool Get(uint64_t bit) const { return ((bytes_[bit / 8] >> (bit % 8)) & 1) != 0; }
  void Set(uint64_t bit, bool value);
  uint64_t CountSet() const;
  void SetAll(bool value);  // bits beyond size() in the last byte are set too, as mdadm leaves them

  std::span<uint8_t> bytes() { return bytes_; }
  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  uint64_t bits_ = 0;
  std::vector<uint8_t> bytes_;
};

// Superblock, bits and zeroes up to `area_bytes`, as they are written to a member. area_bytes must
// hold superblock and bits.
std::vector<uint8_t> SerializeBitmap(const BitmapSuperblock& super, const BitmapBitsImage& bits,
                                     uint64_t area_bytes);

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_BITMAP_H_
