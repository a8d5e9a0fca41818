// See journal_scan.h. As strict as the kernel or stricter: a payload of another size than md
// writes, which the kernel would misread, ends the log.

#include "core/metadata/journal_scan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/check.h"
#include "core/base/units.h"
#include "core/parity/crc32c.h"

namespace mdvol {
namespace {

template <typename Struct>
Struct ReadAs(std::span<const std::byte> bytes) {
  MDVOL_CHECK(bytes.size() >= sizeof(Struct));
  Struct value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

// Magic, version, place and checksum: the block was written for this place of this array's log.
bool BelongsAt(std::span<const std::byte> block, const JournalMeta& meta, uint32_t seed,
               uint64_t offset_bytes) {
  return meta.magic == kJournalMagic && meta.version == kJournalVersion &&
         meta.position == offset_bytes / kSectorBytes &&
         meta.checksum == JournalMetaChecksum(seed, block);
}

class PayloadReader {
 public:
  PayloadReader(std::span<const std::byte> bytes, const ArrayGeometry& geometry)
      : rest_(bytes), geometry_(geometry) {}

  std::optional<JournalEntry> ReadAll() {
    while (!rest_.empty()) {
      if (!ReadOne()) {
        return std::nullopt;
      }
    }
    return std::move(entry_);
  }

 private:
  using Kind = JournalPayload::Kind;

  bool ReadOne() {
    if (rest_.size() < sizeof(JournalPayloadHead)) {
      return false;
    }
    switch (ReadAs<JournalPayloadHead>(rest_).type) {
      case kJournalData:
        return ReadData();
      case kJournalParity:
        return ReadParity();
      case kJournalFlush:
        return ReadFlush();
      default:
        return false;
    }
  }

  bool ReadData() {
    if (rest_.size() < sizeof(JournalDataPayload)) {
      return false;
    }
    const auto data = ReadAs<JournalDataPayload>(Cut(sizeof(JournalDataPayload)));
    const auto location = PageAt(data.location, geometry_.volume_bytes());
    if (data.head.size != kJournalBlockSectors || !location.has_value()) {
      return false;
    }
    Add({.kind = Kind::kData, .location_bytes = *location, .checksums = {data.checksum, 0}}, 1);
    return true;
  }

  bool ReadParity() {
    if (rest_.size() < sizeof(JournalParityPayload)) {
      return false;
    }
    const auto parity = ReadAs<JournalParityPayload>(Cut(sizeof(JournalParityPayload)));
    const auto location = PageAt(parity.location, geometry_.component_bytes());
    if (parity.head.size != 2 * kJournalBlockSectors || !location.has_value()) {
      return false;
    }
    Add({.kind = Kind::kParity,
         .location_bytes = *location,
         .checksums = {parity.p_checksum, parity.q_checksum}},
        2);
    return true;
  }

  bool ReadFlush() {
    const uint32_t list_bytes = ReadAs<JournalPayloadHead>(Cut(sizeof(JournalPayloadHead))).size;
    if (list_bytes > rest_.size() || list_bytes % sizeof(le64) != 0) {
      return false;
    }
    JournalPayload flush{.kind = Kind::kFlush};
    for (auto list = Cut(list_bytes); !list.empty(); list = list.subspan(sizeof(le64))) {
      const auto lane = PageAt(ReadAs<le64>(list), geometry_.component_bytes());
      if (!lane.has_value()) {
        return false;
      }
      flush.flushed_bytes.push_back(*lane);
    }
    Add(std::move(flush), 0);
    return true;
  }

  std::span<const std::byte> Cut(size_t bytes) {
    return std::exchange(rest_, rest_.subspan(bytes)).first(bytes);
  }

  static std::optional<uint64_t> PageAt(uint64_t sector, uint64_t end_bytes) {
    if (sector % kJournalBlockSectors != 0 || sector >= end_bytes / kSectorBytes) {
      return std::nullopt;
    }
    return sector * kSectorBytes;
  }

  void Add(JournalPayload payload, uint32_t pages) {
    payload.first_page = entry_.pages;
    entry_.pages += pages;
    entry_.payloads.push_back(std::move(payload));
  }

  std::span<const std::byte> rest_;
  const ArrayGeometry& geometry_;
  JournalEntry entry_;
};

}  // namespace

std::optional<JournalEntry> ParseJournalMeta(std::span<const std::byte> block, uint32_t seed,
                                             const JournalPlace& expected,
                                             const ArrayGeometry& geometry, uint64_t ring_bytes) {
  MDVOL_CHECK(block.size() == kJournalBlockBytes && expected.offset_bytes < ring_bytes);
  const auto meta = ReadAs<JournalMeta>(block);
  const uint32_t meta_bytes = meta.meta_size;
  if (!BelongsAt(block, meta, seed, expected.offset_bytes) || meta.seq != expected.seq ||
      meta_bytes < sizeof(JournalMeta) || meta_bytes > block.size()) {
    return std::nullopt;
  }
  auto entry =
      PayloadReader(block.first(meta_bytes).subspan(sizeof(JournalMeta)), geometry).ReadAll();
  // A record that fills the ring would have overwritten its own beginning.
  if (entry.has_value() && entry->pages + 1 >= ring_bytes / kJournalBlockBytes) {
    return std::nullopt;
  }
  return entry;
}

bool JournalPagesMatch(const JournalEntry& entry, std::span<const std::byte> pages, uint32_t seed) {
  MDVOL_CHECK(pages.size() == entry.pages * kJournalBlockBytes);
  const auto matches = [&](uint32_t page, uint32_t checksum) {
    const auto bytes = pages.subspan(page * kJournalBlockBytes, kJournalBlockBytes);
    return Crc32c(seed, bytes) == checksum;
  };
  return std::all_of(entry.payloads.begin(), entry.payloads.end(), [&](const JournalPayload& p) {
    switch (p.kind) {
      case JournalPayload::Kind::kData:
        return matches(p.first_page, p.checksums[0]);
      case JournalPayload::Kind::kParity:
        return matches(p.first_page, p.checksums[0]) && matches(p.first_page + 1, p.checksums[1]);
      case JournalPayload::Kind::kFlush:
        return true;
    }
    return false;
  });
}

JournalPlace NextJournalPlace(const JournalPlace& place, const JournalEntry& entry,
                              uint64_t ring_bytes) {
  const uint64_t record_bytes = (uint64_t{entry.pages} + 1) * kJournalBlockBytes;
  MDVOL_CHECK(place.offset_bytes < ring_bytes && record_bytes < ring_bytes);
  return {.offset_bytes = (place.offset_bytes + record_bytes) % ring_bytes, .seq = place.seq + 1};
}

JournalHead JudgeJournalHead(std::span<const std::byte> block, uint32_t seed, uint64_t tail_bytes,
                             uint64_t* seq) {
  const auto meta = ReadAs<JournalMeta>(block);
  if (BelongsAt(block, meta, seed, tail_bytes)) {
    *seq = meta.seq;
    return JournalHead::kUsable;
  }
  const bool is_blank =
      std::all_of(block.begin(), block.end(), [](std::byte byte) { return byte == std::byte{0}; });
  return is_blank ? JournalHead::kBlank : JournalHead::kDamaged;
}

}  // namespace mdvol
