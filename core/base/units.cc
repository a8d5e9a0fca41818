// See units.h. Sizes are computed exactly, in integers: "0.1K" is refused rather than rounded.

#include "core/base/units.h"

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/check.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

constexpr uint64_t kMaxSizeBytes = uint64_t{1} << 63;

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes the digits at the front of `*text` away and returns them.
std::string_view TakeDigits(std::string_view* text) {
  size_t count = 0;
  while (count < text->size() && IsDigit((*text)[count])) {
    ++count;
  }
  const std::string_view digits = text->substr(0, count);
  text->remove_prefix(count);
  return digits;
}

// False when the number does not fit in 64 bits. `digits` holds at least one digit and nothing
// else.
bool DecimalFits(std::string_view digits, uint64_t* value) {
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
  return parsed.ec == std::errc();
}

// The bytes that one unit of `suffix` counts; 0 for an unknown suffix.
uint64_t UnitOfSuffix(std::string_view suffix, uint64_t bare_unit_bytes) {
  if (suffix.empty()) {
    return bare_unit_bytes;
  }
  const std::string_view rest = suffix.substr(1);
  const bool has_known_rest =
      rest.empty() || rest == "B" || rest == "b" || rest == "iB" || rest == "ib" || rest == "IB";
  switch (suffix[0]) {
    case 'B':
    case 'b':
      return rest.empty() ? 1 : 0;
    case 'K':
    case 'k':
      return has_known_rest ? kKiB : 0;
    case 'M':
    case 'm':
      return has_known_rest ? kMiB : 0;
    case 'G':
    case 'g':
      return has_known_rest ? kGiB : 0;
    case 'T':
    case 't':
      return has_known_rest ? kTiB : 0;
    default:
      return 0;
  }
}

// 0.`digits` of a unit, in bytes; false when that is not a whole number. Long multiplication from
// the last digit on: what each step leaves behind the point must be 0.
bool FractionOfUnit(std::string_view digits, uint64_t unit_bytes, uint64_t* bytes) {
  uint64_t carry = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    const uint64_t product = static_cast<uint64_t>(digits[i] - '0') * unit_bytes + carry;
    if (product % 10 != 0) {
      return false;
    }
    carry = product / 10;
  }
  *bytes = carry;
  return true;
}

absl::Status SizeError(std::string_view text, std::string_view what) {
  std::string message("'");
  message += text;
  message += "': ";
  message += what;
  return UsageError(message);
}

}  // namespace

absl::StatusOr<uint64_t> ParseSize(std::string_view text, uint64_t bare_unit_bytes) {
  MDVOL_CHECK(bare_unit_bytes > 0 && bare_unit_bytes <= kTiB);
  std::string_view rest = text;
  const std::string_view whole_digits = TakeDigits(&rest);
  std::string_view fraction_digits;
  bool has_number = !whole_digits.empty();
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    fraction_digits = TakeDigits(&rest);
    has_number = has_number && !fraction_digits.empty();
  }
  if (!has_number) {
    return SizeError(text, "not a size: give a number with K, M, G or T behind it, as in 512K");
  }
  const uint64_t unit_bytes = UnitOfSuffix(rest, bare_unit_bytes);
  if (unit_bytes == 0) {
    return SizeError(text, "unknown unit: use K, M, G or T (powers of 1024)");
  }
  uint64_t fraction_bytes = 0;
  if (!FractionOfUnit(fraction_digits, unit_bytes, &fraction_bytes)) {
    return SizeError(text, "not a whole number of bytes");
  }
  uint64_t bytes = 0;
  if (!DecimalFits(whole_digits, &bytes) || !MultiplyFits(bytes, unit_bytes, &bytes) ||
      !AddFits(bytes, fraction_bytes, &bytes) || bytes > kMaxSizeBytes) {
    return SizeError(text, "too large: sizes end at 2^63 bytes");
  }
  return bytes;
}

absl::StatusOr<uint64_t> ParseUnsigned(std::string_view text) {
  std::string_view rest = text;
  const std::string_view digits = TakeDigits(&rest);
  if (digits.empty() || !rest.empty()) {
    return SizeError(text, "not a whole number");
  }
  uint64_t value = 0;
  if (!DecimalFits(digits, &value)) {
    return SizeError(text, "too large: numbers end at 2^64 - 1");
  }
  return value;
}

std::string FormatSize(uint64_t bytes) {
  constexpr std::pair<uint64_t, char> kUnits[] = {
      {kTiB, 'T'}, {kGiB, 'G'}, {kMiB, 'M'}, {kKiB, 'K'}};
  for (const auto& [unit_bytes, letter] : kUnits) {
    if (bytes != 0 && bytes % unit_bytes == 0) {
      return std::to_string(bytes / unit_bytes) + letter;
    }
  }
  return std::to_string(bytes);
}

}  // namespace mdvol
