// Writes planned members to sparse files, as create will, and asks mdadm about them.

#ifndef MDVOL_TESTS_UNIT_CORE_METADATA_PLANNED_IMAGES_H_
#define MDVOL_TESTS_UNIT_CORE_METADATA_PLANNED_IMAGES_H_

#include <string>
#include <string_view>

#include "core/metadata/create_plan.h"

namespace mdvol::testing {

// Writes the metadata of `member` into a new sparse file of its length.
void WriteImage(const CreatePlan& plan, const PlannedMember& member, const std::string& path);

// Writes the bitmap area alone, as a file that `mdadm --examine-bitmap` reads.
void WriteBitmapFile(const CreatePlan& plan, const PlannedMember& member, const std::string& path);

struct CommandResult {
  int exit_status = -1;
  std::string output;  // standard output and error
};

// Runs `mdadm ARGUMENTS`.
CommandResult Mdadm(const std::string& arguments);

// The rest of the line of mdadm's output that starts with `key` and a colon; "" when there is none.
std::string Field(const std::string& output, std::string_view key);

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_METADATA_PLANNED_IMAGES_H_
