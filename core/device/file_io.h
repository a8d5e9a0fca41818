// FileIoDevice: the MemberDevice over an open file descriptor, behind OpenFileDevice. The fast path
// of the engine: a request of one buffer is one pread or pwrite, in the caller's thread, with no
// allocation and no lock. Owns the descriptor, and with it the locks on the file. Thread-safe.
//
// A file may be cut short by somebody who does not ask for locks. A write behind the new end would
// let it grow again, and what was cut off would read as zeroes that nobody wrote. So a file that
// has been seen shorter than it was when opened is lost for good: all I/O of the device fails with
// EIO, and the array takes the member out as it does a dead disk. The length is looked at
//   - when a read meets the end or any request fails,
//   - before a flush is acknowledged,
//   - before a write that reaches the end, the only one that could hide that the file was cut,
//   - before every other request once kLengthTrustedMs have passed since the last look.
// What cannot be seen: a file cut by who then restores its length, between two looks; and a request
// that hits the cut part in the kLengthTrustedMs before the look that finds it, after a write
// farther behind has let the file grow there.

#ifndef MDVOL_CORE_DEVICE_FILE_IO_H_
#define MDVOL_CORE_DEVICE_FILE_IO_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "core/base/unique_fd.h"
#include "core/device/member_device.h"
#include "core/device/request_check.h"

namespace mdvol {

class FileIoDevice final : public MemberDevice {
 public:
  // For how long a look at the file's length is believed.
  static constexpr int64_t kLengthTrustedMs = 10;

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
  bool is_image() const { return logical_block_bytes_ == 1; }
  // False, for ever, once the file has been seen too short.
  bool LookAtLength();
  bool IsWhole(const IoRequest& request);
  int Read(const IoRequest& request);
  int Write(const IoRequest& request) const;
  int Zero(const IoRequest& request) const;
  int WriteZeroes(uint64_t offset_bytes, uint64_t length_bytes) const;
  void StartFlush() const;
  int FinishFlush();

  const UniqueFd fd_;
  const std::string path_;
  const DeviceLimits limits_;
  const uint32_t logical_block_bytes_;
  std::atomic<bool> is_cut_{false};
  std::atomic<int64_t> length_seen_ms_{0};  // when it was last looked at
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_FILE_IO_H_
