// See uuid.h.

#include "core/base/uuid.h"

#include <sys/random.h>

#include <cerrno>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/base/retry.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
constexpr size_t kDigits = 32;

// The value of a hexadecimal digit, or -1.
int HexValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

bool IsSeparator(char c) { return c == ':' || c == '-' || c == '.' || c == ' ' || c == '\t'; }

absl::Status UuidError(std::string_view text) {
  std::string message("'");
  message += text;
  message += "': not a uuid: give 32 hexadecimal digits, with ':' or '-' between them if you like";
  return UsageError(message);
}

// Hexadecimal, with `separator` before each byte whose index is in `breaks`.
std::string Format(const Uuid& uuid, char separator, std::initializer_list<size_t> breaks) {
  std::string text;
  text.reserve(kDigits + breaks.size());
  auto next_break = breaks.begin();
  for (size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (next_break != breaks.end() && i == *next_break) {
      text += separator;
      ++next_break;
    }
    text += kHexDigits[uuid.bytes[i] >> 4];
    text += kHexDigits[uuid.bytes[i] & 0xf];
  }
  return text;
}

}  // namespace

std::string FormatUuidColons(const Uuid& uuid) { return Format(uuid, ':', {4, 8, 12}); }

std::string FormatUuidDashes(const Uuid& uuid) { return Format(uuid, '-', {4, 6, 8, 10}); }

absl::StatusOr<Uuid> ParseUuid(std::string_view text) {
  Uuid uuid;
  size_t digits = 0;
  for (const char c : text) {
    if (IsSeparator(c)) {
      continue;
    }
    const int value = HexValue(c);
    if (value < 0 || digits == kDigits) {
      return UuidError(text);
    }
    uint8_t& byte = uuid.bytes[digits / 2];
    byte = static_cast<uint8_t>(byte << 4 | value);
    ++digits;
  }
  if (digits != kDigits) {
    return UuidError(text);
  }
  return uuid;
}

absl::StatusOr<Uuid> RandomUuid() {
  Uuid uuid;
  // Requests of up to 256 bytes are answered whole or not at all.
  if (RetryOnEintr([&] { return ::getrandom(uuid.bytes.data(), uuid.bytes.size(), 0); }) < 0) {
    return SystemError(errno, "no random bytes for a uuid");
  }
  return uuid;
}

}  // namespace mdvol
