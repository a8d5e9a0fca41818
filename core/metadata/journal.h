// The write journal of md's RAID6 (raid5-cache) on disk: a ring of 4 KiB blocks in the data area of
// the journal member. A record is a meta block followed by the pages it lists, and holds whole
// lanes: all pages of a lane that are to be written, its P and its Q. Pure codec of what mdvol
// writes; journal_scan.h reads. Sources: the kernel's raid5-cache format (uapi raid/md_p.h).
//
//   meta block  u32 magic, u32 checksum, u8 version, 3 zeroes, u32 meta_size (header and payloads),
//               u64 seq, u64 position (sectors from the ring's start), payloads, zeroes
//   payload     u16 type, u16 flags, u32 size, then
//     data      size 8 sectors; u64 sector of the volume; u32 checksum; carries one page
//     parity    size 16 sectors; u64 sector in the data areas; u32 checksums of P, Q; two pages
//     flush     size in bytes; u64 sectors of lanes whose pages are safe; carries no page
//
// Checksums are raw CRC-32Cs, seeded with JournalSeed; a meta block's covers its 4 KiB with the
// field zero.

#ifndef MDVOL_CORE_METADATA_JOURNAL_H_
#define MDVOL_CORE_METADATA_JOURNAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"
#include "core/base/little_endian.h"
#include "core/base/uuid.h"

namespace mdvol {

inline constexpr uint32_t kJournalMagic = 0x6433c509;
inline constexpr uint8_t kJournalVersion = 1;
inline constexpr uint64_t kJournalBlockBytes = 4096;
inline constexpr uint32_t kJournalBlockSectors = 8;
// What a new log adds to the last sequence number seen, so that nothing old can continue it.
inline constexpr uint64_t kJournalSeqGap = 10000;

inline constexpr uint16_t kJournalData = 0;  // values of JournalPayloadHead::type
inline constexpr uint16_t kJournalParity = 1;
inline constexpr uint16_t kJournalFlush = 2;

struct JournalMeta {
  le32 magic;
  le32 checksum;
  uint8_t version;
  std::array<uint8_t, 3> pad;
  le32 meta_size;  // bytes
  le64 seq;
  le64 position;  // sectors
};

struct JournalPayloadHead {
  le16 type;
  le16 flags;
  le32 size;
};

struct JournalDataPayload {
  JournalPayloadHead head;
  le64 location;  // sectors of the volume
  le32 checksum;
};

struct JournalParityPayload {
  JournalPayloadHead head;
  le64 location;  // sectors of the data areas
  le32 p_checksum;
  le32 q_checksum;
};

static_assert(sizeof(JournalMeta) == 32 && alignof(JournalMeta) == 1);
static_assert(offsetof(JournalMeta, meta_size) == 12 && offsetof(JournalMeta, seq) == 16);
static_assert(sizeof(JournalPayloadHead) == 8);
static_assert(sizeof(JournalDataPayload) == 20 && sizeof(JournalParityPayload) == 24);

// The largest array that md journals: a lane always fits in one meta block.
inline constexpr uint32_t kMaxJournalRaidDisks = 203;

// One lane as it goes into the log. All pages are kJournalBlockBytes long and not owned.
struct JournalLane {
  struct Page {
    uint64_t volume_bytes = 0;
    const std::byte* bytes = nullptr;
  };

  uint64_t member_bytes = 0;          // the lane's offset in every data area
  absl::InlinedVector<Page, 8> data;  // never empty: md does not replay parity that comes alone
  const std::byte* p = nullptr;
  const std::byte* q = nullptr;
};

// Pages that the lane puts behind its meta block: data in order, P, Q.
inline uint64_t JournalLanePages(size_t data_pages) { return data_pages + 2; }

// What a lane takes of a meta block's kJournalBlockBytes - sizeof(JournalMeta).
constexpr size_t JournalLaneMetaBytes(size_t data_pages) {
  return sizeof(JournalDataPayload) * data_pages + sizeof(JournalParityPayload);
}
inline constexpr size_t kJournalPayloadBytes = kJournalBlockBytes - sizeof(JournalMeta);
static_assert(JournalLaneMetaBytes(kMaxJournalRaidDisks - 2) <= kJournalPayloadBytes);

using JournalBlock = std::array<std::byte, kJournalBlockBytes>;

uint32_t JournalSeed(const Uuid& set_uuid);

// A meta block's checksum, whatever its checksum field holds. `block` has kJournalBlockBytes.
uint32_t JournalMetaChecksum(uint32_t seed, std::span<const std::byte> block);

// The meta block of the record of `lanes` at `position_bytes` of the ring; without lanes the empty
// block that md puts where a log begins. The lanes must fit, and offsets be whole pages.
JournalBlock ComposeJournalMeta(uint32_t seed, uint64_t seq, uint64_t position_bytes,
                                std::span<const JournalLane> lanes);

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_JOURNAL_H_
