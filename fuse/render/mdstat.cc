// See mdstat.h.

#include "fuse/render/mdstat.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/units.h"
#include "core/metadata/superblock.h"
#include "fuse/render/words.h"

namespace mdvol {
namespace {

constexpr char kIndent[] = "      ";

// " d5.img[5] d4.img[4](F) …": the kernel lists the newest first.
std::string MemberList(const ArraySnapshot& array) {
  std::vector<const MemberSnapshot*> members = MembersByIndex(array);
  std::reverse(members.begin(), members.end());
  std::string list;
  for (const MemberSnapshot* member : members) {
    absl::StrAppendFormat(&list, " %s[%u]", member->name, member->dev_number);
    list += member->write_mostly ? "(W)" : "";
    if (member->faulty) {
      list += "(F)";
      continue;
    }
    list += member->slot.has_value() || member->replaces.has_value() ? "" : "(S)";
    list += member->replacement ? "(R)" : "";
  }
  return list;
}

// "broken" as newer kernels say it: the members whose loss broke the array stay in their slots.
std::string ActivityWord(const ArraySnapshot& array) {
  return array.state == ArrayState::kFailed ? "broken" : "active";
}

// "[6/5] [UU_UUU]": slots, those in sync, and which.
std::string SlotMap(const ArraySnapshot& array) {
  std::string map;
  for (uint32_t slot = 0; slot < array.raid_disks; ++slot) {
    const MemberSnapshot* const member = MemberInSlot(array, slot);
    map += member != nullptr && member->in_sync ? 'U' : '_';
  }
  const uint32_t up = array.raid_disks - std::min(array.degraded, array.raid_disks);
  return absl::StrFormat("[%u/%u] [%s]", array.raid_disks, up, map);
}

// "[=>...]  recovery =  9.4% (12345/131072) finish=0.2min speed=9876K/sec", as md's status_resync
// draws it.
std::string ProgressLine(const SyncStatus& sync) {
  constexpr uint64_t kBarWidth = 20;
  const uint64_t done_bytes = std::min(sync.done_bytes, sync.total_bytes);
  const uint64_t per_mille =
      static_cast<uint64_t>(static_cast<double>(done_bytes) * 1000.0 /
                            static_cast<double>(std::max<uint64_t>(sync.total_bytes, 1)));
  const uint64_t filled = per_mille * kBarWidth / 1000;
  const std::string_view word = sync.action == SyncAction::kCheck     ? "check"
                                : sync.action == SyncAction::kRecover ? "recovery"
                                                                      : "resync";
  // Nobody knows when a run that stands still will end; md shows the time that it would take at the
  // slowest speed that it can tell.
  const uint64_t speed_kib = sync.speed_bytes / kKiB;
  const uint64_t left_s = (sync.total_bytes - done_bytes) / kKiB / std::max<uint64_t>(speed_kib, 1);
  return absl::StrFormat("[%s>%s]  %s =%3u.%u%% (%u/%u) finish=%u.%umin speed=%uK/sec",
                         std::string(filled, '='), std::string(kBarWidth - filled, '.'), word,
                         per_mille / 10, per_mille % 10, done_bytes / kKiB, sync.total_bytes / kKiB,
                         left_s / 60, left_s % 60 / 6, speed_kib);
}

std::string BitmapLine(const BitmapSnapshot& bitmap) {
  const bool in_kib = bitmap.chunk_bytes >= kKiB;
  return absl::StrFormat("bitmap: %u/%u pages [%uKB], %u%s chunk\n", bitmap.pages_set, bitmap.pages,
                         bitmap.pages_set * 4,
                         in_kib ? bitmap.chunk_bytes / kKiB : bitmap.chunk_bytes,
                         in_kib ? "KB" : "B");
}

}  // namespace

std::string RenderMdstat(const ArraySnapshot& array, const SyncStatus& sync) {
  std::string text = "Personalities : [raid6] [raid5] [raid4] \n";
  text += DeviceNameOf(array.name) + " : " + ActivityWord(array) +
          (array.read_only ? " (read-only) " : " ") + "raid6" + MemberList(array) + '\n';
  absl::StrAppendFormat(&text, "%s%u blocks super %s level 6, %uk chunk, algorithm %d %s\n",
                        kIndent, array.array_bytes / kKiB, MetadataVersion(array),
                        array.chunk_bytes / kKiB, static_cast<int>(array.layout), SlotMap(array));
  text += kIndent;
  if (sync.total_bytes != 0) {
    text += ProgressLine(sync) + '\n' + kIndent;
  } else if (array.resync_bytes != kResyncDone) {
    text += std::string("\tresync=PENDING\n") + kIndent;
  }
  if (array.bitmap.has_value()) {
    text += BitmapLine(*array.bitmap);
  }
  return text + "\nunused devices: <none>\n";
}

}  // namespace mdvol
