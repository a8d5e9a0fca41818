// RecordingDevice: a decorator that writes down every request, in one log for all members, in the
// order in which they were submitted. From the log a test can tell what was durable when, and can
// replay any part of it onto other disks.
//
// A request is entered before it goes on to the member, and its end when it has been waited for. A
// write is durable once a flush of its member has ended that was submitted after the write's end.
// Thread-safe.

#ifndef MDVOL_TESTS_SUPPORT_TEST_ARRAY_RECORDING_DEVICE_H_
#define MDVOL_TESTS_SUPPORT_TEST_ARRAY_RECORDING_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "core/device/member_device.h"

namespace mdvol::testing {

inline constexpr size_t kNever = std::numeric_limits<size_t>::max();

struct RecordedRequest {
  size_t member = 0;
  IoKind kind = IoKind::kRead;
  uint64_t offset_bytes = 0;
  uint64_t length_bytes = 0;
  std::vector<std::byte> bytes;  // of a write
  size_t ended_at = kNever;      // how long the log was then
  int error = 0;

  bool Changes() const { return kind == IoKind::kWrite || kind == IoKind::kZero; }
  bool Touches(uint64_t begin, uint64_t end) const {
    return offset_bytes < end && begin < offset_bytes + length_bytes;
  }
};

using RecordedRequests = std::vector<RecordedRequest>;

// From where on the log's entry `index`, a write, is durable: the length of the log then; kNever if
// it has not come to that.
size_t DurableAt(const RecordedRequests& log, size_t index);

class Recording {
 public:
  using Hook = std::function<void(const RecordedRequest&)>;

  RecordedRequests requests() const ABSL_LOCKS_EXCLUDED(mutex_);
  size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Not while requests are under way.
  void Clear() ABSL_LOCKS_EXCLUDED(mutex_);
  // Called in the thread that submits, after the request was entered and before it goes on.
  void SetHook(Hook hook) ABSL_LOCKS_EXCLUDED(mutex_);

  void Begin(size_t member, const IoRequest& request) ABSL_LOCKS_EXCLUDED(mutex_);
  void End(const IoRequest& request) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable absl::Mutex mutex_;
  RecordedRequests log_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<const IoRequest*, size_t> under_way_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const Hook> hook_ ABSL_GUARDED_BY(mutex_);
};

// `recording` must outlive the device.
std::unique_ptr<MemberDevice> NewRecordingDevice(std::unique_ptr<MemberDevice> inner, size_t member,
                                                 Recording& recording);

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_TEST_ARRAY_RECORDING_DEVICE_H_
