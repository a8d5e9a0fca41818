// See layout.h. In every layout the data chunks of a stripe lie in one of two orders:
//
//   restart   k counts the data slots upwards from slot 0, stepping over P and Q;
//   continue  k counts upwards from the slot behind the parity, around a ring of slots (all of
//   them,
//             or all but the last where Q has the last slot for itself).
//
// "Asymmetric" layouts and those with fixed parity restart, "symmetric" ones continue. With P's and
// Q's slots from ParityOf() that is the whole map; the exponent has its own rule, see Exponent().

#include "core/geometry/layout.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "core/base/check.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

struct LayoutWord {
  std::string_view word;
  Layout layout;
};

// In the order of the ids: LayoutName() and AllLayouts() lean on one entry per layout.
constexpr std::array<LayoutWord, 14> kNames = {{
    {"left-asymmetric", Layout::kLeftAsymmetric},
    {"right-asymmetric", Layout::kRightAsymmetric},
    {"left-symmetric", Layout::kLeftSymmetric},
    {"right-symmetric", Layout::kRightSymmetric},
    {"parity-first", Layout::kParityFirst},
    {"parity-last", Layout::kParityLast},
    {"ddf-zero-restart", Layout::kDdfZeroRestart},
    {"ddf-N-restart", Layout::kDdfNRestart},
    {"ddf-N-continue", Layout::kDdfNContinue},
    {"left-asymmetric-6", Layout::kLeftAsymmetric6},
    {"right-asymmetric-6", Layout::kRightAsymmetric6},
    {"left-symmetric-6", Layout::kLeftSymmetric6},
    {"right-symmetric-6", Layout::kRightSymmetric6},
    {"parity-first-6", Layout::kParityFirst6},
}};

constexpr std::array<LayoutWord, 9> kAbbreviations = {{
    {"default", Layout::kLeftSymmetric},
    {"la", Layout::kLeftAsymmetric},
    {"ra", Layout::kRightAsymmetric},
    {"ls", Layout::kLeftSymmetric},
    {"rs", Layout::kRightSymmetric},
    {"la-6", Layout::kLeftAsymmetric6},
    {"ra-6", Layout::kRightAsymmetric6},
    {"ls-6", Layout::kLeftSymmetric6},
    {"rs-6", Layout::kRightSymmetric6},
}};

constexpr std::array<Layout, kNames.size()> kLayouts = [] {
  std::array<Layout, kNames.size()> layouts{};
  std::transform(kNames.begin(), kNames.end(), layouts.begin(),
                 [](const LayoutWord& name) { return name.layout; });
  return layouts;
}();

struct ParitySlots {
  uint32_t p;
  uint32_t q;
};

// P and Q of `stripe` among n slots.
ParitySlots ParityOf(Layout layout, uint32_t n, uint64_t stripe) {
  const auto row = static_cast<uint32_t>(stripe % n);
  const auto row6 = static_cast<uint32_t>(stripe % (n - 1));
  const auto q_behind = [n](uint32_t p) { return ParitySlots{p, p + 1 == n ? 0 : p + 1}; };
  switch (layout) {
    case Layout::kLeftAsymmetric:
    case Layout::kLeftSymmetric:
      return q_behind(n - 1 - row);
    case Layout::kRightAsymmetric:
    case Layout::kRightSymmetric:
    case Layout::kDdfZeroRestart:
      return q_behind(row);
    case Layout::kDdfNRestart:
      return q_behind(row + 1 == n ? n - 1 : n - 2 - row);
    case Layout::kDdfNContinue:
      return {n - 1 - row, row + 1 == n ? n - 1 : n - 2 - row};  // Q before P
    case Layout::kParityFirst:
      return {0, 1};
    case Layout::kParityLast:
      return {n - 2, n - 1};
    case Layout::kLeftAsymmetric6:
    case Layout::kLeftSymmetric6:
      return {n - 2 - row6, n - 1};
    case Layout::kRightAsymmetric6:
    case Layout::kRightSymmetric6:
      return {row6, n - 1};
    case Layout::kParityFirst6:
      return {0, n - 1};
  }
  MDVOL_CHECK(false && "a layout that is none of the fourteen");
  return {0, 0};
}

// The ring of a "continue" layout: data chunk 0 lies behind slot `before`, the last of `length`
// slots is followed by slot 0. Empty for the "restart" layouts.
struct Ring {
  uint32_t before;
  uint32_t length;
};

std::optional<Ring> RingOf(Layout layout, uint32_t n, ParitySlots parity) {
  switch (layout) {
    case Layout::kLeftSymmetric:
    case Layout::kRightSymmetric:
      return Ring{parity.q, n};
    case Layout::kDdfNContinue:
      return Ring{parity.p, n};
    case Layout::kLeftSymmetric6:
    case Layout::kRightSymmetric6:
      return Ring{parity.p, n - 1};
    default:
      return std::nullopt;
  }
}

