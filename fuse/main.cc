// The composition root of `mdvol`: everything below gets what it needs handed in.

#include <iostream>

#include "fuse/cli/cli.h"

int main(int argc, char** argv) { return mdvol::RunCli(argc, argv, std::cout, std::cerr); }
