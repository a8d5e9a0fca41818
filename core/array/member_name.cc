// See member_name.h. UTF-8: RFC 3629, section 4.

#include "core/array/member_name.h"

#include <cstddef>
#include <cstdint>

namespace mdvol {
namespace {

// With "dev-" before it and a number behind it, it still fits into NAME_MAX.
constexpr size_t kMaxNameBytes = 240;

uint8_t ByteAt(std::string_view text, size_t index) { return static_cast<uint8_t>(text[index]); }

// The length of the UTF-8 character at the start of `text`, which is not empty; 0: it is none.
size_t CharacterBytes(std::string_view text) {
  const uint8_t first = ByteAt(text, 0);
  if (first < 0x80) {
    return 1;
  }
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((ByteAt(text, i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  // Neither longer than need be, nor half of a UTF-16 pair, nor past U+10FFFF.
  const uint8_t second = ByteAt(text, 1);
  const bool is_out_of_range =
      (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return is_out_of_range ? 0 : length;
}

bool ShowsAsItself(std::string_view character) {
  return character.size() > 1 ||
         (character[0] > ' ' && character[0] != 0x7f && character[0] != '\\');
}

std::string Octal(uint8_t byte) {
  return {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + ((byte >> 3) & 7)),
          static_cast<char>('0' + (byte & 7))};
}

std::string Escape(std::string_view rest, size_t max_bytes) {
  std::string word;
  while (!rest.empty()) {
    const size_t length = CharacterBytes(rest);
    const std::string_view character = rest.substr(0, length == 0 ? 1 : length);
    const std::string piece = length != 0 && ShowsAsItself(character) ? std::string(character)
                                                                      : Octal(ByteAt(character, 0));
    if (word.size() + piece.size() > max_bytes) {
      break;
    }
    word += piece;
    rest.remove_prefix(character.size());
  }
  return word;
}

}  // namespace

std::string AsOneWord(std::string_view text) { return Escape(text, std::string_view::npos); }

std::string MemberNameOf(std::string_view path) {
  return Escape(path.substr(path.find_last_of('/') + 1), kMaxNameBytes);
}

}  // namespace mdvol
