// See journal.h.

#include "core/metadata/journal.h"

#include <cstring>

#include "core/base/check.h"
#include "core/base/units.h"
#include "core/parity/crc32c.h"

namespace mdvol {
namespace {

static_assert(kJournalBlockBytes == kLaneBytes &&
              kJournalBlockBytes == kJournalBlockSectors * kSectorBytes);

class Composer {
 public:
  explicit Composer(uint32_t seed) : seed_(seed) {}

  void Add(const JournalLane& lane) {
    MDVOL_CHECK(!lane.data.empty() && lane.p != nullptr && lane.q != nullptr);
    for (const JournalLane::Page& page : lane.data) {
      Put(JournalDataPayload{.head = {.type = kJournalData, .flags = 0, .size = kPageSectors},
                             .location = Sectors(page.volume_bytes),
                             .checksum = Checksum(page.bytes)});
    }
    Put(JournalParityPayload{.head = {.type = kJournalParity, .flags = 0, .size = 2 * kPageSectors},
                             .location = Sectors(lane.member_bytes),
                             .p_checksum = Checksum(lane.p),
                             .q_checksum = Checksum(lane.q)});
  }

  JournalBlock Finish(uint64_t seq, uint64_t position_bytes) {
    const JournalMeta meta{.magic = kJournalMagic,
                           .checksum = 0,
                           .version = kJournalVersion,
                           .pad = {},
                           .meta_size = static_cast<uint32_t>(used_bytes_),
                           .seq = seq,
                           .position = Sectors(position_bytes)};
    std::memcpy(block_.data(), &meta, sizeof(meta));
    const le32 checksum = Crc32c(seed_, block_);
    std::memcpy(block_.data() + offsetof(JournalMeta, checksum), &checksum, sizeof(checksum));
    return block_;
  }

 private:
  static constexpr uint32_t kPageSectors = kJournalBlockSectors;

  static uint64_t Sectors(uint64_t bytes) {
    MDVOL_CHECK(bytes % kJournalBlockBytes == 0);
    return bytes / kSectorBytes;
  }

  uint32_t Checksum(const std::byte* page) const {
    return Crc32c(seed_, {page, kJournalBlockBytes});
  }

  template <typename Payload>
  void Put(const Payload& payload) {
    MDVOL_CHECK(used_bytes_ + sizeof(payload) <= block_.size());
    std::memcpy(block_.data() + used_bytes_, &payload, sizeof(payload));
    used_bytes_ += sizeof(payload);
  }

  uint32_t seed_;
  JournalBlock block_{};
  size_t used_bytes_ = sizeof(JournalMeta);
};

}  // namespace

uint32_t JournalSeed(const Uuid& set_uuid) {
  return Crc32c(~uint32_t{0}, std::as_bytes(std::span(set_uuid.bytes)));
}

uint32_t JournalMetaChecksum(uint32_t seed, std::span<const std::byte> block) {
  MDVOL_CHECK(block.size() == kJournalBlockBytes);
  constexpr size_t kField = offsetof(JournalMeta, checksum);
  constexpr std::array<std::byte, sizeof(le32)> kNoChecksum{};
  const uint32_t crc = Crc32c(Crc32c(seed, block.first(kField)), kNoChecksum);
  return Crc32c(crc, block.subspan(kField + kNoChecksum.size()));
}

JournalBlock ComposeJournalMeta(uint32_t seed, uint64_t seq, uint64_t position_bytes,
                                std::span<const JournalLane> lanes) {
  Composer composer(seed);
  for (const JournalLane& lane : lanes) {
    composer.Add(lane);
  }
  return composer.Finish(seq, position_bytes);
}

}  // namespace mdvol
