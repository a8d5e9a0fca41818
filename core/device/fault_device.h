// FaultDevice: a decorator that makes a member misbehave as told: errors, delays, corruption,
// dropped and torn writes. What it does is exact: a rule fires on the n-th matching request, on
// every one, or with a probability drawn from a given seed. Rules can be set and cleared while I/O
// is going on. Thread-safe.
//
// A dropped write reports success and stores nothing; a torn one stores the first half (a multiple
// of 512 bytes) and reports success; corruption flips one bit in each 512 bytes of what a read
// returns or a write stores, derived from the offset, so that retries see the same damage; an error
// reports `error_number` and does nothing.

#ifndef MDVOL_CORE_DEVICE_FAULT_DEVICE_H_
#define MDVOL_CORE_DEVICE_FAULT_DEVICE_H_

#include <cerrno>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "core/device/member_device.h"

namespace mdvol {

enum class FaultOp : uint8_t { kRead, kWrite, kFlush, kAny };  // kZero requests count as writes
enum class FaultKind : uint8_t { kError, kDelay, kCorrupt, kDrop, kTorn };
enum class FaultUntil : uint8_t {
  kNever,
  kWrite
};  // kWrite: a successful write over the range ends the fault there

struct FaultRule {
  FaultOp op = FaultOp::kAny;
  FaultKind kind = FaultKind::kError;
  int error_number = EIO;
  uint64_t offset_bytes =
      0;  // absolute on the member; a rule matches requests that touch the range
  uint64_t length_bytes = std::numeric_limits<uint64_t>::max();
  uint64_t nth = 0;          // 0: every matching request; k: the k-th alone, counted from 1
  double probability = 1.0;  // drawn per matching request
  uint64_t delay_ns = 0;
  FaultUntil until = FaultUntil::kNever;
};

class FaultDevice : public MemberDevice {
 public:
  virtual void AddRule(const FaultRule& rule) = 0;
  virtual void ClearRules() = 0;
  virtual std::vector<FaultRule> Rules() const = 0;
  // How many faults have fired so far.
  virtual uint64_t FiredCount() const = 0;
};

std::unique_ptr<FaultDevice> NewFaultDevice(std::unique_ptr<MemberDevice> inner, uint64_t seed,
                                            Clock& clock);

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_FAULT_DEVICE_H_
