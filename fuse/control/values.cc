// See values.h.

#include "fuse/control/values.h"

#include <cerrno>

#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

absl::Status NotANumber(std::string_view value) {
  return ErrnoStatus(EINVAL, std::string(value) + ": not a number that can be set here");
}

}  // namespace

std::string_view StripNewline(std::string_view value) {
  if (value.ends_with('\n')) {
    value.remove_suffix(1);
  }
  return value;
}

absl::StatusOr<uint64_t> ParseNumber(std::string_view value, uint64_t max) {
  value = StripNewline(value);
  const absl::StatusOr<uint64_t> number = ParseUnsigned(value);
  return number.ok() && *number <= max ? number : NotANumber(value);
}

absl::StatusOr<uint64_t> ParseScaled(std::string_view value, int digits, uint64_t max,
                                     bool* is_exact) {
  value = StripNewline(value);
  const absl::Status error = NotANumber(value);
  const size_t dot = value.find('.');
  std::string number(value.substr(0, dot));
  std::string fraction(dot == std::string_view::npos ? "" : value.substr(dot + 1));
  if (number.empty() || fraction.find_first_not_of("0123456789") != std::string::npos) {
    return error;
  }
  const auto scale = static_cast<size_t>(digits);
  fraction.resize(std::max(fraction.size(), scale), '0');
  if (is_exact != nullptr) {
    *is_exact = fraction.find_first_not_of('0', scale) == std::string::npos;
  }
  const absl::StatusOr<uint64_t> result = ParseUnsigned(number + fraction.substr(0, scale));
  return result.ok() && *result <= max ? result : error;
}

std::string TextLine(std::string_view value) { return std::string(value) + '\n'; }

std::string NumberLine(uint64_t value) { return std::to_string(value) + '\n'; }

}  // namespace mdvol
