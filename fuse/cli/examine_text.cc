// See examine_text.h.

#include "fuse/cli/examine_text.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/units.h"
#include "core/geometry/layout.h"
#include "fuse/render/detail.h"
#include "fuse/render/words.h"

namespace mdvol {
namespace {

constexpr int32_t kRaid6 = 6;
constexpr uint64_t kMetadataRoom = 72;  // superblock and md's least bitmap room, in sectors

// As ctime(3) without its newline: "Tue Nov 14 22:13:20 2023", in the local time zone.
std::string TimeText(uint64_t packed) {
  const auto seconds = static_cast<time_t>(MdTimeSeconds(packed));
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) {
    return std::to_string(MdTimeSeconds(packed));  // a year that no calendar holds
  }
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a %b %e %H:%M:%S %Y", &parts);
  return text.data();
}

// How many members' worth of data the array holds; 0 where that is not known so simply.
uint64_t DataMembers(const Superblock& super) {
  const uint64_t raid_disks = super.raid_disks;
  switch (super.level.get()) {
    case 1:
      return 1;
    case 4:
    case 5:
      return std::max<uint64_t>(raid_disks, 1) - 1;
    case kRaid6:
      return std::max<uint64_t>(raid_disks, 2) - 2;
    default:
      return 0;
  }
}

uint64_t ArrayBytes(const Superblock& super) {
  uint64_t bytes = 0;
  const bool fits = MultiplyFits(super.size.get(), kSectorBytes, &bytes) &&
                    MultiplyFits(bytes, DataMembers(super), &bytes);
  return fits ? bytes : 0;
}

std::string LayoutWord(const Superblock& super) {
  const int32_t layout = super.layout;
  if (super.level.get() != kRaid6) {
    return std::to_string(layout);
  }
  return IsKnownLayout(layout) ? std::string(LayoutName(static_cast<Layout>(layout))) : "-unknown-";
}

std::string SectorsLine(const char* label, uint64_t sectors) {
  return absl::StrFormat("%15s : %u sectors%s\n", label, sectors,
                         HumanSize(sectors * kSectorBytes));
}

std::string IdentityLines(const ExaminedMember& member) {
  const Superblock& super = member.found.super;
  std::string text = absl::StrFormat("%15s : %08x\n", "Magic", super.magic.get());
  absl::StrAppendFormat(&text, "%15s : 1.%d\n", "Version", member.found.minor);
  absl::StrAppendFormat(&text, "%15s : 0x%x\n", "Feature Map", super.feature_map.get());
  absl::StrAppendFormat(&text, "%15s : %s\n", "Array UUID", FormatUuidColons(super.set_uuid));
  absl::StrAppendFormat(&text, "%15s : %s\n", "Name", Printable(SetName(super)));
  absl::StrAppendFormat(&text, "%15s : %s\n", "Creation Time", TimeText(super.ctime));
  absl::StrAppendFormat(&text, "%15s : %s\n", "Raid Level", LevelWord(super.level));
  absl::StrAppendFormat(&text, "%15s : %d\n\n", "Raid Devices", super.raid_disks.get());
  return text;
}

std::string SizeLines(const ExaminedMember& member) {
  const Superblock& super = member.found.super;
  std::string text = SectorsLine("Avail Dev Size", super.data_size);
  if (const uint64_t array_bytes = ArrayBytes(super); array_bytes != 0) {
    absl::StrAppendFormat(&text, "%15s : %u KiB%s\n", "Array Size", array_bytes / kKiB,
                          HumanSize(array_bytes));
  }
  if (super.level.get() > 0 && super.size.get() != super.data_size.get()) {
    text += SectorsLine("Used Dev Size", super.size);
  }
  if (super.data_offset.get() != 0) {
    absl::StrAppendFormat(&text, "%15s : %u sectors\n", "Data Offset", super.data_offset.get());
  }
  absl::StrAppendFormat(&text, "%15s : %u sectors\n", "Super Offset", super.super_offset.get());
  if (super.has_feature(kFeatureRecoveryOffset)) {
    absl::StrAppendFormat(&text, "%15s : %u sectors\n", "Recovery Offset",
                          super.recovery_offset.get());
  }
  const UnusedSpace unused = FindUnusedSpace(member);
  if (unused.before_sectors != 0 || unused.after_sectors != 0) {
    absl::StrAppendFormat(&text, "%15s : before=%u sectors, after=%u sectors\n", "Unused Space",
                          unused.before_sectors, unused.after_sectors);
  }
  return text;
}

std::string StateLines(const Superblock& super) {
  std::string text = absl::StrFormat("%15s : %s\n", "State",
                                     super.resync_offset.get() == kResyncDone ? "clean" : "active");
  absl::StrAppendFormat(&text, "%15s : %s\n\n", "Device UUID", FormatUuidColons(super.device_uuid));
  if (super.has_feature(kFeatureBitmapOffset)) {
    absl::StrAppendFormat(&text, "%15s : %d sectors from superblock\n", "Internal Bitmap",
                          super.bitmap_offset.get());
  }
  if (super.devflags != 0) {
    absl::StrAppendFormat(&text, "%15s :%s%s\n", "Flags",
                          (super.devflags & 1) != 0 ? " write-mostly" : "",
                          (super.devflags & 2) != 0 ? " failfast" : "");
  }
  absl::StrAppendFormat(&text, "%15s : %s\n", "Update Time", TimeText(super.utime));
  if (super.bblog_size.get() != 0 && super.bblog_offset.get() != 0) {
    absl::StrAppendFormat(&text, "%15s : %d entries available at offset %d sectors%s\n",
                          "Bad Block Log", super.bblog_size.get() * kSectorBytes / 8,
                          super.bblog_offset.get(),
                          super.has_feature(kFeatureBadBlocks) ? " - bad blocks present." : "");
  }
  absl::StrAppendFormat(&text, "%15s : %x - correct\n", "Checksum", super.sb_csum.get());
  absl::StrAppendFormat(&text, "%15s : %u\n\n", "Events", super.events.get());
  return text;
}

std::string ShapeLines(const Superblock& super) {
  std::string text;
  if (const int32_t level = super.level; level == 5 || level == kRaid6 || level == 10) {
    absl::StrAppendFormat(&text, "%15s : %s\n", "Layout", LayoutWord(super));
  }
  if (super.chunksize.get() != 0) {
    absl::StrAppendFormat(&text, "%15s : %dK\n", "Chunk Size", super.chunksize.get() / 2);
  }
  absl::StrAppendFormat(&text, "\n%14s : %s\n", "Device Role", DeviceRoleWords(super));
  absl::StrAppendFormat(&text, "%14s : %s ('A' == active, '.' == missing, 'R' == replacing)\n",
                        "Array State", ArrayStateLetters(super));
  return text;
}

}  // namespace