// How many steps upwards lead from the slot behind `before` to `slot`, both on a ring of `length`.
uint32_t StepsBehind(uint32_t before, uint32_t slot, uint32_t length) {
  return slot > before ? slot - before - 1 : slot + length - before - 1;
}

bool IsDdf(Layout layout) {
  return layout == Layout::kDdfZeroRestart || layout == Layout::kDdfNRestart ||
         layout == Layout::kDdfNContinue;
}

}  // namespace

std::span<const Layout> AllLayouts() { return kLayouts; }

bool IsKnownLayout(int32_t id) {
  return std::find(kLayouts.begin(), kLayouts.end(), static_cast<Layout>(id)) != kLayouts.end();
}

std::string_view LayoutName(Layout layout) {
  for (const LayoutWord& name : kNames) {
    if (name.layout == layout) {
      return name.word;
    }
  }
  MDVOL_CHECK(false && "a layout that is none of the fourteen");
  return {};
}

absl::StatusOr<Layout> ParseLayout(std::string_view text) {
  for (const LayoutWord& name : kNames) {
    if (name.word == text) {
      return name.layout;
    }
  }
  for (const LayoutWord& abbreviation : kAbbreviations) {
    if (abbreviation.word == text) {
      return abbreviation.layout;
    }
  }
  const absl::StatusOr<uint64_t> id = ParseUnsigned(text);
  if (id.ok() && *id <= uint64_t{std::numeric_limits<int32_t>::max()} &&
      IsKnownLayout(static_cast<int32_t>(*id))) {
    return static_cast<Layout>(*id);
  }
  std::string message = "unknown layout '" + std::string(text) + "': use one of";
  for (const LayoutWord& name : kNames) {
    message += ' ';
    message += name.word;
  }
  return UsageError(message);
}

StripeRoles::StripeRoles(Layout layout, uint32_t raid_disks, uint64_t stripe)
    : layout_(layout), raid_disks_(raid_disks) {
  MDVOL_CHECK(raid_disks >= kMinRaidDisks && raid_disks <= kMaxRaidDisks);
  const ParitySlots parity = ParityOf(layout, raid_disks, stripe);
  p_slot_ = parity.p;
  q_slot_ = parity.q;
}

uint32_t StripeRoles::DataSlot(uint32_t data_index) const {
  MDVOL_CHECK(data_index < raid_disks_ - 2);
  if (const auto ring = RingOf(layout_, raid_disks_, {p_slot_, q_slot_})) {
    const uint32_t slot = ring->before + 1 + data_index;
    return slot < ring->length ? slot : slot - ring->length;
  }
  uint32_t slot = data_index;
  slot += slot >= std::min(p_slot_, q_slot_) ? 1u : 0u;
  slot += slot >= std::max(p_slot_, q_slot_) ? 1u : 0u;
  return slot;
}

uint32_t StripeRoles::DataIndex(uint32_t slot) const {
  if (const auto ring = RingOf(layout_, raid_disks_, {p_slot_, q_slot_})) {
    return StepsBehind(ring->before, slot, ring->length);
  }
  return slot - (slot > p_slot_ ? 1u : 0u) - (slot > q_slot_ ? 1u : 0u);
}

ChunkRole StripeRoles::RoleOf(uint32_t slot) const {
  MDVOL_CHECK(slot < raid_disks_);
  if (slot == p_slot_) {
    return {.kind = ChunkKind::kP};
  }
  if (slot == q_slot_) {
    return {.kind = ChunkKind::kQ};
  }
  return {.kind = ChunkKind::kData,
          .data_index = static_cast<uint8_t>(DataIndex(slot)),
          .exponent = static_cast<uint8_t>(Exponent(slot))};
}

// DDF counts every slot, with zero for P and Q. md's own layouts count the data slots only, upwards
// and around from the slot behind Q.
uint32_t StripeRoles::Exponent(uint32_t slot) const {
  MDVOL_CHECK(slot < raid_disks_ && slot != p_slot_ && slot != q_slot_);
  if (IsDdf(layout_)) {
    return slot;
  }
  const uint32_t steps = StepsBehind(q_slot_, slot, raid_disks_);
  const uint32_t steps_to_p = StepsBehind(q_slot_, p_slot_, raid_disks_);
  return steps - (steps > steps_to_p ? 1u : 0u);
}

uint32_t ExponentCount(Layout layout, uint32_t raid_disks) {
  return IsDdf(layout) ? raid_disks : raid_disks - 2;
}

bool HoldsOnlyParity(Layout layout, uint32_t raid_disks, uint32_t slot) {
  switch (layout) {
    case Layout::kParityFirst:
      return slot <= 1;
    case Layout::kParityLast:
      return slot >= raid_disks - 2;
    case Layout::kParityFirst6:
      return slot == 0 || slot == raid_disks - 1;
    case Layout::kLeftAsymmetric6:
    case Layout::kRightAsymmetric6:
    case Layout::kLeftSymmetric6:
    case Layout::kRightSymmetric6:
      return slot == raid_disks - 1;
    default:
      return false;
  }
}

}  // namespace mdvol
