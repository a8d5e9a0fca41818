// The command line of mdvol-bench. Parsing alone: whether files exist or policies are known is
// asked later.

#ifndef MDVOL_TESTS_BENCH_PROGRAM_OPTIONS_H_
#define MDVOL_TESTS_BENCH_PROGRAM_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mdvol::bench {

enum class Command : uint8_t { kRun, kList, kChart, kExit };

struct Options {
  Command command = Command::kRun;
  int exit_code = 0;                   // of kExit: help was asked for, or the line was wrong
  std::vector<std::string> scenarios;  // names; "all" has been replaced
  bool quick = false;
  std::string csv;         // written, or read by kChart; empty: none
  std::string svg_folder;  // empty: none
  std::optional<uint32_t> repeats;
  std::optional<double> seconds;
  uint64_t seed = 1;
  std::vector<std::string> policies;  // empty: all
};

// Prints what is wrong, or the help, itself.
Options ParseOptions(int argc, char** argv);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_PROGRAM_OPTIONS_H_
