// The composition root of `mdvol`: everything below gets what it needs handed in.

#include <signal.h>

#include <iostream>

#include "fuse/cli/cli.h"
#include "fuse/standard_streams.h"

int main(int argc, char** argv) {
  if (!mdvol::OccupyStandardStreams()) {
    return mdvol::kExitFailed;  // There may be nobody to tell.
  }
  // A parent that ignores it hands that down, and waiting for a child of ours would find none.
  ::signal(SIGCHLD, SIG_DFL);
  return mdvol::RunCli(argc, argv, std::cout, std::cerr);
}
