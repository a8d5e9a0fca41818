// The keys of [[fault]]. See config_rules.h.

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/config/config_rules.h"

namespace mdvol::config_internal {
namespace {

constexpr uint64_t kMaxSlot = 254;
constexpr uint64_t kMaxDelayUs = 60'000'000;
constexpr uint64_t kMaxInteger = std::numeric_limits<int64_t>::max();
constexpr uint64_t kNsPerUs = 1000;

constexpr std::array<Word<FaultOp>, 4> kFaultOps{{{"read", FaultOp::kRead},
                                                  {"write", FaultOp::kWrite},
                                                  {"flush", FaultOp::kFlush},
                                                  {"any", FaultOp::kAny}}};
constexpr std::array<Word<FaultKind>, 5> kFaultKinds{{{"eio", FaultKind::kError},
                                                      {"delay", FaultKind::kDelay},
                                                      {"corrupt", FaultKind::kCorrupt},
                                                      {"drop", FaultKind::kDrop},
                                                      {"torn", FaultKind::kTorn}}};
constexpr std::array<Word<FaultUntil>, 2> kFaultUntils{
    {{"write", FaultUntil::kWrite}, {"never", FaultUntil::kNever}}};

// Reads into a plain field that has a default.
template <typename Enum, size_t count>
void ReadWordInto(const Value& value, const std::array<Word<Enum>, count>& words, Enum& out) {
  std::optional<Enum> word;
  value.ReadWord<Enum>(words, word);
  out = word.value_or(out);
}

void ReadBytesInto(const Value& value, uint64_t& out) {
  std::optional<uint64_t> bytes;
  value.ReadSize(1, bytes);
  out = bytes.value_or(out);
}

// Which members there are is known once they are loaded, so the place is kept. A text with a '/' is
// a path, as in array.members.
void ReadFaultMember(const Value& value, FaultConfig& fault) {
  fault.where = value.Where();
  if (value.node().is_integer()) {
    std::optional<uint32_t> slot;
    value.ReadInteger(0, kMaxSlot, slot);
    fault.member = slot.has_value() ? std::to_string(*slot) : "";
    return;
  }
  std::optional<std::string> name;
  if (!value.node().is_string()) {
    value.AddError("must be a slot number or a member's name, not " +
                   std::string(TypeName(value.node())));
  } else if (value.ReadString(name); name->empty()) {
    value.AddError("is empty: give a slot number or a member's name");
  } else {
    const bool is_path = name->find('/') != std::string::npos;
    fault.member = is_path ? value.document().Resolve(*name) : *std::move(name);
  }
}

constexpr std::array<KeyRule<FaultConfig>, 9> kFaultKeys{{
    {"member", ReadFaultMember},
    {"op",
     [](const Value& value, FaultConfig& fault) { ReadWordInto(value, kFaultOps, fault.rule.op); }},
    {"offset",
     [](const Value& value, FaultConfig& fault) { ReadBytesInto(value, fault.rule.offset_bytes); }},
    {"length",
     [](const Value& value, FaultConfig& fault) {
       ReadBytesInto(value, fault.rule.length_bytes);
       if (fault.rule.length_bytes == 0) {
         value.AddError("must be more than 0");
       }
     }},
    {"nth",
     [](const Value& value, FaultConfig& fault) {
       std::optional<uint64_t> nth;
       value.ReadInteger(1, kMaxInteger, nth);
       fault.rule.nth = nth.value_or(0);
     }},
    {"probability",
     [](const Value& value, FaultConfig& fault) { value.ReadProbability(fault.rule.probability); }},
    {"kind", [](const Value& value,
                FaultConfig& fault) { ReadWordInto(value, kFaultKinds, fault.rule.kind); }},
    {"delay_us",
     [](const Value& value, FaultConfig& fault) {
       std::optional<uint64_t> delay_us;
       value.ReadInteger(0, kMaxDelayUs, delay_us);
       fault.rule.delay_ns = delay_us.value_or(0) * kNsPerUs;
     }},
    {"until", [](const Value& value,
                 FaultConfig& fault) { ReadWordInto(value, kFaultUntils, fault.rule.until); }},
}};

// What cannot happen: nothing is torn or dropped when reading, nothing corrupted by a flush.
bool IsPossible(FaultKind kind, FaultOp op) {
  switch (kind) {
    case FaultKind::kDrop:
    case FaultKind::kTorn:
      return op == FaultOp::kWrite || op == FaultOp::kAny;
    case FaultKind::kCorrupt:
      return op != FaultOp::kFlush;
    default:
      return true;
  }
}

void CheckFault(const Value& section, const toml::table& table, bool has_member,
                FaultConfig& fault) {
  if (!table.contains("kind")) {
    section.AddError("has no kind: say what happens, kind = \"eio\" or delay, corrupt, drop, torn");
    return;
  }
  if (has_member && !table.contains("member")) {
    section.AddError("has no member: say which, as in member = 3");
  }
  Document& document = section.document();
  if (!has_member && table.contains("member")) {
    document.AddError(table.get("member")->source(),
                      section.name() + ".member: is known from the file's place: leave it out");
  }
  if (!IsPossible(fault.rule.kind, fault.rule.op)) {
    document.AddError(table.get("kind")->source(),
                      section.name() + ".kind: does not go with this op: drop and torn are for " +
                          "writes, corrupt for reads and writes");
  }
  if (fault.rule.kind == FaultKind::kDelay && !table.contains("delay_us")) {
    fault.rule.delay_ns = kDefaultFaultDelayUs * kNsPerUs;
  } else if (fault.rule.kind != FaultKind::kDelay && table.contains("delay_us")) {
    document.AddError(table.get("delay_us")->source(),
                      section.name() + ".delay_us: goes with kind = \"delay\" only");
  }
}

}  // namespace

void ReadFault(const Value& value, bool has_member, FaultConfig& fault) {
  const toml::table& table = *value.node().as_table();
  ReadKeys<FaultConfig>(table, value.name(), kFaultKeys, fault, value.document());
  CheckFault(value, table, has_member, fault);
}

void ReadFaults(const Value& value, Config& config) {
  const toml::array* const list = value.node().as_array();
  if (list == nullptr || !list->is_array_of_tables()) {
    value.AddError("must be written [[fault]], once per fault");
    return;
  }
  static const toml::key kKey("fault");
  for (const toml::node& node : *list) {
    FaultConfig& fault = config.faults.emplace_back();
    ReadFault(Value(kKey, node, "fault", value.document()), /*has_member=*/true, fault);
  }
}

void AddFaultKeys(std::vector<std::string>& keys) { AddKeys("fault", kFaultKeys, keys); }

}  // namespace mdvol::config_internal
