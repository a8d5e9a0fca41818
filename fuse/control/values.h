// Values as sysfs takes and prints them: a decimal number, perhaps with a newline at the end. Pure.

#ifndef MDVOL_FUSE_CONTROL_VALUES_H_
#define MDVOL_FUSE_CONTROL_VALUES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mdvol {

// `value` without one newline at its end.
std::string_view StripNewline(std::string_view value);

// A decimal number up to `max`; EINVAL otherwise, as the kernel's kstrtouint.
absl::StatusOr<uint64_t> ParseNumber(std::string_view value, uint64_t max);

// "1.5" with `digits` = 3 is 1500. Further digits are accepted and dropped, as in the kernel; the
// result is at most `max`. `is_exact`, unless null, says whether nothing but zeroes was dropped.
absl::StatusOr<uint64_t> ParseScaled(std::string_view value, int digits, uint64_t max,
                                     bool* is_exact = nullptr);

// `value` and a newline.
std::string TextLine(std::string_view value);
std::string NumberLine(uint64_t value);

}  // namespace mdvol

#endif  // MDVOL_FUSE_CONTROL_VALUES_H_
