// interop_reader: reads an array's volume from its members, through the core alone, and compares it
// with a file: whole, with every single member left out, and with every pair.
//
//   interop_reader --expect FILE --bytes N [--losses 0..2] [--stale I,J] MEMBER...
//
// --bytes is the volume's size as the kernel sees it. --stale: members (by position) that are out
// of date; they are handed to the array too, which must leave them out, and each counts as one
// loss. Members are opened read-only; not one byte of them changes. Prints a line per kind of loss;
// exit 0, 1 with a line on standard error, or 2 for wrong usage.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/array/array.h"
#include "core/array/events.h"
#include "core/array/member_loader.h"
#include "core/base/aligned_buffer.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/device/file_device.h"
#include "tests/interop/exerciser/shadow.h"
#include "tests/support/seed.h"

namespace mdvol::testing {
namespace {

struct Arguments {
  std::string expected;
  uint64_t volume_bytes = 0;
  uint32_t losses = 2;
  std::vector<size_t> stale;
  std::vector<std::string> members;
};

using Losses = std::vector<size_t>;  // positions of members, ascending

bool Contains(const std::vector<size_t>& list, size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string Describe(const Losses& losses) {
  if (losses.empty()) return "nothing left out";
  std::string text = "left out:";
  for (const size_t member : losses) absl::StrAppend(&text, " ", member);
  return text;
}

absl::StatusOr<std::unique_ptr<Array>> StartWithout(const Arguments& arguments,
                                                    const Losses& losses, EventLog& events) {
  std::vector<LoadedMember> members;
  for (size_t i = 0; i < arguments.members.size(); ++i) {
    if (Contains(losses, i)) continue;
    FileDeviceOptions device_options;
    device_options.read_only = true;
    MDVOL_ASSIGN_OR_RETURN(auto device, OpenFileDevice(arguments.members[i], device_options));
    MDVOL_ASSIGN_OR_RETURN(LoadedMember member, LoadMember(std::move(device)));
    members.push_back(std::move(member));
  }
  ArrayOptions options;
  options.assembly.read_only = true;
  options.assembly.run = true;
  return Array::Start(std::move(members), options, SystemClock(), events);
}

// Requests of all sizes: a fixed size would always meet the chunks in the same way.
absl::Status CompareVolume(Array& array, std::span<const std::byte> expected, Prng& prng) {
  constexpr uint64_t kLongestBytes = uint64_t{1} << 20;
  AlignedBuffer buffer(kLongestBytes);
  uint64_t offset_bytes = 0;
  while (offset_bytes < expected.size()) {
    const uint64_t wanted_bytes = prng.OneIn(4) ? prng.Between(1, 9000) : kLongestBytes;
    const uint64_t length_bytes = std::min<uint64_t>(wanted_bytes, expected.size() - offset_bytes);
    const std::span<std::byte> found = buffer.span().first(length_bytes);
    MDVOL_RETURN_IF_ERROR(array.Read(offset_bytes, found));
    const auto [wrong, wanted] = std::mismatch(
        found.begin(), found.end(), expected.begin() + static_cast<ptrdiff_t>(offset_bytes));
    if (wrong != found.end()) {
      return ErrnoStatus(
          EIO, "volume offset " +
                   std::to_string(offset_bytes + static_cast<uint64_t>(wrong - found.begin())) +
                   " reads " + std::to_string(static_cast<int>(*wrong)) + ", not " +
                   std::to_string(static_cast<int>(*wanted)));
    }
    offset_bytes += length_bytes;
  }
  return absl::OkStatus();
}

absl::Status ReadWithout(const Arguments& arguments, const Losses& losses,
                         std::span<const std::byte> expected, Prng& prng) {
  EventLog events(SystemClock());
  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<Array> array,
                         StartWithout(arguments, losses, events));
  if (array->volume_bytes() != arguments.volume_bytes) {
    return ErrnoStatus(EIO, "the volume has " + std::to_string(array->volume_bytes()) +
                                " bytes, the kernel's " + std::to_string(arguments.volume_bytes));
  }
  return CompareVolume(*array, expected, prng);
}

// All sets of `count` fresh members.
std::vector<Losses> LossesOf(const Arguments& arguments, uint32_t count) {
  std::vector<Losses> sets = {{}};
  for (uint32_t i = 0; i < count; ++i) {
    std::vector<Losses> longer;
    for (const Losses& set : sets) {
      for (size_t next = set.empty() ? 0 : set.back() + 1; next < arguments.members.size();
           ++next) {
        if (Contains(arguments.stale, next)) continue;
        longer.push_back(set);
        longer.back().push_back(next);
      }
    }
    sets = std::move(longer);
  }
  return sets;
}

absl::Status ReadAll(const Arguments& arguments) {
  MDVOL_ASSIGN_OR_RETURN(const Shadow shadow,
                         Shadow::Open(arguments.expected, arguments.volume_bytes));
  const std::span<const std::byte> expected = shadow.bytes();
  Prng prng(TestSeed("interop_reader"));
  const auto stale = static_cast<uint32_t>(arguments.stale.size());
  for (uint32_t count = 0; count + stale <= arguments.losses; ++count) {
    const std::vector<Losses> sets = LossesOf(arguments, count);
    for (const Losses& losses : sets) {
      MDVOL_RETURN_IF_ERROR(
          Annotate(ReadWithout(arguments, losses, expected, prng), Describe(losses)));
    }
    std::printf("%zu members, %u stale, %u left out: %zu ways, equal\n", arguments.members.size(),
                stale, count, sets.size());
  }
  return absl::OkStatus();
}

int Run(int argc, char** argv) {
  CLI::App app("Compares a volume with a file, members left out", "interop_reader");
  Arguments arguments;
  app.add_option("--expect", arguments.expected, "What the volume must read as")->required();
  app.add_option("--bytes", arguments.volume_bytes, "Size of the volume")->required();
  app.add_option("--losses", arguments.losses, "Losses at most")->check(CLI::Range(0, 2));
  app.add_option("--stale", arguments.stale, "Members that are out of date")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("members", arguments.members)->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const absl::Status status = ReadAll(arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "interop_reader: %s\n", MessageOf(status).c_str());
  return 1;
}

}  // namespace
}  // namespace mdvol::testing

int main(int argc, char** argv) { return mdvol::testing::Run(argc, argv); }
