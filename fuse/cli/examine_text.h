// What `mdvol examine` prints: a superblock in mdadm --examine's words and layout (mdadm 4.2), the
// same as JSON, and an assembly decision. Pure. Text from the superblock (the name) may hold any
// bytes; control characters are shown as '?'.

#ifndef MDVOL_FUSE_CLI_EXAMINE_TEXT_H_
#define MDVOL_FUSE_CLI_EXAMINE_TEXT_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/array/member_loader.h"
#include "core/metadata/assembly.h"
#include "core/metadata/superblock.h"

namespace mdvol {

struct ExaminedMember {
  std::string path;
  uint64_t device_sectors = 0;
  FoundSuperblock found;
  std::optional<LoadedAreas>
      areas;  // absent where they do not make sense, or mdvol runs no such array
};

// Free sectors between the metadata and the data, and behind the data: mdadm's "Unused Space".
struct UnusedSpace {
  uint64_t before_sectors = 0;
  uint64_t after_sectors = 0;
};
UnusedSpace FindUnusedSpace(const ExaminedMember& member);

// "raid6"; "-unknown-" as mdadm says.
std::string LevelWord(int32_t level);
// "Active device 2", "spare" (a faulty one too, as in mdadm), "Journal".
std::string DeviceRoleWords(const Superblock& super);
// "AAA." : a letter per slot.
std::string ArrayStateLetters(const Superblock& super);

std::string RenderExamine(const ExaminedMember& member);
nlohmann::ordered_json ExamineJson(const ExaminedMember& member);

// A line per member and one for the array, then the warnings.
std::string RenderDecision(const std::vector<MemberReport>& reports,
                           const AssemblyDecision& decision);
nlohmann::ordered_json DecisionJson(const std::vector<MemberReport>& reports,
                                    const AssemblyDecision& decision);

}  // namespace mdvol

#endif  // MDVOL_FUSE_CLI_EXAMINE_TEXT_H_
