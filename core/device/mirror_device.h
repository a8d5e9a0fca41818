// MirrorDevice: the member of a slot while it is being replaced. Reads come from the original;
// writes and zeroes go to the original and, as far as they lie in its data area, to the replacement
// too, at the replacement's own data offset. Metadata is the original's alone. Flushes go to the
// original alone: the array flushes both.
//
// A replacement that fails a write fails no request. The first errno is kept, and nothing more is
// sent to it: the array looks before it acknowledges, and lets the replacement go.
//
// Owns neither device. Thread-safe.

#ifndef MDVOL_CORE_DEVICE_MIRROR_DEVICE_H_
#define MDVOL_CORE_DEVICE_MIRROR_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "core/device/member_device.h"

namespace mdvol {

class MirrorDevice final : public MemberDevice {
 public:
  struct Areas {
    uint64_t original_offset_bytes = 0;     // where the data area starts on the original
    uint64_t replacement_offset_bytes = 0;  // and on the replacement
    uint64_t data_bytes = 0;                // how long it is on both
  };

  // Both must outlive the mirror. The data offsets differ by a multiple of the larger alignment.
  MirrorDevice(MemberDevice& original, MemberDevice& replacement, const Areas& areas)
      : original_(original), replacement_(replacement), areas_(areas) {}

  // 0, or the errno of the first write that the replacement has failed.
  int replacement_error() const { return replacement_error_.load(std::memory_order_acquire); }

  const std::string& path() const override { return original_.path(); }
  uint64_t size_bytes() const override { return original_.size_bytes(); }
  uint32_t alignment_bytes() const override;  // the larger one
  bool read_only() const override { return original_.read_only(); }

  void Submit(IoRequest& request) override;
  void Wait(IoRequest& request) override;

  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return original_.NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return original_.NextHole(offset_bytes);
  }

 private:
  int Check(const IoRequest& request) const;
  std::unique_ptr<IoRequest> CopyFor(const IoRequest& request) const;
  void NoteError(int error);

  MemberDevice& original_;
  MemberDevice& replacement_;
  const Areas areas_;
  std::atomic<int> replacement_error_ = 0;

  absl::Mutex mutex_;
  // The replacement's part of each request between Submit and Wait, by the request's address.
  absl::flat_hash_map<const IoRequest*, std::unique_ptr<IoRequest>> copies_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_MIRROR_DEVICE_H_
