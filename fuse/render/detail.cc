// See detail.h.

#include "fuse/render/detail.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "fuse/render/words.h"

namespace mdvol {
namespace {

using Json = nlohmann::json;

// A line "     Raid Devices : 6": names end in one column.
std::string Line(std::string_view name, std::string_view value) {
  return absl::StrFormat("%18s : %s\n", name, value);
}

std::string LocalTime(uint64_t seconds) {
  const auto time = static_cast<time_t>(seconds);
  std::tm parts{};
  char text[64] = "";
  if (localtime_r(&time, &parts) != nullptr) {
    std::strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &parts);
  }
  return text;
}

std::string SizeWithHuman(uint64_t bytes) {
  return absl::StrFormat("%u%s", bytes / kKiB, HumanSize(bytes));
}

struct Counts {
  size_t total = 0;
  size_t active = 0;
  size_t failed = 0;
  size_t spare = 0;  // rebuilding ones included, as mdadm counts
};

Counts CountMembers(const Json& members) {
  Counts counts;
  counts.total = members.size();
  for (const Json& member : members) {
    const std::string role = member.at("role");
    counts.active += role == "active" ? 1U : 0U;
    counts.failed += role == "faulty" ? 1U : 0U;
  }
  counts.spare = counts.total - counts.active - counts.failed;
  return counts;
}

// "clean, degraded, recovering "
std::string StateLine(const Json& status) {
  const auto degraded = status.at("degraded").get<uint32_t>();
  const std::string action = status.at("sync").at("action");
  std::string line = status.at("dirty").get<bool>() ? "active" : "clean";
  if (degraded > 2 || status.at("state") == "broken") {
    line += ", FAILED";
  } else if (degraded > 0) {
    line += ", degraded";
  }
  if (action == "check") {
    line += ", checking";
  } else if (action == "resync" || action == "repair") {
    line += ", resyncing";
  } else if (action == "recover") {
    line += ", recovering";
  }
  return line + ' ';
}

std::string ProgressLine(const Json& sync) {
  const std::string action = sync.at("action");
  const auto total = sync.at("total_bytes").get<uint64_t>();
  if (action == "idle" || action == "frozen" || total == 0) {
    return {};
  }
  const uint64_t percent =
      std::min(sync.at("done_bytes").get<uint64_t>(), total) / CeilDiv(total, 100);
  const std::string_view name = action == "recover" ? "Rebuild Status"
                                : action == "check" ? "Check Status"
                                                    : "Resync Status";
  return Line(name, absl::StrFormat("%u%% complete", percent)) + '\n';
}

std::string MemberState(const Json& member) {
  const std::string role = member.at("role");
  const std::string words = member.at("state");
  std::string text = role == "active"       ? "active sync"
                     : role == "rebuilding" ? "spare rebuilding"
                                            : role;
  if (words.find("write_mostly") != std::string::npos) {
    text += " writemostly";
  }
  return text;
}

std::string MemberLine(const Json& member, const std::string& slot,
                       const FindDeviceNumber& find_device_number) {
  const std::string path = member.at("path");
  const DeviceNumber number = find_device_number(path);
  return absl::StrFormat("   %5u   %5u    %5u    %5s      %s   %s\n",
                         member.at("dev_number").get<uint32_t>(), number.major_number,
                         number.minor_number, slot, MemberState(member), Printable(path));
}

bool Occupies(const Json& member, uint32_t slot) {
  return member.at("role") != "faulty" && member.at("slot").is_number() &&
         member.at("slot").get<uint32_t>() == slot;
}

// First the slots in order, then, after an empty line, the members that occupy none.
std::string MemberTable(const Json& status, const FindDeviceNumber& find_device_number) {
  const Json& members = status.at("members");
  std::string table = "    Number   Major   Minor   RaidDevice State\n";
  std::vector<const Json*> others;
  for (const Json& member : members) {
    others.push_back(&member);
  }
  for (uint32_t slot = 0; slot < status.at("raid_disks").get<uint32_t>(); ++slot) {
    const auto found = std::find_if(others.begin(), others.end(),
                                    [slot](const Json* m) { return Occupies(*m, slot); });
    if (found == others.end()) {
      table += absl::StrFormat("   %5s   %5u    %5u    %5u      removed\n", "-", 0, 0, slot);
      continue;
    }
    table += MemberLine(**found, std::to_string(slot), find_device_number);
    others.erase(found);
  }
  table += others.empty() ? "" : "\n";
  for (const Json* member : others) {
    table += MemberLine(*member, "-", find_device_number);
  }
  return table;
}

// What the last check or repair found, a line each.
std::string LocatedTable(const Json& status) {
  const Json& located = status.at("located");
  if (located.empty()) {
    return {};
  }
  const auto count = status.at("located_count").get<uint64_t>();
  std::string table = absl::StrFormat("\n%18s : %u, %u sectors do not agree\n", "Located", count,
                                      status.at("sync").at("mismatch_cnt").get<uint64_t>());
  table += "    Stripe   Lanes     Kind      Member   Volume bytes   State\n";
  for (const Json& place : located) {
    const auto lane = place.at("lane").get<uint64_t>();
    const auto begin = place.at("volume_offset").get<uint64_t>();
    const std::string member =
        place.at("member").is_null() ? "-" : Printable(place.at("member").get<std::string>());
    table += absl::StrFormat("   %u   %u..%u   %s   %s   %u+%u   %s\n",
                             place.at("stripe").get<uint64_t>(), lane,
                             lane + std::max<uint64_t>(place.at("lanes").get<uint64_t>(), 1) - 1,
                             place.at("kind").get<std::string>(), member, begin,
                             place.at("volume_length").get<uint64_t>(),
                             place.at("repaired").get<bool>() ? "repaired" : "not repaired");
  }
  table += located.size() < count ? "   … (the list is not kept any longer)\n" : "";
  return table;
}

std::string Render(std::string_view heading, const Json& status,
                   const FindDeviceNumber& find_device_number) {
  const Counts counts = CountMembers(status.at("members"));
  const std::string policy = status.at("consistency_policy");
  const auto text_of = [&status](const char* key) { return status.at(key).get<std::string>(); };
  const auto number_of = [&status](const char* key) { return status.at(key).get<uint64_t>(); };

  std::string text = Printable(std::string(heading)) + ":\n";
  text += Line("Version", text_of("metadata"));
  text += Line("Creation Time", LocalTime(number_of("created_s")));
  text += Line("Raid Level", text_of("level"));
  text += Line("Array Size", SizeWithHuman(number_of("array_bytes")));
  text += Line("Used Dev Size", SizeWithHuman(number_of("component_bytes")));
  text += Line("Raid Devices", std::to_string(number_of("raid_disks")));
  text += Line("Total Devices", std::to_string(counts.total));
  text += Line("Persistence", "Superblock is persistent") + '\n';
  if (policy == "bitmap") {
    text += Line("Intent Bitmap", "Internal") + '\n';
  }
  text += Line("Update Time", LocalTime(number_of("updated_s")));
  text += Line("State", StateLine(status));
  text += Line("Active Devices", std::to_string(counts.active));
  text += Line("Working Devices", std::to_string(counts.active + counts.spare));
  text += Line("Failed Devices", std::to_string(counts.failed));
  text += Line("Spare Devices", std::to_string(counts.spare)) + '\n';
  text += Line("Layout", text_of("layout"));
  text += Line("Chunk Size", absl::StrFormat("%uK", number_of("chunk_bytes") / kKiB)) + '\n';
  text += Line("Consistency Policy", policy) + '\n';
  text += ProgressLine(status.at("sync"));
  text += Line("Name", Printable(text_of("name")));
  text += Line("UUID", text_of("uuid"));
  text += Line("Events", std::to_string(number_of("events"))) + '\n';
  return text + MemberTable(status, find_device_number) + LocatedTable(status);
}

}  // namespace

