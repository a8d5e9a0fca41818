// `mdvol map`: volume to members, and members to volume. Of an array given by its members, which
// are only read, or of a mounted one, whose status.json is read.

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "fuse/cli/array_map.h"
#include "fuse/cli/live.h"
#include "fuse/cli/verbs.h"

namespace mdvol {
namespace {

struct MapOptions {
  std::string offset;
  std::string member;
  std::vector<std::string> array;  // a mountpoint, or members
};

// "OFF" or "OFF+LEN", in bytes; one byte without LEN.
absl::StatusOr<ByteRange> ParseRange(const std::string& text) {
  const size_t plus = text.find('+');
  const auto offset = ParseSize(text.substr(0, plus), 1);
  if (!offset.ok()) {
    return Annotate(offset.status(), "--offset");
  }
  uint64_t length = 1;
  if (plus != std::string::npos) {
    const auto parsed = ParseSize(text.substr(plus + 1), 1);
    if (!parsed.ok()) {
      return Annotate(parsed.status(), "--offset");
    }
    length = *parsed;
  }
  if (length == 0) {
    return UsageError("--offset " + text + ": the length must be more than 0");
  }
  return ByteRange{*offset, *offset + length};  // Sizes end at 2^63, so the sum fits.
}

absl::StatusOr<ArrayMap> MapOfMount(const std::string& mountpoint) {
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(mountpoint));
  MDVOL_ASSIGN_OR_RETURN(const std::string text, mount.Read("status.json"));
  auto map = MapOfStatusJson(text);
  return map.ok() ? std::move(map) : Annotate(map.status(), mount.path() + "/status.json");
}

absl::StatusOr<ArrayMap> MapOf(const std::vector<std::string>& array) {
  std::error_code error;
  if (array.size() == 1 &&
      (std::filesystem::is_directory(array.front(), error) || error == std::errc::not_connected)) {
    return MapOfMount(array.front());
  }
  return MapOfMembers(array);
}

absl::Status RunMap(const MapOptions& options, VerbContext& context) {
  MDVOL_ASSIGN_OR_RETURN(const ByteRange range, ParseRange(options.offset));
  MDVOL_ASSIGN_OR_RETURN(const ArrayMap map, MapOf(options.array));
  if (options.member.empty()) {
    return MapVolumeRange(map, range, context.out);
  }
  return MapMemberRange(map, options.member, range, context.out);
}

}  // namespace

void AddMap(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<MapOptions>();
  CLI::App* const verb = app.add_subcommand(
      "map", "Shows where bytes of the volume are, or what bytes of a member are");
  verb->footer(
      "A line per extent: volume OFF LEN stripe S member NAME slot K offset MOFF role data|P|Q\n"
      "Offsets are bytes and take K M G T (powers of 1024).");
  verb->add_option("--offset", options->offset,
                   "Where in the volume, or absolute on the member with --member; one byte without "
                   "LEN")
      ->required()
      ->type_name("OFF[+LEN]");
  verb->add_option("--member", options->member, "The path, name or slot number of a member")
      ->type_name("MEMBER");
  verb->add_option("ARRAY", options->array, "A mountpoint, or the members of an array")
      ->required()
      ->type_name("");
  verb->callback([options, &context] {
    context.run = [options, &context] { return RunMap(*options, context); };
  });
}

}  // namespace mdvol
