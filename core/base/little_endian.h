// Little-endian integer fields for on-disk structs: a byte array with the value semantics of an
// integer, alignment 1, so that a struct of them has exactly the layout that is written down and
// works at any address on any machine.

#ifndef MDVOL_CORE_BASE_LITTLE_ENDIAN_H_
#define MDVOL_CORE_BASE_LITTLE_ENDIAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace mdvol {

template <typename Integer>
class LittleEndian {
 public:
  using Unsigned = std::make_unsigned_t<Integer>;

  constexpr LittleEndian() = default;
  constexpr LittleEndian(
      Integer value) {  // NOLINT(google-explicit-constructor): a field is its value
    *this = value;
  }

  constexpr LittleEndian& operator=(Integer value) {
    auto rest = static_cast<uint64_t>(static_cast<Unsigned>(value));
    for (uint8_t& byte : bytes_) {
      byte = static_cast<uint8_t>(rest & 0xff);
      rest >>= 8;
    }
    return *this;
  }

  constexpr operator Integer() const {  // NOLINT(google-explicit-constructor)
    uint64_t value = 0;
    for (size_t i = sizeof(Integer); i-- > 0;) {
      value = value << 8 | bytes_[i];
    }
    return static_cast<Integer>(static_cast<Unsigned>(value));
  }

  constexpr Integer get() const { return *this; }

 private:
  std::array<uint8_t, sizeof(Integer)> bytes_{};
};

using le16 = LittleEndian<uint16_t>;
using le32 = LittleEndian<uint32_t>;
using le64 = LittleEndian<uint64_t>;
using sle32 = LittleEndian<int32_t>;

static_assert(sizeof(le16) == 2 && sizeof(le32) == 4 && sizeof(le64) == 8 && alignof(le64) == 1);

}  // namespace mdvol

#endif  // MDVOL_CORE_BASE_LITTLE_ENDIAN_H_
