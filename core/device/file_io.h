// FileIoDevice: the MemberDevice over an open file descriptor, behind OpenFileDevice. The fast path
// of the engine: a request of one buffer is one pread or pwrite, in the caller's thread, with no
// allocation and no lock. Owns the descriptor, and with it the locks on the file. Thread-safe.

#ifndef MDVOL_CORE_DEVICE_FILE_IO_H_
#define MDVOL_CORE_DEVICE_FILE_IO_H_

#include <cstdint>
#include <string>

#include "core/base/unique_fd.h"
#include "core/device/member_device.h"
#include "core/device/request_check.h"

namespace mdvol {

class FileIoDevice final : public MemberDevice {
 public:
  // `logical_block_bytes` is what a block device wants its own requests aligned to, 1 for images.
  FileIoDevice(UniqueFd fd, std::string path, const DeviceLimits& limits,
               uint32_t logical_block_bytes);

  const std::string& path() const override { return path_; }
  uint64_t size_bytes() const override { return limits_.size_bytes; }
  uint32_t alignment_bytes() const override { return limits_.alignment_bytes; }
  bool read_only() const override { return limits_.read_only; }

  void Submit(IoRequest& request) override;
  void Wait(IoRequest& request) override;

  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override;
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override;

 private:
  int Read(const IoRequest& request) const;
  int Write(const IoRequest& request) const;
  int Zero(const IoRequest& request) const;
  int WriteZeroes(uint64_t offset_bytes, uint64_t length_bytes) const;
  void StartFlush() const;
  int FinishFlush() const;

  const UniqueFd fd_;
  const std::string path_;
  const DeviceLimits limits_;
  const uint32_t logical_block_bytes_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_FILE_IO_H_
