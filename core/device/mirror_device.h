// MirrorDevice: the member of a slot while it is being replaced. Reads come from the original;
// writes and zeroes go to the original and, as far as they lie in its data area, to the replacement
// too, at the replacement's own data offset. Metadata is the original's alone. Flushes go to the
// original alone: the array flushes both.
//
// A replacement that fails a write fails no request. The first errno is kept, and nothing more is
// sent to it: the array looks before it acknowledges, and lets the replacement go. So too when
// either of the two has no space (I13 is for members that the array needs): the original stays, and
// where the two differ nobody could tell. An original that fails a write otherwise is failed
// itself. But blocks that are known to be bad may fail, as those of any member: the rest of such a
// write is written apart from them, and the array is told that they are bad still.
//
// Owns neither device. Thread-safe.

#ifndef MDVOL_CORE_DEVICE_MIRROR_DEVICE_H_
#define MDVOL_CORE_DEVICE_MIRROR_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

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

  // Bytes of the replacement, from where somebody has asked on, of which all or none are known to
  // be bad. In whole units of its alignment; a unit that is bad in part is not known to be.
  struct Run {
    uint64_t end_bytes = 0;
    bool is_bad = false;
  };
  // What the array knows of the replacement's bad blocks: asked, and told, by whoever waits for a
  // write, before the write is over.
  struct BadBlocks {
    std::function<Run(uint64_t begin_bytes, uint64_t end_bytes)> run;  // ends at end_bytes at most
    std::function<void()> still_bad;  // a write to a run that is bad has failed
  };

  // Both must outlive the mirror. The data offsets differ by a multiple of the larger alignment.
  MirrorDevice(MemberDevice& original, MemberDevice& replacement, const Areas& areas,
               BadBlocks bad_blocks)
      : original_(original),
        replacement_(replacement),
        areas_(areas),
        bad_blocks_(std::move(bad_blocks)) {}

  // 0, or the errno of the first write after which the two may differ.
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
  void NoteFailure(const IoRequest& copy);
  void NoteRun(const Run& run, int error);
  void NoteError(int error);

  MemberDevice& original_;
  MemberDevice& replacement_;
  const Areas areas_;
  const BadBlocks bad_blocks_;
  std::atomic<int> replacement_error_ = 0;

  absl::Mutex mutex_;
  // The replacement's part of each request between Submit and Wait, by the request's address.
  absl::flat_hash_map<const IoRequest*, std::unique_ptr<IoRequest>> copies_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_MIRROR_DEVICE_H_
