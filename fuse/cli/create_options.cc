// See create_options.h. Words and defaults are mdadm's; bare numbers are KiB, as there.

#include "fuse/cli/create_options.h"

#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/base/uuid.h"
#include "core/geometry/layout.h"
#include "fuse/cli/member_paths.h"

namespace mdvol {
namespace {

absl::Status ParseCount(const std::string& text, const char* option, uint32_t& out) {
  if (text.empty()) {
    return absl::OkStatus();
  }
  const auto count = ParseUnsigned(text);
  if (!count.ok()) {
    return Annotate(count.status(), option);
  }
  if (*count > std::numeric_limits<uint16_t>::max()) {
    return UsageError(std::string(option) + " " + text +
                      ": an array has no more than 1920 members");
  }
  out = static_cast<uint32_t>(*count);
  return absl::OkStatus();
}

absl::Status ParseBytes(const std::string& text, const char* option, std::optional<uint64_t>& out) {
  if (text.empty()) {
    return absl::OkStatus();
  }
  const auto bytes = ParseSize(text, kKiB);
  if (!bytes.ok()) {
    return Annotate(bytes.status(), option);
  }
  out = *bytes;
  return absl::OkStatus();
}

absl::Status ParseSizes(const CreateOptions& options, CreateRequest& request) {
  std::optional<uint64_t> chunk_bytes;
  MDVOL_RETURN_IF_ERROR(ParseBytes(options.chunk, "--chunk", chunk_bytes));
  request.chunk_bytes = chunk_bytes.value_or(request.chunk_bytes);
  if (options.size != "max") {  // mdadm's word for its default
    MDVOL_RETURN_IF_ERROR(ParseBytes(options.size, "--size", request.size_bytes));
  }
  MDVOL_RETURN_IF_ERROR(
      ParseBytes(options.data_offset, "--data-offset", request.data_offset_bytes));
  return ParseBytes(options.bitmap_chunk, "--bitmap-chunk", request.bitmap_chunk_bytes);
}

absl::Status ParseWords(const CreateOptions& options, CreateRequest& request) {
  if (!options.level.empty() && options.level != "6" && options.level != "raid6") {
    return UsageError("--level " + options.level + ": mdvol makes RAID6 arrays, give 6");
  }
  if (options.metadata == "1.0" || options.metadata == "1.1" || options.metadata == "1.2") {
    request.minor = options.metadata.back() - '0';
  } else if (!options.metadata.empty() && options.metadata != "1" &&
             options.metadata != "default") {
    return UsageError("--metadata " + options.metadata + ": give 1.0, 1.1 or 1.2");
  }
  if (!options.bitmap.empty() && options.bitmap != "internal" && options.bitmap != "none") {
    return UsageError("--bitmap " + options.bitmap + ": give internal or none");
  }
  request.bitmap = options.bitmap != "none";
  if (!options.layout.empty()) {
    const auto layout = ParseLayout(options.layout);
    if (!layout.ok()) {
      return Annotate(layout.status(), "--layout");
    }
    request.layout = *layout;
  }
  return absl::OkStatus();
}

absl::Status ParseIdentity(const CreateOptions& options, CreateRequest& request) {
  request.name = options.name;
  if (options.name.find_first_of(std::string("\0\n", 2)) != std::string::npos) {
    return UsageError("--name: must be one line of text");
  }
  if (!options.uuid.empty()) {
    const auto uuid = ParseUuid(options.uuid);
    if (!uuid.ok()) {
      return Annotate(uuid.status(), "--uuid");
    }
    request.array_uuid = *uuid;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CreateRequest> ParseCreateOptions(const CreateOptions& options) {
  CreateRequest request;
  MDVOL_RETURN_IF_ERROR(ParseWords(options, request));
  MDVOL_RETURN_IF_ERROR(ParseSizes(options, request));
  MDVOL_RETURN_IF_ERROR(ParseIdentity(options, request));
  for (const std::string& path : options.members) {
    CreateMember& member = request.members.emplace_back();
    member.path = path;
    member.missing = path == kMissingWord;
  }
  MDVOL_RETURN_IF_ERROR(ParseCount(options.spare_devices, "--spare-devices", request.spares));
  if (options.raid_devices.empty() && options.members.size() > request.spares) {
    request.raid_disks = static_cast<uint32_t>(options.members.size()) - request.spares;
  }
  MDVOL_RETURN_IF_ERROR(ParseCount(options.raid_devices, "--raid-devices", request.raid_disks));
  request.assume_clean = options.assume_clean;
  return request;
}

absl::Status NameTouchedMembers(const absl::Status& status, const CreateRequest& request) {
  std::string touched;
  for (const CreateMember& member : request.members) {
    if (member.exists) {
      absl::StrAppend(&touched, touched.empty() ? "" : ", ", member.path);
    }
  }
  if (touched.empty()) {
    return status;
  }
  return ErrnoStatus(ErrnoOf(status),
                     absl::StrCat(MessageOf(status), " (may have been written: ", touched, ")"));
}

}  // namespace mdvol
