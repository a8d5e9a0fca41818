// From the records of md's write journal, in their order, to the member writes that make them good.
// A lane is replayed when its parity arrives, with all data the log held of it until then; parity
// of a lane without data is passed over, as in md. What mdvol (and md's write-through) logs never
// waits; md's write-back mode logs data alone first, and such pages are kept. Pure; not
// thread-safe.

#ifndef MDVOL_CORE_METADATA_JOURNAL_REPLAY_H_
#define MDVOL_CORE_METADATA_JOURNAL_REPLAY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/geometry/geometry.h"
#include "core/metadata/journal.h"
#include "core/metadata/journal_scan.h"

namespace mdvol {

// One page of a member. Writes of one page of a member must be made in their order.
struct ReplayWrite {
  uint64_t member_bytes = 0;  // in the slot's data area
  uint32_t slot = 0;
  const std::byte* bytes = nullptr;  // kJournalBlockBytes
};

class JournalReplay {
 public:
  using Page = std::array<std::byte, kJournalBlockBytes>;

  // A lane of which the log holds data but no parity for it: acknowledged writes that md's
  // write-back mode had not carried out yet.
  struct DataOnlyLane {
    uint64_t member_bytes = 0;
    std::map<uint32_t, std::unique_ptr<Page>> pages;  // by slot
  };

  explicit JournalReplay(const ArrayGeometry& geometry) : geometry_(geometry) {}

  // What the record asks to be written, in order. `entry` was parsed for this geometry, its pages
  // match. The result points into `pages` and into kept ones, and is good until the next call.
  std::vector<ReplayWrite> Take(const JournalEntry& entry, std::span<const std::byte> pages);

  // Ends the replay: the lanes that still await their parity, in the order in which the first page
  // of each was logged.
  std::vector<DataOnlyLane> Rest();

  // Memory in kept pages; the caller bounds it.
  uint64_t kept_bytes() const { return kept_pages_ * kJournalBlockBytes; }

 private:
  using Lanes = std::list<DataOnlyLane>;  // by age

  void TakeData(const JournalPayload& payload, const std::byte* page);
  void TakeParity(const JournalPayload& payload, const std::byte* pages,
                  std::vector<ReplayWrite>& writes);
  void Drop(uint64_t member_bytes);  // a flush: the members have it
  void KeepFresh();                  // what of the present record awaits its parity

  ArrayGeometry geometry_;
  Lanes waiting_;
  std::unordered_map<uint64_t, Lanes::iterator> by_lane_;
  // Pages of the present record, which need not be copied if their parity comes with them.
  std::unordered_map<uint64_t, std::map<uint32_t, const std::byte*>> fresh_;
  std::vector<uint64_t> fresh_order_;  // its keys, oldest first
  Lanes spent_;                        // what the last result points to
  uint64_t kept_pages_ = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_JOURNAL_REPLAY_H_
