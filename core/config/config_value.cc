// See config_value.h.

#include "core/config/config_value.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <tuple>

#include "core/base/path.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol::config_internal {
namespace {

bool IsBefore(const toml::source_position& a, const toml::source_position& b) {
  return std::tie(a.line, a.column) < std::tie(b.line, b.column);
}

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  quoted += text;
  quoted += "'";
  return quoted;
}

// Errors quote what stands in the file; they stay one line whatever that is.
std::string OneLine(std::string text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

}  // namespace

std::string Document::Where(const toml::source_region& source) const {
  return path_ + ":" + std::to_string(source.begin.line) + ":" +
         std::to_string(source.begin.column);
}

void Document::AddError(const toml::source_region& source, const std::string& message) {
  if (has_error_ && !IsBefore(source.begin, error_position_)) {
    return;
  }
  has_error_ = true;
  error_position_ = source.begin;
  error_ = OneLine(Where(source) + ": " + message);
}

absl::Status Document::status() const { return has_error_ ? UsageError(error_) : absl::OkStatus(); }

std::string Document::Resolve(const std::string& path) const {
  return TidyPath((std::filesystem::path(path_).parent_path() / path).string());
}

const toml::source_region& Value::source() const {
  // Tables that only dotted keys imply have no place of their own.
  return node_.source().begin.line != 0 ? node_.source() : key_.source();
}

void Value::AddError(const std::string& message) const {
  document_.AddError(source(), name_ + ": " + message);
}

void Value::ReadBool(std::optional<bool>& out) const {
  if (const auto value = node_.value_exact<bool>(); value.has_value()) {
    out = *value;
    return;
  }
  AddError("must be true or false, not " + std::string(TypeName(node_)));
}

void Value::ReadProbability(double& out) const {
  if (!node_.is_number()) {
    AddError("must be a number from 0 to 1, not " + std::string(TypeName(node_)));
    return;
  }
  const double value = node_.value_or(0.0);
  if (!(value >= 0.0 && value <= 1.0)) {  // NaN fails too
    AddError("must be from 0 to 1");
    return;
  }
  out = value;
}

std::optional<std::string> Value::Text(const std::string& wanted) const {
  const auto text = node_.value_exact<std::string>();
  if (!text.has_value()) {
    AddError("must be " + wanted + ", not " + std::string(TypeName(node_)));
  }
  return text;
}

void Value::ReadString(std::optional<std::string>& out) const {
  if (auto text = Text("a string"); text.has_value()) {
    out = std::move(text);
  }
}

std::optional<std::string> Value::PathIn(const toml::node& node) const {
  const auto text = node.value_exact<std::string>();
  if (!text.has_value()) {
    document_.AddError(node.source(),
                       name_ + ": must be a path in quotes, not " + std::string(TypeName(node)));
    return std::nullopt;
  }
  if (text->empty() || text->find('\0') != std::string::npos) {
    document_.AddError(node.source(), name_ + ": is no path: name a file");
    return std::nullopt;
  }
  return document_.Resolve(*text);
}

void Value::ReadPaths(std::vector<std::string>& out, std::string_view word) const {
  const toml::array* const array = node_.as_array();
  if (array == nullptr) {
    AddError("must be a list of paths, as in [\"d0.img\", \"d1.img\"], not " +
             std::string(TypeName(node_)));
    return;
  }
  for (const toml::node& element : *array) {
    if (!word.empty() && element.value_exact<std::string>() == word) {
      out.emplace_back(word);
      continue;
    }
    auto path = PathIn(element);
    if (!path.has_value()) {
      continue;
    }
    if (std::find(out.begin(), out.end(), *path) != out.end()) {
      document_.AddError(element.source(), name_ + ": " + Quoted(*path) + " is named twice");
      continue;
    }
    out.push_back(*std::move(path));
  }
}

std::optional<uint64_t> Value::Integer64(uint64_t min, uint64_t max) const {
  const auto value = node_.value_exact<int64_t>();
  if (!value.has_value()) {
    AddError("must be a whole number, not " + std::string(TypeName(node_)));
    return std::nullopt;
  }
  if (*value < 0 || static_cast<uint64_t>(*value) < min || static_cast<uint64_t>(*value) > max) {
    AddError(std::to_string(*value) + " is out of range: use " + std::to_string(min) + " to " +
             std::to_string(max));
    return std::nullopt;
  }
  return static_cast<uint64_t>(*value);
}

void Value::ReadSize(uint64_t bare_unit_bytes, std::optional<uint64_t>& out) const {
  std::string text;
  if (const auto number = node_.value_exact<int64_t>(); number.has_value()) {
    text = std::to_string(*number);
  } else if (const auto string = Text("a size, as in \"512K\""); string.has_value()) {
    text = *string;
  } else {
    return;
  }
  const absl::StatusOr<uint64_t> bytes = ParseSize(text, bare_unit_bytes);
  if (!bytes.ok()) {
    AddError(MessageOf(bytes.status()));
    return;
  }
  out = *bytes;
}

void Value::ReadDuration(uint64_t max_ms, std::optional<uint64_t>& out_ms) const {
  constexpr uint64_t kMsPerSecond = 1000;
  std::string text;
  if (const auto number = node_.value_exact<int64_t>(); number.has_value()) {
    text = std::to_string(*number);
  } else if (const auto string = Text("a time, as in \"30s\""); string.has_value()) {
    text = *string;
  } else {
    return;
  }
  uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  const std::string_view unit(rest, static_cast<size_t>(end - rest));
  const uint64_t unit_ms = unit == "ms"                  ? 1
                           : unit.empty() || unit == "s" ? kMsPerSecond
                           : unit == "m"                 ? 60 * kMsPerSecond
                                                         : 0;
  uint64_t ms = 0;
  if (error != std::errc() || unit_ms == 0) {
    AddError(Quoted(text) + " is no time: use \"500ms\", \"30s\", \"5m\" or a number of seconds");
  } else if (!MultiplyFits(count, unit_ms, &ms) || ms == 0 || ms > max_ms) {
    AddError(Quoted(text) + " is out of range: use 1ms to " +
             std::to_string(max_ms / kMsPerSecond) + "s");
  } else {
    out_ms = ms;
  }
}

void Value::ReadMode(std::optional<uint32_t>& out) const {
  uint64_t mode = 0;
  bool is_mode = false;
  if (const auto number = node_.value_exact<int64_t>(); number.has_value()) {
    mode = static_cast<uint64_t>(*number);
    is_mode = *number >= 0;
  } else if (const auto text = Text("permission bits, as in 0o600"); text.has_value()) {
    const char* const end = text->data() + text->size();
    const auto [rest, error] = std::from_chars(text->data(), end, mode, 8);
    is_mode = error == std::errc() && rest == end;
  } else {
    return;
  }
  if (!is_mode || mode > 0777) {
    AddError("must be permission bits in octal from 0o000 to 0o777, as in 0o600 or \"0600\"");
    return;
  }
  out = static_cast<uint32_t>(mode);
}

std::optional<size_t> Value::IndexOfWord(std::span<const std::string_view> words) const {
  const auto text = Text("one of " + JoinNames(words));
  if (!text.has_value()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == *text) {
      return i;
    }
  }
  AddError(Quoted(*text) + " is unknown, use one of " + JoinNames(words));
  return std::nullopt;
}

std::string_view TypeName(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

std::string JoinNames(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    text += text.empty() ? "" : ", ";
    text += name;
  }
  return text;
}

}  // namespace mdvol::config_internal
