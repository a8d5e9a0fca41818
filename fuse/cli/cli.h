// The frame of the command line: parses it, runs the verb it names, turns the outcome into an exit
// code and at most one line on `err`.
//
// Exit codes: 0 done, 1 could not, 2 wrong usage. Callable in process by tests: nothing here exits,
// and no state outlives the call. One call at a time per stream.

#ifndef MDVOL_FUSE_CLI_CLI_H_
#define MDVOL_FUSE_CLI_CLI_H_

#include <ostream>

namespace mdvol {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// `argv` as main() receives it: argv[0] is the program.
int RunCli(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

}  // namespace mdvol

#endif  // MDVOL_FUSE_CLI_CLI_H_
