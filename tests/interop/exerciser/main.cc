// volume_exerciser: writes a mounted volume at random, remembers in a shadow file what it must read
// as, and compares. What tests of mounts and of the kernel's agreement are made of.
//
//   volume_exerciser pattern FILE BYTES        makes a file of random bytes
//   volume_exerciser write VOLUME SHADOW       random writes, zeroings, reads; fails at a wrong
//   byte volume_exerciser verify VOLUME SHADOW      compares the whole volume with the shadow
//   volume_exerciser crash VOLUME SHADOW       writes until the daemon dies (SHADOW, SHADOW.latest;
//                                              a line for each fsync goes to SHADOW.progress)
//   volume_exerciser verify-crash VOLUME SHADOW [--exempt FILE]
//
// FILE: a line "OFFSET LENGTH" for each range of the volume that may hold anything.
//
// Prints its seed; MDVOL_TEST_SEED sets it (tests/support/seed.h). Exit 0, 1 with a line on
// standard error, or 2 for wrong usage.

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "core/base/status.h"
#include "tests/interop/exerciser/shadow.h"
#include "tests/interop/exerciser/volume_file.h"
#include "tests/interop/exerciser/workload.h"
#include "tests/support/seed.h"

namespace mdvol::testing {
namespace {

struct Arguments {
  std::string volume;
  std::string shadow;
  std::string seed_name = "volume_exerciser";
  uint64_t members = 6;
  uint64_t pattern_bytes = 0;
  std::string exempt;
  WorkloadOptions workload;
};

absl::Status MakePattern(const Arguments& arguments) {
  std::ofstream file(arguments.volume, std::ios::binary | std::ios::trunc);
  Prng prng(TestSeed(arguments.seed_name.c_str()));
  std::vector<std::byte> piece(size_t{1} << 20);
  for (uint64_t left_bytes = arguments.pattern_bytes; left_bytes > 0 && file;) {
    const uint64_t length_bytes = std::min<uint64_t>(left_bytes, piece.size());
    prng.Fill(piece);
    file.write(reinterpret_cast<const char*>(piece.data()),
               static_cast<std::streamsize>(length_bytes));
    left_bytes -= length_bytes;
  }
  file.close();
  if (!file) return ErrnoStatus(EIO, arguments.volume + ": cannot be written");
  return absl::OkStatus();
}

absl::StatusOr<WorkloadOptions> Workload(const Arguments& arguments, const VolumeFile& volume) {
  WorkloadOptions workload = arguments.workload;
  workload.stripe_bytes = workload.chunk_bytes * (arguments.members - 2);
  workload.seed = TestSeed(arguments.seed_name.c_str());
  if (BoundsOf(workload, volume.size_bytes()).length_bytes < workload.stripe_bytes) {
    return ErrnoStatus(EINVAL, "--begin and --end leave less than a stripe of the volume");
  }
  return workload;
}

absl::StatusOr<std::vector<Extent>> ReadExtents(const std::string& path) {
  std::vector<Extent> extents;
  if (path.empty()) return extents;
  std::ifstream file(path);
  for (Extent extent; file >> extent.offset_bytes >> extent.length_bytes;) {
    extents.push_back(extent);
  }
  if (!file.eof()) return ErrnoStatus(EINVAL, path + ": cannot be read as OFFSET LENGTH lines");
  return extents;
}

absl::Status Write(const Arguments& arguments) {
  MDVOL_ASSIGN_OR_RETURN(const VolumeFile volume, VolumeFile::Open(arguments.volume, false));
  MDVOL_ASSIGN_OR_RETURN(const Shadow shadow, Shadow::Open(arguments.shadow, volume.size_bytes()));
  MDVOL_ASSIGN_OR_RETURN(const WorkloadOptions workload, Workload(arguments, volume));
  return RunWorkload(volume, shadow, workload);
}

absl::Status Verify(const Arguments& arguments) {
  MDVOL_ASSIGN_OR_RETURN(const VolumeFile volume, VolumeFile::Open(arguments.volume, true));
  MDVOL_ASSIGN_OR_RETURN(const Shadow shadow, Shadow::Open(arguments.shadow, volume.size_bytes()));
  return VerifyVolume(volume, shadow, arguments.workload.access);
}

absl::Status Crash(const Arguments& arguments) {
  MDVOL_ASSIGN_OR_RETURN(const VolumeFile volume, VolumeFile::Open(arguments.volume, false));
  MDVOL_ASSIGN_OR_RETURN(const Shadow durable, Shadow::Open(arguments.shadow, volume.size_bytes()));
  MDVOL_ASSIGN_OR_RETURN(const Shadow latest,
                         Shadow::Open(arguments.shadow + ".latest", volume.size_bytes()));
  MDVOL_ASSIGN_OR_RETURN(const WorkloadOptions workload, Workload(arguments, volume));
  return RunUntilDaemonDies(volume, durable, latest, arguments.shadow + ".progress", workload);
}

absl::Status VerifyCrash(const Arguments& arguments) {
  MDVOL_ASSIGN_OR_RETURN(const VolumeFile volume, VolumeFile::Open(arguments.volume, true));
  MDVOL_ASSIGN_OR_RETURN(const Shadow durable, Shadow::Open(arguments.shadow, volume.size_bytes()));
  MDVOL_ASSIGN_OR_RETURN(const Shadow latest,
                         Shadow::Open(arguments.shadow + ".latest", volume.size_bytes()));
  MDVOL_ASSIGN_OR_RETURN(const std::vector<Extent> exempt, ReadExtents(arguments.exempt));
  return VerifyAfterCrash(volume, durable, latest, exempt);
}

CLI::App* AddVerb(CLI::App& app, const char* name, Arguments& arguments) {
  CLI::App* const verb = app.add_subcommand(name);
  verb->add_option("volume", arguments.volume)->required();
  verb->add_option("shadow", arguments.shadow)->required();
  verb->add_option("--access", arguments.workload.access, "buffered, direct or mixed")
      ->transform(CLI::CheckedTransformer(
          std::vector<std::pair<std::string, AccessMode>>{{"buffered", AccessMode::kBuffered},
                                                          {"direct", AccessMode::kDirect},
                                                          {"mixed", AccessMode::kMixed}}));
  return verb;
}

void AddWorkload(CLI::App& verb, Arguments& arguments) {
  verb.add_option("--seed-name", arguments.seed_name, "Gives another seed to each use");
  verb.add_option("--operations", arguments.workload.operations);
  verb.add_option("--jobs", arguments.workload.jobs, "Threads")->check(CLI::Range(1, 64));
  verb.add_option("--chunk", arguments.workload.chunk_bytes, "Bytes of a chunk");
  verb.add_option("--begin", arguments.workload.begin_bytes, "Volume offset");
  verb.add_option("--end", arguments.workload.end_bytes, "Volume offset");
  verb.add_option("--members", arguments.members)->check(CLI::Range(4, 255));
  verb.add_option("--zero-percent", arguments.workload.zero_percent);
  verb.add_option("--read-percent", arguments.workload.read_percent);
}

int Run(int argc, char** argv) {
  CLI::App app("Exercises a mounted volume", "volume_exerciser");
  app.require_subcommand(1);
  Arguments arguments;
  CLI::App* const pattern = app.add_subcommand("pattern");
  pattern->add_option("file", arguments.volume)->required();
  pattern->add_option("bytes", arguments.pattern_bytes)->required();
  pattern->add_option("--seed-name", arguments.seed_name);
  CLI::App* const write = AddVerb(app, "write", arguments);
  AddWorkload(*write, arguments);
  CLI::App* const verify = AddVerb(app, "verify", arguments);
  CLI::App* const crash = AddVerb(app, "crash", arguments);
  AddWorkload(*crash, arguments);
  AddVerb(app, "verify-crash", arguments)->add_option("--exempt", arguments.exempt);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const absl::Status status = pattern->parsed()  ? MakePattern(arguments)
                              : write->parsed()  ? Write(arguments)
                              : verify->parsed() ? Verify(arguments)
                              : crash->parsed()  ? Crash(arguments)
                                                 : VerifyCrash(arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "volume_exerciser: %s\n", MessageOf(status).c_str());
  return 1;
}

}  // namespace
}  // namespace mdvol::testing

int main(int argc, char** argv) { return mdvol::testing::Run(argc, argv); }
