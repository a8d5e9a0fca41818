// Uuid: 16 bytes that name an array or a member, in md's byte order, with the two spellings in use:
// mdadm's four groups of eight ("0123abcd:…") and the kernel's 8-4-4-4-12. Values; RandomUuid asks
// the OS for entropy.

#ifndef MDVOL_CORE_BASE_UUID_H_
#define MDVOL_CORE_BASE_UUID_H_

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mdvol {

struct Uuid {
  std::array<uint8_t, 16> bytes{};

  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

std::string FormatUuidColons(const Uuid& uuid);  // mdadm's spelling
std::string FormatUuidDashes(const Uuid& uuid);  // the kernel's spelling

// Accepts 32 hexadecimal digits with ':' '-' '.' or blanks anywhere between them; UsageError
// otherwise.
absl::StatusOr<Uuid> ParseUuid(std::string_view text);

absl::StatusOr<Uuid> RandomUuid();

}  // namespace mdvol

#endif  // MDVOL_CORE_BASE_UUID_H_
