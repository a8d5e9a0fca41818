// mdvol-bench: measures policies; see scenarios/scenario.h.

#include <iostream>

#include "tests/bench/program/options.h"
#include "tests/bench/program/run.h"

int main(int argc, char** argv) {
  return mdvol::bench::RunBench(mdvol::bench::ParseOptions(argc, argv), std::cout, std::cerr);
}
