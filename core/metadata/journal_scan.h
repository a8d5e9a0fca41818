// Reading md's write journal one record at a time, from the tail to the first place that is no
// record: there the log ends. Input is whatever a disk may hold: nothing of it overflows, is
// trusted beyond its checksum, or reaches outside the array. Pure. See journal.h for the format.

#ifndef MDVOL_CORE_METADATA_JOURNAL_SCAN_H_
#define MDVOL_CORE_METADATA_JOURNAL_SCAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/geometry/geometry.h"
#include "core/metadata/journal.h"

namespace mdvol {

// A place in the log: where a meta block lies in the ring, and its number.
struct JournalPlace {
  uint64_t offset_bytes = 0;
  uint64_t seq = 0;
  friend bool operator==(const JournalPlace&, const JournalPlace&) = default;
};

struct JournalPayload {
  enum class Kind : uint8_t { kData, kParity, kFlush };
  Kind kind = Kind::kData;
  // Of the volume for data, of the data areas for parity, below the end and on a page boundary.
  uint64_t location_bytes = 0;
  uint32_t first_page = 0;                // among the record's pages
  std::array<uint32_t, 2> checksums{};    // data: the first; parity: P, Q
  std::vector<uint64_t> flushed_bytes{};  // of lanes, in the data areas
};

struct JournalEntry {
  std::vector<JournalPayload> payloads;
  uint32_t pages = 0;  // that follow the meta block, around the ring's end
};

// The record whose meta block is `block` (kJournalBlockBytes), which was read at
// `expected.offset_bytes` of a ring of `ring_bytes` (whole blocks). Absent: the log ends here, for
// whatever reason: nothing was ever written, it is an older lap's, torn, damaged, or lists what
// this array does not have.
std::optional<JournalEntry> ParseJournalMeta(std::span<const std::byte> block, uint32_t seed,
                                             const JournalPlace& expected,
                                             const ArrayGeometry& geometry, uint64_t ring_bytes);

// Whether the record's pages are what its meta block promises; if not, the log ends before it.
// `pages` holds entry.pages pages.
bool JournalPagesMatch(const JournalEntry& entry, std::span<const std::byte> pages, uint32_t seed);

// The place behind a record.
JournalPlace NextJournalPlace(const JournalPlace& place, const JournalEntry& entry,
                              uint64_t ring_bytes);

// What lies where the superblock says that the log begins.
enum class JournalHead : uint8_t {
  kUsable,   // a meta block that belongs there: its number is where the scan starts
  kBlank,    // all zeroes: a log that was never begun
  kDamaged,  // anything else: what the log held is lost
};
JournalHead JudgeJournalHead(std::span<const std::byte> block, uint32_t seed, uint64_t tail_bytes,
                             uint64_t* seq);

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_JOURNAL_SCAN_H_
