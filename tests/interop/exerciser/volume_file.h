// VolumeFile: a mounted volume as a program sees it, through a buffered and an O_DIRECT descriptor.
// Short transfers and errors are absl::Status with the errno, and name the range.
//
// Threading: all methods may be called from any thread. Ownership: owns both descriptors.

#ifndef MDVOL_TESTS_INTEROP_EXERCISER_VOLUME_FILE_H_
#define MDVOL_TESTS_INTEROP_EXERCISER_VOLUME_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/unique_fd.h"
#include "tests/interop/exerciser/shadow.h"

namespace mdvol::testing {

class VolumeFile {
 public:
  static absl::StatusOr<VolumeFile> Open(const std::string& path, bool read_only);

  uint64_t size_bytes() const { return size_bytes_; }

  absl::Status Read(uint64_t offset_bytes, std::span<std::byte> out, bool direct) const;
  absl::Status Write(uint64_t offset_bytes, std::span<const std::byte> data, bool direct) const;
  // fallocate: punch-hole, or zero-range. Both read as zeroes afterwards.
  absl::Status Punch(const Extent& extent) const;
  absl::Status ZeroRange(const Extent& extent) const;
  absl::Status Sync() const;

 private:
  VolumeFile(UniqueFd buffered, UniqueFd direct, uint64_t size_bytes)
      : buffered_(std::move(buffered)), direct_(std::move(direct)), size_bytes_(size_bytes) {}

  absl::Status Allocate(int mode, const char* what, const Extent& extent) const;

  UniqueFd buffered_;
  UniqueFd direct_;
  uint64_t size_bytes_;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_INTEROP_EXERCISER_VOLUME_FILE_H_
