// FaultRules: what a FaultDevice decides, without the I/O: which rules a request meets, what
// happens to it, which bits go wrong, and what is left of a rule after writes. The same rules, seed
// and requests give the same answers. Not thread-safe.

#ifndef MDVOL_CORE_DEVICE_FAULT_RULES_H_
#define MDVOL_CORE_DEVICE_FAULT_RULES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device/fault_device.h"
#include "core/device/member_device.h"

namespace mdvol {

struct FaultRange {
  uint64_t begin_bytes;
  uint64_t end_bytes;
  friend bool operator==(const FaultRange&, const FaultRange&) = default;
};

// One wrong bit: the byte at `offset_bytes` of the member is to be xored with `mask`.
struct BitFlip {
  uint64_t offset_bytes;
  std::byte mask;
  friend bool operator==(const BitFlip&, const BitFlip&) = default;
};

// What happens to one request.
struct FaultEffect {
  int error = 0;
  uint64_t delay_ns = 0;
  bool is_dropped = false;
  bool is_torn = false;
  std::vector<BitFlip> flips;  // ascending, within the request, no two the same

  bool IsNone() const {
    return error == 0 && delay_ns == 0 && !is_dropped && !is_torn && flips.empty();
  }
};

class FaultRules {
 public:
  FaultRules(uint64_t seed, uint64_t member_size_bytes)
      : random_state_(seed), member_size_bytes_(member_size_bytes) {}

  void Add(const FaultRule& rule);
  void Clear() { rules_.clear(); }
  std::vector<FaultRule> List() const;
  size_t size() const { return rules_.size(); }

  // Counts the request with every rule that matches it and says what those that fire do.
  FaultEffect Meet(const IoRequest& request);

  // Takes the range out of all rules that end with a write; a rule of which nothing is left goes.
  void Heal(uint64_t offset_bytes, uint64_t length_bytes);

  uint64_t fired_count() const { return fired_count_; }

 private:
  struct State {
    FaultRule rule;
    std::vector<FaultRange> live;  // ascending, disjoint; all of the rule's range at first
    uint64_t matches = 0;
  };

  bool Matches(const State& state, const IoRequest& request) const;
  // The part of the request that lies on the member; what goes beyond is refused by the device.
  FaultRange RangeOnMember(const IoRequest& request) const;
  bool Fires(State& state);
  double DrawUnit();

  std::vector<State> rules_;
  uint64_t random_state_;
  const uint64_t member_size_bytes_;
  uint64_t fired_count_ = 0;
};

// How much of a torn write is stored, in units of a sector or of the device's larger block.
uint64_t TornLengthBytes(uint64_t length_bytes, uint32_t alignment_bytes);

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_FAULT_RULES_H_
