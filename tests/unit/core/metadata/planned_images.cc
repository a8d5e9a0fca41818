// See planned_images.h.

#include "tests/unit/core/metadata/planned_images.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <sstream>
#include <vector>

#include "core/base/check.h"
#include "core/metadata/bitmap.h"

namespace mdvol::testing {
namespace {

template <typename Bytes>
void WriteAt(std::ostream& file, uint64_t offset, const Bytes& bytes) {
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::vector<uint8_t> BitmapArea(const CreatePlan& plan, const PlannedMember& member) {
  return SerializeBitmap(*plan.bitmap, plan.bitmap_bits, member.areas.bitmap.size());
}

}  // namespace

void WriteImage(const CreatePlan& plan, const PlannedMember& member, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const auto* super = reinterpret_cast<const uint8_t*>(&member.super);
  WriteAt(file, member.areas.super.begin,
          std::vector<uint8_t>(super, super + member.areas.super.size()));
  if (plan.bitmap.has_value()) {
    WriteAt(file, member.areas.bitmap.begin, BitmapArea(plan, member));
  }
  WriteAt(file, member.areas.bad_blocks.begin,
          std::vector<uint8_t>(member.areas.bad_blocks.size(), 0xff));
  file.close();
  std::filesystem::resize_file(path, member.device_bytes);
}

void WriteBitmapFile(const CreatePlan& plan, const PlannedMember& member, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  WriteAt(file, 0, BitmapArea(plan, member));
}

CommandResult Mdadm(const std::string& arguments) {
  const std::string command =
      "PATH=\"$PATH:/usr/sbin:/sbin\" LC_ALL=C exec mdadm " + arguments + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  MDVOL_CHECK(pipe != nullptr);
  CommandResult result;
  std::array<char, 4096> buffer;
  while (const size_t length = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    result.output.append(buffer.data(), length);
  }
  const int status = pclose(pipe);
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

std::string Field(const std::string& output, std::string_view key) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(' ');
    const std::string start = std::string(key) + " : ";
    if (begin != std::string::npos && line.compare(begin, start.size(), start) == 0) {
      return line.substr(begin + start.size());
    }
  }
  return "";
}

}  // namespace mdvol::testing
