// See fault_rules.h.

#include "core/device/fault_rules.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/units.h"

namespace mdvol {
namespace {

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
constexpr uint64_t kSplitMixStep = 0x9e3779b97f4a7c15;

constexpr uint64_t Mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

uint64_t EndOf(uint64_t offset_bytes, uint64_t length_bytes) {
  uint64_t end_bytes = 0;
  return AddFits(offset_bytes, length_bytes, &end_bytes) ? end_bytes
                                                         : std::numeric_limits<uint64_t>::max();
}

FaultRange RangeOf(const FaultRule& rule) {
  return {rule.offset_bytes, EndOf(rule.offset_bytes, rule.length_bytes)};
}

// Empty (begin >= end) when they do not meet.
FaultRange Intersect(const FaultRange& a, const FaultRange& b) {
  return {std::max(a.begin_bytes, b.begin_bytes), std::min(a.end_bytes, b.end_bytes)};
}

bool IsEmpty(const FaultRange& range) { return range.begin_bytes >= range.end_bytes; }

bool IsWrite(IoKind kind) { return kind == IoKind::kWrite || kind == IoKind::kZero; }

bool OpMatches(FaultOp op, IoKind kind) {
  switch (op) {
    case FaultOp::kRead:
      return kind == IoKind::kRead;
    case FaultOp::kWrite:
      return IsWrite(kind);
    case FaultOp::kFlush:
      return kind == IoKind::kFlush;
    case FaultOp::kAny:
      return true;
  }
  return false;
}

bool CanHappenTo(FaultKind fault, IoKind kind) {
  switch (fault) {
    case FaultKind::kError:
    case FaultKind::kDelay:
      return true;
    case FaultKind::kCorrupt:
      return kind != IoKind::kFlush;
    case FaultKind::kDrop:
      return kind != IoKind::kRead;
    case FaultKind::kTorn:
      return IsWrite(kind);
  }
  return false;
}

// The wrong bit of the sector that starts at `sector_bytes`, for a rule over `rule_range`. What is
// written gets another bit wrong than what is read, or the one would undo the other.
BitFlip FlipIn(uint64_t sector_bytes, const FaultRange& rule_range, bool is_write) {
  const FaultRange part = Intersect({sector_bytes, sector_bytes + kSectorBytes}, rule_range);
  const uint64_t random = Mix(sector_bytes + kSplitMixStep);
  const uint64_t bit = (random >> 32 & 7) ^ (is_write ? 1 : 0);
  return {part.begin_bytes + random % (part.end_bytes - part.begin_bytes),
          std::byte{1} << static_cast<int>(bit)};
}

bool Contains(const FaultRange& range, uint64_t offset_bytes) {
  return offset_bytes >= range.begin_bytes && offset_bytes < range.end_bytes;
}

// The flips that a rule over `rule_range`, of which `live` is left, makes in a request.
void AppendFlips(const FaultRange& rule_range, const std::vector<FaultRange>& live,
                 const FaultRange& request_range, bool is_write, std::vector<BitFlip>* flips) {
  for (const FaultRange& range : live) {
    const FaultRange damaged = Intersect(range, request_range);
    if (IsEmpty(damaged)) {
      continue;
    }
    for (uint64_t sector_bytes = RoundDown(damaged.begin_bytes, kSectorBytes);
         sector_bytes < damaged.end_bytes; sector_bytes += kSectorBytes) {
      const BitFlip flip = FlipIn(sector_bytes, rule_range, is_write);
      if (Contains(damaged, flip.offset_bytes)) {
        flips->push_back(flip);
      }
    }
  }
}

void SortFlips(std::vector<BitFlip>* flips) {
  std::sort(flips->begin(), flips->end(), [](const BitFlip& a, const BitFlip& b) {
    return a.offset_bytes != b.offset_bytes ? a.offset_bytes < b.offset_bytes : a.mask < b.mask;
  });
  flips->erase(std::unique(flips->begin(), flips->end()), flips->end());
}

std::vector<FaultRange> Subtract(const std::vector<FaultRange>& ranges, const FaultRange& taken) {
  std::vector<FaultRange> left;
  for (const FaultRange& range : ranges) {
    const FaultRange before = {range.begin_bytes, std::min(range.end_bytes, taken.begin_bytes)};
    const FaultRange behind = {std::max(range.begin_bytes, taken.end_bytes), range.end_bytes};
    for (const FaultRange& piece : {before, behind}) {
      if (!IsEmpty(piece)) {
        left.push_back(piece);
      }
    }
  }
  return left;
}

}  // namespace

void FaultRules::Add(const FaultRule& rule) {
  State state;
  state.rule = rule;
  if (!IsEmpty(RangeOf(rule))) {
    state.live.push_back(RangeOf(rule));
  }
  rules_.push_back(std::move(state));
}

std::vector<FaultRule> FaultRules::List() const {
  std::vector<FaultRule> list;
  for (const State& state : rules_) {
    const FaultRange whole = RangeOf(state.rule);
    for (const FaultRange& range : state.live) {
      FaultRule rule = state.rule;
      if (range != whole) {
        rule.offset_bytes = range.begin_bytes;
        rule.length_bytes = range.end_bytes - range.begin_bytes;
      }
      list.push_back(rule);
    }
  }
  return list;
}

bool FaultRules::Matches(const State& state, const IoRequest& request) const {
  const FaultRule& rule = state.rule;
  if (!OpMatches(rule.op, request.kind) || !CanHappenTo(rule.kind, request.kind)) {
    return false;
  }
  if (request.kind == IoKind::kFlush) {
    const FaultRange range = RangeOf(rule);
    return rule.op == FaultOp::kFlush ||
           (range.begin_bytes == 0 && range.end_bytes >= member_size_bytes_);
  }
  return std::any_of(state.live.begin(), state.live.end(), [&](const FaultRange& range) {
    return !IsEmpty(Intersect(range, RangeOnMember(request)));
  });
}

FaultRange FaultRules::RangeOnMember(const IoRequest& request) const {
  return Intersect({request.offset_bytes, EndOf(request.offset_bytes, request.length_bytes)},
                   {0, member_size_bytes_});
}

double FaultRules::DrawUnit() {
  random_state_ += kSplitMixStep;
  return static_cast<double>(Mix(random_state_) >> 11) * 0x1.0p-53;
}

bool FaultRules::Fires(State& state) {
  ++state.matches;
  // Drawn even if the count will not let it fire, so that what later rules draw depends on the
  // requests alone.
  const bool is_drawn = state.rule.probability >= 1 || DrawUnit() < state.rule.probability;
  return is_drawn && (state.rule.nth == 0 || state.rule.nth == state.matches);
}

FaultEffect FaultRules::Meet(const IoRequest& request) {
  FaultEffect effect;
  for (State& state : rules_) {
    if (!Matches(state, request) || !Fires(state)) {
      continue;
    }
    ++fired_count_;
    switch (state.rule.kind) {
      case FaultKind::kError:
        effect.error = effect.error != 0 ? effect.error : state.rule.error_number;
        break;
      case FaultKind::kDelay:
        effect.delay_ns = std::max(effect.delay_ns, state.rule.delay_ns);
        break;
      case FaultKind::kCorrupt:
        AppendFlips(RangeOf(state.rule), state.live, RangeOnMember(request), IsWrite(request.kind),
                    &effect.flips);
        break;
      case FaultKind::kDrop:
        effect.is_dropped = true;
        break;
      case FaultKind::kTorn:
        effect.is_torn = true;
        break;
    }
  }
  SortFlips(&effect.flips);
  return effect;
}

void FaultRules::Heal(uint64_t offset_bytes, uint64_t length_bytes) {
  const FaultRange written = {offset_bytes, EndOf(offset_bytes, length_bytes)};
  if (IsEmpty(written)) {
    return;
  }
  for (State& state : rules_) {
    if (state.rule.until == FaultUntil::kWrite) {
      state.live = Subtract(state.live, written);
    }
  }
  std::erase_if(rules_, [](const State& state) {
    return state.rule.until == FaultUntil::kWrite && state.live.empty();
  });
}

uint64_t TornLengthBytes(uint64_t length_bytes, uint32_t alignment_bytes) {
  const uint64_t unit_bytes = std::max<uint64_t>(kSectorBytes, alignment_bytes);
  if (length_bytes <= unit_bytes) {
    return 0;
  }
  return std::max(unit_bytes, RoundDown(length_bytes / 2, unit_bytes));
}

}  // namespace mdvol
