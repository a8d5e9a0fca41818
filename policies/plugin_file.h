// What can be said of a shared object without loading it: the dynamic loader calls a file for
// another processor one that does not exist, and dies of one that was cut short.

#ifndef MDVOL_POLICIES_PLUGIN_FILE_H_
#define MDVOL_POLICIES_PLUGIN_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace mdvol {

// That the file is there, is an ELF shared object for this very processor, and has all the bytes
// that are to be loaded. The message does not name the file.
absl::Status CheckSharedObject(const std::string& path);

}  // namespace mdvol

#endif  // MDVOL_POLICIES_PLUGIN_FILE_H_
