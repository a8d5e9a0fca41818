// See config.h. toml++ reports through exceptions; they end here.

#include "core/config/config.h"

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

absl::StatusOr<toml::table> ParseToml(std::string_view text, const std::string& path) {
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