UnusedSpace FindUnusedSpace(const ExaminedMember& member) {
  const Superblock& super = member.found.super;
  const uint64_t data_offset = super.data_offset;
  const uint64_t data_end = data_offset + super.size.get();
  const auto from_super = [&super](int32_t offset_sectors) {
    return super.super_offset.get() + static_cast<uint64_t>(int64_t{offset_sectors});
  };
  const bool has_bitmap = super.has_feature(kFeatureBitmapOffset);
  const bool has_log = super.bblog_offset.get() != 0 && super.bblog_size.get() != 0;
  if (data_offset < super.super_offset.get()) {
    uint64_t end = super.super_offset;
    end = has_log ? std::min(end, from_super(super.bblog_offset)) : end;
    end = has_bitmap ? std::min(end, from_super(super.bitmap_offset)) : end;
    return {data_offset, end > data_end ? end - data_end : 0};
  }
  uint64_t earliest = from_super(kMetadataRoom);
  if (member.areas.has_value() && !member.areas->areas.bitmap.empty()) {
    earliest = std::max(earliest, CeilDiv(member.areas->areas.bitmap.end, kSectorBytes));
  }
  earliest = has_log ? std::max(earliest, from_super(super.bblog_offset) + super.bblog_size.get())
                     : earliest;
  return {data_offset > earliest ? data_offset - earliest : 0,
          member.device_sectors > data_end ? member.device_sectors - data_end : 0};
}

std::string LevelWord(int32_t level) {
  switch (level) {
    case -1:
      return "linear";
    case 0:
    case 1:
    case 4:
    case 5:
    case kRaid6:
    case 10:
      return absl::StrCat("raid", level);
    default:
      return "-unknown-";
  }
}

std::string DeviceRoleWords(const Superblock& super) {
  switch (const uint16_t role = OwnRole(super); role) {
    case kRoleSpare:
    case kRoleFaulty:
      return "spare";
    case kRoleJournal:
      return "Journal";
    default:
      return absl::StrCat(
          super.has_feature(kFeatureReplacement) ? "Replacement device " : "Active device ", role);
  }
}

std::string ArrayStateLetters(const Superblock& super) {
  const uint32_t slots = std::min<uint32_t>(super.raid_disks, kMaxDevices);
  std::vector<uint32_t> holders(slots);
  for (uint32_t number = 0; number < std::min<uint32_t>(super.max_dev, kMaxDevices); ++number) {
    if (const uint16_t role = super.dev_roles[number]; role < slots) {
      ++holders[role];
    }
  }
  std::string letters;
  for (const uint32_t count : holders) {
    letters += count == 0 ? '.' : count == 1 ? 'A' : count == 2 ? 'R' : '?';
  }
  return letters;
}

std::string RenderExamine(const ExaminedMember& member) {
  return absl::StrCat(Printable(member.path), ":\n", IdentityLines(member), SizeLines(member),
                      StateLines(member.found.super), ShapeLines(member.found.super));
}

std::string RenderDecision(const std::vector<MemberReport>& reports,
                           const AssemblyDecision& decision) {
  std::string text;
  for (const MemberVerdict& verdict : decision.members) {
    absl::StrAppend(&text, Printable(verdict.reason), "\n");
  }
  const Superblock& super = reports[decision.reference].super;
  absl::StrAppend(&text, "array ", FormatUuidColons(super.set_uuid), ": ");
  if (!decision.status.ok()) {
    absl::StrAppend(&text, "does not start: ", Printable(std::string(decision.status.message())),
                    "\n");
    return text;
  }
  const uint32_t slots = super.raid_disks;
  absl::StrAppend(
      &text, "starts with ", slots - decision.missing, " of ", slots, " members, ",
      decision.dirty ? absl::StrCat("dirty from byte ", decision.resync_bytes, " of each member on",
                                    decision.bitmap_usable ? ", narrowed by the bitmap" : "")
                     : "clean",
      "\n");
  for (const std::string& warning : decision.warnings) {
    absl::StrAppend(&text, "warning: ", Printable(warning), "\n");
  }
  return text;
}

}  // namespace mdvol
