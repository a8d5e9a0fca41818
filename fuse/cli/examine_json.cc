// The JSON of `mdvol examine`. See examine_text.h.

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/status.h"
#include "core/base/units.h"
#include "core/geometry/layout.h"
#include "fuse/cli/examine_text.h"

namespace mdvol {
namespace {

using Json = nlohmann::ordered_json;

Json BitmapJson(const ExaminedMember& member) {
  if (!member.areas.has_value() || !member.areas->bitmap.has_value()) {
    return nullptr;
  }
  const BitmapSuperblock& bitmap = *member.areas->bitmap;
  const uint64_t bits = BitmapBits(ComponentBytes(member.found.super), bitmap.chunksize);
  BitmapBitsImage image(bits);
  std::copy_n(member.areas->bitmap_file.begin() + kBitmapSuperBytes, image.bytes().size(),
              image.bytes().begin());
  return {{"offset_sectors", member.found.super.bitmap_offset.get()},
          {"version", bitmap.version.get()},
          {"chunk_bytes", bitmap.chunksize.get()},
          {"daemon_sleep_s", bitmap.daemon_sleep.get()},
          {"events", bitmap.events.get()},
          {"events_cleared", bitmap.events_cleared.get()},
          {"state", bitmap.state.get()},
          {"bits", bits},
          {"bits_set", image.CountSet()}};
}

Json BadBlocksJson(const ExaminedMember& member) {
  const Superblock& super = member.found.super;
  if (super.bblog_size.get() == 0 || super.bblog_offset.get() == 0) {
    return nullptr;
  }
  Json ranges = Json::array();
  if (member.areas.has_value()) {
    for (const ByteRange& range : member.areas->bad_blocks.ranges()) {
      ranges.push_back({{"offset_bytes", range.begin}, {"length_bytes", range.size()}});
    }
  }
  return {{"entries_available", super.bblog_size.get() * kSectorBytes / 8},
          {"offset_sectors", super.bblog_offset.get()},
          {"ranges", ranges}};
}

template <typename Value>
Json OrNull(const std::optional<Value>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

const char* StandingWord(MemberStanding standing) {
  switch (standing) {
    case MemberStanding::kInSync:
      return "in_sync";
    case MemberStanding::kRecovering:
      return "recovering";
    case MemberStanding::kSpare:
      return "spare";
    case MemberStanding::kJournal:
      return "journal";
    case MemberStanding::kStale:
      return "stale";
    case MemberStanding::kForeign:
      return "foreign";
  }
  return "";
}

}  // namespace

Json ExamineJson(const ExaminedMember& member) {
  const Superblock& super = member.found.super;
  const UnusedSpace unused = FindUnusedSpace(member);
  const bool is_known_layout = super.level.get() == 6 && IsKnownLayout(super.layout);
  return {
      {"path", member.path},
      {"device_bytes", member.device_sectors * kSectorBytes},
      {"metadata", "1." + std::to_string(member.found.minor)},
      {"feature_map", super.feature_map.get()},
      {"array_uuid", FormatUuidColons(super.set_uuid)},
      {"name", SetName(super)},
      {"creation_time_s", MdTimeSeconds(super.ctime)},
      {"level", LevelWord(super.level)},
      {"layout", is_known_layout ? Json(LayoutName(static_cast<Layout>(super.layout.get())))
                                 : Json(super.layout.get())},
      {"raid_disks", super.raid_disks.get()},
      {"chunk_bytes", super.chunksize.get() * kSectorBytes},
      {"avail_dev_sectors", super.data_size.get()},
      {"used_dev_sectors", super.size.get()},
      {"data_offset_sectors", super.data_offset.get()},
      {"super_offset_sectors", super.super_offset.get()},
      {"recovery_offset_sectors", super.has_feature(kFeatureRecoveryOffset)
                                      ? Json(super.recovery_offset.get())
                                      : Json(nullptr)},
      {"unused_before_sectors", unused.before_sectors},
      {"unused_after_sectors", unused.after_sectors},
      {"state", super.resync_offset.get() == kResyncDone ? "clean" : "active"},
      {"resync_offset_sectors",
       super.resync_offset.get() == kResyncDone ? Json(nullptr) : Json(super.resync_offset.get())},
      {"device_uuid", FormatUuidColons(super.device_uuid)},
      {"dev_number", super.dev_number.get()},
      {"update_time_s", MdTimeSeconds(super.utime)},
      {"checksum", super.sb_csum.get()},
      {"events", super.events.get()},
      {"device_role", DeviceRoleWords(super)},
      {"slot", OrNull(OwnSlot(super))},
      {"array_state", ArrayStateLetters(super)},
      {"corrected_read_errors", super.cnt_corrected_read.get()},
      {"bitmap", BitmapJson(member)},
      {"bad_block_log", BadBlocksJson(member)}};
}

Json DecisionJson(const std::vector<MemberReport>& reports, const AssemblyDecision& decision) {
  Json members = Json::array();
  for (size_t i = 0; i < decision.members.size(); ++i) {
    const MemberVerdict& verdict = decision.members[i];
    members.push_back({{"path", reports[i].path},
                       {"standing", StandingWord(verdict.standing)},
                       {"slot", OrNull(verdict.slot)},
                       {"forced", verdict.forced},
                       {"reason", verdict.reason}});
  }
  return {{"starts", decision.status.ok()},
          {"reason", decision.status.ok() ? Json(nullptr) : Json(MessageOf(decision.status))},
          {"array_uuid", FormatUuidColons(reports[decision.reference].super.set_uuid)},
          {"missing", decision.missing},
          {"dirty", decision.dirty},
          {"resync_bytes", decision.resync_bytes},
          {"bitmap_usable", decision.bitmap_usable},
          {"members", members},
          {"warnings", decision.warnings}};
}

}  // namespace mdvol
