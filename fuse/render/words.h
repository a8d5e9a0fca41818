// md's words for what a snapshot says, shared by everything that prints one. Pure.

#ifndef MDVOL_FUSE_RENDER_WORDS_H_
#define MDVOL_FUSE_RENDER_WORDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/array/snapshot.h"

namespace mdvol {

// As dev-NAME/state reads: the flags that are set, joined by commas ("in_sync,write_mostly").
std::string MemberStateWords(const MemberSnapshot& member);

// What the member is to the array, one word: "active", "rebuilding", "spare" or "faulty".
std::string_view MemberRoleWord(const MemberSnapshot& member);

// "bitmap" or "resync".
std::string_view ConsistencyPolicyWord(const ArraySnapshot& array);

// With '?' for each control character: what a name or a path holds moves no cursor.
std::string Printable(std::string text);

// "1.2".
std::string MetadataVersion(const ArraySnapshot& array);

// The name as the kernel lists the device of a named array: "md_" and the set name without its
// "host:". Blanks and slashes become '_'.
std::string DeviceNameOf(std::string_view set_name);

// By index, the order in which members came.
std::vector<const MemberSnapshot*> MembersByIndex(const ArraySnapshot& array);

// The member that occupies the slot (in sync or recovering, not faulty); null when there is none.
const MemberSnapshot* MemberInSlot(const ArraySnapshot& array, uint32_t slot);

}  // namespace mdvol

#endif  // MDVOL_FUSE_RENDER_WORDS_H_
