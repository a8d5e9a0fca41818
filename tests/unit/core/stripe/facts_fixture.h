// Facts for planners, without devices that hold anything: slots that are good, absent or
// unreadable, each in one of the ways in which that comes about.

#ifndef MDVOL_TESTS_UNIT_CORE_STRIPE_FACTS_FIXTURE_H_
#define MDVOL_TESTS_UNIT_CORE_STRIPE_FACTS_FIXTURE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "core/device/memory_device.h"
#include "core/stripe/stripe_facts.h"

namespace mdvol::testing {

enum class Trouble : uint8_t { kNone, kMissing, kBeyondCheckpoint, kStale, kBadBlock, kReadError };

inline constexpr Trouble kTroubles[] = {Trouble::kMissing, Trouble::kBeyondCheckpoint,
                                        Trouble::kStale, Trouble::kBadBlock, Trouble::kReadError};

class FactsFixture {
 public:
  static constexpr uint64_t kChunkBytes = 4096;
  static constexpr uint64_t kDataOffset = 8192;

  FactsFixture(Layout layout, uint32_t members, uint64_t stripe)
      : geometry_(*ArrayGeometry::Make(layout, members, kChunkBytes, kChunkBytes * 16)),
        stripe_(stripe),
        troubles_(members, Trouble::kNone),
        bad_blocks_(members) {
    view_.writable = true;
    for (uint32_t slot = 0; slot < members; ++slot) {
      devices_.push_back(NewMemoryDevice("m", kDataOffset + kChunkBytes * 16));
    }
  }

  void set_trouble(uint32_t slot, Trouble trouble) { troubles_[slot] = trouble; }
  const ArrayGeometry& geometry() const { return geometry_; }

  // Valid until the next call.
  StripeFacts Facts() {
    view_.slots.clear();
    const uint64_t begin = stripe_ * kChunkBytes;
    for (uint32_t slot = 0; slot < troubles_.size(); ++slot) {
      SlotView view{.device = devices_[slot].get(),
                    .data_offset_bytes = kDataOffset,
                    .valid_bytes = geometry_.component_bytes()};
      bad_blocks_[slot] = BadBlockList();
      switch (troubles_[slot]) {
        case Trouble::kMissing:
          view.device = nullptr;
          break;
        case Trouble::kBeyondCheckpoint:
          view.valid_bytes = begin;
          break;
        case Trouble::kBadBlock:
          bad_blocks_[slot].Add({kDataOffset + begin, kDataOffset + begin + kChunkBytes});
          view.bad_blocks = &bad_blocks_[slot];
          break;
        default:
          break;
      }
      view_.slots.push_back(view);
    }
    StripeFacts facts(geometry_, view_, stripe_);
    for (uint32_t slot = 0; slot < troubles_.size(); ++slot) {
      if (troubles_[slot] == Trouble::kStale) {
        facts.MarkStale(slot);
      } else if (troubles_[slot] == Trouble::kReadError) {
        facts.MarkUnreadable(slot, {0, kChunkBytes});
      }
    }
    return facts;
  }

 private:
  const ArrayGeometry geometry_;
  const uint64_t stripe_;
  std::vector<Trouble> troubles_;
  std::deque<BadBlockList> bad_blocks_;
  std::vector<std::unique_ptr<MemberDevice>> devices_;
  MemberView view_;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_STRIPE_FACTS_FIXTURE_H_
