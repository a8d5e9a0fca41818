// The options of `mdvol create` as they were typed, and what they ask for. Parsing them is pure;
// all their errors are usage errors that name the option.

#ifndef MDVOL_FUSE_CLI_CREATE_OPTIONS_H_
#define MDVOL_FUSE_CLI_CREATE_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/metadata/create_plan.h"

namespace mdvol {

// Empty strings: not given.
struct CreateOptions {
  std::string level;
  std::string raid_devices;
  std::string spare_devices;
  std::string chunk;
  std::string layout;
  std::string metadata;
  std::string size;
  std::string data_offset;
  std::string name;
  std::string uuid;
  std::string bitmap;
  std::string bitmap_chunk;
  bool assume_clean = false;
  bool force = false;
  std::vector<std::string> members;
};

// Everything of the request that the options alone decide. Not filled: whether members exist and
// their sizes, uuids that are to be drawn, the time.
absl::StatusOr<CreateRequest> ParseCreateOptions(const CreateOptions& options);

// The error of a write that failed half-way, with the members added that existed before and may
// have been changed by then.
absl::Status NameTouchedMembers(const absl::Status& status, const CreateRequest& request);

}  // namespace mdvol

#endif  // MDVOL_FUSE_CLI_CREATE_OPTIONS_H_