absl::StatusOr<std::string> RenderDetail(std::string_view heading, std::string_view status_json,
                                         const FindDeviceNumber& find_device_number) {
  try {
    return Render(heading, Json::parse(status_json), find_device_number);
  } catch (const Json::exception&) {
    return ErrnoStatus(EINVAL, std::string(heading) +
                                   "/status.json: not of this version of mdvol, or no mdvol mount");
  }
}

namespace {

// "7.63": rounded to hundredths, halves up, in integers as mdadm does.
std::string InUnits(uint64_t bytes, uint64_t unit_bytes) {
  const uint64_t hundredths =
      bytes / unit_bytes * 100 + (bytes % unit_bytes * 200 / unit_bytes + 1) / 2;
  return absl::StrFormat("%u.%02u", hundredths / 100, hundredths % 100);
}

}  // namespace

std::string HumanSize(uint64_t bytes) {
  struct Unit {
    uint64_t binary;
    uint64_t decimal;
    char letter;
  };
  constexpr Unit kUnits[] = {
      {kMiB, 1'000'000, 'M'}, {kGiB, 1'000'000'000, 'G'}, {kTiB, 1'000'000'000'000, 'T'}};
  if (bytes < 5000 * kKiB) {
    return {};
  }
  // Two units of the next size at least before that one is used.
  const Unit& unit = bytes < 2 * kGiB ? kUnits[0] : bytes < 2 * kTiB ? kUnits[1] : kUnits[2];
  return absl::StrFormat(" (%s %ciB %s %cB)", InUnits(bytes, unit.binary), unit.letter,
                         InUnits(bytes, unit.decimal), unit.letter);
}

}  // namespace mdvol
