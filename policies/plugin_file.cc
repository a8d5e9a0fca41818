// See plugin_file.h. ELF as in the System V ABI, gABI chapters 4 (header) and 5 (program header).

#include "policies/plugin_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace mdvol {
namespace {

using ElfHeader = ElfW(Ehdr);
using ProgramHeader = ElfW(Phdr);

// False when there are not so many bytes.
bool ReadAt(int fd, uint64_t offset_bytes, void* buffer, size_t length_bytes) {
  auto* next = static_cast<char*>(buffer);
  while (length_bytes > 0) {
    const ssize_t count = RetryOnEintr(
        [&] { return ::pread(fd, next, length_bytes, static_cast<off_t>(offset_bytes)); });
    if (count <= 0) {
      return false;
    }
    next += count;
    offset_bytes += static_cast<uint64_t>(count);
    length_bytes -= static_cast<size_t>(count);
  }
  return true;
}

// Of this process: what it runs on is what it was built for.
bool IsOurMachine(const ElfHeader& header) {
  const UniqueFd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ElfHeader own;
  return !self.valid() || !ReadAt(self.get(), 0, &own, sizeof(own)) ||
         own.e_machine == header.e_machine;
}

absl::Status CheckHeader(const ElfHeader& header) {
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  constexpr unsigned char kData =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (header.e_ident[EI_CLASS] != kClass || header.e_ident[EI_DATA] != kData ||
      !IsOurMachine(header)) {
    return UsageError("is for another processor architecture: build it for this one");
  }
  if (header.e_type != ET_DYN) {
    return UsageError("is no shared object: link it with -shared");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSharedObject(const std::string& path) {
  // Not blocking, in case it is a pipe.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    return UsageError(std::string(std::strerror(errno)) + ": correct [policy] plugins");
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return UsageError("is not a regular file: correct [policy] plugins");
  }
  ElfHeader header{};
  if (!ReadAt(fd.get(), 0, header.e_ident, SELFMAG) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return UsageError("is no shared object: build it with -shared, as examples/plugin shows");
  }
  const absl::Status cut = UsageError("is cut short: build or copy it anew");
  if (!ReadAt(fd.get(), 0, &header, sizeof(header))) {
    return cut;
  }
  MDVOL_RETURN_IF_ERROR(CheckHeader(header));
  std::vector<ProgramHeader> parts(header.e_phnum);
  if (header.e_phentsize != sizeof(ProgramHeader) ||
      !ReadAt(fd.get(), header.e_phoff, parts.data(), parts.size() * sizeof(ProgramHeader))) {
    return cut;
  }
  const auto size_bytes = static_cast<uint64_t>(info.st_size);
  for (const ProgramHeader& part : parts) {
    if (part.p_type != PT_NULL &&
        (part.p_offset > size_bytes || part.p_filesz > size_bytes - part.p_offset)) {
      return cut;
    }
  }
  return absl::OkStatus();
}

}  // namespace mdvol
