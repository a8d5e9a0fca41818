// FaultDevice: a decorator that makes a member misbehave as told: errors, delays, corruption,
// dropped and torn writes. What it does is exact: a rule fires on the n-th matching request, on
// every one, or with a probability drawn from a given seed. Rules can be set and cleared while I/O
// is going on. Thread-safe. Without rules it costs two relaxed loads per request.
//
// What a fault does:
//   error    the request reports `error_number` and does nothing;
//   delay    the request ends `delay_ns` after it was submitted, or later;
//   corrupt  one bit in each 512 bytes of what a read returns or a write stores is wrong. Which bit
//            follows from the rule's range and the sector, so that retries, and requests that are
//            cut differently, see the same damage; a request that does not reach the byte in
//            question is unharmed. The caller's own buffer of a write is not touched;
//   drop     a write, or a flush, reports success and does nothing;
//   torn     a write stores its first half (in whole sectors, at least one if it has more than one;
//            a single sector is never torn but lost) and reports success.
//
// A rule matches requests of its `op` that touch its range and that its kind can happen to: corrupt
// happens to reads and writes, drop to writes and flushes, torn to writes. A flush has no range: it
// is matched by kFlush rules, and by kAny rules whose range is the whole member. Every rule that
// matches counts the request, and all that fire take effect together: the longest delay, the first
// error (then nothing else is done), drop before torn, all corruptions.

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
// kWrite: a write that stored all it was given ends the fault for the bytes it covers, and the rule
// once nothing is left of its range.
enum class FaultUntil : uint8_t { kNever, kWrite };

struct FaultRule {
  FaultOp op = FaultOp::kAny;
  FaultKind kind = FaultKind::kError;
  int error_number = EIO;
  uint64_t offset_bytes = 0;  // absolute on the member
  uint64_t length_bytes = std::numeric_limits<uint64_t>::max();
  uint64_t nth = 0;          // 0: every matching request; k: the k-th alone, counted from 1
  double probability = 1.0;  // drawn per matching request, below 1
  uint64_t delay_ns = 0;
  FaultUntil until = FaultUntil::kNever;
};

class FaultDevice : public MemberDevice {
 public:
  virtual void AddRule(const FaultRule& rule) = 0;
  virtual void ClearRules() = 0;
  // What is in force. A rule that writes have cut into pieces is listed piece by piece; the pieces
  // still count together.
  virtual std::vector<FaultRule> Rules() const = 0;
  // How many faults have fired so far.
  virtual uint64_t FiredCount() const = 0;
};

std::unique_ptr<FaultDevice> NewFaultDevice(std::unique_ptr<MemberDevice> inner, uint64_t seed,
                                            Clock& clock);

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_FAULT_DEVICE_H_
