// See attribute.h: md/dev-NAME/.

#include <array>
#include <cerrno>

#include "absl/strings/str_format.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/config/config.h"
#include "fuse/control/attribute.h"
#include "fuse/control/re_add_check.h"
#include "fuse/control/values.h"
#include "fuse/render/words.h"

namespace mdvol {
namespace {

// The array may need something done now that a member has changed.
absl::Status LookForWork(const Subject& subject, const absl::Status& status) {
  if (status.ok() && subject.context.sync != nullptr) {
    subject.context.sync->Poke();
  }
  return status;
}

absl::Status Remove(const Subject& subject) {
  const absl::Status status = subject.context.array.RemoveMember(subject.member->index);
  // It may have gone, and its device with it, although not all could be recorded.
  subject.context.faults.ForgetGone();
  return status;
}

// A faulty member is opened anew: what it met may have been the file's or the cable's doing. It has
// to leave for that, so a refusal that can be foreseen comes before.
absl::Status ReAdd(const Subject& subject) {
  if (!subject.member->faulty || !subject.context.add_member) {
    return ErrnoStatus(EBUSY, "state: only a faulty member can be re-added");
  }
  const std::string path = subject.member->path;
  MDVOL_RETURN_IF_ERROR(CheckReAdd(*subject.member, subject.array));
  MDVOL_RETURN_IF_ERROR(Remove(subject));
  return subject.context.add_member(path, AddMode::kReAdd);
}

absl::Status ChangeState(const Subject& subject, std::string_view value) {
  Array& array = subject.context.array;
  const size_t index = subject.member->index;
  if (value == "faulty") {
    return array.FailMember(index, "set faulty by its state file");
  }
  if (value == "remove") {
    return Remove(subject);
  }
  if (value == "re-add") {
    return ReAdd(subject);
  }
  if (value == "want_replacement") {
    return array.SetReplacement(index, std::nullopt);
  }
  if (value == "-want_replacement") {
    return array.ClearReplacementWish(index);
  }
  return ErrnoStatus(EINVAL,
                     "state: faulty, remove, re-add, want_replacement or -want_replacement");
}

absl::Status StoreState(const Subject& subject, std::string_view value) {
  return LookForWork(subject, ChangeState(subject, value));
}

// As with md, the number of a slot makes a spare the replacement of the member that works there.
absl::Status StoreSlot(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(const uint64_t slot, ParseNumber(value, subject.array.raid_disks - 1));
  const MemberSnapshot* const replaced = MemberInSlot(subject.array, static_cast<uint32_t>(slot));
  if (replaced == nullptr) {
    return ErrnoStatus(EINVAL, "slot: nobody works there; a spare is taken for it by itself");
  }
  return LookForWork(subject,
                     subject.context.array.SetReplacement(replaced->index, subject.member->index));
}

std::string ShowSlot(const Subject& subject) {
  const std::optional<uint32_t> slot =
      subject.member->slot.has_value() ? subject.member->slot : subject.member->replaces;
  return slot.has_value() ? NumberLine(*slot) : TextLine("none");
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

bool HasFault(const Subject& subject) {
  return subject.context.faults.With(subject.member->index, [](const FaultDevice&) {});
}

std::string ShowFault(const Subject& subject) {
  std::string text;
  subject.context.faults.With(subject.member->index, [&](const FaultDevice& device) {
    for (const FaultRule& rule : device.Rules()) {
      text += TextLine(FormatFaultRule(rule));
    }
  });
  return text.empty() ? TextLine("none") : text;
}

absl::Status StoreFault(const Subject& subject, std::string_view value) {
  FaultConfig fault;
  if (value != "none") {
    MDVOL_ASSIGN_OR_RETURN(fault, ParseFaultKeys(value));
  }
  const bool is_there =
      subject.context.faults.With(subject.member->index, [&](FaultDevice& device) {
        value == "none" ? device.ClearRules() : device.AddRule(fault.rule);
      });
  return is_there ? absl::OkStatus() : ErrnoStatus(ENODEV, "fault: the member has gone");
}

constexpr std::array kAttributes{
    Attribute{"state", [](const Subject& s) { return TextLine(MemberStateWords(*s.member)); },
              StoreState},
    Attribute{"slot", ShowSlot, StoreSlot},
    Attribute{
        "offset",
        [](const Subject& s) { return NumberLine(s.member->data_offset_bytes / kSectorBytes); }},
    Attribute{"size", [](const Subject& s) { return NumberLine(s.member->data_bytes / kKiB); }},
    Attribute{"errors", [](const Subject& s) { return NumberLine(s.member->errors); }},
    Attribute{"recovery_start", ShowRecoveryStart},
    Attribute{"bad_blocks", ShowBadBlocks},
    Attribute{"fault", ShowFault, StoreFault, HasFault},
};

}  // namespace

std::span<const Attribute> MemberAttributes() { return kAttributes; }

}  // namespace mdvol
