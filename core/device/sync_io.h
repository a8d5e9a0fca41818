// SyncIoScope: marks what the calling thread asks of members as done for a resync, so that whoever
// counts can tell it from what users of the volume want. A request takes the mark of the thread
// that makes it (IoRequest::is_sync) and keeps it: another thread may submit it to the member. One
// per thread at a time.

#ifndef MDVOL_CORE_DEVICE_SYNC_IO_H_
#define MDVOL_CORE_DEVICE_SYNC_IO_H_

namespace mdvol {

class SyncIoScope {
 public:
  SyncIoScope() { is_sync_ = true; }
  ~SyncIoScope() { is_sync_ = false; }
  SyncIoScope(const SyncIoScope&) = delete;
  SyncIoScope& operator=(const SyncIoScope&) = delete;

  static bool IsInside() { return is_sync_; }

 private:
  inline static thread_local bool is_sync_ = false;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_SYNC_IO_H_
