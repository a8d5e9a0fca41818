// See config.h. toml++ reports through exceptions; they end here.

#include "core/config/config.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/base/units.h"
#include "core/config/config_rules.h"
#include "core/config/config_value.h"

namespace mdvol {
namespace {

using config_internal::Document;
using config_internal::Value;

// Far beyond any configuration; keeps /dev/zero and disk images from being read whole.
constexpr size_t kMaxConfigBytes = kMiB;

// toml++ and everything after it go down the levels of a key by recursion. No key of ours has more
// than five parts; inside one value the parser has a limit of its own.
constexpr size_t kMaxKeyDots = 16;

// The length of the string that begins at `at`, quotes included; up to the end when it has none.
size_t StringLength(std::string_view text, size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool is_long = text.substr(at, 3) == three;
  size_t end = at + (is_long ? 3 : 1);
  while (end < text.size()) {
    if (text[end] == '\\' && quote == '"') {
      end += 2;
    } else if (is_long ? text.substr(end, 3) == three : text[end] == quote || text[end] == '\n') {
      return end + (is_long ? 3 : 1) - at;
    } else {
      ++end;
    }
  }
  return text.size() - at;
}

// The line of the first key of too many parts; 0 when there is none.
size_t FindDeepKey(std::string_view text) {
  size_t line = 1;
  size_t dots = 0;
  for (size_t at = 0; at < text.size();) {
    size_t length = 1;
    const char c = text[at];
    if (c == '"' || c == '\'') {
      length = StringLength(text, at);
    } else if (c == '#') {
      length = std::min(text.find('\n', at), text.size()) - at;
    } else if (c == '.') {
      ++dots;
    } else if (std::string_view(",=[]{}\n").find(c) != std::string_view::npos) {
      dots = 0;
    }
    if (dots > kMaxKeyDots) {
      return line;
    }
    const std::string_view passed = text.substr(at, length);
    line += static_cast<size_t>(std::count(passed.begin(), passed.end(), '\n'));
    at += length;
  }
  return 0;
}

absl::StatusOr<toml::table> ParseToml(std::string_view text, const std::string& path) {
  if (const size_t line = FindDeepKey(text); line != 0) {
    return UsageError(path + ":" + std::to_string(line) +
                      ":1: a key of too many parts: no key has more than five");
  }
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    // Duplicate keys are among these.
    Document document(path);
    document.AddError(error.source(),
                      std::string(error.description()) + ": correct the file there");
    return document.status();
  }
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return UsageError(path + ": is a directory, name a configuration file");
  }
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return UsageError(path + ": is no regular file, name a configuration file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxConfigBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    const int error_number = errno != 0 ? errno : EIO;
    return UsageError(MessageOf(SystemError(error_number, path + ": cannot be read")));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxConfigBytes) {
    return UsageError(path + ": is larger than " + FormatSize(kMaxConfigBytes) +
                      ", name a configuration file");
  }
  return text;
}

}  // namespace

absl::StatusOr<Config> ParseConfig(std::string_view text, const std::string& path) {
  Document document(path);
  MDVOL_ASSIGN_OR_RETURN(const toml::table root, ParseToml(text, path));
  Config config;
  config_internal::ReadDocument(root, document, config);
  MDVOL_RETURN_IF_ERROR(document.status());
  return config;
}

absl::StatusOr<Config> LoadConfig(const std::string& path) {
  MDVOL_ASSIGN_OR_RETURN(const std::string text, ReadText(path));
  return ParseConfig(text, path);
}

absl::StatusOr<FaultConfig> ParseFaultKeys(std::string_view text) {
  Document document("fault");
  absl::StatusOr<toml::table> table = ParseToml(text, document.path());
  if (!table.ok()) {
    // On one line the keys have commas between them, as in an inline table.
    std::string inline_table("fault = { ");
    inline_table += text.substr(0, text.find_last_not_of("\r\n") + 1);
    inline_table += " }";
    absl::StatusOr<toml::table> wrapped = ParseToml(inline_table, document.path());
    if (!wrapped.ok() || wrapped->size() != 1) {
      return table.status();
    }
    table = std::move(*(*wrapped)["fault"].as_table());
  }
  FaultConfig fault;
  const toml::key key("fault");
  config_internal::ReadFault(Value(key, *table, "fault", document), /*has_member=*/false, fault);
  MDVOL_RETURN_IF_ERROR(document.status());
  return fault;
}

std::vector<std::string> ConfigKeys() { return config_internal::AllKeys(); }

}  // namespace mdvol
