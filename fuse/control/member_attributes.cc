// See attribute.h: md/dev-NAME/.

#include <array>
#include <cerrno>

#include "absl/strings/str_format.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/config/config.h"
#include "fuse/control/attribute.h"
#include "fuse/control/values.h"
#include "fuse/render/words.h"

namespace mdvol {
namespace {

absl::Status StoreState(const Subject& subject, std::string_view value) {
  if (value != "faulty") {
    return ErrnoStatus(EINVAL, "state: only \"faulty\" can be set");
  }
  return subject.context.array.FailMember(subject.member->index, "set faulty by its state file");
}

std::string ShowSlot(const Subject& subject) {
  return subject.member->slot.has_value() ? NumberLine(*subject.member->slot) : TextLine("none");
}

// "none" when all of it is, or was, valid: md keeps that word for a member that has failed.
std::string ShowRecoveryStart(const Subject& subject) {
  const bool is_whole = subject.member->recovery_bytes >= subject.member->data_bytes;
  return is_whole ? TextLine("none") : NumberLine(subject.member->recovery_bytes / kSectorBytes);
}

// "SECTOR COUNT" a line, counted from the start of the member; empty when there are none.
std::string ShowBadBlocks(const Subject& subject) {
  std::string text;
  for (const ByteRange& range : subject.member->bad_blocks) {
    absl::StrAppendFormat(&text, "%u %u\n", range.begin / kSectorBytes,
                          range.size() / kSectorBytes);
  }
  return text;
}

FaultDevice* FaultOf(const Subject& subject) {
  const auto found = subject.context.faults.find(subject.member->name);
  return found == subject.context.faults.end() ? nullptr : found->second;
}

std::string ShowFault(const Subject& subject) {
  std::string text;
  for (const FaultRule& rule : FaultOf(subject)->Rules()) {
    text += TextLine(FormatFaultRule(rule));
  }
  return text.empty() ? TextLine("none") : text;
}

absl::Status StoreFault(const Subject& subject, std::string_view value) {
  FaultDevice& device = *FaultOf(subject);
  if (value == "none") {
    device.ClearRules();
    return absl::OkStatus();
  }
  MDVOL_ASSIGN_OR_RETURN(const FaultConfig fault, ParseFaultKeys(value));
  device.AddRule(fault.rule);
  return absl::OkStatus();
}

constexpr std::array kAttributes{
    Attribute{"state", [](const Subject& s) { return TextLine(MemberStateWords(*s.member)); },
              StoreState},
    Attribute{"slot", ShowSlot},
    Attribute{
        "offset",
        [](const Subject& s) { return NumberLine(s.member->data_offset_bytes / kSectorBytes); }},
    Attribute{"size", [](const Subject& s) { return NumberLine(s.member->data_bytes / kKiB); }},
    Attribute{"errors", [](const Subject& s) { return NumberLine(s.member->errors); }},
    Attribute{"recovery_start", ShowRecoveryStart},
    Attribute{"bad_blocks", ShowBadBlocks},
    Attribute{"fault", ShowFault, StoreFault,
              [](const Subject& s) { return FaultOf(s) != nullptr; }},
};

}  // namespace

std::span<const Attribute> MemberAttributes() { return kAttributes; }

}  // namespace mdvol
