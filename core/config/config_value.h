// For the parser alone: one value of a TOML document with its name and its place, and the errors
// that were found so far. The only header that shows toml++.
//
// Every Read... puts the value into `out` when it is of the right type and makes sense; otherwise
// it adds an error and leaves `out` alone. One document is read by one thread.

#ifndef MDVOL_CORE_CONFIG_CONFIG_VALUE_H_
#define MDVOL_CORE_CONFIG_CONFIG_VALUE_H_

#include <toml++/toml.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace mdvol::config_internal {

// Where the document came from, and what is wrong with it.
class Document {
 public:
  explicit Document(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // "file:line:column".
  std::string Where(const toml::source_region& source) const;
  // Of all errors the first in the file is kept.
  void AddError(const toml::source_region& source, const std::string& message);
  absl::Status status() const;

  // `path` itself when it is absolute, otherwise below the folder of the document.
  std::string Resolve(const std::string& path) const;

 private:
  std::string path_;
  bool has_error_ = false;
  toml::source_position error_position_;
  std::string error_;
};

// The words of an enum.
template <typename Enum>
struct Word {
  std::string_view word;
  Enum value;
};

class Value {
 public:
  Value(const toml::key& key, const toml::node& node, std::string name, Document& document)
      : key_(key), node_(node), name_(std::move(name)), document_(document) {}

  const std::string& name() const { return name_; }  // "sync.speed_min"
  const toml::node& node() const { return node_; }
  Document& document() const { return document_; }
  std::string Where() const { return document_.Where(source()); }
  // "NAME: message" at the value's place.
  void AddError(const std::string& message) const;

  void ReadBool(std::optional<bool>& out) const;
  void ReadProbability(double& out) const;
  void ReadString(std::optional<std::string>& out) const;
  // A list of names of files. `word`, if not empty, stands for itself, any number of times.
  void ReadPaths(std::vector<std::string>& out, std::string_view word = {}) const;
  // A whole number, or a string with a suffix that `bare_unit_bytes` is the unit of without one.
  void ReadSize(uint64_t bare_unit_bytes, std::optional<uint64_t>& out) const;
  // "500ms", "30s", "5m", or a whole number of seconds.
  void ReadDuration(uint64_t max_ms, std::optional<uint64_t>& out_ms) const;
  // Permission bits: 0o600, or "0600".
  void ReadMode(std::optional<uint32_t>& out) const;

  template <typename Integer>
  void ReadInteger(uint64_t min, uint64_t max, std::optional<Integer>& out) const {
    if (const auto value = Integer64(min, max); value.has_value()) {
      out = static_cast<Integer>(*value);
    }
  }

  template <typename Enum>
  void ReadWord(std::span<const Word<Enum>> words, std::optional<Enum>& out) const {
    std::vector<std::string_view> names;
    for (const Word<Enum>& word : words) {
      names.push_back(word.word);
    }
    if (const auto index = IndexOfWord(names); index.has_value()) {
      out = words[*index].value;
    }
  }

 private:
  const toml::source_region& source() const;
  std::optional<std::string> Text(const std::string& wanted) const;
  std::optional<uint64_t> Integer64(uint64_t min, uint64_t max) const;
  std::optional<size_t> IndexOfWord(std::span<const std::string_view> words) const;
  std::optional<std::string> PathIn(const toml::node& node) const;

  const toml::key& key_;
  const toml::node& node_;
  std::string name_;
  Document& document_;
};

// "a string", "an array": what a node is, for messages.
std::string_view TypeName(const toml::node& node);

// "a, b, c".
std::string JoinNames(std::span<const std::string_view> names);

// One key of a section of type Section, and how it is read.
template <typename Section>
struct KeyRule {
  std::string_view name;
  void (*read)(const Value& value, Section& section);
};

// Reads every key of `table` by its rule; a key without a rule is an error. `section_name` as in
// "[sync]".
template <typename Section>
void ReadKeys(const toml::table& table, std::string_view section_name,
              std::span<const KeyRule<Section>> rules, Section& section, Document& document) {
  for (const auto& [key, node] : table) {
    const std::string_view key_text = key.str();
    const KeyRule<Section>* rule = nullptr;
    std::vector<std::string_view> names;
    for (const KeyRule<Section>& candidate : rules) {
      names.push_back(candidate.name);
      rule = candidate.name == key_text ? &candidate : rule;
    }
    std::string name(section_name);
    name += name.empty() ? "" : ".";
    name += key_text;
    if (rule == nullptr) {
      document.AddError(key.source(), name + ": unknown key, known are " + JoinNames(names));
      continue;
    }
    rule->read(Value(key, node, std::move(name), document), section);
  }
}

// The same for a whole section, with the checks across its keys in `check`.
template <typename Section, size_t count>
void ReadTable(const Value& value, const std::array<KeyRule<Section>, count>& rules,
               Section& section,
               void (*check)(const Value&, const toml::table&,
                             const std::type_identity_t<Section>&) = nullptr) {
  const toml::table* const table = value.node().as_table();
  if (table == nullptr) {
    value.AddError("must be a section [" + value.name() + "], not " +
                   std::string(TypeName(value.node())));
    return;
  }
  ReadKeys<Section>(*table, value.name(), rules, section, value.document());
  if (check != nullptr) {
    check(value, *table, section);
  }
}

// Appends the names of the keys that `rules` know, as "section.key".
template <typename Section, size_t count>
void AddKeys(std::string_view section, const std::array<KeyRule<Section>, count>& rules,
             std::vector<std::string>& keys) {
  for (const KeyRule<Section>& rule : rules) {
    keys.push_back(std::string(section) + "." + std::string(rule.name));
  }
}

}  // namespace mdvol::config_internal

#endif  // MDVOL_CORE_CONFIG_CONFIG_VALUE_H_
