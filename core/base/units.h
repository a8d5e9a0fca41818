// Sizes and integer arithmetic. Everything in core counts bytes in uint64_t; the on-disk structs of
// core/metadata count sectors of 512 bytes, as md does. Pure functions, safe from any thread.

#ifndef MDVOL_CORE_BASE_UNITS_H_
#define MDVOL_CORE_BASE_UNITS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mdvol {

inline constexpr uint64_t kKiB = 1024;
inline constexpr uint64_t kMiB = 1024 * kKiB;
inline constexpr uint64_t kGiB = 1024 * kMiB;
inline constexpr uint64_t kTiB = 1024 * kGiB;
inline constexpr uint64_t kSectorBytes = 512;
inline constexpr uint64_t kLaneBytes = 4096;  // md's stripe_head: one page on every member

constexpr bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

// `multiple` need not be a power of two but must not be 0.
constexpr uint64_t RoundDown(uint64_t value, uint64_t multiple) { return value - value % multiple; }
// The result must fit: value <= 2^64 - multiple.
constexpr uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return RoundDown(value + (multiple - 1), multiple);
}
constexpr uint64_t CeilDiv(uint64_t value, uint64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

// False when the sum or product does not fit in 64 bits; *result is then unspecified.
constexpr bool AddFits(uint64_t a, uint64_t b, uint64_t* result) {
  return !__builtin_add_overflow(a, b, result);
}
constexpr bool MultiplyFits(uint64_t a, uint64_t b, uint64_t* result) {
  return !__builtin_mul_overflow(a, b, result);
}

// Parses "512K", "1.5G" (K M G T, powers of 1024, either case, an optional trailing "B" or "iB"); a
// bare number counts `bare_unit_bytes` each. Errors: UsageError that quotes the text: empty, no
// number, unknown suffix, not a whole number of bytes, beyond 2^63.
absl::StatusOr<uint64_t> ParseSize(std::string_view text, uint64_t bare_unit_bytes);

// Parses an unsigned decimal integer that is the whole of `text`; UsageError otherwise.
absl::StatusOr<uint64_t> ParseUnsigned(std::string_view text);

// "512K", "1M", "12345": the largest of K M G T that divides `bytes` exactly.
std::string FormatSize(uint64_t bytes);

}  // namespace mdvol

#endif  // MDVOL_CORE_BASE_UNITS_H_
